//! Block preconditioners for saddle points.

mod params;
mod split;

use std::fmt;

use num_traits::Float;

pub use params::{Inner, SaddleParams, SaddleReport, SaddleShape, Schur, SchurKind};
pub use split::Split;

use super::{CholeskyParams, Ilu, IluParams, IncompleteCholesky, Jacobi};
use crate::amg::{Amg, AmgParams};
use crate::error::check_length;
use crate::matrix::Values;
use crate::ops::{self, Operator, Positions, Span};
use crate::solve::{Gmres, GmresParams, Preconditioner, Solver};
use crate::{Context, Csr, Error, Real, Result, Scalar, Vector};

/// M for K = [A B'; B -C], from preconditioners of A and of the Schur complement S = B A^-1 B' + C: block diagonal or block triangular
/// (Murphy, Golub and Wathen 2000; Benzi, Golub and Liesen 2005, section 10; Elman, Silvester and Wathen 2014, chapter 4).
///
/// With exact blocks MINRES needs three iterations and GMRES two. With algebraic multigrid for A and a diagonal for S the number of iterations for
/// the Stokes equations grows slowly as the grid is refined: MINRES takes 66, 78 and 96 iterations to 1e-10 on 16^2, 32^2 and 64^2 cells. Where convection
/// dominates (Oseen), the diagonal is not a good approximation of S. The lower left block may differ from the transpose of the upper right one.
///
/// An application takes one application of each block and, with [`SaddleShape::Triangular`], a product with B'. Owns the blocks and four vectors.
///
/// ```
/// use clinalg::precond::{Saddle, SaddleParams, Split};
/// use clinalg::solve::{Minres, MinresParams, Solver};
/// use clinalg::{Context, Csr, CsrParts, Vector};
///
/// let context = Context::global()?;
/// // Minimise x^2 + 2 y^2 where x + y = 3.
/// let entries = [(0, 0, 2.0), (1, 1, 4.0), (0, 2, 1.0), (1, 2, 1.0), (2, 0, 1.0), (2, 1, 1.0)];
/// let parts = CsrParts::from_triplets(3, 3, &entries)?;
/// let split = Split::find(&parts).expect("a zero on the diagonal");
/// let k = Csr::from_parts(&context, &parts)?;
/// let b = Vector::from_slice(&context, &[0.0, 0.0, 3.0])?;
/// let mut x = Vector::zeros(&context, 3)?;
/// let mut m = Saddle::new(&k, &split, &SaddleParams::default())?;
/// let report = Minres::new(&context, 3, MinresParams::default())?.solve(&k, Some(&mut m), &b, &mut x)?;
/// assert!(report.stop.is_success());
/// assert!((x.to_vec()?[0] - 2.0_f64).abs() < 1e-9);
/// # Ok::<(), clinalg::Error>(())
/// ```
pub struct Saddle<T: Scalar> {
    report: SaddleReport,
    first: Box<dyn Preconditioner<T> + Send>,
    second: Box<dyn Preconditioner<T> + Send>,
    /// B' of the triangular shape.
    upper: Option<Csr<T>>,
    rows: [Positions; 2],
    /// The blocks of r and of z.
    r: [Vector<T>; 2],
    z: [Vector<T>; 2],
    context: Context,
}

impl<T: Scalar> fmt::Debug for Saddle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Saddle").field("report", &self.report).finish_non_exhaustive()
    }
}

/// The blocks of a matrix.
struct Blocks<T: Scalar> {
    rows: [Vec<usize>; 2],
    /// B'.
    upper: Csr<T>,
    /// -C.
    corner: Csr<T>,
}

impl<T: Scalar> Blocks<T> {
    fn of(k: &Csr<T>, split: &Split) -> Result<Blocks<T>> {
        if k.rows() != k.cols() {
            let (expected, got) = ("a square matrix".into(), format!("{} x {}", k.rows(), k.cols()));
            return Err(Error::Shape { argument: "a", expected, got });
        }
        let rows = split.rows(k.rows())?;
        let [first, second] = rows.each_ref().map(|rows| Span::of(rows));
        let (upper, corner) = (k.select(first, second)?, k.select(second, second)?);
        Ok(Blocks { rows, upper, corner })
    }

