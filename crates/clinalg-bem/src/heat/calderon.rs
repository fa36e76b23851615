//! Operator (Calderon-type) preconditioning: V by D and D by V.

use std::cell::RefCell;

use clinalg::solve::Operator;
use clinalg::{Context, Csr, Dense, Error, Real, Result, Vector, ops};

use super::{HeatOperator, HeatSpace, Kind, OperatorOptions};
use crate::Mesh;

/// Weights of what the preconditioning operator does not see of functions on triangles (for V) and at nodes (for D): those that need
/// the fewest iterations on the cubes of the tests.
const WEIGHTS: [f64; 2] = [0.2, 0.1];
/// Steps of the Chebyshev iteration for mass matrices: an error of 2 / 3^8.
const MASS_STEPS: usize = 8;

/// An approximate inverse of V by D, or of D by V, on the same mesh and time steps.
///
/// V is of order -1 in space and -1/2 in time, D of order 1 and 1/2: with mass matrices between, one is equivalent to the inverse
/// of the other (Steinbach and Wendland 1998; Hiptmair 2006; for the heat equation Dohr, Niino and Steinbach 2019). Constants on
/// triangles and hats are no stable pair. Instead of a dual mesh, functions are split in a part which the preconditioning operator acts on
/// and a local rest, whose energy is a diagonal matrix E (Stevenson and van Venetie 2020 and 2021). With M the mass matrix of
/// hats, Q from nodes to means over triangles and W the areas, both times the step length where they are integrals:
///
/// * V^-1 is about P' D P + w R' E R with P = M^-1 Q', R = W^-1 - Q P, E = W^2 / diag(V_0);
/// * D^-1 is about M^-1 (Q' V Q + w E) M^-1, E the sum of diag(V_0) over the triangles of a hat.
#[derive(Debug)]
pub struct OperatorPreconditioner<T: Real> {
    other: HeatOperator<T>,
    /// Q and its transpose, the same in each time step.
    means: Csr<T>,
    spread: Csr<T>,
    mass: RefCell<MassInverse<T>>,
    /// 1 / W, for V.
    inverse: Option<Vector<T>>,
    /// w E.
    rest: Vector<T>,
    scratch: RefCell<Scratch<T>>,
}

/// Values on triangles and at nodes, a column for each time step.
#[derive(Debug)]
struct Scratch<T: Real> {
    triangles: [Dense<T>; 3],
    nodes: [Dense<T>; 2],
}

impl<T: Real> OperatorPreconditioner<T> {
    /// A preconditioner of `matrix`, V or D, with `options` for the other operator.
    ///
    /// # Errors
    /// [`Error::Shape`] for another operator; [`Error::Allocation`].
    pub fn new(
        space: &HeatSpace<T>,
        matrix: &HeatOperator<T>,
        options: &OperatorOptions,
    ) -> Result<OperatorPreconditioner<T>> {
        let other_kind = match matrix.kind() {
            Kind::V => Kind::D,
            Kind::D => Kind::V,
            other => {
                let (expected, got) = ("the operator V or D".into(), format!("{other:?}"));
                return Err(Error::Shape { argument: "matrix", expected, got });
            }
        };
        let other = space.operator(other_kind, options)?;
        let (mesh, params, context) = (space.mesh(), space.params(), space.context());
        let (steps, h) = (params.steps, params.step());
        let (triangles, nodes) = (mesh.triangles().len(), mesh.nodes().len());
        let single = if matrix.kind() == Kind::V { matrix } else { &other };
        let diagonal: Vec<f64> = single.block(0)?.diagonal()?.to_vec()?.into_iter().map(T::into_f64).collect();
        let third = T::from_f64(1.0 / 3.0);
        let corners = mesh.triangles().iter().enumerate();
        let means: Vec<(usize, usize, T)> = corners.flat_map(|(k, t)| t.map(|v| (k, v as usize, third))).collect();
        let spread: Vec<(usize, usize, T)> = means.iter().map(|&(k, v, value)| (v, k, value)).collect();
        let in_time = |values: Vec<f64>| {
            let values: Vec<T> = values.into_iter().map(T::from_f64).collect();
            Vector::from_slice(context, &values.repeat(steps))
        };
        let (inverse, rest) = if matrix.kind() == Kind::V {
            let integrals: Vec<f64> = mesh.areas().iter().map(|area| h * area).collect();
            let energy = integrals.iter().zip(&diagonal).map(|(w, v)| WEIGHTS[0] * w * w / v).collect();
            (Some(in_time(integrals.iter().map(|w| 1.0 / w).collect())?), in_time(energy)?)
        } else {
            let mut energy = vec![0.0; nodes];
            for (triangle, v) in mesh.triangles().iter().zip(&diagonal) {
                triangle.iter().for_each(|&node| energy[node as usize] += WEIGHTS[1] * v);
            }
            (None, in_time(energy)?)
        };
        let columns = |rows: usize| Dense::zeros(context, rows, steps);
        Ok(OperatorPreconditioner {
            other,
            means: Csr::from_triplets(context, triangles, nodes, &means)?,
            spread: Csr::from_triplets(context, nodes, triangles, &spread)?,
            mass: RefCell::new(MassInverse::new(context, mesh, steps, h)?),
            inverse,
            rest,
            scratch: RefCell::new(Scratch {
                triangles: [columns(triangles)?, columns(triangles)?, columns(triangles)?],
                nodes: [columns(nodes)?, columns(nodes)?],
            }),
        })
    }

