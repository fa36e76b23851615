//! Algebraic multigrid: a hierarchy from the matrix alone.
//!
//! Smoothed aggregation (Vanek, Mandel and Brezina, Computing 56 (1996) 179-196): unknowns that are strongly connected are grouped around a
//! maximal independent set of distance two; a prolongator that reproduces the near-null space on each group is smoothed by a step of Jacobi.
//! Classical coarsening (De Sterck, Falgout, Nolting and Yang, Numer. Linear Algebra Appl. 15 (2008) 115-139): a maximal independent set of the
//! unknowns is the coarser level; the others are interpolated from those near to them. [`Coarsening::Auto`] chooses from the matrix. Coarser
//! matrices are Galerkin products. Everything except the inverse of the coarsest matrix, of a few hundred rows, is computed on the device, with the same bits in
//! every call.

mod aggregate;
mod choice;
mod classical;
mod clock;
mod colours;
mod cycle;
mod host;
mod multipass;
mod params;
mod prolongator;
mod real_form;
mod report;
mod setup;
mod smoothing;

pub(crate) use cycle::Step;
pub(crate) use host::HostLevel;
pub use params::{AmgParams, Coarsening, Cycle, Smoother};
pub use prolongator::rigid_motions;
pub use report::{AmgLevel, AmgPhase, AmgReport, AmgTrial};

use std::fmt;
use std::time::Instant;

use clock::Clock;
use cycle::{Plan, visit};
use prolongator::NearNull;
use real_form::RealForm;
use setup::{Coarsest, Level};

use crate::error::check_length;
use crate::matrix::Values;
use crate::matrix::host::check_finite;
use crate::ops::items;
use crate::runtime::kernels::{amg_cycle, amg_setup};
use crate::runtime::{In, Out, Reuse};
use crate::solve::{Operator, Preconditioner};
use crate::{Buffer, Context, Csr, Error, Real, Result, Scalar, Vector, ops};

/// Algebraic multigrid for a sparse matrix: one cycle from 0 as an approximate inverse.
///
/// For symmetric positive definite matrices the cycle is symmetric and positive definite, as conjugate gradients need. With
/// [`Richardson`](crate::solve::Richardson) it is a solver in its own right. A singular matrix whose null space is spanned by near-null vectors is
/// accepted as well; its systems have solutions where the right-hand side is orthogonal to the null space.
///
/// A complex matrix, such as a Hermitian positive definite one, is coarsened by aggregation, with the smoothers except Gauss-Seidel. Its hierarchy is
/// that of a real matrix with a row for each real and each imaginary part, which [`AmgParams::coarse_size`] counts, and takes twice the memory of a complex
/// one. The default near-null vectors are constants: if those of the matrix are not, as for a magnetic field, pass them to
/// [`with_near_null`](Amg::with_near_null).
///
/// ```
/// use clinalg::amg::{Amg, AmgParams};
/// use clinalg::solve::{Cg, CgParams, Solver};
/// use clinalg::{Context, Csr, Vector};
///
/// let (context, n) = (Context::global()?, 1000_usize);
/// let entry = |i: usize, j: usize| (i, j, if i == j { 2.0 } else { -1.0 });
/// let entries: Vec<_> =
///     (0..n).flat_map(|i| [i.checked_sub(1), Some(i), (i + 1 < n).then_some(i + 1)].into_iter().flatten().map(move |j| entry(i, j))).collect();
/// let a = Csr::from_triplets(&context, n, n, &entries)?;
/// let mut m = Amg::new(&a, &AmgParams::default())?;
/// println!("{}", m.report());
/// let (b, mut x) = (Vector::filled(&context, n, 1.0)?, Vector::zeros(&context, n)?);
/// let report = Cg::new(&context, n, CgParams::default())?.solve(&a, Some(&mut m), &b, &mut x)?;
/// assert!(report.stop.is_success() && report.iterations < 40);
/// # Ok::<(), clinalg::Error>(())
/// ```
pub struct Amg<T: Scalar> {
    params: AmgParams,
    hierarchy: Hierarchy<T::Real>,
    report: AmgReport,
    /// Whether a failed refill has left values of two matrices.
    is_mixed: bool,
}

enum Hierarchy<T: Real> {
    Own(Levels<T>),
    /// With vectors for the converted operands.
    Single {
        levels: Levels<f32>,
        r: Vector<f32>,
        z: Vector<f32>,
        context: Context,
    },
}

struct Levels<T: Real> {
    levels: Vec<Level<T>>,
    end: Coarsest<T>,
    /// Of the coarsest level.
    near: NearNull<T>,
}

impl<T: Scalar> fmt::Debug for Amg<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Amg").field("params", &self.params).field("report", &self.report).finish_non_exhaustive()
    }
}

