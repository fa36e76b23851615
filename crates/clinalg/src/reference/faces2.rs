//! The 2-D problem `-div(a grad u) + shift u = f` with a coefficient that varies, on the grids of
//! [`grid2`](super::grid2).
//!
//! The discretisation is that of finite volumes around the points: the flux through the face between two neighbours is
//! their difference over h times the coefficient of the face. Coarser grids have the same form with averaged coefficients,
//! and the transfers follow the coefficient, as the solution does where it jumps (Alcouffe, Brandt, Dendy, Painter 1981;
//! Trottenberg, Oosterlee, Schüller, *Multigrid*, 2001, section 7.7). Where a is constant they are those of `grid2`.
//!
//! Functions panic when a grid is not `n * n` long for the faces' `n`.
use super::grid2::{Order, coarser, spacing};
use crate::Real;

/// Coefficients between neighbouring points of a grid of `n` by `n` points.
#[derive(Debug, Clone, PartialEq)]
pub struct Faces<T> {
    n: usize,
    /// Between `(i, j)` and `(i + 1, j)` at `j * n + i`; the last column is 0 and never used.
    pub x: Vec<T>,
    /// Between `(i, j)` and `(i, j + 1)` at `j * n + i`; the last row is 0 and never used.
    pub y: Vec<T>,
}

impl<T: Real> Faces<T> {
    /// Of a coefficient given at the `n * n` points: the harmonic mean of the two neighbours. Half of the way between them
    /// has the one value, half the other, and fluxes through both in series are equal, as resistances in series add up;
    /// so a jump between two points costs no order of accuracy.
    ///
    /// # Panics
    /// When `a` is not `n * n` long or `n < 2`.
    pub fn from_points(n: usize, a: &[T]) -> Faces<T> {
        assert!(n >= 2 && a.len() == n * n, "the coefficient is not n * n = {n} * {n} long");
        Faces::new(n, |p| harmonic(a[p], a[p + 1]), |p| harmonic(a[p], a[p + n]))
    }

    /// Of a coefficient given in the `(n - 1) * (n - 1)` cells between the points, row by row: the mean of the cells on
    /// either side of a face's line, through which the flux is shared; a jump may lie along the lines of the grid.
    ///
    /// # Panics
    /// When `a` is not `(n - 1) * (n - 1)` long or `n < 2`.
    pub fn from_cells(n: usize, a: &[T]) -> Faces<T> {
        assert!(n >= 2 && a.len() == (n - 1) * (n - 1), "the coefficient does not have {} * {0} cells", n - 1);
        let m = n - 1;
        let mean = |p: Option<usize>, q: Option<usize>| match (p, q) {
            (Some(p), Some(q)) => T::of(0.5) * (a[p] + a[q]),
            (Some(p), None) | (None, Some(p)) => a[p],
            (None, None) => T::zero(),
        };
        let cell = |i: Option<usize>, j: Option<usize>| Some(j.filter(|&j| j < m)? * m + i.filter(|&i| i < m)?);
        let (i, j) = (|p: usize| p % n, |p: usize| p / n);
        Faces::new(
            n,
            |p| mean(cell(Some(i(p)), j(p).checked_sub(1)), cell(Some(i(p)), Some(j(p)))),
            |p| mean(cell(i(p).checked_sub(1), Some(j(p))), cell(Some(i(p)), Some(j(p)))),
        )
    }

    fn new(n: usize, x: impl Fn(usize) -> T, y: impl Fn(usize) -> T) -> Faces<T> {
        let points = 0..n * n;
        Faces {
            n,
            x: points.clone().map(|p| if p % n == n - 1 { T::zero() } else { x(p) }).collect(),
            y: points.map(|p| if p / n == n - 1 { T::zero() } else { y(p) }).collect(),
        }
    }

    /// Points a side.
    pub fn side(&self) -> usize {
        self.n
    }

