//! Rows distributed over several devices.

use std::cell::RefCell;

use clinalg::solve::{Gmres, GmresParams, KrylovMemory, Operator, Progress, Report, Resumable, Solver};
use clinalg::{Context, Dense, Error, Result, Vector, ops};

use super::assemble::check_memory;
use super::{
    Algorithm, Assembly, C64, ComplexScalar, Conditions, Domain, Material, Memory, OnTheFly, Options, Problem, Solution,
};
use crate::ElementMesh;
use crate::elastodynamics::narrow;

/// A problem whose rows several devices share: each has about as many boundary elements' rows as the others, and all Gauss points.
#[derive(Debug)]
pub struct Shared<S: ComplexScalar> {
    parts: Vec<Problem<S>>,
}

/// H and G in blocks of rows, one on each device.
#[derive(Debug)]
pub struct SharedAssembly<S: ComplexScalar> {
    blocks: Vec<Assembly<S>>,
    shear: f64,
}

/// The system of [`System`](super::System) in blocks of rows, for GMRES, whose vectors are on the first device. A product sends the vector to all
/// devices over the host, and its parts back.
#[derive(Debug)]
pub struct SharedSystem<'p, S: ComplexScalar> {
    context: Context,
    rows: Vec<Rows<'p, S>>,
    conditions: Conditions,
    shear: f64,
    frequency: f64,
    work: RefCell<Work<S>>,
}

/// The rows of one device.
#[derive(Debug)]
enum Rows<'p, S: ComplexScalar> {
    Stored { matrix: Dense<S>, given: Dense<S> },
    OnTheFly(OnTheFly<'p, S>),
}

/// The vectors of a product.
#[derive(Debug)]
struct Work<S: ComplexScalar> {
    host: Vec<S>,
    x: Vec<Vector<S>>,
    y: Vec<Vector<S>>,
    joined: Vector<S>,
}

impl<S: ComplexScalar> Shared<S> {
    /// The problem on `contexts`, each of its own device; Gauss points are computed once.
    ///
    /// # Errors
    /// As [`Problem::new`]; [`Error::Value`] without a context or with more contexts than boundary elements.
    pub fn new(
        contexts: &[Context],
        mesh: &ElementMesh,
        material: Material,
        domain: Domain,
        options: &Options,
    ) -> Result<Shared<S>> {
        if contexts.is_empty() {
            return Err(Error::value("contexts", "at least one", 0));
        }
        Ok(Shared { parts: Problem::on_each(contexts, mesh, material, domain, options)? })
    }

    /// Fails if H and G of the problem need more memory than one of the `contexts` has left. Unlike setting up the problem, this check takes no time.
    ///
    /// # Errors
    /// [`Error::Allocation`] with the memory of H and G; [`Error::Value`] for rows that the mesh does not have, or for more contexts than rows.
    pub fn check_memory(contexts: &[Context], mesh: &ElementMesh, options: &Options) -> Result<()> {
        let rows = options.share(mesh, contexts.len())?;
        let mut each = contexts.iter().zip(rows);
        each.try_for_each(|(context, rows)| check_memory::<S>(context, [rows.len(), options.cols(mesh)]))
    }

    /// The rows of each device. Any of them evaluates fields in the material.
    pub fn parts(&self) -> &[Problem<S>] {
        &self.parts
    }

    /// H and G at the angular frequency `frequency`, enqueued on all devices.
    ///
    /// # Errors
    /// As [`Problem::assemble_by`].
    pub fn assemble_by(&self, algorithm: Algorithm, frequency: f64) -> Result<SharedAssembly<S>> {
        self.joined(self.parts.iter().map(|part| part.assemble_by(algorithm, frequency)))
    }

    /// As [`Shared::assemble_by`], but reuses the memory of an earlier assembly or system, one entry per device. If `memory` is empty, new memory is
    /// allocated.
    ///
    /// # Errors
    /// As [`Problem::assemble_in`]; [`Error::Value`] if `memory` covers only some of the devices.
    pub fn assemble_in(
        &self,
        algorithm: Algorithm,
        frequency: f64,
        memory: Vec<Memory<S>>,
    ) -> Result<SharedAssembly<S>> {
        if memory.is_empty() {
            return self.assemble_by(algorithm, frequency);
        }
        let (expected, got) = (self.parts.len(), memory.len());
        if expected != got {
            return Err(Error::value("memory", format!("that of {expected} devices, or none"), got));
        }
        let each = self.parts.iter().zip(memory);
        self.joined(each.map(|(part, memory)| part.assemble_in(algorithm, frequency, memory)))
    }