impl<T: Real> Levels<T> {
    fn cycle(&mut self, plan: Plan, b: &Vector<T>, x: &mut Vector<T>) -> Result<()> {
        visit(&mut self.levels, &self.end, plan, b, x, true)
    }
}

impl<T: Scalar> Amg<T> {
    /// The hierarchy for `a` with constant near-null vectors, one for each unknown of a node.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `a` is square; [`Error::Value`] for parameters out of range; [`Error::Unsuitable`] for a diagonal entry that is
    /// zero (the row is named), an entry that is not finite (row and column are named), a matrix that does not coarsen or is singular;
    /// [`Error::Allocation`].
    pub fn new(a: &Csr<T>, params: &AmgParams) -> Result<Amg<T>> {
        Amg::checked(a, params.block, params)?;
        let form = RealForm::<T>::of(a)?;
        let made = a.context().while_preparing(&setup::kernels(&form, params), || {
            if let (RealForm::Same(a), Coarsening::Auto, 1) = (&form, params.coarsening, params.block) {
                let Amg { params, hierarchy, report, is_mixed } = Amg::<T::Real>::chosen(a, params)?;
                return Ok(Amg { params, hierarchy, report, is_mixed });
            }
            let near = NearNull::constant(a.context(), form.rows(), params.block * T::COMPONENTS)?;
            Amg::build(form.into_own()?, near, params)
        });
        made.or_else(|error| Err(of_entry(a, error)?))
    }

    /// The hierarchy for `a` with `count` near-null vectors, one after the other: vectors that A nearly maps to zero, such as
    /// [`rigid_motions`] for elasticity.
    ///
    /// # Errors
    /// As [`Amg::new`]; [`Error::Length`] unless `vectors` has `count` times the rows of `a`; [`Error::Unsuitable`] for a vector that is zero or not
    /// finite.
    pub fn with_near_null(a: &Csr<T>, vectors: &[T], count: usize, params: &AmgParams) -> Result<Amg<T>> {
        Amg::checked(a, count, params)?;
        if params.coarsening == Coarsening::Classical {
            let expected = "auto or aggregation with given near-null vectors";
            return Err(Error::value("coarsening", expected, "classical"));
        }
        let near = NearNull::given(a.context(), a.rows(), params.block, vectors, count)?;
        let form = RealForm::<T>::of(a)?;
        let kernels = setup::kernels(&form, params);
        let made = a.context().while_preparing(&kernels, || Amg::build(form.into_own()?, near, params));
        made.or_else(|error| Err(of_entry(a, error)?))
    }

    fn checked(a: &Csr<T>, vectors: usize, params: &AmgParams) -> Result<()> {
        params.check()?;
        if T::IS_COMPLEX {
            real_form::check(params)?;
        }
        let (rows, cols) = (a.rows(), a.cols());
        if rows != cols {
            return Err(Error::Shape {
                argument: "a",
                expected: "a square matrix".into(),
                got: format!("{rows} x {cols}"),
            });
        }
        if rows == 0 {
            return Err(Error::Shape { argument: "a", expected: "a matrix with a row".into(), got: "0 x 0".into() });
        }
        if !rows.is_multiple_of(params.block) {
            let expected = format!("a divisor of the {rows} rows");
            return Err(Error::value("block", expected, params.block));
        }
        if params.single && params.reusable {
            return Err(Error::value("reusable", "false where the hierarchy is in single precision", true));
        }
        let needs = Amg::estimated_bytes(a, vectors, params);
        let device = a.context().device();
        let free = device.global_mem.saturating_sub(a.context().memory().live_bytes);
        if needs > free {
            let limit = format!(
                "the hierarchy takes about {needs} bytes while it is made and {free} of {} are free",
                device.global_mem
            );
            return Err(Error::Allocation { bytes: needs, device: device.name.clone(), limit });
        }
        Ok(())
    }

