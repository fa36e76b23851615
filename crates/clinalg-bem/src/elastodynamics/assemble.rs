//! H and G on the device.

use clinalg::runtime::{Out, Range};
use clinalg::{Buffer, Context, Dense, Error, KernelFamily, Real, Result, Scalar, Vector, ops};

use super::problem::items;
use super::radial::Tables;
use super::{C64, ComplexScalar, Conditions, Factors, Problem, Rule, System, check_frequency, narrow};
use crate::kernels::bem_elasto::Program;

/// As in `bem_elasto.cl`: items of a group for each pair, as many as points of the usual rule.
const PAIRWISE: usize = 64;

/// Complex numbers that a work-item keeps in local memory on a GPU, for one block of H and one of G; must match `bem_elasto.cl`.
const COLUMNS: usize = 18;

/// How H and G are assembled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Algorithm {
    /// An item for each collocation point, the points of an element shared by a group.
    #[default]
    Tiled,
    /// A group for each pair of elements, an item for each point, as published by Belinassi et al. (2017); for comparison.
    Pairwise,
}

/// H and G at one frequency, column by column.
#[derive(Debug)]
pub struct Assembly<S: ComplexScalar> {
    h: Dense<S>,
    g: Dense<S>,
    shear: f64,
    frequency: f64,
    /// The tables that the kernels writing H and G read. NVIDIA's driver waits for these kernels when the tables are released, so an early release
    /// would delay the start on the other devices.
    _tables: Option<Tables<S>>,
}

/// The memory of H and G, recovered from an [`Assembly`], a [`System`] or [`Factors`] that is no longer needed; see [`Problem::assemble_in`].
#[derive(Debug)]
pub struct Memory<S: ComplexScalar> {
    pub(super) h: Dense<S>,
    pub(super) g: Dense<S>,
}

impl<S: ComplexScalar> From<Assembly<S>> for Memory<S> {
    fn from(Assembly { h, g, .. }: Assembly<S>) -> Memory<S> {
        Memory { h, g }
    }
}

impl<S: ComplexScalar> From<System<S>> for Memory<S> {
    fn from(system: System<S>) -> Memory<S> {
        let [h, g] = system.into_matrices();
        Memory { h, g }
    }
}

impl<S: ComplexScalar> From<Factors<S>> for Memory<S> {
    fn from(factors: Factors<S>) -> Memory<S> {
        let [h, g] = factors.into_matrices();
        Memory { h, g }
    }
}

impl<S: ComplexScalar> Problem<S> {
    /// H and G at the angular frequency `frequency`, 3 m x 3 m for m boundary elements unless [`Options`](super::Options) say otherwise;
    /// enqueued.
    ///
    /// # Errors
    /// [`Error::Value`] unless the frequency is finite and at least 0; [`Error::Allocation`] where the device has too little
    /// memory ([`Problem::matrix_bytes`]).
    pub fn assemble(&self, frequency: f64) -> Result<Assembly<S>> {
        self.assemble_by(Algorithm::Tiled, frequency)
    }

    /// As [`Problem::assemble`] by the `algorithm`.
    ///
    /// # Errors
    /// As [`Problem::assemble`]; [`Error::Value`] for [`Algorithm::Pairwise`] with [`Rule::Adaptive`].
    pub fn assemble_by(&self, algorithm: Algorithm, frequency: f64) -> Result<Assembly<S>> {
        self.check(algorithm)?;
        check_frequency(frequency)?;
        let shape = [self.centres.count, self.cols];
        check_memory::<S>(self.context(), shape)?;
        // SAFETY: the kernels write every block; where their launch fails, the matrices are dropped unread.
        let make = || unsafe { Dense::uninit_unchecked(self.context(), 3 * self.centres.count, 3 * self.cols) };
        self.write(algorithm, frequency, Memory { h: make()?, g: make()? })
    }

    /// As [`Problem::assemble_by`], but reuses the memory of an earlier assembly, system or factorisation, such as that of another frequency.
    /// Allocating new memory takes a millisecond or more on an H200.
    ///
    /// # Errors
    /// As [`Problem::assemble_by`]; [`Error::Shape`] for matrices of a different size, [`Error::Context`] for those of a different context.
    pub fn assemble_in(
        &self,
        algorithm: Algorithm,
        frequency: f64,
        memory: impl Into<Memory<S>>,
    ) -> Result<Assembly<S>> {
        self.check(algorithm)?;
        let memory = memory.into();
        let wanted = [3 * self.centres.count, 3 * self.cols];
        for a in [&memory.h, &memory.g] {
            let got = [a.rows(), a.cols()];
            if wanted != got {
                let [expected, got] = [wanted, got].map(|[rows, cols]| format!("{rows} x {cols}"));
                return Err(Error::Shape { argument: "memory", expected, got });
            }
            if !a.context().same(self.context()) {
                return Err(Error::Context { argument: "memory" });
            }
        }
        self.write(algorithm, frequency, memory)
    }

