//! Preconditioning by the operator of opposite order.

use std::cell::RefCell;

use clinalg::solve::Operator;
use clinalg::{Context, Csr, Error, Real, Result, Vector, ops};

use super::{HeatOperator, HeatSpace, Kind, OperatorOptions};

/// Weights of the parts that the opposite operator does not see, for V and for D.
const WEIGHTS: [f64; 2] = [1.0, 1.0];

/// An approximate inverse of V by D, or of D by V, on the same mesh and time steps.
///
/// V is of order -1 in space (-1/2 in time), D of order +1 (+1/2): with mass matrices between, one is spectrally equivalent to
/// the inverse of the other (Steinbach and Wendland 1998; Hiptmair 2006; for the heat equation Dohr, Niino and Steinbach 2018).
/// Functions constant on triangles and hats are no stable pair. Instead of a dual mesh, functions biorthogonal to the trial
/// functions are split in a part which the opposite operator acts on and a local rest, whose energy is a diagonal matrix (Stevenson
/// and van Venetie 2020 and 2021):
///
/// * for V: W^-1 (P' D P + w R' E R) W^-1, W the areas times the step length, P from triangles to nodes by means weighted with areas,
///   R = I - Q P what its means Q over triangles leave out, E = W^2 / diag(V_0);
/// * for D: W^-1 (Q' V Q + w E) W^-1, W the integrals of hats times the step length, Q from nodes to means over triangles,
///   E the sum of diag(V_0) over the triangles of a hat.
#[derive(Debug)]
pub struct Opposite<T: Real> {
    other: HeatOperator<T>,
    /// To the unknowns of `other`, and back.
    to: Csr<T>,
    back: Csr<T>,
    /// 1 / W.
    inverse: Vector<T>,
    /// w E.
    rest: Vector<T>,
    /// Q and Q' where the rest is that of P.
    means: Option<(Csr<T>, Csr<T>)>,
    scratch: RefCell<Scratch<T>>,
}

#[derive(Debug)]
struct Scratch<T: Real> {
    scaled: Vector<T>,
    rest: Vector<T>,
    weighted: Vector<T>,
    nodes: Vector<T>,
    there: Vector<T>,
    applied: Vector<T>,
}

/// The matrix of `block` for each time step.
fn in_time<T: Real>(context: &Context, steps: usize, cols: usize, block: &[Vec<(usize, f64)>]) -> Result<Csr<T>> {
    let nonzeros: usize = block.iter().map(Vec::len).sum();
    let mut offsets = Vec::with_capacity(steps * block.len() + 1);
    let (mut indices, mut values) = (Vec::with_capacity(steps * nonzeros), Vec::with_capacity(steps * nonzeros));
    offsets.push(0);
    for step in 0..steps {
        for row in block {
            for &(j, value) in row {
                indices.push(step * cols + j);
                values.push(T::of(value));
            }
            offsets.push(indices.len());
        }
    }
    Csr::from_csr(context, steps * block.len(), steps * cols, &offsets, &indices, &values)
}

fn transposed(block: &[Vec<(usize, f64)>], cols: usize) -> Vec<Vec<(usize, f64)>> {
    let mut rows = vec![Vec::new(); cols];
    for (i, row) in block.iter().enumerate() {
        row.iter().for_each(|&(j, value)| rows[j].push((i, value)));
    }
    rows
}

