//! Factorisations of dense matrices and systems with several right-hand sides.
//!
//! | factorisation | for | operations |
//! |---|---|---|
//! | [`Lu`]: P A = L U with partial pivoting | square systems | 2/3 n^3 |
//! | [`Cholesky`]: A = L L' | Hermitian positive definite systems | 1/3 n^3 |
//! | [`Qr`]: A = Q R by Householder reflections | least squares | 2 n^2 (m - n/3) |
//!
//! Operations count for real numbers; complex ones take four times as many. All are blocked, so that large matrices spend their
//! time in [`gemm`](super::gemm).

mod cholesky;
mod condition;
mod lu;
mod qr;
mod rank;
mod structure;
mod together;
mod triangular;
pub(crate) mod tuning;

pub use cholesky::Cholesky;
pub(crate) use cholesky::Factoriser as CholeskyFactoriser;
pub use condition::Determinant;
pub(crate) use condition::estimate_by;
pub(crate) use lu::Factoriser as LuFactoriser;
pub use lu::Lu;
pub use qr::Qr;
pub use rank::{LeastSquaresSolution, least_squares};
pub use structure::{DenseSolve, Structure, left_divide, structure};
pub(crate) use triangular::Triangular;
pub use triangular::{Diagonal, Side, Triangle, solve_triangular};

use crate::matrix::Values;
use crate::ops::gemm::Block;
use crate::ops::reduce::largest;
use crate::ops::{conj, transpose};
use crate::runtime::kernels::triangular::Program;
use crate::runtime::{Out, Range};
use crate::{Buffer, Context, Dense, Error, Real, Result, Scalar};

/// X with A X = B for a square A, by LU factorisation with partial pivoting.
///
/// For several systems with the same matrix keep an [`Lu`]. Where A is nearly singular the crate `log` gets a warning with the
/// condition number, see [`Lu::reciprocal_condition`].
///
/// # Errors
/// [`Error::Shape`] unless A is square and B has as many rows; [`Error::Singular`]; [`Error::Context`]; [`Error::Allocation`].
pub fn solve<T: Scalar>(a: &Dense<T>, b: &Dense<T>) -> Result<Dense<T>> {
    let lu = Lu::new(a.try_clone()?)?;
    let mut x = b.try_clone()?;
    lu.solve_in_place(&mut x)?;
    lu.warn_if_ill_conditioned()?;
    Ok(x)
}

/// The inverse of a square matrix; 2 n^3 operations. To solve systems, [`solve`] is faster and more accurate.
///
/// # Errors
/// [`Error::Shape`] unless A is square; [`Error::Singular`]; [`Error::Allocation`].
pub fn inverse<T: Scalar>(a: &Dense<T>) -> Result<Dense<T>> {
    let lu = Lu::new(a.try_clone()?)?;
    let inverse = lu.inverse()?;
    lu.warn_if_ill_conditioned()?;
    Ok(inverse)
}

/// The determinant of a square matrix, by LU factorisation.
///
/// # Errors
/// [`Error::Shape`] unless A is square; [`Error::Allocation`].
pub fn determinant<T: Scalar>(a: &Dense<T>) -> Result<Determinant<T>> {
    Lu::new(a.try_clone()?)?.determinant()
}

/// The conjugate transpose.
fn adjoint<T: Scalar>(a: &Dense<T>) -> Result<Dense<T>> {
    let mut transposed = Dense::zeros(a.context(), a.cols(), a.rows())?;
    transpose((a.rows(), a.cols()), a.as_vector(), transposed.as_vector_mut())?;
    if !T::IS_COMPLEX {
        return Ok(transposed);
    }
    let mut adjoint = transposed.like()?;
    conj(&transposed, &mut adjoint)?;
    Ok(adjoint)
}

/// The order of a square matrix.
fn check_square<T: Scalar>(argument: &'static str, a: &Dense<T>) -> Result<usize> {
    if a.rows() == a.cols() {
        return Ok(a.rows());
    }
    let got = format!("{} x {}", a.rows(), a.cols());
    Err(Error::Shape { argument, expected: "a square matrix".into(), got })
}