    fn write(&self, algorithm: Algorithm, frequency: f64, Memory { h, g }: Memory<S>) -> Result<Assembly<S>> {
        let tables = self.tables(frequency, &self.centres)?;
        let made = Assembly { h, g, shear: self.material().shear(), frequency, _tables: None };
        self.fill(algorithm, &tables, &made)?;
        Ok(Assembly { _tables: Some(tables), ..made })
    }

    fn check(&self, algorithm: Algorithm) -> Result<()> {
        if algorithm == Algorithm::Pairwise && self.options.rule == Rule::Adaptive {
            return Err(Error::value("algorithm", "Tiled for adaptive rules", "Pairwise"));
        }
        Ok(())
    }

    /// Enqueues the kernel that writes all blocks.
    fn fill(&self, algorithm: Algorithm, tables: &Tables<S>, made: &Assembly<S>) -> Result<()> {
        let [count0, count1, count2] = self.counts;
        let (h, g) = (Out::shared(made.h.as_vector().buffer()), Out::shared(made.g.as_vector().buffer()));
        let program = Program::<S>::new();
        if algorithm == Algorithm::Pairwise {
            let range = Range::d2([self.centres.count * PAIRWISE, self.cols], [PAIRWISE, 1]);
            // SAFETY: as below; one group for each pair.
            return unsafe {
                program.assemble_pairwise(
                    self.context(),
                    range,
                    self.centres.count,
                    self.centres.stride,
                    self.first,
                    count0,
                    &self.centres.values,
                    &self.quadrature,
                    &self.statics,
                    &tables.waves,
                    &tables.table,
                    h,
                    g,
                )
            };
        }
        let tile = self.options.rule.tile();
        let range = self.launch(&self.centres, self.cols.div_ceil(tile));
        let columns = match self.context().family() {
            KernelFamily::Cpu => 1,
            KernelFamily::Gpu => COLUMNS * self.local(),
        };
        // SAFETY: `centres` has three rows of `stride`, `statics` 15; `spheres` 4 numbers and `quadrature` the points of each element;
        // `tables` cover all distances; h and g 3 rows x 3 cols numbers, which nobody else uses meanwhile.
        unsafe {
            program.local(self.local() as u64).assemble(
                self.context(),
                range,
                self.centres.count,
                self.cols,
                self.centres.stride,
                self.first,
                tile as u32,
                count0 + count1 + count2,
                count0,
                count1,
                count2,
                self.limits[0],
                self.limits[1],
                &self.centres.values,
                &self.spheres,
                &self.quadrature,
                &self.statics,
                &tables.waves,
                &tables.table,
                h,
                g,
                columns,
            )
        }
    }
}

/// Memory of H and G with the given numbers of block rows and block columns, in bytes.
pub(super) fn matrix_bytes<S: ComplexScalar>([rows, cols]: [usize; 2]) -> u64 {
    [rows, cols].into_iter().fold(4 * 9 * S::PRECISION.bytes() as u64, |bytes, n| bytes.saturating_mul(n as u64))
}

/// Fails if H and G with the given numbers of block rows and block columns need more memory than the device has left.
pub(super) fn check_memory<S: ComplexScalar>(context: &Context, shape: [usize; 2]) -> Result<()> {
    let (bytes, info, used) = (matrix_bytes::<S>(shape), context.device(), context.memory().live_bytes);
    let why = if used.saturating_add(bytes) > info.global_mem {
        format!("{used} of its {} bytes are in use", info.global_mem)
    } else if bytes / 2 > info.max_alloc {
        format!("its largest single allocation is {} bytes", info.max_alloc)
    } else {
        return Ok(());
    };
    let limit = format!(
        "H and G need that much memory, {why}; products on the fly store neither, several devices share the rows"
    );
    Err(Error::Allocation { bytes, device: info.name.clone(), limit })
}

impl<S: ComplexScalar> Assembly<S> {
    /// H, 3 m x 3 m: row 3 i + l for a force in the direction l at the centre of element i, column 3 j + k for the displacement k on
    /// element j (no unit).
    pub fn h(&self) -> &Dense<S> {
        &self.h
    }