    /// An estimate of the bytes of device memory that a hierarchy with `vectors` near-null vectors (one for each unknown of a node where
    /// none are given) takes while it is set up: 0.9 to 1.3 times what was measured for 5 to 27 points in two and three dimensions, a cloud
    /// of points and elasticity, in both precisions, on PoCL. [`Coarsening::Auto`] counts as aggregation: where the trial of classical
    /// coarsening, of up to 1.7 times as much, does not fit, aggregation is kept.
    pub fn estimated_bytes(a: &Csr<T>, vectors: usize, params: &AmgParams) -> u64 {
        let (parts, value) = (T::COMPONENTS as f64, size_of::<T::Real>() as f64);
        let entry = value + 4.0;
        // Of the real form.
        let (nnz, rows, packed) = (parts * parts * a.nnz() as f64, parts * a.rows() as f64, a.packed_bytes() as f64);
        let packed = packed * parts * parts * entry / (parts * value + 4.0);
        // By entry and by row: prolongator, restriction, products and workspaces on the finest level at their peak.
        let (by_entry, by_row) = match (params.coarsening, params.aggressive) {
            (Coarsening::Classical, true) => (0.79 * entry, 7.8 * entry + 70.0),
            (Coarsening::Classical, false) => (2.54 * entry, 187.0),
            // The prolongator has `vectors` columns for each aggregate, the coarser matrix their square.
            _ => {
                let columns = parts * vectors as f64;
                (0.67 * entry, 8.8 * entry * columns * columns / (parts * params.block as f64) + 6.2 * value + 68.0)
            }
        };
        // What a refill needs.
        let kept = if params.reusable { 1.2 } else { 1.0 };
        // The hierarchy has a copy of the values, in the order of rows and in that of the format.
        (kept * (nnz * (value + by_entry) + rows * by_row) + packed) as u64
    }

    /// The hierarchy of a matrix that is given as its real form.
    fn build(a: Csr<T::Real>, near: NearNull<T::Real>, params: &AmgParams) -> Result<Amg<T>> {
        let started = Instant::now();
        let (context, n) = (a.context().clone(), a.rows());
        // Only kernels use the buffers made here, as `Reuse` requires.
        let _reuse = Reuse::start();
        let mut clock = Clock::new(&context, params.timed);
        let (levels, end, near) = setup::build(a, near, params, &mut clock)?;
        let levels = Levels { levels, end, near };
        let hierarchy = match params.single && size_of::<T::Real>() > size_of::<f32>() {
            false => Hierarchy::Own(levels),
            true => {
                let levels = narrowed(&context, levels, params)?;
                clock.mark("single precision")?;
                let (r, z) = (Vector::uninit(&context, n)?, Vector::uninit(&context, n)?);
                Hierarchy::Single { levels, r, z, context: context.clone() }
            }
        };
        context.finish()?;
        let mut report = match &hierarchy {
            Hierarchy::Own(levels) => AmgReport::of(levels),
            Hierarchy::Single { levels, .. } => AmgReport::of(levels),
        };
        report.count_by(T::COMPONENTS);
        report.classical = params.coarsening == Coarsening::Classical;
        report.aggressive = params.aggressive && report.levels.len() > 1;
        report.seconds = started.elapsed().as_secs_f64();
        report.phases = clock.phases();
        Ok(Amg { params: params.clone(), hierarchy, report, is_mixed: false })
    }

    /// Recomputes the hierarchy for other values at the positions of the matrix it was made for. The aggregates, or the splitting and the pattern
    /// of the interpolation of classical coarsening, are kept. Needs [`AmgParams::reusable`]. After an error the hierarchy has the values that it had
    /// before; if these cannot be restored, because the device fails, it must be refilled before it is applied.
    ///
    /// # Errors
    /// [`Error::Value`] unless the hierarchy is reusable; [`Error::Shape`] for other positions; as [`Amg::new`].
    pub fn refill(&mut self, a: &Csr<T>) -> Result<()> {
        let started = Instant::now();
        let Hierarchy::Own(Levels { levels, end, near }) = &mut self.hierarchy else {
            return Err(Error::value("single", "false for a hierarchy that is refilled", true));
        };
        if !self.params.reusable {
            return Err(Error::value(
                "reusable",
                "true when the hierarchy is created, so that it can be refilled",
                false,
            ));
        }
        let n = levels[0].a.rows() / T::COMPONENTS;
        if (a.rows(), a.cols()) != (n, n) {
            let (expected, got) = (format!("{n} x {n}"), format!("{} x {}", a.rows(), a.cols()));
            return Err(Error::Shape { argument: "a", expected, got });
        }
        let form = RealForm::<T>::of(a)?;
        let _reuse = Reuse::start();
        levels[0].a.check_same(&form, "a")?;
        let mut former = Buffer::uninit(a.context(), form.nnz())?;
        former.copy_from(levels[0].a.values())?;
        let was_mixed = std::mem::replace(&mut self.is_mixed, true);
        if let Err(error) = setup::refill(levels, end, near, form.values(), self.params.relaxation()) {
            setup::refill(levels, end, near, &former, self.params.relaxation())?;
            self.is_mixed = was_mixed;
            return Err(of_entry(a, error)?);
        }
        a.context().finish()?;
        self.is_mixed = false;
        self.report.seconds = started.elapsed().as_secs_f64();
        Ok(())
    }

    /// Levels, sizes and complexities.
    pub fn report(&self) -> &AmgReport {
        &self.report
    }

