//! The right-hand side of the integrated equations, and the values of the sides.

use std::ops::Range;

use super::axis::Factors;
use super::field::{Load, Origin};
use super::grid::{Condition, End, Grid};
use crate::error::check_length;
use crate::{Error, Real, Result};

/// Unknowns of a piece of the arrays: what the host copies in one go.
const PIECE: usize = 1 << 16;

/// The values g of the conditions on the sides of a [`Grid`]; 0 where nothing else is said.
#[derive(Debug, Clone, PartialEq)]
pub struct SideValues<T> {
    points: Vec<usize>,
    values: Vec<[Option<Vec<T>>; 2]>,
}

impl<T: Real> SideValues<T> {
    /// 0 on all sides.
    pub fn new(grid: &Grid) -> SideValues<T> {
        SideValues { points: grid.points().to_vec(), values: vec![[None, None]; grid.dim()] }
    }

    /// Number of values of a side across `axis`: the product of the points of the other directions.
    fn count(&self, axis: usize) -> usize {
        self.points.iter().enumerate().filter(|(other, _)| *other != axis).map(|(_, n)| n).product()
    }

    /// Sets the values of a side at the points of the other directions, in their order: on the side x = 0 of a box of three
    /// dimensions value (j, k) is `values[k * ny + j]`. Where sides with Dirichlet conditions meet, the last direction holds.
    ///
    /// # Errors
    /// [`Error::Length`] that names `values`; [`Error::Value`] where there is no such axis.
    pub fn set(&mut self, axis: usize, end: End, values: Vec<T>) -> Result<()> {
        if axis >= self.points.len() {
            return Err(Error::value("axis", format!("less than {}", self.points.len()), axis));
        }
        check_length("values", self.count(axis), values.len())?;
        self.values[axis][end.index()] = Some(values);
        Ok(())
    }

    /// The values of a function of the axis, the end and the coordinates of the point on the side; of sides that are not
    /// periodic. The third coordinate is 0 in two dimensions.
    ///
    /// # Errors
    /// As [`Grid::check`].
    pub fn from_fn(grid: &Grid, mut g: impl FnMut(usize, End, [f64; 3]) -> T) -> Result<SideValues<T>> {
        grid.check()?;
        let mut sides = SideValues::new(grid);
        let coordinates: Vec<_> = (0..grid.dim()).map(|axis| grid.coordinates(axis)).collect::<Result<_>>()?;
        for axis in 0..grid.dim() {
            let around = grid.around(axis)?;
            for end in [End::Low, End::High].into_iter().filter(|&end| grid.condition(axis, end) != Condition::Periodic)
            {
                let values = (0..sides.count(axis)).map(|p| {
                    let mut rest = p;
                    let mut at = [0.0; 3];
                    for (other, x) in coordinates.iter().enumerate() {
                        at[other] = if other == axis { around[end.index()] } else { x[rest % x.len()] };
                        rest /= if other == axis { 1 } else { x.len() };
                    }
                    g(axis, end, at)
                });
                sides.values[axis][end.index()] = Some(values.collect());
            }
        }
        Ok(sides)
    }

    fn get(&self, axis: usize, end: usize) -> Option<&[T]> {
        self.values[axis][end].as_deref()
    }
}

/// Where the unknowns lie among the points of a grid.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    /// Points of each direction.
    points: [usize; 3],
    /// The first point that is an unknown, and how many there are.
    first: [usize; 3],
    counts: [usize; 3],
    dim: usize,
}

impl Layout {
    pub(super) fn new(grid: &Grid, counts: [usize; 3], held: impl Fn(usize) -> bool) -> Layout {
        let each =
            |value: &dyn Fn(usize) -> usize, other| [0, 1, 2].map(|d| if d < grid.dim() { value(d) } else { other });
        let points = each(&|d| grid.points()[d], 1);
        Layout { points, first: each(&|d| usize::from(held(d)), 0), counts, dim: grid.dim() }
    }

