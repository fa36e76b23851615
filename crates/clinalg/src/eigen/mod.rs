//! Eigenvalues and eigenvectors of symmetric and of complex Hermitian operators.
//!
//! [`Lobpcg`] finds a few of the smallest or largest eigenvalues of A x = lambda x, or of A x = lambda B x, using only products and
//! a preconditioner: the locally optimal block preconditioned conjugate gradient method.
//!
//! - A. V. Knyazev, Toward the optimal preconditioned eigensolver: locally optimal block preconditioned conjugate gradient
//!   method, SIAM J. Sci. Comput. 23, 2001.
//! - J. A. Duersch, M. Shao, C. Yang, M. Gu, A robust and efficient implementation of LOBPCG, SIAM J. Sci. Comput. 40, 2018:
//!   the orthonormal basis used here.

mod iteration;
mod ritz;

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use crate::ops::Operator;
pub use crate::solve::BlockScalar as EigenScalar;
use crate::solve::{Preconditioner, Progress, Stop};
use crate::{Dense, Error, Precision, Result, Scalar};

/// Which end of the spectrum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Which {
    /// The smallest eigenvalues, in ascending order.
    #[default]
    Smallest,
    /// The largest eigenvalues, in descending order.
    Largest,
}

/// Parameters of [`Lobpcg`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct EigenParams {
    /// Number of eigenpairs, at least 1. Default 6.
    pub count: usize,
    /// The end of the spectrum at which they lie.
    pub which: Which,
    /// Guard vectors: vectors of the block beyond `count`, which speed up the last pairs. `None`, the default: half of `count`, at least 2.
    pub guard: Option<usize>,
    /// Relative residual |A x - lambda B x| / (|lambda| |B x|) to reach, in Euclidean norms. `None`, the default, depends
    /// on the precision: 1e-8 in double, 1e-4 in single.
    pub tolerance: Option<f64>,
    /// Maximum number of iterations. Default 1000.
    pub max_iterations: usize,
    /// Iterations over which the largest residual of the wanted pairs must fall by one part in a hundred. Default 100.
    pub stagnation_window: usize,
    /// Seed of the random initial vectors.
    pub seed: u64,
}

impl Default for EigenParams {
    fn default() -> EigenParams {
        EigenParams {
            count: 6,
            which: Which::Smallest,
            guard: None,
            tolerance: None,
            max_iterations: 1000,
            stagnation_window: 100,
            seed: 0,
        }
    }
}

impl EigenParams {
    /// With this number of eigenpairs.
    pub fn count(mut self, count: usize) -> EigenParams {
        self.count = count;
        self
    }

    /// With the eigenvalues of this end of the spectrum.
    pub fn which(mut self, which: Which) -> EigenParams {
        self.which = which;
        self
    }

    /// With this many vectors beyond `count`.
    pub fn guard(mut self, vectors: usize) -> EigenParams {
        self.guard = Some(vectors);
        self
    }

    /// With this relative residual to reach.
    pub fn tolerance(mut self, tolerance: f64) -> EigenParams {
        self.tolerance = Some(tolerance);
        self
    }

    /// With at most this many iterations.
    pub fn max_iterations(mut self, iterations: usize) -> EigenParams {
        self.max_iterations = iterations;
        self
    }

    /// The relative residual to reach in the precision of `T`.
    pub fn tolerance_of<T: Scalar>(&self) -> f64 {
        self.tolerance.unwrap_or(match T::PRECISION {
            Precision::F32 => 1e-4,
            Precision::F64 => 1e-8,
        })
    }

    /// Vectors of the block for n unknowns.
    fn width(&self, n: usize) -> usize {
        (self.count + self.guard.unwrap_or((self.count / 2).max(2))).min(n)
    }

    fn check(&self, n: usize) -> Result<()> {
        if self.count == 0 || self.count > n {
            return Err(Error::value("count", format!("from 1 to the {n} rows of A"), self.count));
        }
        if self.width(n) > MOST {
            let Some(guard) = self.guard else {
                // With half as many guard vectors.
                let expected =
                    format!("at most {}; more take too long, as they are computed in one block", MOST * 2 / 3 + 1);
                return Err(Error::value("count", expected, self.count));
            };
            let expected = format!("at most {MOST} vectors, guard vectors included; reduce count or guard");
            return Err(Error::value("count", expected, format!("{} and {guard} guard vectors", self.count)));
        }
        if let Some(tolerance) = self.tolerance.filter(|&t| !(t > 0.0 && t.is_finite())) {
            return Err(Error::value("tolerance", "a positive finite number", tolerance));
        }
        if self.stagnation_window == 0 {
            return Err(Error::value("stagnation_window", "at least 1", 0));
        }
        Ok(())
    }
}

/// Maximum number of vectors of a block: the work for the small problems on the host grows with its cube.
const MOST: usize = 256;

/// Eigenpairs, and how they were found.
#[derive(Debug)]
#[non_exhaustive]
pub struct Eigenpairs<T: EigenScalar> {
    /// The eigenvalues, ascending for [`Which::Smallest`] and descending for [`Which::Largest`].
    pub values: Vec<f64>,
    /// The eigenvectors, a column each, with x' B x = 1.
    pub vectors: Dense<T>,
    /// |A x - lambda B x| / (|lambda| |B x|) of each pair.
    pub residuals: Vec<f64>,
    /// Iterations done.
    pub iterations: usize,
    /// Why the iteration ended. [`Stop::RoundingFloor`]: the residual of some pair is near the rounding error of a product with A
    /// and above the tolerance.
    pub stop: Stop,
}