    /// Whether the vector of zeros and ones, ones in the second block, is a null vector up to rounding.
    fn has_null_constant(&self) -> Result<bool> {
        let ones = Vector::filled(self.upper.context(), self.upper.cols(), T::one())?;
        Ok(vanishes(&self.upper, &ones)? && (self.corner.nnz() == 0 || vanishes(&self.corner, &ones)?))
    }
}

/// Units of roundoff up to which a product counts as zero, relative to its value without cancellation.
const ROUNDING: f64 = 64.0;

/// Whether A x is zero up to rounding, where x consists of ones.
fn vanishes<T: Scalar>(a: &Csr<T>, ones: &Vector<T>) -> Result<bool> {
    let context = a.context();
    let mut signs = Vector::uninit(context, ones.len())?;
    ops::scatter_signs(ones, &mut signs)?;
    let mut y = Vector::uninit(context, a.rows())?;
    a.apply(T::one(), ones, T::zero(), &mut y)?;
    let own = ops::norm2(&y)?.into_f64();
    a.apply(T::one(), &signs, T::zero(), &mut y)?;
    Ok(own <= ROUNDING * T::Real::epsilon().into_f64() * ops::norm2(&y)?.into_f64())
}

impl<T: Scalar> Saddle<T> {
    /// From the caller's preconditioners of A and of S, each of the size of its block; for [`SaddleShape::Diagonal`] both positive definite.
    ///
    /// # Errors
    /// As [`Saddle::new`]; [`Error::Length`] that names `first` or `second` for another size; [`Error::Context`].
    pub fn with_blocks(
        k: &Csr<T>,
        split: &Split,
        shape: SaddleShape,
        first: Box<dyn Preconditioner<T> + Send>,
        second: Box<dyn Preconditioner<T> + Send>,
    ) -> Result<Saddle<T>> {
        Saddle::of(Blocks::of(k, split)?, shape, (first, None), (second, SchurKind::Given))
    }

    fn of(
        blocks: Blocks<T>,
        shape: SaddleShape,
        (first, inner): (Box<dyn Preconditioner<T> + Send>, Option<Inner>),
        (second, schur): (Box<dyn Preconditioner<T> + Send>, SchurKind),
    ) -> Result<Saddle<T>> {
        let context = blocks.upper.context().clone();
        for (argument, block, rows) in [("first", &first, &blocks.rows[0]), ("second", &second, &blocks.rows[1])] {
            check_length(argument, rows.len(), block.size())?;
            if !context.same(block.context()) {
                return Err(Error::Context { argument });
            }
        }
        let [first_rows, second_rows] = blocks.rows.each_ref().map(Vec::len);
        let null_constant = blocks.has_null_constant()?;
        let report = SaddleReport { shape, first_rows, second_rows, first: inner, schur, null_constant };
        let pair = || -> Result<[Vector<T>; 2]> {
            Ok([Vector::uninit(&context, first_rows)?, Vector::uninit(&context, second_rows)?])
        };
        let [of_first, of_second] = &blocks.rows;
        let rows = [Positions::new(&context, of_first)?, Positions::new(&context, of_second)?];
        let upper = (shape == SaddleShape::Triangular).then_some(blocks.upper);
        Ok(Saddle { report, first, second, upper, rows, r: pair()?, z: pair()?, context })
    }

    /// What it is made of.
    pub fn report(&self) -> &SaddleReport {
        &self.report
    }
}

impl<T: Real> Saddle<T> {
    /// For a matrix with this split.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `k` is square; [`Error::Value`] for a split that does not fit, for a zero on the diagonal of A, or where B diag(A)^-1 B' +
    /// C has a diagonal entry that is not positive (the row of `k` is named, counted from 1); those of the preconditioners of the blocks.
    pub fn new(k: &Csr<T>, split: &Split, params: &SaddleParams) -> Result<Saddle<T>> {
        Saddle::made(k, split, params, None)
    }