    pub(super) fn points(&self) -> usize {
        self.points.iter().product()
    }

    pub(super) fn unknowns(&self) -> usize {
        self.counts.iter().product()
    }

    /// Number of rows of unknowns.
    pub(super) fn rows(&self) -> usize {
        self.counts[1] * self.counts[2]
    }

    /// All rows, cut into pieces that stay in a cache while they are copied.
    pub(super) fn pieces(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let (rows, step) = (self.rows(), PIECE.div_ceil(self.counts[0]));
        (0..rows).step_by(step).map(move |first| first..rows.min(first + step))
    }

    /// Where the unknowns of rows are among all.
    pub(super) fn range(&self, rows: &Range<usize>) -> Range<usize> {
        rows.start * self.counts[0]..rows.end * self.counts[0]
    }

    /// For each of these rows its place among their unknowns and among the points, and its indices across.
    fn places(&self, rows: Range<usize>) -> impl Iterator<Item = (usize, usize, [usize; 2])> + use<> {
        let ([mx, my, _], [nx, ny, _], [x, y, z]) = (self.counts, self.points, self.first);
        let start = rows.start;
        rows.map(move |row| {
            let (j, k) = (row % my, row / my);
            ((row - start) * mx, ((k + z) * ny + j + y) * nx + x, [j, k])
        })
    }

    /// The values at the unknowns of rows from those at points.
    pub(super) fn take<T: Real>(&self, rows: Range<usize>, points: &[T], unknowns: &mut [T]) {
        for (to, from, _) in self.places(rows) {
            unknowns[to..to + self.counts[0]].copy_from_slice(&points[from..from + self.counts[0]]);
        }
    }

    /// The values at points from those at the unknowns of rows.
    pub(super) fn put<T: Real>(&self, rows: Range<usize>, unknowns: &[T], points: &mut [T]) {
        for (from, to, _) in self.places(rows) {
            points[to..to + self.counts[0]].copy_from_slice(&unknowns[from..from + self.counts[0]]);
        }
    }

    /// The values on the sides that hold their points.
    pub(super) fn hold<T: Real>(&self, grid: &Grid, sides: &SideValues<T>, points: &mut [T]) {
        for axis in 0..self.dim {
            for end in [End::Low, End::High] {
                if self.counts[axis] == self.points[axis] || grid.condition(axis, end) != Condition::Dirichlet {
                    continue;
                }
                let g = sides.get(axis, end.index());
                let at = if end == End::Low { 0 } else { self.points[axis] - 1 };
                self.face(axis, at, self.points).for_each(|(p, q)| points[p] = g.map_or(T::zero(), |g| g[q]));
            }
        }
    }

    /// The points of the face at index `at` of `axis`, of a box of `counts`: their places in the box and on the face.
    fn face(&self, axis: usize, at: usize, counts: [usize; 3]) -> impl Iterator<Item = (usize, usize)> {
        let stride: usize = counts[..axis].iter().product();
        let count = counts.iter().product::<usize>() / counts[axis];
        (0..count).map(move |q| (q / stride * stride * counts[axis] + at * stride + q % stride, q))
    }

    /// f and h^2/12 times its second difference along each direction, at the points that are unknowns, for discretisations of order 4.
    pub(super) fn averaged<T: Real>(&self, f: &[T]) -> Vec<T> {
        let twelfth = T::from_f64(1.0 / 12.0);
        let mut out = f.to_vec();
        let mut stride = 1;
        for d in 0..self.dim {
            let n = self.points[d];
            // Points of Dirichlet sides are no unknowns; other directions are periodic.
            let wraps = self.counts[d] == n;
            for (p, out) in out.iter_mut().enumerate() {
                let i = p / stride % n;
                if !wraps && (i == 0 || i + 1 == n) {
                    continue;
                }
                let before = if i == 0 { p + (n - 1) * stride } else { p - stride };
                let after = if i + 1 == n { p - (n - 1) * stride } else { p + stride };
                *out += twelfth * (f[before] - f[p] - f[p] + f[after]);
            }
            stride *= n;
        }
        out
    }

