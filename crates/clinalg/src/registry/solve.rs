//! Solvers on handles.

use serde::{Deserialize, Serialize};

use super::{Kind, Operand, Registry, Scalar, Stored, typed};
use crate::grid::{self, Poisson, PoissonParams, PoissonReport};
use crate::solve::{BiCgStab, Cg, Gmres, Jacobi, Operator, Params, Preconditioner, Report};
use crate::{Context, Error, Precision, Result, Vector};

/// A Krylov method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Conjugate gradients, for symmetric positive definite matrices.
    Cg,
    /// Stabilised biconjugate gradients.
    BiCgStab,
    /// Generalised minimal residuals with this restart.
    Gmres(usize),
}

/// What errors call the handle of a preconditioner.
const INVERSE: &str = "preconditioner";

/// A preconditioner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preconditioning {
    /// None.
    #[default]
    None,
    /// The matrix's diagonal.
    Jacobi,
    /// The matrix or operator of this handle, which approximates the inverse.
    Inverse(u64),
}

/// The product with an approximate inverse.
struct Inverse<'a, T: Scalar>(&'a dyn Operator<T>);

impl<T: Scalar> Preconditioner<T> for Inverse<'_, T> {
    fn size(&self) -> usize {
        self.0.rows()
    }

    fn context(&self) -> &Context {
        self.0.context()
    }

    fn apply(&mut self, r: &Vector<T>, z: &mut Vector<T>) -> Result<()> {
        self.0.apply(T::one(), r, T::zero(), z)
    }
}

impl<T: Scalar> Stored<T> {
    /// The matrix as what a solver takes.
    pub(super) fn operator(&self) -> Result<&dyn Operator<T>> {
        match self {
            Stored::Dense(a) => Ok(a),
            Stored::Csr(a) => Ok(a),
            Stored::Band(a) => Ok(a),
            Stored::Vector(_) => Err(self.no_matrix()),
        }
    }

    pub(super) fn diagonal(&self) -> Result<Vector<T>> {
        match self {
            Stored::Dense(a) => a.diagonal(),
            Stored::Csr(a) => a.diagonal(),
            Stored::Band(a) => a.diagonal(),
            Stored::Vector(_) => Err(self.no_matrix()),
        }
    }
}

impl Registry {
    /// Solves A x = b; x holds the start on entry and the last iterate after. `None` starts from zero
    /// in a new vector. Gives the handle of x.
    ///
    /// # Errors
    /// [`Error::Handle`], [`Error::Precision`], [`Error::Length`], [`Error::Shape`], [`Error::Context`] or [`Error::Value`] that
    /// names the argument. Not to converge is no error: see
    /// [`Report::stop`].
    pub fn solve(
        &self,
        method: Method,
        preconditioning: Preconditioning,
        a: u64,
        b: u64,
        x: Option<u64>,
        params: &Params,
    ) -> Result<(u64, Report)> {
        let mut inputs = vec![Operand::new("a", a, Kind::MATRIX), Operand::new("b", b, Kind::FULL)];
        if let Preconditioning::Inverse(inverse) = preconditioning {
            inputs.push(Operand::new(INVERSE, inverse, Kind::MATRIX));
        }
        self.solve_into(x, b, |x| {
            self.call(&inputs, Some(Operand::new("x", x, Kind::FULL)), |inputs, output| {
                let Some(output) = output else { unreachable!("an output was named") };
                typed!(inputs[0], T => {
                    let a = inputs[0].matrix::<T>("a")?;
                    let b = inputs[1].stored::<T>("b")?.vector("b")?;
                    let x = output.stored_mut::<T>("x")?.vector_mut("x")?;
                    let inverse = match inputs.get(2) {
                        Some(object) => Some(object.matrix::<T>(INVERSE)?),
                        None => None,
                    };
                    let (mut jacobi, mut product);
                    let m: Option<&mut dyn Preconditioner<T>> = match (preconditioning, &inverse) {
                        (Preconditioning::Jacobi, _) => {
                            jacobi = Jacobi::new(&a.diagonal()?)?;
                            Some(&mut jacobi)
                        }
                        (_, Some(inverse)) => {
                            let (n, (rows, cols)) = (b.len(), inverse.shape());
                            if (rows, cols) != (n, n) {
                                let (expected, got) = (format!("{n} x {n}"), format!("{rows} x {cols}"));
                                return Err(Error::Shape { argument: INVERSE, expected, got });
                            }
                            let operator = inverse.operator()?;
                            if !operator.context().same(b.context()) {
                                return Err(Error::Context { argument: INVERSE });
                            }
                            product = Inverse(operator);
                            Some(&mut product)
                        }
                        (_, None) => None,
                    };
                    let (a, context, n) = (a.operator()?, b.context(), b.len());
                    match method {
                        Method::Cg => Cg::new(context, n)?.solve(a, m, b, x, params),
                        Method::BiCgStab => BiCgStab::new(context, n)?.solve(a, m, b, x, params),
                        Method::Gmres(restart) => Gmres::new(context, n, restart)?.solve(a, m, b, x, params),
                    }
                })
            })
        })
    }

    /// Solves -Laplace u + shift u = f on the unit square or the unit cube by multigrid; f and u are
    /// grids with their boundary points, N a side, of N^dim values. u holds the boundary values and the start on entry; `None`
    /// takes zeros in a new vector. `params.n` is taken from f. Gives the handle of u.
    ///
    /// # Errors
    /// As [`Registry::solve`]; [`Error::Value`] for a side that is not 2^k + 1.
    pub fn poisson(&self, f: u64, u: Option<u64>, params: &PoissonParams) -> Result<(u64, PoissonReport)> {
        self.solve_into(u, f, |u| {
            self.call(&[Operand::new("f", f, Kind::FULL)], Some(Operand::new("u", u, Kind::FULL)), |inputs, output| {
                let Some(output) = output else { unreachable!("an output was named") };
                typed!(inputs[0], T => {
                    let f = inputs[0].stored::<T>("f")?.full("f")?;
                    let u = output.stored_mut::<T>("u")?.full_mut("u")?;
                    let params = PoissonParams { n: grid::side_in("f", f.len(), params.dim)?, ..*params };
                    Poisson::<T>::new(f.context(), &params)?.solve_device(f, u)
                })
            })
        })
    }

    /// Runs `solve` on the handle given, or on a new object of zeros like `like`, which is released
    /// again if `solve` fails.
    fn solve_into<R>(&self, given: Option<u64>, like: u64, solve: impl FnOnce(u64) -> Result<R>) -> Result<(u64, R)> {
        if let Some(handle) = given {
            return Ok((handle, solve(handle)?));
        }
        let handle = self.copy(like, None)?;
        let solved = self.fill(handle, 0.0).and_then(|()| solve(handle));
        if solved.is_err() {
            self.release(handle, Kind::ANY)?;
        }
        Ok((handle, solved?))
    }
}
