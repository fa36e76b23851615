//! Products and factorisations of dense matrices of N rows and columns.

use clinalg::matrix::Values;
use clinalg::ops::factor::{Diagonal, Side, Triangle};
use clinalg::ops::{self, Cholesky, Lu, Qr, Transpose};
use clinalg::{Context, Dense, Real};

use super::case::{Case, random};
use super::operation::{Limit, Operation, Work};
use crate::exit::Failure;

/// Operations of an algorithm on matrices of order `n` (Golub and Van Loan, *Matrix Computations*, 4th ed.), and numbers that must be
/// read or written.
fn model(operation: Operation, n: f64) -> (f64, f64) {
    match operation {
        Operation::Gemm => (2.0 * n.powi(3), 3.0 * n * n),
        Operation::Lu => (2.0 / 3.0 * n.powi(3), 2.0 * n * n),
        Operation::Cholesky => (n.powi(3) / 3.0, n * n),
        Operation::Qr => (4.0 / 3.0 * n.powi(3), 2.0 * n * n),
        // n right-hand sides.
        _ => (n.powi(3), 2.5 * n * n),
    }
}

/// Factorisations and solves are made in a copy of their matrix, whose time counts.
pub(super) fn case<T: Real>(context: &Context, n: usize, operation: Operation) -> Result<Case<T>, Failure> {
    let matrix = |seed| Dense::from_column_major(context, n, n, &random::<T>(n * n, seed));
    let call: Box<dyn FnMut() -> clinalg::Result<()>> = match operation {
        Operation::Gemm => {
            let (a, b, mut c) = (matrix(1)?, matrix(2)?, Dense::zeros(context, n, n)?);
            Box::new(move || ops::gemm(T::one(), Transpose::No, &a, Transpose::No, &b, T::zero(), &mut c))
        }
        Operation::Lu => {
            let a = matrix(1)?;
            Box::new(move || Lu::new(a.try_clone()?).map(drop))
        }
        Operation::Cholesky => {
            let mut values = random::<T>(n * n, 1);
            (0..n).for_each(|i| values[i * n + i] = T::from_f64(n as f64));
            let a = Dense::from_column_major(context, n, n, &values)?;
            Box::new(move || Cholesky::new(a.try_clone()?).map(drop))
        }
        Operation::Qr => {
            let a = matrix(1)?;
            Box::new(move || Qr::new(a.try_clone()?).map(drop))
        }
        _ => {
            // Small off the diagonal, so that solutions are as large as the right-hand sides.
            let values: Vec<T> = random::<T>(n * n, 1).into_iter().map(|v| v / T::from_f64(n as f64)).collect();
            let (a, b) = (Dense::from_column_major(context, n, n, &values)?, matrix(2)?);
            Box::new(move || {
                let mut x = b.try_clone()?;
                ops::solve_triangular(Side::Left, Triangle::Lower, Transpose::No, Diagonal::Unit, &a, &mut x)
            })
        }
    };
    let (flops, values) = model(operation, n as f64);
    let bytes = (values * size_of::<T>() as f64) as u64;
    let work = Some(Work { flops, evaluations: None });
    Ok(Case { work, ..Case::of(bytes, n * n, Limit::Fma, call) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_those_of_the_loops() {
        let n = 40_usize;
        let count = |terms: fn(usize, usize) -> usize| (0..n).map(|k| terms(k, n)).sum::<usize>() as f64;
        // A step of elimination with k columns left: a division and 2 k operations for each row below; of Cholesky half.
        let lu = count(|k, _| k + 2 * k * k);
        let cholesky = count(|k, _| 1 + k + k * (k + 1));
        // A reflection: its product with k columns, and their change, 2 k operations each for its k + 1 elements.
        let qr = count(|k, _| 4 * k * (k + 1));
        let solve = count(|k, n| 2 * k * n);
        for (operation, counted) in [
            (Operation::Lu, lu),
            (Operation::Cholesky, cholesky),
            (Operation::Qr, qr),
            (Operation::TriangularSolve, solve),
            (Operation::Gemm, count(|_, n| 2 * n * n)),
        ] {
            let (flops, _) = model(operation, n as f64);
            assert!((flops / counted - 1.0).abs() < 4.0 / n as f64, "{operation:?}: {flops}, counted {counted}");
        }
    }
}