/// Computes a few eigenpairs of A x = lambda x or A x = lambda B x for symmetric A and symmetric positive definite B; complex ones must be
/// Hermitian.
///
/// The memory is that of 11 blocks of vectors (16 with B), each of `count` plus the guard vectors. The same call gives the same bits.
///
/// ```
/// use clinalg::eigen::{EigenParams, Lobpcg};
/// use clinalg::{Context, Csr};
///
/// let context = Context::global()?;
/// let n = 50;
/// let entries = |i: usize| [(i, i, 2.0), (i, i.wrapping_sub(1), -1.0), (i, i + 1, -1.0)];
/// let entries: Vec<_> = (0..n).flat_map(entries).filter(|&(_, j, _)| j < n).collect();
/// let a = Csr::from_triplets(&context, n, n, &entries)?;
/// let pairs = Lobpcg::new(&a).params(EigenParams::default().count(2)).run()?;
/// let exact = 2.0 - 2.0 * (std::f64::consts::PI / 51.0).cos();
/// assert!((pairs.values[0] - exact).abs() < 1e-12);
/// # Ok::<(), clinalg::Error>(())
/// ```
pub struct Lobpcg<'a, T: EigenScalar> {
    a: &'a dyn Operator<T>,
    b: Option<&'a dyn Operator<T>>,
    m: Option<&'a mut dyn Preconditioner<T>>,
    start: Option<&'a Dense<T>>,
    params: EigenParams,
    progress: Option<Progress<'a>>,
}

impl<'a, T: EigenScalar> Lobpcg<'a, T> {
    /// For the symmetric operator A.
    pub fn new(a: &'a dyn Operator<T>) -> Lobpcg<'a, T> {
        Lobpcg { a, b: None, m: None, start: None, params: EigenParams::default(), progress: None }
    }

    /// For A x = lambda B x with a symmetric positive definite B, such as a mass matrix.
    pub fn mass(mut self, b: &'a dyn Operator<T>) -> Lobpcg<'a, T> {
        self.b = Some(b);
        self
    }

    /// With a symmetric positive definite preconditioner for A, such as multigrid or an incomplete Cholesky factor; for the smallest
    /// eigenvalues.
    pub fn preconditioner(mut self, m: &'a mut dyn Preconditioner<T>) -> Lobpcg<'a, T> {
        self.m = Some(m);
        self
    }

    /// With these columns as initial block; further columns of the block are random.
    pub fn start(mut self, x: &'a Dense<T>) -> Lobpcg<'a, T> {
        self.start = Some(x);
        self
    }

    /// With these parameters.
    pub fn params(mut self, params: EigenParams) -> Lobpcg<'a, T> {
        self.params = params;
        self
    }

    /// Calls `progress` before each iteration with its number and the largest relative residual of the wanted pairs;
    /// [`ControlFlow::Break`] stops with [`Stop::Cancelled`] and the current pairs.
    pub fn progress(mut self, progress: Progress<'a>) -> Lobpcg<'a, T> {
        self.progress = Some(progress);
        self
    }

    /// Iterates until the pairs meet the tolerance or [`Eigenpairs::stop`] says why not.
    ///
    /// # Errors
    /// Before any work, [`Error::Shape`] unless A is square and B, the preconditioner and the initial block have matching sizes, [`Error::Context`],
    /// [`Error::Value`] for a parameter or a preconditioner with [`Which::Largest`], where it is of no use; later, [`Error::Unsuitable`] where a
    /// product shows that B is not positive definite, or where the initial block is 0, and what the device reports.
    pub fn run(self) -> Result<Eigenpairs<T>> {
        self.check()?;
        let mut quiet = |_: usize, _: f64| ControlFlow::Continue(());
        let progress = match self.progress {
            Some(progress) => progress,
            None => &mut quiet,
        };
        iteration::Iteration::new(self.a, self.b, self.start, &self.params)?.run(self.m, progress)
    }

    fn check(&self) -> Result<()> {
        let n = self.a.rows();
        let shape = |argument, rows: usize, cols: usize, expected: String| {
            Err(Error::Shape { argument, expected, got: format!("{rows} x {cols}") })
        };
        if self.a.cols() != n {
            return shape("a", n, self.a.cols(), "a square matrix".into());
        }
        self.params.check(n)?;
        let context = self.a.context();
        if let Some(b) = self.b {
            if (b.rows(), b.cols()) != (n, n) {
                return shape("b", b.rows(), b.cols(), format!("{n} x {n}, as A"));
            }
            same(context, b.context(), "b")?;
        }
        if let Some(m) = &self.m {
            if self.params.which == Which::Largest {
                return Err(Error::value(
                    "m",
                    "none: the largest eigenvalues take no preconditioner",
                    "a preconditioner",
                ));
            }
            if m.size() != n {
                return shape("m", m.size(), m.size(), format!("{n} x {n}, as A"));
            }
            same(context, m.context(), "m")?;
        }
        if let Some(x) = self.start {
            if x.rows() != n {
                return shape("x", x.rows(), x.cols(), format!("{n} rows, as A"));
            }
            same(context, x.context(), "x")?;
        }
        Ok(())
    }
}

fn same(context: &crate::Context, other: &crate::Context, argument: &'static str) -> Result<()> {
    if context.same(other) { Ok(()) } else { Err(Error::Context { argument }) }
}
