//! The components made of sparse matrices and vectors only.

use super::conjugate::Space;
use super::cycle::{Components, Hierarchy, Sweeps};
use super::equation::Equation;
use super::params::Smoother;
use crate::matrix::CsrParts;
use crate::multigrid::cycle::Order;
use crate::multigrid::faces::Interpolation;
use crate::{Context, Csr, Real, Result, Vector, ops};

/// The matrices of one level, on the points of its grid, with n points per side, or to those of the next coarser
/// one, m per side. Rows of boundary points are empty, so that the boundary stays.
struct Level<T: Real> {
    /// -div_h(a grad_h) + shift.
    a: Csr<T>,
    /// omega / diagonal of `a`: of all interior points (Jacobi), or of each colour, or class of a colour, with omega = 1.
    relax: Vec<Csr<T>>,
    /// 1 on the diagonal of interior points.
    interior: Csr<T>,
    /// 1 on the diagonal of boundary points.
    boundary: Csr<T>,
    transfer: Option<Transfer<T>>,
    /// Defects.
    r: Vector<T>,
    /// Another vector of the level, for norms.
    z: Vector<T>,
}

/// The matrices between a level and the next coarser one.
struct Transfer<T: Real> {
    /// Full weighting, coarse by fine: the transpose of the interpolation over 2^dim.
    restrict: Csr<T>,
    /// Linear interpolation in each direction, or that along the coefficient; fine by coarse.
    interpolate: Csr<T>,
    /// Of full multigrid: injection of boundary values, coarse by fine, and cubic interpolation in
    /// each direction, fine by coarse.
    full: Option<(Csr<T>, Csr<T>)>,
}

/// Only the coarsest level has no coarser one.
fn present<V>(part: &Option<V>) -> &V {
    part.as_ref().expect("made for every level and cycle that asks for it")
}

/// Every step is a sparse product or an operation on vectors.
pub(crate) struct Algebra<T: Real> {
    levels: Vec<Level<T>>,
}

/// A matrix whose row `k` is filled by `row`, columns in ascending order.
pub(crate) fn matrix<T: Real>(
    context: &Context,
    rows: usize,
    cols: usize,
    mut row: impl FnMut(usize, &mut dyn FnMut(usize, f64)),
) -> Result<Csr<T>> {
    let (mut offsets, mut indices, mut values) = (Vec::with_capacity(rows + 1), Vec::new(), Vec::new());
    offsets.push(0);
    for k in 0..rows {
        row(k, &mut |column, value| {
            indices.push(column);
            values.push(T::from_f64(value));
        });
        offsets.push(indices.len());
    }
    Csr::from_parts(context, &CsrParts { rows, cols, offsets, indices, values })
}

/// Whether point `k` of an n by n grid is inside.
pub(crate) fn inside(n: usize, k: usize) -> bool {
    (1..n - 1).contains(&(k % n)) && (1..n - 1).contains(&(k / n))
}

/// Points of a square or a cube, `n` per side.
#[derive(Clone, Copy)]
struct Lattice {
    n: usize,
    dim: u32,
}

impl Lattice {
    fn points(self) -> usize {
        self.n.pow(self.dim)
    }

    /// Coordinates of point `p`, that along the rows last.
    fn coordinates(self, p: usize) -> impl Iterator<Item = usize> {
        (0..self.dim).rev().map(move |d| p / self.n.pow(d) % self.n)
    }

    fn inside(self, p: usize) -> bool {
        self.coordinates(p).all(|i| (1..self.n - 1).contains(&i))
    }
}

/// Puts the products of the weights on `lines`, one per direction, of points of a lattice with `side` points per side;
/// positions in ascending order.
fn product(side: usize, lines: &[Vec<(usize, f64)>], put: &mut dyn FnMut(usize, f64)) {
    fn next(side: usize, at: usize, weight: f64, lines: &[Vec<(usize, f64)>], put: &mut dyn FnMut(usize, f64)) {
        match lines.split_first() {
            Some((line, rest)) => line.iter().for_each(|(i, w)| next(side, at * side + i, weight * w, rest, put)),
            None => put(at, weight),
        }
    }
    next(side, 0, 1.0, lines, put);
}

