//! Initial temperatures: a solution in all of space that has them inside.

use std::f64::consts::PI;

use clinalg::{Error, Result, number};

use crate::quadrature::gauss_legendre;
use crate::surface::dot;
use crate::{Mesh, Point};

/// The box in which the initial values are taken reaches beyond the mesh by this part of its largest side.
const MARGIN: f64 = 0.5;
/// Degrees of the polynomials that are tried one after the other.
const DEGREES: [usize; 5] = [8, 16, 24, 32, 40];
/// Of the largest coefficient, what may be left out.
const LEFT_OUT: f64 = 1e-9;
/// Of the largest value, what the polynomial may differ from the initial values.
const DIFFERENCE: f64 = 1e-6;
/// Points in each direction at which they are compared.
const COMPARED: usize = 31;
/// Standard deviations of the heat kernel to which integrals reach: the rest is below 1e-11.
const REACH: f64 = 7.0;
/// Gauss points for the kernel alone; a polynomial takes one more for each two degrees.
const POINTS: usize = 32;

/// A solution U of du/dt = alpha Laplace u in all of space with given initial values inside a mesh.
///
/// With v = u - U, which vanishes at t = 0, problems with an initial temperature become those of this module: the boundary values of v are those of u less
/// [`value`](InitialHeat::value) or [`flux`](InitialHeat::flux).
///
/// The initial values are replaced by a polynomial of degree at most 40 in each direction, the Chebyshev interpolant in a box around the mesh with a margin
/// of half its largest side, and by 0 outside of that box. U is the convolution of that with the heat kernel, a sum of products of one-dimensional integrals,
/// which are evaluated by Gauss rules.
///
/// ```
/// use clinalg_bem::{Mesh, heat::InitialHeat};
///
/// let heat = InitialHeat::new(&Mesh::cube24(), 0.1, &|x| x[0].cos())?;
/// assert!((heat.value([0.3, 0.1, 0.2], 0.01) - (-0.001_f64).exp() * 0.3_f64.cos()).abs() < 1e-6);
/// # Ok::<(), clinalg::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct InitialHeat {
    alpha: f64,
    low: Point,
    high: Point,
    /// Of products of Chebyshev polynomials, the degree in x fastest.
    coefficients: Vec<f64>,
    /// Their number in each direction.
    counts: [usize; 3],
    /// On (0, 1).
    rule: Vec<(f64, f64)>,
}

impl InitialHeat {
    /// For the initial values `f`, which are also taken in a margin around the mesh. Features narrower than 1/31 of the box may be missed.
    ///
    /// # Errors
    /// [`Error::Value`] that names `alpha`, or `initial` where `f` is not finite or no polynomial of degree 40 is within 1e-6 of it relative to its largest
    /// value: it jumps, has a kink, or varies too fast.
    pub fn new(mesh: &Mesh, alpha: f64, f: &dyn Fn(Point) -> f64) -> Result<InitialHeat> {
        if !(alpha > 0.0 && alpha.is_finite()) {
            let (expected, got) = ("a finite number above 0".into(), alpha.to_string());
            return Err(Error::Value { argument: "alpha", expected, got });
        }
        let ends = |pick: fn(f64, f64) -> f64, from: f64| {
            mesh.nodes().iter().fold([from; 3], |ends: Point, x| [0, 1, 2].map(|axis| pick(ends[axis], x[axis])))
        };
        let (low, high) = (ends(f64::min, f64::INFINITY), ends(f64::max, f64::NEG_INFINITY));
        let margin = MARGIN * (0..3).map(|axis| high[axis] - low[axis]).fold(0.0, f64::max);
        let (low, high) = (low.map(|x| x - margin), high.map(|x| x + margin));
        let mut counts = [DEGREES[0] + 1; 3];
        let coefficients = loop {
            let coefficients = interpolate(low, high, counts, f)?;
            let unresolved = [0, 1, 2].map(|axis| !resolves(&coefficients, counts, axis));
            let higher = |count: usize| DEGREES.iter().map(|d| d + 1).find(|more| *more > count);
            let next = [0, 1, 2].map(|axis| if unresolved[axis] { higher(counts[axis]) } else { None });
            if next == [None; 3] {
                break coefficients;
            }
            counts = [0, 1, 2].map(|axis| next[axis].unwrap_or(counts[axis]));
        };
        let (coefficients, counts) = cut(&coefficients, counts);
        let rule = gauss_legendre(POINTS + counts.iter().max().map_or(0, |count| count.div_ceil(2)));
        let heat = InitialHeat { alpha, low, high, coefficients, counts, rule };
        heat.compare(mesh, f)?;
        Ok(heat)
    }