    /// The coefficients of the next coarser grid. A coarse face stands for two fine ones in series, harmonic mean, on
    /// three lines side by side, mean with the weights 1/4, 1/2, 1/4.
    ///
    /// # Panics
    /// When `n` is even or below 3.
    pub fn coarser(&self) -> Faces<T> {
        let (n, m) = (self.n, coarser(self.n));
        let average = |face: &[T], along: usize, across: usize, p: usize, low: bool, high: bool| {
            let line = |q: usize| harmonic(face[q], face[q + along]);
            let centre = line(p);
            // On the edge of the square, where no interior point looks, the line itself stands in.
            let below = if low { line(p - across) } else { centre };
            let above = if high { line(p + across) } else { centre };
            T::of(0.25) * (below + above) + T::of(0.5) * centre
        };
        let fine = |c: usize| 2 * (c / m) * n + 2 * (c % m);
        Faces::new(
            m,
            |c| average(&self.x, 1, n, fine(c), c / m > 0, c / m < m - 1),
            |c| average(&self.y, n, 1, fine(c), c % m > 0, c % m < m - 1),
        )
    }

    /// The coefficients to the south, west, east and north of interior point `p`.
    pub fn around(&self, p: usize) -> [T; 4] {
        [self.y[p - self.n], self.x[p - 1], self.x[p], self.y[p]]
    }

    /// The value that solves the equation of interior point `p` with its neighbours as they are.
    fn relaxed(&self, h2: T, shift: T, u: &[T], f: &[T], p: usize) -> T {
        let [south, west, east, north] = self.around(p);
        (h2 * f[p] + self.fluxes(u, p)) / (south + west + east + north + shift * h2)
    }

    /// Sum of the coefficients around interior point `p`.
    fn total(&self, p: usize) -> T {
        let [south, west, east, north] = self.around(p);
        south + west + east + north
    }

    /// Coarse points with the weights that give interior point `p` in [`interpolate_add`], in ascending order.
    pub fn weights(&self, p: usize) -> Vec<(usize, T)> {
        let (n, m) = (self.n, coarser(self.n));
        let at = |p: usize| p / n / 2 * m + p % n / 2;
        let row = |p: usize| [self.x[p - 1], self.x[p]].map(|face| face / (self.x[p - 1] + self.x[p]));
        let column = |p: usize| [self.y[p - n], self.y[p]].map(|face| face / (self.y[p - n] + self.y[p]));
        match (p % n % 2, p / n % 2) {
            (0, 0) => vec![(at(p), T::one())],
            (_, 0) => [at(p - 1), at(p + 1)].into_iter().zip(row(p)).collect(),
            (0, _) => [at(p - n), at(p + n)].into_iter().zip(column(p)).collect(),
            _ => {
                let [south, west, east, north] = self.around(p).map(|face| face / self.total(p));
                let (below, above) = (row(p - n), row(p + n));
                let (left, right) = (column(p - 1), column(p + 1));
                vec![
                    (at(p - n - 1), south * below[0] + west * left[0]),
                    (at(p - n + 1), south * below[1] + east * right[0]),
                    (at(p + n - 1), north * above[0] + west * left[1]),
                    (at(p + n + 1), north * above[1] + east * right[1]),
                ]
            }
        }
    }

    /// Value of the interpolant of `coarse` at interior point `p`: one flux goes through a point between two coarse ones,
    /// and none stays in the middle of four.
    fn interpolated(&self, coarse: &[T], p: usize) -> T {
        let (n, m) = (self.n, coarser(self.n));
        let at = |p: usize| coarse[p / n / 2 * m + p % n / 2];
        let row = |p: usize| (self.x[p - 1] * at(p - 1) + self.x[p] * at(p + 1)) / (self.x[p - 1] + self.x[p]);
        let column = |p: usize| (self.y[p - n] * at(p - n) + self.y[p] * at(p + n)) / (self.y[p - n] + self.y[p]);
        match (p % n % 2, p / n % 2) {
            (0, 0) => at(p),
            (_, 0) => row(p),
            (0, _) => column(p),
            _ => {
                let [south, west, east, north] = self.around(p);
                let sum = south * row(p - n) + west * column(p - 1) + east * column(p + 1) + north * row(p + n);
                sum / self.total(p)
            }
        }
    }