    /// As [`Saddle::new`] with the diagonal of the mass matrix of the second block (for Stokes divided by the viscosity) in place of the Schur complement; `params.schur` and
    /// `params.second` are ignored.
    ///
    /// # Errors
    /// As [`Saddle::new`]; [`Error::Length`] unless `mass` has a value per row of the second block; [`Error::Value`] for one that is not positive.
    pub fn with_mass(k: &Csr<T>, split: &Split, mass: &[T], params: &SaddleParams) -> Result<Saddle<T>> {
        Saddle::made(k, split, params, Some(mass))
    }

    fn made(k: &Csr<T>, split: &Split, params: &SaddleParams, mass: Option<&[T]>) -> Result<Saddle<T>> {
        let blocks = Blocks::of(k, split)?;
        let (context, [first, second]) = (k.context(), blocks.rows.each_ref().map(|rows| Span::of(rows)));
        let a = k.select(first, first)?;
        let (m, inner) = inner(&a, params.first)?;
        if let Some(mass) = mass {
            check_length("mass", blocks.rows[1].len(), mass.len())?;
            if let Some(at) = mass.iter().position(|&value| value.is_nan() || value <= T::zero()) {
                return Err(Error::value("mass", "positive values", format!("{} at {at}", mass[at])));
            }
            let mass = Jacobi::new(&Vector::from_slice(context, mass)?)?;
            return Saddle::of(blocks, params.shape, (m, Some(inner)), (Box::new(mass), SchurKind::Mass));
        }
        let inverse = inverse_diagonal(&a, &blocks.rows[0])?;
        let by_product = match params.schur {
            Schur::Product => true,
            Schur::Diagonal => false,
            Schur::Auto => is_near_its_diagonal(&a)?,
        };
        // B diag(A)^-1 B' + C.
        let lower = k.select(second, first)?;
        let mut scaled = blocks.upper.try_clone()?;
        scaled.scale(Some(&inverse), None)?;
        let schur = lower.multiply(&scaled)?.combine(T::one(), -T::one(), &blocks.corner)?;
        let diagonal = schur.diagonal()?;
        if let Some(at) = diagonal.to_vec()?.iter().position(|&value| value.is_nan() || value <= T::zero()) {
            let reason = format!(
                "the diagonal entry of B diag(A)^-1 B' + C that belongs to row {} (counted from 1) is not positive; use an incomplete LU \
                 factorisation",
                blocks.rows[1][at] + 1
            );
            return Err(Error::unsuitable("a", reason));
        }
        let (second, kind): (Box<dyn Preconditioner<T> + Send>, _) = match by_product {
            true => {
                let (m, second) = self::inner(&schur, params.second)?;
                (m, SchurKind::Product(second))
            }
            false => (Box::new(Jacobi::new(&diagonal)?), SchurKind::Diagonal),
        };
        Saddle::of(blocks, params.shape, (m, Some(inner)), (second, kind))
    }
}

/// The inverse of the diagonal of A, whose rows have these numbers in the whole matrix.
fn inverse_diagonal<T: Real>(a: &Csr<T>, rows: &[usize]) -> Result<Vector<T>> {
    let mut values = a.diagonal()?.to_vec()?;
    for (value, row) in values.iter_mut().zip(rows) {
        let inverse = T::one() / *value;
        if !inverse.is_finite() {
            let expected = "a saddle point whose first block has a nonzero diagonal; move the row to the second block";
            let got = format!("{value} on the diagonal of row {} (counted from 1)", row + 1);
            return Err(Error::value("a", expected, got));
        }
        *value = inverse;
    }
    Vector::from_slice(a.context(), &values)
}

