//! H and G on the device.

use clinalg::runtime::{Out, Range};
use clinalg::{Buffer, Context, Dense, Error, KernelFamily, Real, Result, Scalar, Vector, ops};

use super::radial::Tables;
use super::{C64, ComplexScalar, Conditions, Problem, Rule, System, narrow};
use crate::kernels::bem_elasto::Program;

/// As in `bem_elasto.cl`: items of a group for each pair, as many as points of the usual rule.
const PAIRWISE: usize = 64;

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
        self.check_memory()?;
        let tables = self.tables(frequency, &self.centres)?;
        // SAFETY: the kernels write every block; where their launch fails, the matrices are dropped unread.
        let make = || unsafe { Dense::uninit_unchecked(self.context(), 3 * self.centres.count, 3 * self.cols) };
        let made = Assembly { h: make()?, g: make()?, shear: self.material().shear(), frequency };
        self.fill(algorithm, &tables, &made)?;
        Ok(made)
    }

    /// As [`Problem::assemble_by`] in the memory of `assembly`, such as that of another frequency.
    ///
    /// # Errors
    /// As [`Problem::assemble_by`]; [`Error::Shape`] for an assembly of another size, [`Error::Context`] for one of another context. After an error
    /// `assembly` is what it was.
    pub fn assemble_into(&self, algorithm: Algorithm, frequency: f64, assembly: &mut Assembly<S>) -> Result<()> {
        self.check(algorithm)?;
        let (wanted, got) = ((3 * self.centres.count, 3 * self.cols), (assembly.h.rows(), assembly.h.cols()));
        if wanted != got {
            let (expected, got) = (format!("{} x {}", wanted.0, wanted.1), format!("{} x {}", got.0, got.1));
            return Err(Error::Shape { argument: "assembly", expected, got });
        }
        if !assembly.h.context().same(self.context()) {
            return Err(Error::Context { argument: "assembly" });
        }
        let tables = self.tables(frequency, &self.centres)?;
        self.fill(algorithm, &tables, assembly)?;
        (assembly.shear, assembly.frequency) = (self.material().shear(), frequency);
        Ok(())
    }

    fn check(&self, algorithm: Algorithm) -> Result<()> {
        if algorithm == Algorithm::Pairwise && self.options.rule == Rule::Adaptive {
            return Err(Error::value("algorithm", "Tiled for adaptive rules", "Pairwise"));
        }
        Ok(())
    }

    /// An error where H and G together are more than the device has left.
    fn check_memory(&self) -> Result<()> {
        let (bytes, info, used) = (self.matrix_bytes(), self.context().device(), self.context().memory().live_bytes);
        if used.saturating_add(bytes) <= info.global_mem {
            return Ok(());
        }
        let limit = format!(
            "H and G take so much, {used} of its {} bytes are in use; products on the fly store neither, several devices share the rows",
            info.global_mem
        );
        Err(Error::Allocation { bytes, device: info.name.clone(), limit })
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
            )
        }
    }
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
        let local = if context.family() == KernelFamily::Cpu { 8 } else { GROUP.min(context.local()) };
        let range = Range::d2([rows, cols], [local, 1]);
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
        Ok(Assembly { h: whole(|a| &a.h)?, g: whole(|a| &a.g)?, shear: first.shear, frequency: first.frequency })
    }
}

/// Items of a group that exchanges columns.
const GROUP: usize = 256;