/// Weights of the coarse points on a line that give fine point `i` by linear interpolation.
fn linear(i: usize) -> Vec<(usize, f64)> {
    if i.is_multiple_of(2) { vec![(i / 2, 1.0)] } else { vec![(i / 2, 0.5), (i / 2 + 1, 0.5)] }
}

/// The same by cubic interpolation on `m` coarse points.
fn cubic(m: usize, i: usize) -> Vec<(usize, f64)> {
    if i.is_multiple_of(2) {
        return vec![(i / 2, 1.0)];
    }
    let (first, weights) = cubic_weights(m, i / 2);
    weights.iter().enumerate().filter(|(_, w)| **w != 0.0).map(|(p, w)| (first + p, *w)).collect()
}

/// Interpolation at interior points as the product of the weights on the lines.
fn interpolation<T: Real>(
    context: &Context,
    fine: Lattice,
    line: impl Fn(usize) -> Vec<(usize, f64)>,
) -> Result<Csr<T>> {
    let coarse = Lattice { n: fine.n.div_ceil(2), ..fine };
    matrix(context, fine.points(), coarse.points(), |p, put| {
        if fine.inside(p) {
            let lines: Vec<_> = fine.coordinates(p).map(&line).collect();
            product(coarse.n, &lines, put);
        }
    })
}

impl<T: Real> Transfer<T> {
    fn new(context: &Context, fine: Lattice, following: Option<&Interpolation<T>>, full: bool) -> Result<Transfer<T>> {
        let coarse = Lattice { n: fine.n.div_ceil(2), ..fine };
        let along = |p: usize| {
            let lines: Vec<_> = fine.coordinates(p).map(linear).collect();
            let mut weights = Vec::new();
            match following {
                Some(following) => weights.extend(following.at(p).map(|(c, w)| (c, w.into_f64()))),
                None => product(coarse.n, &lines, &mut |c, w| weights.push((c, w))),
            }
            weights
        };
        let interpolate = matrix(context, fine.points(), coarse.points(), |p, put| {
            if fine.inside(p) {
                along(p).into_iter().for_each(|(c, w)| put(c, w));
            }
        })?;
        let scale = 0.5_f64.powi(fine.dim as i32);
        let restrict = matrix(context, coarse.points(), fine.points(), |c, put| {
            if coarse.inside(c) {
                // The fine points around, and what they take of this coarse one.
                let around = |i: usize| vec![(2 * i - 1, 1.0), (2 * i, 1.0), (2 * i + 1, 1.0)];
                let lines: Vec<_> = coarse.coordinates(c).map(around).collect();
                product(fine.n, &lines, &mut |p, _| {
                    let weight = along(p).into_iter().find(|(to, _)| *to == c).map_or(0.0, |(_, w)| w);
                    put(p, scale * weight);
                });
            }
        })?;
        let inject = |c: usize, put: &mut dyn FnMut(usize, f64)| {
            if !coarse.inside(c) {
                let lines: Vec<_> = coarse.coordinates(c).map(|i| vec![(2 * i, 1.0)]).collect();
                product(fine.n, &lines, put);
            }
        };
        let full = match full {
            true => Some((
                matrix(context, coarse.points(), fine.points(), inject)?,
                interpolation(context, fine, |i| cubic(coarse.n, i))?,
            )),
            false => None,
        };
        Ok(Transfer { restrict, interpolate, full })
    }
}