    /// G as [`Assembly::h`], its columns for tractions (length per stress).
    pub fn g(&self) -> &Dense<S> {
        &self.g
    }

    /// The angular frequency.
    pub fn frequency(&self) -> f64 {
        self.frequency
    }

    /// |H u - G t| / |G t| for `displacements` u and `tractions` t, 3 numbers for each element with columns.
    ///
    /// # Errors
    /// [`Error::Length`]; those of the products.
    pub fn residual(&self, displacements: &[C64], tractions: &[C64]) -> Result<f64> {
        let [difference, size] = self.norms(displacements, tractions)?;
        Ok(difference / size)
    }

    /// |H u - G t| and |G t|.
    pub(super) fn norms(&self, displacements: &[C64], tractions: &[C64]) -> Result<[f64; 2]> {
        let context = self.h.context();
        let upload = |argument: &'static str, values: &[C64]| {
            let (expected, got) = (self.h.cols(), values.len());
            if got != expected {
                return Err(Error::Length { argument, expected, got });
            }
            Vector::from_slice(context, &values.iter().map(|&v| narrow::<S>(v)).collect::<Vec<_>>())
        };
        let (u, t) = (upload("displacements", displacements)?, upload("tractions", tractions)?);
        let mut y = Vector::zeros(context, self.h.rows())?;
        ops::mv(S::one(), &self.g, &t, S::zero(), &mut y)?;
        let size = ops::norm2(&y)?;
        ops::mv(S::one(), &self.h, &u, -S::one(), &mut y)?;
        Ok([ops::norm2(&y)?.into_f64(), size.into_f64()])
    }

    /// The system for what `conditions` leave unknown, in the memory of H and G.
    ///
    /// # Errors
    /// [`Error::Length`] unless there are conditions for m elements; [`Error::Shape`] where H and G are not square.
    pub fn system(self, conditions: &Conditions) -> Result<System<S>> {
        let (rows, cols) = (self.h.rows(), self.h.cols());
        if rows != cols {
            let expected = "square H and G, of all rows and no enclosing elements".into();
            return Err(Error::Shape { argument: "h", expected, got: format!("{rows} x {cols}") });
        }
        self.exchange(conditions)?;
        Ok(System::new(self.h, self.g, conditions.clone(), self.shear, self.frequency))
    }

    /// H becomes the matrix of what `conditions` leave unknown, G that of what they give.
    pub(super) fn exchange(&self, conditions: &Conditions) -> Result<()> {
        let (rows, cols) = (self.h.rows(), self.h.cols());
        let known = conditions.flags();
        if known.len() != cols {
            return Err(Error::Length { argument: "conditions", expected: cols / 3, got: known.len() / 3 });
        }
        let context = self.h.context();
        let known = Buffer::from_slice(context, &known)?;
        let range = Range::d2([rows, cols], [items(context), 1]);
        // SAFETY: h and g have rows x cols numbers, `known` has cols; nobody else has h and g.
        unsafe {
            Program::<S>::new().exchange_columns(
                context,
                range,
                rows,
                cols,
                <S::Real as Scalar>::from_f64(self.shear),
                &known,
                Out::shared(self.h.as_vector().buffer()),
                Out::shared(self.g.as_vector().buffer()),
            )
        }
    }

    /// H and G themselves.
    pub fn into_matrices(self) -> [Dense<S>; 2] {
        [self.h, self.g]
    }

    /// The blocks of rows of several devices as matrices of `context`, over the host's memory.
    pub(super) fn join(blocks: &[Assembly<S>], context: &Context) -> Result<Assembly<S>> {
        let first = &blocks[0];
        let cols = first.h.cols();
        let rows: usize = blocks.iter().map(|block| block.h.rows()).sum();
        let whole = |of: fn(&Assembly<S>) -> &Dense<S>| {
            let parts = blocks.iter().map(|block| of(block).to_column_major()).collect::<Result<Vec<_>>>()?;
            let mut values = Vec::with_capacity(rows * cols);
            for j in 0..cols {
                for part in &parts {
                    let height = part.len() / cols;
                    values.extend_from_slice(&part[j * height..(j + 1) * height]);
                }
            }
            Dense::from_column_major(context, rows, cols, &values)
        };
        let [h, g] = [whole(|a| &a.h)?, whole(|a| &a.g)?];
        Ok(Assembly { h, g, shear: first.shear, frequency: first.frequency, _tables: None })
    }
}