    fn joined(&self, blocks: impl Iterator<Item = Result<Assembly<S>>>) -> Result<SharedAssembly<S>> {
        // Flush each queue: a device may not start before, and the host waits for the devices one after the other.
        let begun = |block: Result<Assembly<S>>| {
            let block = block?;
            block.h().context().queue().flush()?;
            Ok(block)
        };
        Ok(SharedAssembly {
            blocks: blocks.map(begun).collect::<Result<_>>()?,
            shear: self.parts[0].material().shear(),
        })
    }

    /// |H u - G t| / |G t| for `displacements` u and `tractions` t, 3 numbers for each boundary element, without stored matrices.
    ///
    /// # Errors
    /// [`Error::Length`]; those of [`Problem::assemble`].
    pub fn residual(&self, frequency: f64, displacements: &[C64], tractions: &[C64]) -> Result<f64> {
        let mut sums = [0.0; 2];
        for part in &self.parts {
            let norms = part.norms(frequency, displacements, tractions)?;
            (0..2).for_each(|k| sums[k] += norms[k] * norms[k]);
        }
        Ok((sums[0] / sums[1]).sqrt())
    }

    /// The system for what `conditions` leave unknown, without stored matrices.
    ///
    /// # Errors
    /// As [`Problem::on_the_fly`].
    pub fn on_the_fly(&self, frequency: f64, conditions: &Conditions) -> Result<SharedSystem<'_, S>> {
        let rows = self.parts.iter().map(|part| part.on_the_fly(frequency, conditions).map(Rows::OnTheFly));
        SharedSystem::new(rows.collect::<Result<_>>()?, conditions, self.parts[0].material().shear(), frequency)
    }
}

impl<S: ComplexScalar> SharedAssembly<S> {
    /// The rows of each device.
    pub fn blocks(&self) -> &[Assembly<S>] {
        &self.blocks
    }

    /// The memory of H and G on each device.
    pub fn into_memory(self) -> Vec<Memory<S>> {
        self.blocks.into_iter().map(Memory::from).collect()
    }

    /// As [`Assembly::residual`] over the rows of all devices.
    ///
    /// # Errors
    /// As there.
    pub fn residual(&self, displacements: &[C64], tractions: &[C64]) -> Result<f64> {
        let mut sums = [0.0; 2];
        for block in &self.blocks {
            let norms = block.norms(displacements, tractions)?;
            (0..2).for_each(|k| sums[k] += norms[k] * norms[k]);
        }
        Ok((sums[0] / sums[1]).sqrt())
    }

    /// H and G on the first device, for its LU factors; blocks of several devices pass through the host.
    ///
    /// # Errors
    /// [`Error::Allocation`]; those of the transfers.
    pub fn join(mut self) -> Result<Assembly<S>> {
        if self.blocks.len() == 1
            && let Some(block) = self.blocks.pop()
        {
            return Ok(block);
        }
        Assembly::join(&self.blocks, self.blocks[0].h().context())
    }

    /// The system for what `conditions` leave unknown, in the memory of H and G.
    ///
    /// # Errors
    /// As [`Assembly::system`].
    pub fn system(self, conditions: &Conditions) -> Result<SharedSystem<'static, S>> {
        let frequency = self.blocks[0].frequency();
        let stored = |block: Assembly<S>| {
            block.exchange(conditions)?;
            let [matrix, given] = block.into_matrices();
            Ok(Rows::Stored { matrix, given })
        };
        let rows = self.blocks.into_iter().map(stored).collect::<Result<_>>()?;
        SharedSystem::new(rows, conditions, self.shear, frequency)
    }
}

impl<S: ComplexScalar> Rows<'_, S> {
    fn operator(&self) -> &dyn Operator<S> {
        match self {
            Rows::Stored { matrix, .. } => matrix,
            Rows::OnTheFly(rows) => rows,
        }
    }

    /// The right-hand side of `given` values.
    fn right(&self, given: &[C64]) -> Result<Vector<S>> {
        match self {
            Rows::OnTheFly(rows) => rows.right(given),
            Rows::Stored { given: matrix, .. } => {
                if given.len() != matrix.cols() {
                    return Err(Error::Length { argument: "given", expected: matrix.cols(), got: given.len() });
                }
                let values: Vec<S> = given.iter().map(|&v| narrow(v)).collect();
                let values = Vector::from_slice(matrix.context(), &values)?;
                let mut b = Vector::zeros(matrix.context(), matrix.rows())?;
                ops::mv(S::one(), matrix, &values, S::zero(), &mut b)?;
                Ok(b)
            }
        }
    }
}