    /// An error where the polynomial is not close to `f`: on a grid in the box, at the nodes of the mesh, and at the centroids of its triangles.
    fn compare(&self, mesh: &Mesh, f: &dyn Fn(Point) -> f64) -> Result<()> {
        let (mut largest, mut worst) = (0.0_f64, (0.0_f64, self.low));
        let mut look = |at: Point, value: f64| -> Result<()> {
            let wanted = finite(f(at), at, (self.low, self.high))?;
            largest = largest.max(wanted.abs());
            let difference = (value - wanted).abs();
            if difference > worst.0 {
                worst = (difference, at);
            }
            Ok(())
        };
        let [xs, ys, zs] = [0, 1, 2].map(|axis| self.lines(axis));
        let [nx, ny, _] = self.counts;
        for (z, of_z) in &zs {
            let plane = combined(&self.coefficients, nx * ny, of_z);
            for (y, of_y) in &ys {
                let row = combined(&plane, nx, of_y);
                for (x, of_x) in &xs {
                    look([*x, *y, *z], row.iter().zip(of_x).map(|(c, x)| c * x).sum())?;
                }
            }
        }
        let centroids = (0..mesh.triangles().len()).map(|k| mesh.point(k, [1.0 / 3.0; 3]));
        for at in mesh.nodes().iter().copied().chain(centroids) {
            look(at, self.value(at, 0.0))?;
        }
        if worst.0 <= DIFFERENCE * largest {
            return Ok(());
        }
        let expected = format!(
            "values that a polynomial of degree {} approximates to {DIFFERENCE:e} in the box around the mesh with a margin of half its size; they must be smooth and defined there",
            DEGREES[DEGREES.len() - 1]
        );
        let got = format!(
            "a difference of {} of the largest value, {}, at {:?}",
            number(worst.0 / largest, 2),
            number(largest, 4),
            worst.1
        );
        Err(Error::Value { argument: "initial", expected, got })
    }

    /// The coordinates of the grid of [`InitialHeat::compare`] in a direction, with the Chebyshev polynomials there.
    fn lines(&self, axis: usize) -> Vec<(f64, Vec<f64>)> {
        let place = |k: usize| {
            // None is a point of the interpolation.
            let part = (k as f64 + 0.37) / COMPARED as f64;
            let x = self.low[axis] + (self.high[axis] - self.low[axis]) * part;
            (x, self.factors(axis, x, 0.0, false).0)
        };
        (0..COMPARED).map(place).collect()
    }

    /// U.
    pub fn value(&self, point: Point, time: f64) -> f64 {
        let [x, y, z] = [0, 1, 2].map(|axis| self.factors(axis, point[axis], time, false).0);
        let mut sum = 0.0;
        for (plane, z) in self.coefficients.chunks(x.len() * y.len()).zip(&z) {
            let rows = plane.chunks(x.len()).zip(&y);
            sum += z * rows.map(|(row, y)| y * row.iter().zip(&x).map(|(c, x)| c * x).sum::<f64>()).sum::<f64>();
        }
        sum
    }

    /// alpha dU/dn.
    pub fn flux(&self, point: Point, normal: Point, time: f64) -> f64 {
        let [(x, dx), (y, dy), (z, dz)] = [0, 1, 2].map(|axis| self.factors(axis, point[axis], time, true));
        let mut gradient = [0.0; 3];
        for ((plane, z), dz) in self.coefficients.chunks(x.len() * y.len()).zip(&z).zip(&dz) {
            let mut sums = [0.0; 3];
            for ((row, y), dy) in plane.chunks(x.len()).zip(&y).zip(&dy) {
                let (mut along, mut slope) = (0.0, 0.0);
                for ((c, x), dx) in row.iter().zip(&x).zip(&dx) {
                    along += c * x;
                    slope += c * dx;
                }
                sums[0] += y * slope;
                sums[1] += dy * along;
                sums[2] += y * along;
            }
            gradient[0] += z * sums[0];
            gradient[1] += z * sums[1];
            gradient[2] += dz * sums[2];
        }
        self.alpha * dot(gradient, normal)
    }

