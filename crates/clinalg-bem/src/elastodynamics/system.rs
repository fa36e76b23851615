//! Boundary conditions and the system of equations for what they leave unknown.

use clinalg::ops::Lu;
use clinalg::solve::{Gmres, GmresParams, Progress, Report, Solver};
use clinalg::{Context, Dense, Error, Result, Vector, ops};

use super::{C64, ComplexScalar, Solution, narrow, widen};
use crate::ElementMesh;

/// Which of displacement and traction is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// The displacement.
    Displacement,
    /// The traction.
    Traction,
}

/// What is known on each boundary element, in each direction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conditions {
    known: Vec<[Known; 3]>,
}

impl Conditions {
    /// The same everywhere.
    pub fn uniform(mesh: &ElementMesh, known: Known) -> Conditions {
        Conditions { known: vec![[known; 3]; mesh.boundary()] }
    }

    /// Of each boundary element, in the directions x, y and z.
    pub fn new(known: Vec<[Known; 3]>) -> Conditions {
        Conditions { known }
    }

    /// What is known of element `j`.
    pub fn of(&self, j: usize) -> [Known; 3] {
        self.known[j]
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Displacements and tractions from the unknowns `x`, tractions over `shear`, and the `given` values.
    pub(super) fn solution<S: ComplexScalar>(&self, x: &[S], given: &[C64], shear: f64, frequency: f64) -> Solution {
        let pair = |((&known, &x), &given): ((&Known, &S), &C64)| match known {
            Known::Displacement => (given, widen(x) * shear),
            Known::Traction => (widen(x), given),
        };
        let (displacements, tractions) = self.known.iter().flatten().zip(x).zip(given).map(pair).unzip();
        Solution { displacements, tractions, frequency }
    }

    /// 1 where the displacement is known.
    pub(super) fn flags(&self) -> Vec<u32> {
        self.known.iter().flatten().map(|&known| u32::from(known == Known::Displacement)).collect()
    }
}

/// A x = B y: x is what the conditions leave unknown, tractions divided by the shear modulus, y what they give.
#[derive(Debug)]
pub struct System<S: ComplexScalar> {
    matrix: Dense<S>,
    sides: Sides<S>,
}

/// How given values become right-hand sides and solutions become fields.
#[derive(Debug)]
struct Sides<S: ComplexScalar> {
    given: Dense<S>,
    conditions: Conditions,
    shear: f64,
    frequency: f64,
}

/// A factorised [`System`].
#[derive(Debug)]
pub struct Factors<S: ComplexScalar> {
    lu: Lu<S>,
    sides: Sides<S>,
}

impl<S: ComplexScalar> System<S> {
    pub(super) fn new(
        matrix: Dense<S>,
        given: Dense<S>,
        conditions: Conditions,
        shear: f64,
        frequency: f64,
    ) -> System<S> {
        System { matrix, sides: Sides { given, conditions, shear, frequency } }
    }

    /// A, 3 m x 3 m.
    pub fn matrix(&self) -> &Dense<S> {
        &self.matrix
    }

    /// The matrices A and B.
    pub(super) fn into_matrices(self) -> [Dense<S>; 2] {
        [self.matrix, self.sides.given]
    }

    /// LU factors in the memory of A. Waits for the device.
    ///
    /// # Errors
    /// Those of [`Lu::new`].
    pub fn factorise(self) -> Result<Factors<S>> {
        Ok(Factors { lu: Lu::new(self.matrix)?, sides: self.sides })
    }

    /// Solves by GMRES from 0 for `given` values, 3 m numbers: displacements or tractions as the conditions say. `progress` gets the number of
    /// each iteration and the relative residual, and can stop the solve.
    ///
    /// # Errors
    /// [`Error::Length`]; those of [`Solver::solve_with`]. An iteration that does not converge is not an error: see [`Report::stop`].
    pub fn gmres(&self, given: &[C64], params: GmresParams, progress: Progress<'_>) -> Result<(Solution, Report)> {
        let context = self.matrix.context();
        let b = self.sides.right(context, &[given])?;
        let b = Vector::from_view(b.as_vector().slice(0..b.rows())?)?;
        let mut x = Vector::zeros(context, b.len())?;
        let report = Gmres::new(context, b.len(), params)?.solve_with(&self.matrix, None, &b, &mut x, progress)?;
        Ok((self.sides.solution(&x.to_vec()?, given), report))
    }
}

impl<S: ComplexScalar> Factors<S> {
    /// Solves for `given` values, 3 m numbers: displacements or tractions as the conditions say.
    ///
    /// # Errors
    /// As [`Factors::solve_many`].
    pub fn solve(&self, given: &[C64]) -> Result<Solution> {
        let mut all = self.solve_many(&[given])?;
        all.pop().ok_or_else(|| Error::value("given", "at least one set of values", 0))
    }

    /// Solves for several sets of `given` values at once.
    ///
    /// # Errors
    /// [`Error::Length`] unless each set has 3 m numbers; [`Error::Singular`], as for tractions that are given everywhere on a body at
    /// frequency 0: hold it somewhere by given displacements.
    pub fn solve_many(&self, given: &[&[C64]]) -> Result<Vec<Solution>> {
        let mut b = self.sides.right(self.lu.factors().context(), given)?;
        self.lu.solve_in_place(&mut b)?;
        let (x, size) = (b.to_column_major()?, b.rows());
        Ok(x.chunks(size).zip(given).map(|(x, given)| self.sides.solution(x, given)).collect())
    }

    /// The factors of A, and B.
    pub(super) fn into_matrices(self) -> [Dense<S>; 2] {
        [self.lu.into_factors(), self.sides.given]
    }

    /// The LU factors.
    pub fn lu(&self) -> &Lu<S> {
        &self.lu
    }
}

impl<S: ComplexScalar> Sides<S> {
    /// B y for each set.
    fn right(&self, context: &Context, given: &[&[C64]]) -> Result<Dense<S>> {
        let size = self.given.cols();
        if let Some(set) = given.iter().find(|set| set.len() != size) {
            return Err(Error::Length { argument: "given", expected: size, got: set.len() });
        }
        let values: Vec<S> = given.iter().flat_map(|set| set.iter().map(|&v| narrow::<S>(v))).collect();
        let y = Dense::from_column_major(context, size, given.len(), &values)?;
        let mut b = Dense::zeros(context, size, given.len())?;
        ops::mm(S::one(), &self.given, &y, S::zero(), &mut b)?;
        Ok(b)
    }

    fn solution(&self, x: &[S], given: &[C64]) -> Solution {
        self.conditions.solution(x, given, self.shear, self.frequency)
    }
}
