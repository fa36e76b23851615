//! Products with H and G without storing them.

use std::f64::consts::PI;

use clinalg::runtime::{Out, Range};
use clinalg::solve::{Gmres, GmresParams, Operator, Progress, Report, Solver};
use clinalg::{Buffer, Context, Error, Real, Result, Scalar, Vector, ops};

use super::problem::{Places, items};
use super::radial::Tables;
use super::{C64, ComplexScalar, Conditions, Problem, Solution, narrow};
use crate::kernels::bem_elasto_fields::{Gradients, Program};

/// Items that a launch has about, all parts together, where there are enough elements.
const ITEMS: usize = 1 << 18;

/// The sums of a field over the elements at each of some places.
#[derive(Debug)]
pub(super) struct Sums<S: ComplexScalar> {
    tables: Tables<S>,
    partial: Buffer<S::Real>,
    parts: usize,
}

/// What is summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quantity {
    /// H u - G t.
    Product,
    /// The derivatives of G t - H u.
    Gradient,
}

impl Quantity {
    /// Complex numbers for each place.
    pub(super) fn count(self) -> usize {
        match self {
            Quantity::Product => 3,
            Quantity::Gradient => 9,
        }
    }
}

impl<S: ComplexScalar> Sums<S> {
    pub(super) fn new(problem: &Problem<S>, places: &Places<S>, quantity: Quantity, frequency: f64) -> Result<Sums<S>> {
        let parts = (ITEMS / places.stride).clamp(1, problem.mesh().boundary());
        Ok(Sums {
            tables: problem.tables(frequency, places)?,
            partial: Buffer::zeroed(problem.context(), parts * 2 * quantity.count() * places.stride)?,
            parts,
        })
    }
}

impl<S: ComplexScalar> Problem<S> {
    /// y = alpha (the sums of `fields` at `places`, the first of which is the centre of element `shift`) + beta y.
    pub(super) fn sum(
        &self,
        sums: &Sums<S>,
        (places, shift, quantity): (&Places<S>, usize, Quantity),
        fields: &Buffer<S>,
        [alpha, beta]: [S; 2],
        y: &Vector<S>,
    ) -> Result<()> {
        let (context, cols) = (self.context(), self.mesh().boundary());
        let range = self.launch(places, sums.parts);
        let [count0, count1, count2] = self.counts;
        let rows = Range::d1(places.count, items(context));
        macro_rules! launch {
            ($program:expr) => {
                // SAFETY: as for `assemble`; `fields` has 12 numbers for each element with unknowns, `partial` two rows of `stride` for each quantity and
                // part, y a number for each quantity and place. Nobody else uses `partial` and y while the call enqueues.
                unsafe {
                    $program.sum_fields(
                        context,
                        range,
                        cols,
                        sums.parts,
                        places.stride,
                        shift,
                        count0 + count1 + count2,
                        count0,
                        count1,
                        count2,
                        self.limits[0],
                        self.limits[1],
                        &places.values,
                        &self.spheres,
                        &self.quadrature,
                        &sums.tables.waves,
                        &sums.tables.table,
                        fields,
                        Out::shared(&sums.partial),
                    )?;
                    $program.join_parts(
                        context,
                        rows,
                        places.count,
                        cols,
                        sums.parts,
                        places.stride,
                        shift,
                        alpha,
                        beta,
                        &sums.partial,
                        &self.statics,
                        fields,
                        Out::shared(y.buffer()),
                    )
                }
            };
        }
        match quantity {
            Quantity::Product => launch!(Program::<S>::new().local(self.local() as u64)),
            Quantity::Gradient => launch!(Gradients::<S>::new().local(self.local() as u64)),
        }
    }
}

/// The system of [`System`](super::System) without its matrices, whose products are summed over the Gauss points each time: memory grows with
/// the number of elements, not with its square.
#[derive(Debug)]
pub struct OnTheFly<'p, S: ComplexScalar> {
    problem: &'p Problem<S>,
    conditions: Conditions,
    known: Buffer<u32>,
    sums: Sums<S>,
    fields: Buffer<S>,
    frequency: f64,
}

impl<S: ComplexScalar> Problem<S> {
    /// The system for what `conditions` leave unknown at the angular frequency `frequency`, for GMRES without stored matrices.
    ///
    /// # Errors
    /// [`Error::Length`] unless there are conditions for m elements; those of [`Problem::assemble`].
    pub fn on_the_fly(&self, frequency: f64, conditions: &Conditions) -> Result<OnTheFly<'_, S>> {
        let (context, m) = (self.context(), self.mesh().boundary());
        if conditions.len() != m {
            return Err(Error::Length { argument: "conditions", expected: m, got: conditions.len() });
        }
        Ok(OnTheFly {
            problem: self,
            conditions: conditions.clone(),
            known: Buffer::from_slice(context, &conditions.flags())?,
            sums: Sums::new(self, &self.centres, Quantity::Product, frequency)?,
            fields: Buffer::zeroed(context, 6 * m)?,
            frequency,
        })
    }
}