    /// The convolutions of the heat kernel of one dimension with the Chebyshev polynomials of a direction, and their derivatives where they are wanted.
    fn factors(&self, axis: usize, x: f64, time: f64, slopes: bool) -> (Vec<f64>, Vec<f64>) {
        let (a, b, count) = (self.low[axis], self.high[axis], self.counts[axis]);
        let scale = 2.0 / (b - a);
        let place = |y: f64| (y - a) * scale - 1.0;
        let mut values = vec![0.0; count];
        let mut derivatives = vec![0.0; if slopes { count } else { 0 }];
        if time <= 0.0 {
            if (a..=b).contains(&x) {
                add_polynomials(place(x), 1.0, scale, &mut values, &mut derivatives);
            }
            return (values, derivatives);
        }
        let deviation = (2.0 * self.alpha * time).sqrt();
        let kernel = |y: f64| (-0.5 * ((x - y) / deviation).powi(2)).exp() / (deviation * (2.0 * PI).sqrt());
        let (from, to) = (a.max(x - REACH * deviation), b.min(x + REACH * deviation));
        if to > from {
            for (at, weight) in &self.rule {
                let y = from + (to - from) * at;
                add_polynomials(place(y), (to - from) * weight * kernel(y), scale, &mut values, &mut derivatives);
            }
        }
        // By parts: the derivative of the kernel is minus that by y.
        for (k, derivative) in derivatives.iter_mut().enumerate() {
            let at_low = if k % 2 == 0 { 1.0 } else { -1.0 };
            *derivative += at_low * kernel(a) - kernel(b);
        }
        (values, derivatives)
    }
}

/// Adds `weight` times the Chebyshev polynomials at s, and `weight` times `scale` times their derivatives.
fn add_polynomials(s: f64, weight: f64, scale: f64, values: &mut [f64], derivatives: &mut [f64]) {
    // T_k and U_(k-1), with T_k' = k U_(k-1).
    let (mut t, mut t_before, mut u, mut u_before) = (1.0, s, 0.0, -1.0);
    for (k, value) in values.iter_mut().enumerate() {
        *value += weight * t;
        if let Some(derivative) = derivatives.get_mut(k) {
            *derivative += weight * scale * k as f64 * u;
        }
        (t, t_before) = (2.0 * s * t - t_before, t);
        (u, u_before) = (2.0 * s * u - u_before, u);
    }
}

/// The sum of the parts of `len` values with these weights.
fn combined(values: &[f64], len: usize, weights: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; len];
    for (part, weight) in values.chunks(len).zip(weights) {
        sum.iter_mut().zip(part).for_each(|(sum, value)| *sum += weight * value);
    }
    sum
}

/// The initial value at a place, or an error unless it is finite.
fn finite(value: f64, at: Point, (low, high): (Point, Point)) -> Result<f64> {
    if value.is_finite() {
        return Ok(value);
    }
    let expected = format!("finite in the box from {low:?} to {high:?}, the mesh with a margin");
    Err(Error::Value { argument: "initial", expected, got: format!("{value} at {at:?}") })
}

/// The coefficients of the interpolant at the Chebyshev points of the box.
fn interpolate(low: Point, high: Point, counts: [usize; 3], f: &dyn Fn(Point) -> f64) -> Result<Vec<f64>> {
    let angle = |i: usize, n: usize| PI * (i as f64 + 0.5) / n as f64;
    let place =
        |axis: usize, i: usize| low[axis] + 0.5 * (high[axis] - low[axis]) * (1.0 + angle(i, counts[axis]).cos());
    let [nx, ny, nz] = counts;
    let mut values = Vec::with_capacity(nx * ny * nz);
    for k in 0..nx * ny * nz {
        let at = [place(0, k % nx), place(1, k / nx % ny), place(2, k / (nx * ny))];
        values.push(finite(f(at), at, (low, high))?);
    }
    for axis in 0..3 {
        let n = counts[axis];
        let stride: usize = counts[..axis].iter().product();
        let table: Vec<f64> = (0..n * n)
            .map(|k| {
                let half = if k / n == 0 { 1.0 } else { 2.0 };
                half / n as f64 * ((k / n) as f64 * angle(k % n, n)).cos()
            })
            .collect();
        let lines = (0..values.len()).filter(|k| (k / stride).is_multiple_of(n)).collect::<Vec<_>>();
        for first in lines {
            let line: Vec<f64> = (0..n).map(|i| values[first + i * stride]).collect();
            for (degree, row) in table.chunks(n).enumerate() {
                values[first + degree * stride] = row.iter().zip(&line).map(|(c, v)| c * v).sum();
            }
        }
    }
    Ok(values)
}

/// The largest coefficient of each degree in a direction.
fn sizes(coefficients: &[f64], counts: [usize; 3], axis: usize) -> Vec<f64> {
    let stride: usize = counts[..axis].iter().product();
    let mut sizes = vec![0.0_f64; counts[axis]];
    for (k, c) in coefficients.iter().enumerate() {
        let size = &mut sizes[k / stride % counts[axis]];
        *size = size.max(c.abs());
    }
    sizes
}