/// Whether A - A' is zero up to rounding.
fn is_symmetric<T: Real>(a: &Csr<T>) -> Result<bool> {
    let ones = Vector::filled(a.context(), a.rows(), T::one())?;
    let (mut signs, mut y) = (Vector::uninit(a.context(), a.rows())?, Vector::uninit(a.context(), a.rows())?);
    ops::scatter_signs(&ones, &mut signs)?;
    a.apply(T::one(), &signs, T::zero(), &mut y)?;
    let whole = ops::norm2(&y)?.into_f64();
    a.transpose()?.apply(-T::one(), &signs, T::one(), &mut y)?;
    Ok(ops::norm2(&y)?.into_f64() <= ROUNDING * T::Real::epsilon().into_f64() * whole)
}

/// The preconditioner that is wanted for a block, or the first suitable one that can be set up.
fn inner<T: Real>(a: &Csr<T>, wanted: Option<Inner>) -> Result<(Box<dyn Preconditioner<T> + Send>, Inner)> {
    let make = |inner: Inner| -> Result<Box<dyn Preconditioner<T> + Send>> {
        Ok(match inner {
            Inner::Amg => Box::new(Amg::new(a, &AmgParams::default())?),
            Inner::Ic => Box::new(IncompleteCholesky::new(a, &CholeskyParams::default())?),
            Inner::Ilu => Box::new(Ilu::new(a, &IluParams::default())?),
            Inner::Jacobi => Box::new(Jacobi::new(&a.diagonal()?)?),
        })
    };
    if let Some(inner) = wanted {
        return Ok((make(inner)?, inner));
    }
    let positive = a.diagonal()?.to_vec()?.iter().all(|&d| d > T::zero());
    let (best, others) = match positive && is_symmetric(a)? {
        true => (Inner::Amg, [Inner::Ic, Inner::Jacobi].as_slice()),
        false => (Inner::Ilu, [Inner::Jacobi].as_slice()),
    };
    let mut made = make(best).map(|m| (m, best));
    for &other in others {
        if !matches!(made, Err(Error::Value { .. } | Error::Unsuitable { .. } | Error::Singular { .. })) {
            break;
        }
        made = make(other).map(|m| (m, other));
    }
    made
}

/// Whether GMRES with the diagonal as preconditioner reduces the residual for an irregular right-hand side to a thousandth in 20 iterations.
fn is_near_its_diagonal<T: Real>(a: &Csr<T>) -> Result<bool> {
    const ITERATIONS: usize = 20;
    let (context, n) = (a.context(), a.rows());
    let mut b = Vector::uninit(context, n)?;
    ops::scatter_signs(&Vector::filled(context, n, T::one())?, &mut b)?;
    let mut x = Vector::zeros(context, n)?;
    let params = GmresParams::default().restart(ITERATIONS).max_iterations(ITERATIONS).tolerance(1e-3);
    let mut m = Jacobi::new(&a.diagonal()?)?;
    Ok(Gmres::new(context, n, params)?.solve(a, Some(&mut m), &b, &mut x)?.stop.is_success())
}

impl<T: Scalar> Preconditioner<T> for Saddle<T> {
    fn size(&self) -> usize {
        self.rows.iter().map(Positions::count).sum()
    }

    fn context(&self) -> &Context {
        &self.context
    }

    fn apply(&mut self, r: &Vector<T>, z: &mut Vector<T>) -> Result<()> {
        for (argument, vector) in [("r", r), ("z", &*z)] {
            check_length(argument, self.size(), vector.len())?;
            if !self.context.same(vector.context()) {
                return Err(Error::Context { argument });
            }
        }
        let Saddle { first, second, upper, rows: [of_first, of_second], r: [r1, r2], z: [z1, z2], .. } = self;
        of_first.take(r, r1)?;
        of_second.take(r, r2)?;
        second.apply(r2, z2)?;
        if let Some(upper) = upper {
            // z2 is minus the second block until it is written.
            upper.apply(T::one(), z2, T::one(), r1)?;
            ops::scale(-T::one(), &*z2, r2)?;
            std::mem::swap(z2, r2);
        }
        first.apply(r1, z1)?;
        of_first.put(z1, z)?;
        of_second.put(z2, z)
    }
}