    /// About the factor by which a single cycle reduces the error: that of the last of several cycles for A x = 0 from an irregular initial guess. Kept in the
    /// report. Below 0.2 is good; near 1 the hierarchy does not suit the matrix.
    ///
    /// # Errors
    /// [`Error::Length`] unless `a` is the matrix of the hierarchy; those of the device.
    pub fn convergence_factor(&mut self, a: &Csr<T>) -> Result<f64> {
        const CYCLES: usize = 8;
        let n = self.size();
        check_length("a", n, a.rows())?;
        let context = a.context();
        let vector = || Vector::<T>::uninit(context, n);
        let (mut x, mut r, mut z) = (vector()?, vector()?, vector()?);
        let parts = n * T::COMPONENTS;
        amg_setup::Program::new().fill_noise(context, items(context, parts), parts, Out::parts(x.buffer()))?;
        let mut norms = [0.0_f64; 2];
        for _ in 0..CYCLES {
            ops::mv(-T::one(), a, &x, T::zero(), &mut r)?;
            norms = [norms[1], ops::norm2(&r)?.into_f64()];
            self.apply(&r, &mut z)?;
            ops::update(T::one(), &z, T::one(), &mut x)?;
        }
        let factor = if norms[0] > 0.0 { norms[1] / norms[0] } else { 0.0 };
        self.report.convergence_factor = Some(factor);
        Ok(factor)
    }
}

/// The error that names the first entry of the matrix that is not finite, if there is one, as it caused `error`; otherwise `error`.
fn of_entry<T: Scalar>(a: &Csr<T>, error: Error) -> Result<Error> {
    if matches!(error, Error::Unsuitable { .. }) {
        check_finite(&a.to_parts()?)?;
    }
    Ok(error)
}

/// The levels in single precision.
fn narrowed<T: Real>(context: &Context, from: Levels<T>, params: &AmgParams) -> Result<Levels<f32>> {
    let mut levels = Vec::with_capacity(from.levels.len());
    for level in from.levels {
        levels.push(level.narrowed(params)?);
    }
    let end = match from.end {
        Coarsest::Smoothed => Coarsest::Smoothed,
        Coarsest::Inverse(inverse, null) => {
            let values: Vec<f32> = inverse.to_column_major()?.into_iter().map(|v| v.into_f64() as f32).collect();
            Coarsest::Inverse(crate::Dense::from_column_major(context, inverse.rows(), inverse.cols(), &values)?, null)
        }
    };
    let near = NearNull { block: from.near.block, count: from.near.count, values: narrow(&from.near.values)? };
    Ok(Levels { levels, end, near })
}

/// The values in single precision.
fn narrow<T: Real>(from: &crate::Buffer<T>) -> Result<crate::Buffer<f32>> {
    let (context, n) = (from.context(), from.len());
    let mut to = crate::Buffer::uninit(context, n)?;
    amg_cycle::Program::<T>::new().narrow_values(context, items(context, n), n, from, &mut to)?;
    Ok(to)
}

impl<T: Scalar> Preconditioner<T> for Amg<T> {
    fn size(&self) -> usize {
        let rows = match &self.hierarchy {
            Hierarchy::Own(levels) => levels.levels[0].a.rows(),
            Hierarchy::Single { r, .. } => r.len(),
        };
        rows / T::COMPONENTS
    }

    fn context(&self) -> &Context {
        match &self.hierarchy {
            Hierarchy::Own(levels) => Operator::context(&levels.levels[0].a),
            Hierarchy::Single { context, .. } => context,
        }
    }

    fn apply(&mut self, r: &Vector<T>, z: &mut Vector<T>) -> Result<()> {
        if self.is_mixed {
            let reason = "its last refill failed and left values of two matrices; refill it again";
            return Err(Error::unsuitable("m", reason));
        }
        for (argument, vector) in [("r", r), ("z", &*z)] {
            if !self.context().same(vector.context()) {
                return Err(Error::Context { argument });
            }
            check_length(argument, self.size(), vector.len())?;
        }
        let plan = Plan::new(&self.params);
        match &mut self.hierarchy {
            Hierarchy::Own(levels) => r.with_parts(|r| z.with_parts_mut(|z| levels.cycle(plan, r, z))),
            Hierarchy::Single { levels, r: narrow, z: wide, context } => {
                let (program, n) = (amg_cycle::Program::<T::Real>::new(), narrow.len());
                let range = items(context, n);
                program.narrow_values(context, range, n, In::parts(r.buffer()), Out::shared(narrow.buffer()))?;
                levels.cycle(plan, narrow, wide)?;
                program.widen_values(context, range, n, wide.buffer(), Out::parts(z.buffer()))
            }
        }
    }
}