impl<T: Real> Level<T> {
    fn new(
        context: &Context,
        equation: &Equation<T>,
        level: usize,
        smoother: Smoother,
        omega: f64,
        full: bool,
    ) -> Result<Level<T>> {
        let lattice = Lattice { n: equation.sides[level], dim: equation.dim };
        let (n, points) = (lattice.n, lattice.points());
        let inverse_h2 = ((n - 1) * (n - 1)) as f64;
        // The coarsest grid is solved exactly: one sweep with omega = 1 on its one point.
        let omega = if n == 3 || smoother == Smoother::RedBlack { 1.0 } else { omega };
        let centre = |p| {
            equation.neighbours(level, p).iter().map(|(_, w)| w).sum::<f64>() * inverse_h2 + equation.shift_at(level, p)
        };
        let diagonal = |chosen: &dyn Fn(usize) -> bool, value: &dyn Fn(usize) -> f64| {
            matrix(context, points, points, |p, put| {
                if chosen(p) {
                    put(p, value(p));
                }
            })
        };
        let weight = |p| omega / centre(p);
        let relax = match smoother {
            Smoother::Jacobi => vec![diagonal(&|p| lattice.inside(p), &weight)?],
            Smoother::RedBlack => {
                let red = |p| lattice.coordinates(p).sum::<usize>().is_multiple_of(2);
                let colour = |wanted| diagonal(&|p| lattice.inside(p) && red(p) == wanted, &weight);
                // With neighbours along the diagonals a colour falls into two classes.
                let class = |(wanted, odd)| {
                    diagonal(&|p| lattice.inside(p) && red(p) == wanted && (p % n % 2 == 1) == odd, &weight)
                };
                match level > 0 && !equation.faces.is_empty() {
                    false => vec![colour(true)?, colour(false)?],
                    true => [(true, false), (true, true), (false, true), (false, false)]
                        .into_iter()
                        .map(class)
                        .collect::<Result<_>>()?,
                }
            }
        };
        let a = matrix(context, points, points, |p, put| {
            if lattice.inside(p) {
                let around = equation.neighbours(level, p);
                let (before, after) = around.split_at(around.len() / 2);
                before.iter().for_each(|(q, w)| put(*q, -inverse_h2 * w));
                put(p, centre(p));
                after.iter().for_each(|(q, w)| put(*q, -inverse_h2 * w));
            }
        })?;
        Ok(Level {
            a,
            relax,
            interior: diagonal(&|p| lattice.inside(p), &|_| 1.0)?,
            boundary: diagonal(&|p| !lattice.inside(p), &|_| 1.0)?,
            transfer: if n > 3 {
                Some(Transfer::new(context, lattice, equation.interpolations.get(level), full)?)
            } else {
                None
            },
            r: Vector::zeros(context, points)?,
            z: Vector::zeros(context, points)?,
        })
    }

    /// r = f - A u.
    fn defect(&mut self, u: &Vector<T>, f: &Vector<T>) -> Result<()> {
        ops::copy(f, &mut self.r)?;
        ops::mv(-T::one(), &self.a, u, T::one(), &mut self.r)
    }

    /// Sweeps of the smoother: u += omega D^-1 (f - A u) on all points or colour after colour.
    fn smooth(&mut self, u: &mut Vector<T>, f: &Vector<T>, sweeps: Sweeps) -> Result<()> {
        let colours = self.relax.len();
        for step in 0..sweeps.count * colours {
            let colour = match sweeps.order {
                Order::RedFirst => step % colours,
                Order::BlackFirst => colours - 1 - step % colours,
            };
            self.defect(u, f)?;
            ops::mv(T::one(), &self.relax[colour], &self.r, T::one(), u)?;
        }
        Ok(())
    }

    /// Norm of r over the interior.
    fn interior_norm(&mut self) -> Result<f64> {
        ops::mv(T::one(), &self.interior, &self.r, T::zero(), &mut self.z)?;
        Ok(ops::norm2(&self.z)?.into_f64())
    }
}

impl<T: Real> Algebra<T> {
    pub(crate) fn new(
        context: &Context,
        equation: &Equation<T>,
        smoother: Smoother,
        omega: f64,
        full: bool,
    ) -> Result<Algebra<T>> {
        let level = |level| Level::new(context, equation, level, smoother, omega, full);
        Ok(Algebra { levels: (0..equation.sides.len()).map(level).collect::<Result<_>>()? })
    }
}

impl<T: Real> Hierarchy for Algebra<T> {
    type Grid = Vector<T>;

    fn zeros(&self, level: usize) -> Result<Vector<T>> {
        let like = &self.levels[level].r;
        Vector::zeros(like.context(), like.len())
    }

    fn clear(&self, u: &mut Vector<T>) -> Result<()> {
        ops::fill(T::zero(), u)
    }

    fn solve_coarsest(&mut self, u: &mut Vector<T>, f: &Vector<T>, zero: bool) -> Result<()> {
        if zero {
            ops::fill(T::zero(), u)?;
        }
        let level = self.levels.last_mut().expect("there is a coarsest level");
        level.smooth(u, f, Sweeps { count: 1, order: Order::RedFirst })
    }