    fn fluxes(&self, u: &[T], p: usize) -> T {
        let [south, west, east, north] = self.around(p);
        south * u[p - self.n] + west * u[p - 1] + east * u[p + 1] + north * u[p + self.n]
    }

    fn check(&self, grids: &[&[T]]) {
        let n = self.n;
        assert!(grids.iter().all(|grid| grid.len() == n * n), "a grid is not n * n = {n} * {n} long");
    }

    /// Positions of the interior points, row by row.
    fn interior(&self) -> impl Iterator<Item = usize> + use<T> {
        let n = self.n;
        (1..n - 1).flat_map(move |j| (1..n - 1).map(move |i| j * n + i))
    }
}

/// `2 / (1 / a + 1 / b)`; 0 where one of them is.
fn harmonic<T: Real>(a: T, b: T) -> T {
    if a == b { a } else { T::of(2.0) * a * (b / (a + b)) }
}

/// One sweep of weighted Jacobi: `out = u + omega D^-1 (f - A u)` inside, `out = u` on the boundary.
///
/// # Panics
/// When a grid does not fit the faces.
pub fn jacobi<T: Real>(faces: &Faces<T>, shift: T, omega: T, u: &[T], f: &[T], out: &mut [T]) {
    faces.check(&[u, f, out]);
    out.copy_from_slice(u);
    let h2 = spacing::<T>(faces.n) * spacing(faces.n);
    for p in faces.interior() {
        out[p] = u[p] + omega * (faces.relaxed(h2, shift, u, f, p) - u[p]);
    }
}

/// One sweep of red-black Gauss-Seidel on `u` in place.
///
/// # Panics
/// When a grid does not fit the faces.
pub fn red_black<T: Real>(faces: &Faces<T>, shift: T, u: &mut [T], f: &[T], order: Order) {
    order.colours().into_iter().for_each(|colour| half_sweep(faces, shift, u, f, colour as usize));
}

/// Half a sweep of red-black Gauss-Seidel: the points with `(i + j) % 2 == colour`.
///
/// # Panics
/// When a grid does not fit the faces.
pub fn half_sweep<T: Real>(faces: &Faces<T>, shift: T, u: &mut [T], f: &[T], colour: usize) {
    faces.check(&[u, f]);
    let n = faces.n;
    let h2 = spacing::<T>(n) * spacing(n);
    for p in faces.interior().filter(|p| (p / n + p % n) % 2 == colour) {
        u[p] = faces.relaxed(h2, shift, u, f, p);
    }
}

/// The defect `d = f + div_h(a grad_h u) - shift u` inside, 0 on the boundary. Fluxes are taken of differences, so that
/// a constant has none.
///
/// # Panics
/// When a grid does not fit the faces.
pub fn defect<T: Real>(faces: &Faces<T>, shift: T, u: &[T], f: &[T], d: &mut [T]) {
    faces.check(&[u, f, d]);
    d.fill(T::zero());
    let n = faces.n;
    let inverse_h2 = T::of(((n - 1) * (n - 1)) as f64);
    for p in faces.interior() {
        let [south, west, east, north] = faces.around(p);
        let sum =
            south * (u[p - n] - u[p]) + west * (u[p - 1] - u[p]) + east * (u[p + 1] - u[p]) + north * (u[p + n] - u[p]);
        d[p] = (f[p] - shift * u[p]) + inverse_h2 * sum;
    }
}

/// Coarse-grid correction: adds the interpolant of `coarse` to `fine` at the interior points. It follows the coefficient:
/// between two coarse points with the weights of their faces, in the middle of four with those of the points around.
///
/// # Panics
/// When a grid does not fit the faces or they have no coarser ones.
pub fn interpolate_add<T: Real>(faces: &Faces<T>, coarse: &[T], fine: &mut [T]) {
    faces.check(&[fine]);
    for p in faces.interior() {
        fine[p] += faces.interpolated(coarse, p);
    }
}