impl<S: ComplexScalar> OnTheFly<'_, S> {
    /// y = alpha M x + beta y, M the matrix of the unknowns or, if `given`, that of the given values.
    pub(super) fn multiply(&self, given: bool, [alpha, beta]: [S; 2], x: &Vector<S>, y: &Vector<S>) -> Result<()> {
        let (problem, context) = (self.problem, self.problem.context());
        let count = self.cols();
        let (expected, rows) = ([count, self.rows()], [x.len(), y.len()]);
        for (argument, (expected, got)) in ["x", "y"].into_iter().zip(expected.into_iter().zip(rows)) {
            if got != expected {
                return Err(Error::Length { argument, expected, got });
            }
        }
        // SAFETY: `known` and x have a number for each column, `fields` two for each; nobody else uses `fields`.
        unsafe {
            Program::<S>::new().spread_columns(
                context,
                Range::d1(count, items(context)),
                count,
                u32::from(given),
                <S::Real as Scalar>::from_f64(problem.material().shear()),
                &self.known,
                &self.sums.tables.waves,
                x.buffer(),
                Out::shared(&self.fields),
            )?;
        }
        let alpha = if given { -alpha } else { alpha };
        let what = (&problem.centres, problem.first, Quantity::Product);
        problem.sum(&self.sums, what, &self.fields, [alpha, beta], y)
    }

    /// The right-hand side of `given` values on the rows of the problem.
    pub(super) fn right(&self, given: &[C64]) -> Result<Vector<S>> {
        let (context, expected) = (self.problem.context(), self.cols());
        if given.len() != expected {
            return Err(Error::Length { argument: "given", expected, got: given.len() });
        }
        let given = Vector::from_slice(context, &given.iter().map(|&v| narrow::<S>(v)).collect::<Vec<_>>())?;
        let b = Vector::zeros(context, self.rows())?;
        self.multiply(true, [S::one(), S::zero()], &given, &b)?;
        Ok(b)
    }

    /// As [`System::gmres`](super::System::gmres).
    ///
    /// # Errors
    /// As there; [`Error::Shape`] where the problem has not all rows.
    pub fn gmres(&self, given: &[C64], params: GmresParams, progress: Progress<'_>) -> Result<(Solution, Report)> {
        let (context, size) = (self.problem.context(), self.rows());
        let b = self.right(given)?;
        let mut x = Vector::zeros(context, size)?;
        let report = Gmres::new(context, size, params)?.solve_with(self, None, &b, &mut x, progress)?;
        let shear = self.problem.material().shear();
        Ok((self.conditions.solution(&x.to_vec()?, given, shear, self.frequency), report))
    }
}

impl<S: ComplexScalar> Operator<S> for OnTheFly<'_, S> {
    fn rows(&self) -> usize {
        3 * self.problem.rows().len()
    }

    fn cols(&self) -> usize {
        3 * self.problem.mesh().boundary()
    }

    fn context(&self) -> &Context {
        self.problem.context()
    }

    fn apply(&self, alpha: S, x: &Vector<S>, beta: S, y: &mut Vector<S>) -> Result<()> {
        self.multiply(false, [alpha, beta], x, y)
    }
}

impl<S: ComplexScalar> Problem<S> {
    /// |H u - G t| and |G t| on the rows of the problem.
    pub(super) fn norms(&self, frequency: f64, displacements: &[C64], tractions: &[C64]) -> Result<[f64; 2]> {
        let size = 3 * self.mesh().boundary();
        for (argument, values) in [("displacements", displacements), ("tractions", tractions)] {
            if values.len() != size {
                return Err(Error::Length { argument, expected: size, got: values.len() });
            }
        }
        let sums = Sums::new(self, &self.centres, Quantity::Product, frequency)?;
        let y = Vector::zeros(self.context(), 3 * self.centres.count)?;
        let norm = |u: &[C64]| {
            let fields = fields(self, u, tractions)?;
            let what = (&self.centres, self.first, Quantity::Product);
            self.sum(&sums, what, &fields, [S::one(), S::zero()], &y)?;
            Ok(ops::norm2(&y)?.into_f64())
        };
        Ok([norm(displacements)?, norm(&vec![C64::default(); size])?])
    }
}

/// What [`Problem::sum`] takes of `displacements` and `tractions`.
pub(super) fn fields<S: ComplexScalar>(
    problem: &Problem<S>,
    displacements: &[C64],
    tractions: &[C64],
) -> Result<Buffer<S>> {
    let factor = (problem.material().complex_shear() * 4.0 * PI).inv();
    let pairs = displacements.chunks_exact(3).zip(tractions.chunks_exact(3));
    let values = pairs.flat_map(|(u, t)| {
        u.iter().map(|v| v / (4.0 * PI)).chain(t.iter().map(|v| v * factor)).map(narrow::<S>).collect::<Vec<_>>()
    });
    Buffer::from_slice(problem.context(), &values.collect::<Vec<_>>())
}