/// An error unless B, of the same context, has `rows` rows.
fn check_rows<T: Scalar>(context: &Context, rows: usize, b: &Dense<T>) -> Result<()> {
    if !context.same(b.context()) {
        return Err(Error::Context { argument: "b" });
    }
    if b.rows() == rows {
        return Ok(());
    }
    let got = format!("{} x {}", b.rows(), b.cols());
    Err(Error::Shape { argument: "b", expected: format!("{rows} rows, as A has"), got })
}

/// An error unless numbers of rows and columns fit the 32 bits that the kernels of panels take.
fn check_order<T: Scalar>(a: &Dense<T>) -> Result<()> {
    match a.rows().max(a.cols()) <= i32::MAX as usize {
        true => Ok(()),
        false => Err(Error::value("a", "at most 2147483647 rows and columns", format!("{} x {}", a.rows(), a.cols()))),
    }
}

/// Which elements [`copy_part`] takes.
#[derive(Debug, Clone, Copy)]
enum Part {
    All,
    Lower { unit: bool },
    Upper,
}

/// B = a part of A, of the same size; other elements are zero.
fn copy_part<T: Scalar>(context: &Context, part: Part, a: Block<T>, b: Block<T>) -> Result<()> {
    let (side, unit) = match part {
        Part::All => (0, false),
        Part::Lower { unit } => (1, unit),
        Part::Upper => (2, false),
    };
    let (range, unit) = (each_element(context, b.rows, b.cols), unit.into());
    Program::<T>::new().copy_part(
        context,
        range,
        b.rows,
        b.cols,
        side,
        unit,
        a.input(),
        a.offset,
        a.ld,
        b.memory,
        b.offset,
        b.ld,
    )
}

/// The identity of so many rows and columns.
fn identity<T: Scalar>(context: &Context, rows: usize, cols: usize) -> Result<Dense<T>> {
    let identity = Dense::zeros(context, rows, cols)?;
    let block = Block::of(&identity);
    let range = each_element(context, rows, cols);
    Program::<T>::new().set_identity(context, range, rows, cols, block.memory, block.offset, block.ld)?;
    Ok(identity)
}

/// An item for each element of a matrix.
fn each_element(context: &Context, rows: usize, cols: usize) -> Range {
    let local = match context.family() {
        crate::KernelFamily::Cpu => 1,
        crate::KernelFamily::Gpu => context.local(),
    };
    Range::d2([rows, cols], [local.min(rows.next_power_of_two()), 1])
}

/// Multiplies each column, or its part on and above the diagonal, by 2 to `sign` times its power.
fn scale_columns<T: Scalar>(a: &mut Dense<T>, upper: bool, powers: &[i32], sign: i32) -> Result<()> {
    let context = a.context();
    // In two steps, as a power of its own may leave the range.
    for half in [|power: i32| power / 2, |power: i32| power - power / 2] {
        let factors: Vec<T::Real> =
            powers.iter().map(|&power| T::Real::from_f64(2.0_f64.powi(sign * half(power)))).collect();
        let factors = Buffer::from_slice(context, &factors)?;
        let range = each_element(context, a.rows(), a.cols());
        let values = Out::shared(a.values());
        Program::<T>::new().scale_columns(context, range, a.rows(), a.cols(), upper.into(), &factors, values)?;
    }
    Ok(())
}

/// What [`of_columns`] gives.
#[derive(Debug, Clone, Copy)]
enum OfColumn {
    /// The sum of the moduli.
    Sum,
    /// The largest modulus.
    Largest,
}

/// A number of each column.
fn of_columns<T: Scalar>(a: &Dense<T>, number: OfColumn) -> Result<Vec<f64>> {
    let context = a.context();
    let mut result = Buffer::<T::Real>::uninit(context, a.cols())?;
    let local = if context.family() == crate::KernelFamily::Cpu { 1 } else { 64 };
    let (program, range) = (Program::<T>::new(), Range::d1(a.cols(), local));
    match number {
        OfColumn::Sum => program.sum_columns(context, range, a.rows(), a.cols(), a.values(), &mut result)?,
        OfColumn::Largest => program.largest_of_columns(context, range, a.rows(), a.cols(), a.values(), &mut result)?,
    }
    Ok(result.to_vec()?.into_iter().map(T::Real::into_f64).collect())
}

/// The 1-norm: the largest sum of the moduli of a column; NaN where there is one.
fn norm1<T: Scalar>(a: &Dense<T>) -> Result<f64> {
    Ok(largest(of_columns(a, OfColumn::Sum)?))
}