/// A quarter of the transpose of the interpolation of [`interpolate_add`], inside; 0 on the boundary. `fine` is 0 on its
/// boundary.
///
/// # Panics
/// When a grid does not fit the faces or they have no coarser ones.
pub fn restrict<T: Real>(faces: &Faces<T>, fine: &[T], coarse: &mut [T]) {
    faces.check(&[fine]);
    let (n, m) = (faces.n, coarser(faces.n));
    assert!(coarse.len() == m * m, "the coarse grid is not {m} * {m} long");
    coarse.fill(T::zero());
    let Faces { x, y, .. } = faces;
    let share = |face: T, p: usize| face * fine[p] / faces.total(p);
    // Points on a row between coarse ones, and on a column, with what the middles of four leave them.
    let row = |p: usize| fine[p] + share(y[p - n], p - n) + share(y[p], p + n);
    let column = |p: usize| fine[p] + share(x[p - 1], p - 1) + share(x[p], p + 1);
    for (j, i) in (1..m - 1).flat_map(|j| (1..m - 1).map(move |i| (j, i))) {
        let p = 2 * j * n + 2 * i;
        let south = y[p - n] * column(p - n) / (y[p - 2 * n] + y[p - n]);
        let west = x[p - 1] * row(p - 1) / (x[p - 2] + x[p - 1]);
        let east = x[p] * row(p + 1) / (x[p] + x[p + 1]);
        let north = y[p] * column(p + n) / (y[p] + y[p + n]);
        coarse[j * m + i] = T::of(0.25) * (fine[p] + south + west + east + north);
    }
}

#[cfg(test)]
mod tests {
    use super::super::grid2;
    use super::*;

