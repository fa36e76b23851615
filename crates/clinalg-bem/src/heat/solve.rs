//! The Dirichlet and the Neumann problem.

use std::cell::RefCell;
use std::sync::Arc;

use clinalg::matrix::Values;
use clinalg::solve::{Gmres, GmresParams, KrylovMemory, Operator, Progress, Report, Resumable, Solver};
use clinalg::{Error, Real, Result, Vector, ops};

use super::calderon::Preconditioned;
use super::data::{nodes_to_triangles, triangles_to_nodes};
use super::{Forward, HeatOperator, HeatSpace, Kind, OperatorOptions, OperatorPreconditioner};

/// Which boundary values are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Problem {
    /// u at nodes is given, w on triangles wanted: V w = (M / 2 + K) u.
    Dirichlet,
    /// w on triangles is given, u at nodes wanted: D u = (M' / 2 - Ks) w.
    Neumann,
}

impl Problem {
    /// The operator of the system and that of the right-hand side.
    pub fn kinds(self) -> (Kind, Kind) {
        match self {
            Problem::Dirichlet => (Kind::V, Kind::K),
            Problem::Neumann => (Kind::D, Kind::Ks),
        }
    }

    /// The right-hand side from the given boundary values, by the operator `other` of [`Problem::kinds`] in `space`: (M / 2 + K) u or
    /// (M' / 2 - Ks) w.
    ///
    /// # Errors
    /// [`Error::Length`] for another number of values, [`Error::Value`] for another operator; those of the product.
    pub fn right_side<T: Real>(
        self,
        space: &HeatSpace<T>,
        other: &HeatOperator<T>,
        given: &[f64],
    ) -> Result<Vector<T>> {
        let (wanted, got) = (self.kinds().1, other.kind());
        if wanted != got {
            let (expected, got) = (format!("the operator {wanted:?}"), format!("{got:?}"));
            return Err(Error::Value { argument: "other", expected, got });
        }
        if given.len() != other.cols() {
            return Err(Error::Length { argument: "given", expected: other.cols(), got: given.len() });
        }
        let (mesh, params) = (space.mesh(), space.params());
        let (half, sign) = match self {
            Problem::Dirichlet => (nodes_to_triangles(mesh, params, given), T::one()),
            Problem::Neumann => (triangles_to_nodes(mesh, params, given), -T::one()),
        };
        let upload = |values: &[f64], factor: f64| {
            let values: Vec<T> = values.iter().map(|&v| T::from_f64(factor * v)).collect();
            Vector::from_slice(space.context(), &values)
        };
        let mut b = upload(&half, 0.5)?;
        other.apply(sign, &upload(given, 1.0)?, T::one(), &mut b)?;
        Ok(b)
    }
}

/// A boundary value problem: the matrix and, after [`BoundaryProblem::right_side`], what it is solved for.
#[derive(Debug)]
pub struct BoundaryProblem<T: Real> {
    space: HeatSpace<T>,
    problem: Problem,
    matrix: Arc<HeatOperator<T>>,
}

impl<T: Real> BoundaryProblem<T> {
    /// Makes the operator of the system.
    ///
    /// # Errors
    /// Those of [`HeatSpace::operator`].
    pub fn new(space: &HeatSpace<T>, problem: Problem, options: &OperatorOptions) -> Result<BoundaryProblem<T>> {
        let matrix = Arc::new(space.operator(problem.kinds().0, options)?);
        Ok(BoundaryProblem { space: space.clone(), problem, matrix })
    }

    /// Mesh and parameters.
    pub fn space(&self) -> &HeatSpace<T> {
        &self.space
    }

    /// The operator of the system.
    pub fn matrix(&self) -> &HeatOperator<T> {
        &self.matrix
    }

    /// The right-hand side from the given boundary values: [`Problem::right_side`].
    ///
    /// # Errors
    /// As [`Problem::right_side`].
    pub fn right_side(&self, other: &HeatOperator<T>, given: &[f64]) -> Result<Vector<T>> {
        self.problem.right_side(&self.space, other, given)
    }

    /// A preconditioner for [`BoundaryProblem::gmres`].
    ///
    /// # Errors
    /// Those of [`OperatorPreconditioner::new`].
    pub fn operator_preconditioner(&self, options: &OperatorOptions) -> Result<OperatorPreconditioner<T>> {
        OperatorPreconditioner::new(&self.space, &self.matrix, options)
    }

    /// A direct solver.
    ///
    /// # Errors
    /// Those of [`Forward::new`].
    pub fn forward(&self) -> Result<Forward<T>> {
        Forward::new(&self.matrix)
    }

    /// Solves by GMRES, preconditioned from the right by `inverse`. Without it the start is x = b, else x = 0; the
    /// tolerance is relative to the residual there. `progress` gets the number of each iteration and the relative residual,
    /// and can stop the solve.
    ///
    /// # Errors
    /// Those of [`Solver::solve_with`].
    pub fn gmres(
        &self,
        inverse: Option<&OperatorPreconditioner<T>>,
        b: &Vector<T>,
        params: GmresParams,
        progress: Progress<'_>,
    ) -> Result<(Vector<T>, Report)> {
        self.solve(None, inverse, b, params, progress)
    }

    /// As [`BoundaryProblem::gmres`]; continues with `memory`, and leaves there what [`Resumable::solve_from`] leaves.
    ///
    /// # Errors
    /// Those of [`Resumable::solve_from`].
    pub fn gmres_from(
        &self,
        memory: &mut KrylovMemory<T>,
        inverse: Option<&OperatorPreconditioner<T>>,
        b: &Vector<T>,
        params: GmresParams,
        progress: Progress<'_>,
    ) -> Result<(Vector<T>, Report)> {
        self.solve(Some(memory), inverse, b, params, progress)
    }

    fn solve(
        &self,
        memory: Option<&mut KrylovMemory<T>>,
        inverse: Option<&OperatorPreconditioner<T>>,
        b: &Vector<T>,
        params: GmresParams,
        progress: Progress<'_>,
    ) -> Result<(Vector<T>, Report)> {
        let context = self.space.context();
        let n = self.matrix.rows();
        let mut x = Vector::zeros(context, n)?;
        let mut solver = Gmres::new(context, n, params)?;
        let by_gmres = |a: &dyn Operator<T>, b: &Vector<T>, x: &mut Vector<T>| match memory {
            Some(memory) => solver.solve_from(memory, a, None, b, x, progress),
            None => solver.solve_with(a, None, b, x, progress),
        };
        if let Some(inverse) = inverse {
            let between = RefCell::new(Vector::zeros(context, n)?);
            let product = Preconditioned { matrix: &self.matrix, inverse, between };
            let mut y = Vector::zeros(context, n)?;
            let report = by_gmres(&product, b, &mut y)?;
            inverse.apply(T::one(), &y, T::zero(), &mut x)?;
            return Ok((x, report));
        }
        // A e = b - A b, x = b + e: the same Krylov spaces and the same residuals.
        let mut residual = b.try_clone()?;
        self.matrix.apply(-T::one(), b, T::one(), &mut residual)?;
        let report = by_gmres(&*self.matrix, &residual, &mut x)?;
        ops::update(T::one(), b, T::one(), &mut x)?;
        Ok((x, report))
    }
}