impl<T: Real> Opposite<T> {
    /// A preconditioner of `matrix`, V or D, with `options` for the other operator.
    ///
    /// # Errors
    /// [`Error::Shape`] for another operator; [`Error::Allocation`].
    pub fn new(space: &HeatSpace<T>, matrix: &HeatOperator<T>, options: &OperatorOptions) -> Result<Opposite<T>> {
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
        let block = single.block(0)?;
        let diagonal: Vec<f64> = (0..triangles).map(|k| block[k * triangles + k].wide()).collect();
        let mut around = vec![0.0; nodes];
        for (triangle, area) in mesh.triangles().iter().zip(mesh.areas()) {
            triangle.iter().for_each(|&v| around[v as usize] += area);
        }
        let means: Vec<Vec<(usize, f64)>> =
            mesh.triangles().iter().map(|t| t.iter().map(|&v| (v as usize, 1.0 / 3.0)).collect()).collect();
        let mut weights = vec![Vec::new(); nodes];
        for (k, (triangle, area)) in mesh.triangles().iter().zip(mesh.areas()).enumerate() {
            triangle.iter().for_each(|&v| weights[v as usize].push((k, area / around[v as usize])));
        }
        let spread = |values: Vec<f64>| {
            let values: Vec<T> = values.into_iter().map(T::of).collect();
            Vector::from_slice(context, &values.repeat(steps))
        };
        let sparse = |cols: usize, block: &[Vec<(usize, f64)>]| in_time(context, steps, cols, block);
        let (to, back, inverse, rest, rest_means) = if matrix.kind() == Kind::V {
            let mass: Vec<f64> = mesh.areas().iter().map(|a| h * a).collect();
            let energy = mass.iter().zip(&diagonal).map(|(m, v)| weight(0) * m * m / v).collect();
            (
                sparse(triangles, &weights)?,
                sparse(nodes, &transposed(&weights, triangles))?,
                spread(mass.iter().map(|m| 1.0 / m).collect())?,
                spread(energy)?,
                Some((sparse(nodes, &means)?, sparse(triangles, &transposed(&means, nodes))?)),
            )
        } else {
            let mass = around.iter().map(|a| 3.0 / (h * a)).collect();
            let mut energy = vec![0.0; nodes];
            for (triangle, v) in mesh.triangles().iter().zip(&diagonal) {
                triangle.iter().for_each(|&node| energy[node as usize] += weight(1) * v);
            }
            (sparse(nodes, &means)?, sparse(triangles, &transposed(&means, nodes))?, spread(mass)?, spread(energy)?, None)
        };
        let (own, there) = (matrix.rows(), other.rows());
        let scratch = Scratch {
            scaled: Vector::zeros(context, own)?,
            rest: Vector::zeros(context, own)?,
            weighted: Vector::zeros(context, own)?,
            nodes: Vector::zeros(context, if rest_means.is_some() { there } else { 0 })?,
            there: Vector::zeros(context, there)?,
            applied: Vector::zeros(context, there)?,
        };
        Ok(Opposite { other, to, back, inverse, rest, means: rest_means, scratch: RefCell::new(scratch) })
    }

    /// The operator of opposite order.
    pub fn other(&self) -> &HeatOperator<T> {
        &self.other
    }
}

impl<T: Real> Operator<T> for Opposite<T> {
    fn rows(&self) -> usize {
        self.inverse.len()
    }

    fn cols(&self) -> usize {
        self.inverse.len()
    }

    fn context(&self) -> &Context {
        self.inverse.context()
    }

    fn apply(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        let Scratch { scaled, rest, weighted, nodes, there, applied } = &mut *self.scratch.borrow_mut();
        let (one, zero) = (T::one(), T::zero());
        if x.len() != scaled.len() {
            return Err(Error::Length { argument: "x", expected: scaled.len(), got: x.len() });
        }
        ops::multiply(x, &self.inverse, scaled)?;
        ops::mv(one, &self.to, scaled, zero, there)?;
        self.other.apply(one, there, zero, applied)?;
        // What the other operator does not see.
        ops::copy(scaled, rest)?;
        if let Some((means, _)) = &self.means {
            ops::mv(-one, means, there, one, rest)?;
        }
        ops::multiply(rest, &self.rest, weighted)?;
        if let Some((_, spread)) = &self.means {
            // P' of what is left, with the product by the other operator.
            ops::mv(one, spread, weighted, zero, nodes)?;
            ops::update(-one, nodes, one, applied)?;
        }
        ops::mv(one, &self.back, applied, one, weighted)?;
        ops::multiply(weighted, &self.inverse, scaled)?;
        ops::update(alpha, scaled, beta, y)
    }
}

/// A M for the matrix A and the approximate inverse M: preconditioning from the right, which leaves residuals as they are.
pub(super) struct Preconditioned<'a, T: Real> {
    pub(super) matrix: &'a HeatOperator<T>,
    pub(super) inverse: &'a Opposite<T>,
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

fn weight(k: usize) -> f64 { std::env::var("WEIGHT").ok().and_then(|s| s.parse().ok()).unwrap_or(WEIGHTS[k]) }