/// Whether the last quarter of the degrees of a direction is small.
fn resolves(coefficients: &[f64], counts: [usize; 3], axis: usize) -> bool {
    let sizes = sizes(coefficients, counts, axis);
    let largest = sizes.iter().copied().fold(0.0, f64::max);
    sizes[counts[axis] * 3 / 4..].iter().all(|size| *size <= LEFT_OUT * largest)
}

/// Without the highest degrees whose coefficients are all small.
fn cut(coefficients: &[f64], counts: [usize; 3]) -> (Vec<f64>, [usize; 3]) {
    let kept = [0, 1, 2].map(|axis| {
        let sizes = sizes(coefficients, counts, axis);
        let largest = sizes.iter().copied().fold(0.0, f64::max);
        sizes.iter().rposition(|size| *size > LEFT_OUT * largest).map_or(1, |last| last + 1)
    });
    let [nx, ny, _] = counts;
    let inside = |k: usize| k % nx < kept[0] && k / nx % ny < kept[1] && k / (nx * ny) < kept[2];
    let coefficients = coefficients.iter().enumerate().filter(|(k, _)| inside(*k)).map(|(_, c)| *c).collect();
    (coefficients, kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// exp(-r^2 / s) spreads as (s / (s + 4 alpha t))^(3/2) exp(-r^2 / (s + 4 alpha t)), and is small at the ends of the box.
    #[test]
    fn a_bump_spreads_as_in_all_of_space() {
        let (alpha, s) = (0.3, 0.25);
        let centre = [0.1, -0.2, 0.05];
        let r2 = |x: Point| (0..3).map(|axis| (x[axis] - centre[axis]).powi(2)).sum::<f64>();
        let heat = InitialHeat::new(&Mesh::cube24(), alpha, &|x| (-r2(x) / s).exp()).unwrap();
        for t in [0.0, 1e-6, 1e-3, 0.05, 0.4] {
            for x in [[0.0, 0.0, 0.0], [0.9, -0.3, 0.4], [-1.0, 1.0, 0.2]] {
                let width = s + 4.0 * alpha * t;
                let want = (s / width).powf(1.5) * (-r2(x) / width).exp();
                let got = heat.value(x, t);
                assert!((got - want).abs() < 2e-6, "t = {t}, {x:?}: {got}, expected {want}");
                let normal = [0.6, 0.0, -0.8];
                let along: f64 = (0..3).map(|axis| (x[axis] - centre[axis]) * normal[axis]).sum();
                let (got, want) = (heat.flux(x, normal, t), -2.0 * alpha * along / width * want);
                assert!((got - want).abs() < 2e-5, "t = {t}, {x:?}: flux {got}, expected {want}");
            }
        }
    }

    #[test]
    fn polynomials_of_low_degree_are_met_with_few_terms() {
        let heat = InitialHeat::new(&Mesh::cube24(), 1.0, &|x| 2.0 + x[0] * x[2] * x[2]).unwrap();
        assert_eq!(heat.counts, [2, 1, 3]);
        let x = [0.3, -0.4, 0.7];
        // du/dt = alpha Laplace u as long as the ends of the box are far.
        let t = 0.01;
        assert!((heat.value(x, t) - (2.0 + x[0] * (x[2] * x[2] + 2.0 * t))).abs() < 1e-9);
        assert!((heat.flux(x, [0.0, 0.0, 1.0], t) - 2.0 * x[0] * x[2]).abs() < 1e-8);
        assert_eq!(InitialHeat::new(&Mesh::cube24(), 1.0, &|_| 0.0).unwrap().value(x, 0.5), 0.0);
    }

    #[test]
    fn jumps_and_poles_are_refused() {
        let words = |f: &dyn Fn(Point) -> f64| InitialHeat::new(&Mesh::cube24(), 1.0, f).unwrap_err().to_string();
        assert!(words(&|x| if x[0] > 0.1 { 1.0 } else { 0.0 }).contains("smooth"));
        assert!(words(&|x| (1.5 - x[0]).ln()).contains("NaN at"));
        // Between the points of the interpolation of degree 8.
        let spot = |x: Point, inside: f64| if x.iter().all(|x| (x - 0.3).abs() < 0.1) { inside } else { 0.0 };
        assert!(words(&|x| spot(x, 1.0)).contains("smooth"));
        assert!(words(&|x| spot(x, f64::NAN)).contains("NaN at"));
        assert!(InitialHeat::new(&Mesh::cube24(), 0.0, &|_| 1.0).unwrap_err().to_string().contains("alpha"));
    }
}