    /// The preconditioning operator: D for V, V for D.
    pub fn other(&self) -> &HeatOperator<T> {
        &self.other
    }
}

impl<T: Real> Operator<T> for OperatorPreconditioner<T> {
    fn rows(&self) -> usize {
        self.rest.len()
    }

    fn cols(&self) -> usize {
        self.rest.len()
    }

    fn context(&self) -> &Context {
        self.rest.context()
    }

    fn apply(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        for (argument, vector) in [("x", x), ("y", &*y)] {
            if !self.context().same(vector.context()) {
                return Err(Error::Context { argument });
            }
            if vector.len() != self.rows() {
                return Err(Error::Length { argument, expected: self.rows(), got: vector.len() });
            }
        }
        let Scratch { triangles: [t0, t1, t2], nodes: [n0, n1] } = &mut *self.scratch.borrow_mut();
        let mass = &mut *self.mass.borrow_mut();
        let (one, zero) = (T::one(), T::zero());
        let Some(inverse) = &self.inverse else {
            ops::copy(x, n1.as_vector_mut())?;
            mass.apply(n1, n0)?;
            ops::mm(one, &self.means, n0, zero, t0)?;
            self.other.apply(one, t0.as_vector(), zero, t1.as_vector_mut())?;
            ops::multiply(n0.as_vector(), &self.rest, n1.as_vector_mut())?;
            ops::mm(one, &self.spread, t1, one, n1)?;
            mass.apply(n1, n0)?;
            return ops::update(alpha, n0.as_vector(), beta, y);
        };
        ops::copy(x, t2.as_vector_mut())?;
        ops::mm(one, &self.spread, t2, zero, n1)?;
        mass.apply(n1, n0)?;
        ops::multiply(x, inverse, t0.as_vector_mut())?;
        ops::mm(-one, &self.means, n0, one, t0)?;
        ops::multiply(t0.as_vector(), &self.rest, t1.as_vector_mut())?;
        self.other.apply(one, n0.as_vector(), zero, n1.as_vector_mut())?;
        ops::mm(-one, &self.spread, t1, one, n1)?;
        mass.apply(n1, n0)?;
        ops::multiply(t1.as_vector(), inverse, t0.as_vector_mut())?;
        ops::mm(one, &self.means, n0, one, t0)?;
        ops::update(alpha, t0.as_vector(), beta, y)
    }
}

/// The mass matrix of hats and steps, inverted by a Chebyshev iteration of fixed length.
///
/// Scaled by its diagonal its eigenvalues lie between 1/2 and 2 on any mesh of triangles (Wathen 1987).
#[derive(Debug)]
struct MassInverse<T: Real> {
    /// That of one time step.
    matrix: Csr<T>,
    /// 1 / diagonal, for all steps.
    inverse: Vector<T>,
    residual: Dense<T>,
    scaled: Vector<T>,
    direction: Dense<T>,
}