    /// b of rows: f and the values of the sides integrated over the cells.
    pub(super) fn load<T: Real>(
        &self,
        rows: Range<usize>,
        factors: &[Factors],
        f: &[T],
        sides: &SideValues<T>,
        b: &mut [f64],
    ) {
        let across = |d: usize, i: usize| factors.get(d).map_or(1.0, |factors| factors.mass[i]);
        for (to, from, [j, k]) in self.places(rows) {
            let mass = across(1, j) * across(2, k);
            let row = &mut b[to..to + self.counts[0]];
            for ((b, f), m) in row.iter_mut().zip(&f[from..]).zip(&factors[0].mass) {
                *b = mass * m * f.into_f64();
            }
            for (axis, own) in factors.iter().enumerate() {
                for end in 0..2 {
                    let Some(g) = sides.get(axis, end) else { continue };
                    let at = if end == 0 { 0 } else { self.counts[axis] - 1 };
                    let columns = match axis {
                        0 => at..at + 1,
                        _ if [j, k][axis - 1] == at => 0..self.counts[0],
                        _ => continue,
                    };
                    for i in columns {
                        let unknown = [i, j, k];
                        let (mut mass, mut q, mut stride) = (own.load[end], 0, 1);
                        for d in (0..self.dim).filter(|&d| d != axis) {
                            mass *= across(d, unknown[d]);
                            q += (self.first[d] + unknown[d]) * stride;
                            stride *= self.points[d];
                        }
                        row[i] += mass * g[q].into_f64();
                    }
                }
            }
        }
    }

    /// Adds what is given at single points and parts of the sides to `b`.
    pub(super) fn add<T: Real>(&self, loads: &[Load], grid: &Grid, sides: &SideValues<T>, b: &mut [f64]) {
        let mut held = Vec::new();
        if loads.iter().any(|load| matches!(load.from, Origin::Point(_))) {
            held = vec![T::zero(); self.points()];
            self.hold(grid, sides, &mut held);
        }
        for Load { unknown, from, factor } in loads {
            let value = match *from {
                Origin::Point(q) => held[q],
                Origin::Side { axis, end, at } => sides.get(axis, end).map_or(T::zero(), |g| g[at]),
            };
            b[*unknown] += factor * value.into_f64();
        }
    }

    /// Takes the part of `b` that belongs to no source out of it, and gives it over the sum of the magnitudes.
    pub(super) fn balance(&self, factors: &[Factors], b: &mut [f64]) -> f64 {
        let (sum, size) = b.iter().fold((0.0, 0.0), |(sum, size), b| (sum + b, size + b.abs()));
        let volume: f64 = factors.iter().map(|factors| factors.mass.iter().sum::<f64>()).product();
        self.each_mass(factors, |p, mass| b[p] -= sum / volume * mass);
        if size == 0.0 { 0.0 } else { (sum / size).abs() }
    }

    /// Takes the mean out of `u`.
    pub(super) fn centre<T: Real>(&self, factors: &[Factors], u: &mut [T]) {
        let (mut sum, mut volume) = (0.0, 0.0);
        self.each_mass(factors, |p, mass| {
            sum += mass * u[p].into_f64();
            volume += mass;
        });
        let mean = T::from_f64(sum / volume);
        u.iter_mut().for_each(|u| *u -= mean);
    }

    fn each_mass(&self, factors: &[Factors], mut each: impl FnMut(usize, f64)) {
        let across = |d: usize, i: usize| factors.get(d).map_or(1.0, |factors| factors.mass[i]);
        for (to, _, [j, k]) in self.places(0..self.rows()) {
            let mass = across(1, j) * across(2, k);
            factors[0].mass.iter().enumerate().for_each(|(i, m)| each(to + i, mass * m));
        }
    }
}