    fn defect_norm(&mut self, level: usize, u: &Vector<T>, f: &Vector<T>) -> Result<f64> {
        self.levels[level].defect(u, f)?;
        self.levels[level].interior_norm()
    }

    fn source_norm(&mut self, level: usize, u: &Vector<T>, f: &Vector<T>) -> Result<f64> {
        let level = &mut self.levels[level];
        ops::mv(T::one(), &level.boundary, u, T::zero(), &mut level.z)?;
        ops::copy(f, &mut level.r)?;
        ops::mv(-T::one(), &level.a, &level.z, T::one(), &mut level.r)?;
        level.interior_norm()
    }

    fn norm(&self, u: &Vector<T>) -> Result<f64> {
        Ok(ops::norm2(u)?.into_f64())
    }

    fn coarsen(
        &mut self,
        level: usize,
        u: &Vector<T>,
        f: &Vector<T>,
        coarse_u: &mut Vector<T>,
        coarse_f: &mut Vector<T>,
    ) -> Result<()> {
        let level = &self.levels[level];
        ops::mv(T::one(), &present(&present(&level.transfer).full).0, u, T::zero(), coarse_u)?;
        ops::mv(T::one(), &present(&level.transfer).restrict, f, T::zero(), coarse_f)
    }
}

impl<T: Real> Components for Algebra<T> {
    type Grid = Vector<T>;
    type Hierarchy = Self;

    fn hierarchy(&self) -> &Self {
        self
    }

    fn hierarchy_mut(&mut self) -> &mut Self {
        self
    }

    fn smooth(&mut self, level: usize, u: &mut Vector<T>, f: &Vector<T>, sweeps: Sweeps) -> Result<()> {
        self.levels[level].smooth(u, f, sweeps)
    }

    fn restrict_defect(&mut self, level: usize, u: &Vector<T>, f: &Vector<T>, coarse: &mut Vector<T>) -> Result<()> {
        let level = &mut self.levels[level];
        level.defect(u, f)?;
        ops::mv(T::one(), &present(&level.transfer).restrict, &level.r, T::zero(), coarse)
    }

    fn interpolate_add(&mut self, level: usize, coarse: &Vector<T>, u: &mut Vector<T>) -> Result<()> {
        ops::mv(T::one(), &present(&self.levels[level].transfer).interpolate, coarse, T::one(), u)
    }

    fn refine(&mut self, level: usize, coarse: &Vector<T>, u: &mut Vector<T>) -> Result<()> {
        let level = &mut self.levels[level];
        ops::mv(T::one(), &present(&present(&level.transfer).full).1, coarse, T::zero(), &mut level.r)?;
        ops::mv(T::one(), &level.boundary, u, T::one(), &mut level.r)?;
        ops::copy(&level.r, u)
    }
}

impl<T: Real> Space<T> for Algebra<T> {
    fn defect_to(&mut self, u: &Vector<T>, f: &Vector<T>, d: &mut Vector<T>) -> Result<()> {
        let level = &mut self.levels[0];
        level.defect(u, f)?;
        ops::mv(T::one(), &level.interior, &level.r, T::zero(), d)
    }

    fn dot(&self, a: &Vector<T>, b: &Vector<T>) -> Result<T> {
        ops::dot(a, b)
    }

    fn update(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        ops::update(alpha, x, beta, y)
    }
}

/// First coarse point and weights for the middle of interval `k` of `m - 1`; the fourth weight of a parabola is 0.
pub(super) fn cubic_weights(m: usize, k: usize) -> (usize, [f64; 4]) {
    match k {
        0 if m == 3 => (0, [0.375, 0.75, -0.125, 0.0]),
        _ if m == 3 => (0, [-0.125, 0.75, 0.375, 0.0]),
        0 => (0, [0.3125, 0.9375, -0.3125, 0.0625]),
        _ if k == m - 2 => (m - 4, [0.0625, -0.3125, 0.9375, 0.3125]),
        _ => (k - 1, [-0.0625, 0.5625, 0.5625, -0.0625]),
    }
}