impl<T: Real> MassInverse<T> {
    fn new(context: &Context, mesh: &Mesh, steps: usize, h: f64) -> Result<MassInverse<T>> {
        let nodes = mesh.nodes().len();
        let mut entries = Vec::with_capacity(9 * mesh.triangles().len());
        let mut diagonal = vec![0.0; nodes];
        for (triangle, area) in mesh.triangles().iter().zip(mesh.areas()) {
            for &a in triangle {
                diagonal[a as usize] += h * area / 6.0;
                for &b in triangle {
                    let value = h * area / if a == b { 6.0 } else { 12.0 };
                    entries.push((a as usize, b as usize, T::from_f64(value)));
                }
            }
        }
        let inverse: Vec<T> = diagonal.iter().map(|&d| T::from_f64(1.0 / d)).collect();
        Ok(MassInverse {
            matrix: Csr::from_triplets(context, nodes, nodes, &entries)?,
            inverse: Vector::from_slice(context, &inverse.repeat(steps))?,
            residual: Dense::zeros(context, nodes, steps)?,
            scaled: Vector::zeros(context, nodes * steps)?,
            direction: Dense::zeros(context, nodes, steps)?,
        })
    }

    /// x = M^-1 b about (Saad 2003, algorithm 12.1).
    fn apply(&mut self, b: &Dense<T>, x: &mut Dense<T>) -> Result<()> {
        let (middle, half) = (1.25, 0.75);
        let one = T::one();
        let x = x.as_vector_mut();
        ops::copy(b.as_vector(), self.residual.as_vector_mut())?;
        ops::multiply(b.as_vector(), &self.inverse, &mut self.scaled)?;
        ops::scale(T::from_f64(1.0 / middle), &self.scaled, self.direction.as_vector_mut())?;
        ops::copy(self.direction.as_vector(), x)?;
        let mut rho = half / middle;
        for _ in 1..MASS_STEPS {
            ops::mm(-one, &self.matrix, &self.direction, one, &mut self.residual)?;
            ops::multiply(self.residual.as_vector(), &self.inverse, &mut self.scaled)?;
            let next = 1.0 / (2.0 * middle / half - rho);
            let direction = self.direction.as_vector_mut();
            ops::update(T::from_f64(2.0 * next / half), &self.scaled, T::from_f64(next * rho), direction)?;
            ops::update(one, direction, one, x)?;
            rho = next;
        }
        Ok(())
    }
}

/// A M for the matrix A and the approximate inverse M: preconditioning from the right, which leaves residuals as they are.
pub(super) struct Preconditioned<'a, T: Real> {
    pub(super) matrix: &'a HeatOperator<T>,
    pub(super) inverse: &'a OperatorPreconditioner<T>,
    pub(super) between: RefCell<Vector<T>>,
}

impl<T: Real> Operator<T> for Preconditioned<'_, T> {
    fn rows(&self) -> usize {
        self.matrix.rows()
    }

    fn cols(&self) -> usize {
        self.inverse.cols()
    }

    fn context(&self) -> &Context {
        self.matrix.context()
    }

    fn apply(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        let between = &mut *self.between.borrow_mut();
        self.inverse.apply(T::one(), x, T::zero(), between)?;
        self.matrix.apply(alpha, between, beta, y)
    }
}

#[cfg(test)]
mod tests {
    use super::super::data::apply_mass;
    use super::*;

    #[test]
    fn mass_matrices_are_inverted() {
        let Ok(context) = Context::global() else { return };
        let mesh = Mesh::icosphere(1).unwrap();
        let (steps, h) = (3, 0.1);
        let count = mesh.nodes().len();
        let x: Vec<f64> = (0..count * steps).map(|k| ((k * 7919) % 1000) as f64 / 500.0 - 1.0).collect();
        let b: Vec<f64> = x.chunks(count).flat_map(|x| apply_mass(&mesh, x)).map(|v| h * v).collect();
        let b = Dense::from_column_major(&context, count, steps, &b).unwrap();
        let mut got = Dense::zeros(&context, count, steps).unwrap();
        MassInverse::new(&context, &mesh, steps, h).unwrap().apply(&b, &mut got).unwrap();
        let got = got.to_column_major().unwrap();
        let norm = |values: &mut dyn Iterator<Item = f64>| values.map(|v| v * v).sum::<f64>().sqrt();
        let error = norm(&mut got.iter().zip(&x).map(|(a, b)| a - b)) / norm(&mut x.iter().copied());
        // The norm weighted with the diagonal falls by 2 / 3^8.
        assert!(error < 1e-3, "{error:e}");
    }
}