impl<'p, S: ComplexScalar> SharedSystem<'p, S> {
    fn new(rows: Vec<Rows<'p, S>>, conditions: &Conditions, shear: f64, frequency: f64) -> Result<SharedSystem<'p, S>> {
        let context = rows[0].operator().context().clone();
        let cols = rows[0].operator().cols();
        let total: usize = rows.iter().map(|part| part.operator().rows()).sum();
        if total != cols {
            let expected = "square H and G, of all rows and no enclosing elements".into();
            return Err(Error::Shape { argument: "h", expected, got: format!("{total} x {cols}") });
        }
        let vector = |part: &Rows<'p, S>, len| Vector::zeros(part.operator().context(), len);
        let x = rows.iter().map(|part| vector(part, cols)).collect::<Result<_>>()?;
        let y = rows.iter().map(|part| vector(part, part.operator().rows())).collect::<Result<_>>()?;
        let joined = Vector::zeros(&context, cols)?;
        let work = RefCell::new(Work { host: vec![S::zero(); cols], x, y, joined });
        Ok(SharedSystem { context, rows, conditions: conditions.clone(), shear, frequency, work })
    }

    /// The memory of the stored matrices on each device; empty for products on the fly.
    pub fn into_memory(self) -> Vec<Memory<S>> {
        let stored = |rows| match rows {
            Rows::Stored { matrix, given } => Some(Memory { h: matrix, g: given }),
            Rows::OnTheFly(_) => None,
        };
        self.rows.into_iter().filter_map(stored).collect()
    }

    /// As [`System::gmres`](super::System::gmres).
    ///
    /// # Errors
    /// As there.
    pub fn gmres(&self, given: &[C64], params: GmresParams, progress: Progress<'_>) -> Result<(Solution, Report)> {
        self.solve(given, params, |mut solver, b, x| solver.solve_with(self, None, b, x, progress))
    }

    /// As [`SharedSystem::gmres`]; continues with `memory`, and leaves there what [`Resumable::solve_from`] leaves.
    ///
    /// # Errors
    /// As there; those of [`Resumable::solve_from`].
    pub fn gmres_from(
        &self,
        memory: &mut KrylovMemory<S>,
        given: &[C64],
        params: GmresParams,
        progress: Progress<'_>,
    ) -> Result<(Solution, Report)> {
        self.solve(given, params, |mut solver, b, x| solver.solve_from(memory, self, None, b, x, progress))
    }

    fn solve(
        &self,
        given: &[C64],
        params: GmresParams,
        by: impl FnOnce(Gmres<S>, &Vector<S>, &mut Vector<S>) -> Result<Report>,
    ) -> Result<(Solution, Report)> {
        let parts = self.rows.iter().map(|part| part.right(given)).collect::<Result<Vec<_>>>()?;
        let mut b = Vec::with_capacity(self.cols());
        for part in &parts {
            b.extend(part.to_vec()?);
        }
        let b = Vector::from_slice(&self.context, &b)?;
        let mut x = Vector::zeros(&self.context, self.rows())?;
        let report = by(Gmres::new(&self.context, self.rows(), params)?, &b, &mut x)?;
        Ok((self.conditions.solution(&x.to_vec()?, given, self.shear, self.frequency), report))
    }
}

impl<S: ComplexScalar> Operator<S> for SharedSystem<'_, S> {
    fn rows(&self) -> usize {
        self.cols()
    }

    fn cols(&self) -> usize {
        self.rows[0].operator().cols()
    }

    fn context(&self) -> &Context {
        &self.context
    }

    fn apply(&self, alpha: S, x: &Vector<S>, beta: S, y: &mut Vector<S>) -> Result<()> {
        if let [only] = &self.rows[..] {
            return only.operator().apply(alpha, x, beta, y);
        }
        let mut work = self.work.borrow_mut();
        let Work { host, x: copies, y: parts, joined } = &mut *work;
        x.read(host)?;
        // All devices begin before the host waits for the first one.
        for ((rows, copy), part) in self.rows.iter().zip(&mut *copies).zip(&mut *parts) {
            copy.write(host)?;
            rows.operator().apply(S::one(), copy, S::zero(), part)?;
            copy.context().queue().flush()?;
        }
        let mut start = 0;
        for part in parts.iter() {
            part.read(&mut host[start..start + part.len()])?;
            start += part.len();
        }
        joined.write(host)?;
        ops::update(alpha, joined, beta, y)
    }
}