    fn sequence(len: usize, seed: u64) -> Vec<f64> {
        let mut state = seed;
        (0..len)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
            })
            .collect()
    }

    #[test]
    fn faces_by_hand() {
        let a = [1.0, 3.0, 1.0, 1.0, 1.0, 0.0, 2.0, 2.0, 6.0];
        let faces = Faces::from_points(3, &a);
        assert_eq!(faces.x, [1.5, 1.5, 0.0, 1.0, 0.0, 0.0, 2.0, 3.0, 0.0]);
        assert_eq!(faces.y, [1.0, 1.5, 0.0, 4.0 / 3.0, 4.0 / 3.0, 0.0, 0.0, 0.0, 0.0]);
        let faces = Faces::from_cells(3, &[1.0, 3.0, 5.0, 7.0]);
        assert_eq!(faces.x, [1.0, 3.0, 0.0, 3.0, 5.0, 0.0, 5.0, 7.0, 0.0]);
        assert_eq!(faces.y, [1.0, 2.0, 3.0, 5.0, 6.0, 7.0, 0.0, 0.0, 0.0]);
        // Bottom and centre line of x in series: harmonic means of (1, 3) and (3, 5).
        let coarse = faces.coarser();
        assert_eq!(coarse.side(), 2);
        assert_eq!(coarse.x[0], 0.25 * (1.5 + 3.75) + 0.5 * 1.5);
        assert_eq!(coarse.x[1], 0.0);
    }

    #[test]
    fn a_constant_coefficient_is_the_poisson_problem() {
        let n = 9;
        let (u, f) = (sequence(n * n, 1), sequence(n * n, 2));
        for faces in [Faces::from_points(n, &[2.0; 81]), Faces::from_cells(n, &[2.0; 64])] {
            let coarse = faces.coarser();
            assert!((0..25).all(|p| coarse.x[p] == if p % 5 == 4 { 0.0 } else { 2.0 }));
            let half: Vec<f64> = f.iter().map(|f| f / 2.0).collect();
            let (mut got, mut want) = (vec![0.0; n * n], vec![0.0; n * n]);
            defect(&faces, 6.0, &u, &f, &mut got);
            grid2::defect_shifted(n, 3.0, &u, &half, &mut want);
            assert!(got.iter().zip(&want).all(|(a, b)| (a - 2.0 * b).abs() < 1e-12));
            let (mut v, mut w) = (u.clone(), u.clone());
            red_black(&faces, 6.0, &mut v, &f, Order::BlackFirst);
            grid2::red_black_shifted(n, 3.0, &mut w, &half, Order::BlackFirst);
            assert!(v.iter().zip(&w).all(|(a, b)| (a - b).abs() < 1e-15));
            jacobi(&faces, 6.0, 0.8, &u, &f, &mut got);
            grid2::jacobi_shifted(n, 3.0, 0.8, &u, &half, &mut want);
            assert!(got.iter().zip(&want).all(|(a, b)| (a - b).abs() < 1e-15));
        }
    }

    #[test]
    fn the_flux_through_a_jump_is_that_of_resistances_in_series() {
        // Values 1 left of the middle between columns 3 and 4, 9 right of it: u is linear on either side, and continuous
        // with its flux.
        let n = 8;
        let a: Vec<f64> = (0..n * n).map(|p| if p % n < 4 { 1.0 } else { 9.0 }).collect();
        let u: Vec<f64> = (0..n * n)
            .map(|p| {
                let x = (p % n) as f64 - 3.5;
                if x < 0.0 { x } else { x / 9.0 }
            })
            .collect();
        let mut d = vec![1.0; n * n];
        defect(&Faces::from_points(n, &a), 0.0, &u, &vec![0.0; n * n], &mut d);
        assert!(d.iter().all(|d| d.abs() < 1e-13));
    }

    #[test]
    fn transfers_are_adjoint_and_follow_the_coefficient() {
        let (n, m) = (9, 5);
        let clear = |n: usize, mut v: Vec<f64>| {
            let inside = |p: usize| (1..n - 1).contains(&(p % n)) && (1..n - 1).contains(&(p / n));
            (0..n * n).filter(|&p| !inside(p)).for_each(|p| v[p] = 0.0);
            v
        };
        let (fine, coarse) = (clear(n, sequence(n * n, 6)), clear(m, sequence(m * m, 7)));
        let a: Vec<f64> = sequence(n * n, 8).iter().map(|a| 1.01 + a).collect();
        for faces in [Faces::from_points(n, &a), Faces::from_cells(n, &a[..64])] {
            let (mut up, mut down) = (vec![0.0; n * n], vec![0.0; m * m]);
            interpolate_add(&faces, &coarse, &mut up);
            restrict(&faces, &fine, &mut down);
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            assert!((dot(&up, &fine) - 4.0 * dot(&down, &coarse)).abs() < 1e-13);
            // Formula and weights are the same, and a constant stays one.
            for p in faces.interior() {
                let sum: f64 = faces.weights(p).iter().map(|(c, w)| w * coarse[*c]).sum();
                assert!((up[p] - sum).abs() < 1e-15);
            }
            let mut ones = vec![0.0; n * n];
            interpolate_add(&faces, &[1.0; 25], &mut ones);
            assert!(ones.iter().zip(clear(n, vec![1.0; n * n])).all(|(a, b)| (a - b).abs() < 1e-15));
        }
        let faces = Faces::from_points(n, &[3.0; 81]);
        let (mut up, mut down) = (vec![0.0; n * n], vec![0.0; m * m]);
        let (mut bilinear, mut weighted) = (up.clone(), down.clone());
        interpolate_add(&faces, &coarse, &mut up);
        grid2::interpolate_add(n, &coarse, &mut bilinear);
        restrict(&faces, &fine, &mut down);
        grid2::restrict(n, &fine, &mut weighted);
        assert!(up.iter().zip(&bilinear).all(|(a, b)| (a - b).abs() < 1e-15));
        assert!(down.iter().zip(&weighted).all(|(a, b)| (a - b).abs() < 1e-15));
    }

    #[test]
    fn relaxation_leaves_no_defect_of_its_colour() {
        let n = 9;
        let (mut u, f) = (sequence(n * n, 3), sequence(n * n, 4));
        let a: Vec<f64> = sequence(n * n, 5).iter().map(|a| 1.1 + a).collect();
        let faces = Faces::from_points(n, &a);
        red_black(&faces, 2.0, &mut u, &f, Order::RedFirst);
        let mut d = vec![0.0; n * n];
        defect(&faces, 2.0, &u, &f, &mut d);
        assert!((0..n * n).all(|p| (p / n + p % n) % 2 == 0 || d[p].abs() < 1e-12));
    }
}
