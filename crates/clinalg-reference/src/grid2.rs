//! The 2-D Poisson problem `-Laplace u = f` on the unit square, on a grid of `n` by `n` points.
//!
//! The points include the boundary; `h = 1 / (n - 1)`, and point `(i, j)` at `x = i h`, `y = j h` is `u[j * n + i]`. The
//! values of `u` on the boundary are the boundary condition: no smoother changes them. The components are those of
//! Trottenberg, Oosterlee, Schüller, *Multigrid* (2001), sections 2.1 to 2.4, and Briggs, Henson, McCormick, *A Multigrid
//! Tutorial* (2nd ed., 2000), chapters 2 and 3.
//!
//! Functions panic when a grid is not `n * n` long, or when `n` has no next coarser grid (`n` odd, at least 3) where
//! one is needed.
use super::vector;
use crate::{Real, from_f64};

/// The order of the two half-sweeps of red-black Gauss-Seidel. Points with even `i + j` are red.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Red points, then black points.
    RedFirst,
    /// Black points, then red points: the adjoint sweep, for a symmetric smoother after `RedFirst`.
    BlackFirst,
}

impl Order {
    /// The colours of the half-sweeps: 0 for red, 1 for black.
    pub fn colours(self) -> [u32; 2] {
        match self {
            Order::RedFirst => [0, 1],
            Order::BlackFirst => [1, 0],
        }
    }
}

/// The mesh width `1 / (n - 1)`.
///
/// # Panics
/// When `n < 2`.
pub fn spacing<T: Real>(n: usize) -> T {
    assert!(n >= 2, "a grid needs at least 2 points per side");
    T::one() / from_f64::<T>((n - 1) as f64)
}

/// Points per side of the next coarser grid, `(n + 1) / 2`.
///
/// # Panics
/// When `n` is even or below 3.
pub fn coarser(n: usize) -> usize {
    assert!(n >= 3 && n % 2 == 1, "{n} points per side have no coarser grid");
    n.div_ceil(2)
}

/// One sweep of weighted Jacobi: `out = u + omega D^-1 (f + Laplace_h u)` with `D = 4 / h^2` inside, `out = u` on the boundary.
///
/// # Panics
/// When a grid is not `n * n` long.
pub fn jacobi<T: Real>(n: usize, omega: T, u: &[T], f: &[T], out: &mut [T]) {
    jacobi_shifted(n, T::zero(), omega, u, f, out);
}

/// [`jacobi`] for `-Laplace_h u + shift u = f`: `D = 4 / h^2 + shift`.
///
/// # Panics
/// When a grid is not `n * n` long.
pub fn jacobi_shifted<T: Real>(n: usize, shift: T, omega: T, u: &[T], f: &[T], out: &mut [T]) {
    check(n, &[u, f, out]);
    out.copy_from_slice(u);
    let (h2, weight) = relaxation(n, shift);
    for k in interior(n) {
        let relaxed = weight * (h2 * f[k] + neighbours(n, u, k));
        out[k] = u[k] + omega * (relaxed - u[k]);
    }
}

/// One sweep of red-black Gauss-Seidel on `u` in place: each half-sweep solves for the points of one colour.
///
/// # Panics
/// When a grid is not `n * n` long.
pub fn red_black<T: Real>(n: usize, u: &mut [T], f: &[T], order: Order) {
    red_black_shifted(n, T::zero(), u, f, order);
}

/// [`red_black`] for `-Laplace_h u + shift u = f`.
///
/// # Panics
/// When a grid is not `n * n` long.
pub fn red_black_shifted<T: Real>(n: usize, shift: T, u: &mut [T], f: &[T], order: Order) {
    order.colours().into_iter().for_each(|colour| half_sweep_shifted(n, shift, u, f, colour as usize));
}

/// Half a sweep of red-black Gauss-Seidel: the points with `(i + j) % 2 == colour` (0 is red, 1 is black).
///
/// # Panics
/// When a grid is not `n * n` long.
pub fn half_sweep<T: Real>(n: usize, u: &mut [T], f: &[T], colour: usize) {
    half_sweep_shifted(n, T::zero(), u, f, colour);
}

/// [`half_sweep`] for `-Laplace_h u + shift u = f`.
///
/// # Panics
/// When a grid is not `n * n` long.
pub fn half_sweep_shifted<T: Real>(n: usize, shift: T, u: &mut [T], f: &[T], colour: usize) {
    check(n, &[u, f]);
    let (h2, weight) = relaxation(n, shift);
    for k in interior(n).filter(|k| (k / n + k % n) % 2 == colour) {
        u[k] = weight * (h2 * f[k] + neighbours(n, u, k));
    }
}

/// The defect `d = f + Laplace_h u` inside, 0 on the boundary.
///
/// # Panics
/// When a grid is not `n * n` long.
pub fn defect<T: Real>(n: usize, u: &[T], f: &[T], d: &mut [T]) {
    defect_shifted(n, T::zero(), u, f, d);
}

/// [`defect`] for `-Laplace_h u + shift u = f`: `d = f + Laplace_h u - shift u` inside.
///
/// # Panics
/// When a grid is not `n * n` long.
pub fn defect_shifted<T: Real>(n: usize, shift: T, u: &[T], f: &[T], d: &mut [T]) {
    check(n, &[u, f, d]);
    d.fill(T::zero());
    let (inverse_h2, four) = (inverse_h2::<T>(n), from_f64::<T>(4.0));
    for k in interior(n) {
        d[k] = (f[k] - shift * u[k]) + inverse_h2 * (neighbours(n, u, k) - four * u[k]);
    }
}

/// Full weighting to the next coarser grid: the stencil 1/16 `[1 2 1; 2 4 2; 1 2 1]` inside, 0 on the boundary.
///
/// `n` is the number of points per side of the fine grid; `coarse` has [`coarser`]`(n)` a side. A quarter of the adjoint
/// of [`interpolate`] on grids that vanish on the boundary.
///
/// # Panics
/// When a grid is not as long as its side says, or `n` has no coarser grid.
pub fn restrict<T: Real>(n: usize, fine: &[T], coarse: &mut [T]) {
    let m = coarser(n);
    check(n, &[fine]);
    check(m, &[coarse]);
    coarse.fill(T::zero());
    let (two, four, sixteenth) = (from_f64::<T>(2.0), from_f64::<T>(4.0), from_f64::<T>(0.0625));
    for c in interior(m) {
        let k = 2 * (c / m) * n + 2 * (c % m);
        let corners = fine[k - n - 1] + fine[k - n + 1] + fine[k + n - 1] + fine[k + n + 1];
        coarse[c] = sixteenth * (four * fine[k] + two * neighbours(n, fine, k) + corners);
    }
}

/// Bilinear interpolation from the next coarser grid, the stencil 1/4 `[1 2 1; 2 4 2; 1 2 1]`, at every point.
///
/// `n` is the number of points per side of the fine grid; `coarse` has [`coarser`]`(n)` a side.
///
/// # Panics
/// When a grid is not as long as its side says, or `n` has no coarser grid.
pub fn interpolate<T: Real>(n: usize, coarse: &[T], fine: &mut [T]) {
    check(coarser(n), &[coarse]);
    check(n, &[fine]);
    for (k, fine) in fine.iter_mut().enumerate() {
        *fine = interpolated(n, coarse, k);
    }
}

/// Coarse-grid correction: adds the bilinear interpolation of `coarse` to `fine` at the interior points.
///
/// # Panics
/// When a grid is not as long as its side says, or `n` has no coarser grid.
pub fn interpolate_add<T: Real>(n: usize, coarse: &[T], fine: &mut [T]) {
    check(coarser(n), &[coarse]);
    check(n, &[fine]);
    for k in interior(n) {
        fine[k] += interpolated(n, coarse, k);
    }
}

/// Bicubic interpolation from the next coarser grid at the interior points; the boundary of `fine` stays.
///
/// Along each direction, a value between two coarse points is that of the cubic through the four nearest ones (of the
/// parabola through all three where there are no four), first across the rows, then along them. Full multigrid takes it
/// for start values: their error must be of a higher order than that of the discretisation (Trottenberg et al.,
/// section 2.6).
///
/// # Panics
/// When a grid is not as long as its side says, or `n` has no coarser grid.
pub fn interpolate_cubic<T: Real>(n: usize, coarse: &[T], fine: &mut [T]) {
    let m = coarser(n);
    check(m, &[coarse]);
    check(n, &[fine]);
    for k in interior(n) {
        let column = |i: usize| cubic(m, k / n, |j| coarse[j * m + i]);
        fine[k] = cubic(m, k % n, column);
    }
}

/// Boundary values of the next coarser grid: `coarse` takes every second value of the boundary of `fine` and keeps its
/// interior.
///
/// # Panics
/// When a grid is not as long as its side says, or `n` has no coarser grid.
pub fn inject_boundary<T: Real>(n: usize, fine: &[T], coarse: &mut [T]) {
    let m = coarser(n);
    check(n, &[fine]);
    check(m, &[coarse]);
    for (c, value) in coarse.iter_mut().enumerate() {
        let (i, j) = (c % m, c / m);
        if i == 0 || i == m - 1 || j == 0 || j == m - 1 {
            *value = fine[2 * j * n + 2 * i];
        }
    }
}

/// The discrete L2 norm `h (sum u_k^2)^(1/2)` of a grid of `n` by `n` points, free of overflow.
///
/// # Panics
/// When `u` is not `n * n` long.
pub fn norm_l2<T: Real>(n: usize, u: &[T]) -> T {
    check(n, &[u]);
    spacing::<T>(n) * vector::norm2(u)
}

/// The largest modulus on a grid of `n` by `n` points; NaN when any value is NaN.
///
/// # Panics
/// When `u` is not `n * n` long.
pub fn norm_max<T: Real>(n: usize, u: &[T]) -> T {
    check(n, &[u]);
    vector::norm_inf(u)
}

/// `-Laplace_h` on all `n * n` points as `(row, column, value)`: the rows of interior points are
/// `1 / h^2 [. -1 .; -1 4 -1; . -1 .]`, those of boundary points are empty. So `f - A u` is the [`defect`] inside.
pub fn poisson5<T: Real>(n: usize) -> Vec<(usize, usize, T)> {
    let stencil = stencil::<T>(n);
    interior(n).flat_map(|k| stencil.map(|(di, dj, a)| (k, shifted(k, n, di, dj), a))).collect()
}

/// `-Laplace_h` on the `(n - 2)^2` interior points with zero boundary values as `(row, column, value)`, numbered row by row
/// as the grid: symmetric and positive definite, with the eigenvalues `4 / h^2 (sin^2(k pi h / 2) + sin^2(l pi h / 2))`,
/// `k`, `l` in `1..n - 1`.
pub fn poisson5_interior<T: Real>(n: usize) -> Vec<(usize, usize, T)> {
    let stencil = stencil::<T>(n);
    let m = n - 2;
    let inside = |i: usize| (1..=m).contains(&i);
    let unknown = |k: usize| (k / n - 1) * m + (k % n - 1);
    interior(n)
        .flat_map(|k| stencil.map(|(di, dj, a)| (k, shifted(k, n, di, dj), a)))
        .filter(|&(_, to, _)| inside(to / n) && inside(to % n))
        .map(|(k, to, a)| (unknown(k), unknown(to), a))
        .collect()
}

pub(super) fn check<T>(n: usize, grids: &[&[T]]) {
    assert!(n >= 2, "a grid needs at least 2 points per side");
    assert!(grids.iter().all(|grid| grid.len() == n * n), "a grid is not n * n = {n} * {n} long");
}

/// Positions of the interior points, row by row.
pub(super) fn interior(n: usize) -> impl Iterator<Item = usize> {
    (1..n - 1).flat_map(move |j| (1..n - 1).map(move |i| j * n + i))
}

pub(super) fn neighbours<T: Real>(n: usize, u: &[T], k: usize) -> T {
    u[k - n] + u[k - 1] + u[k + 1] + u[k + n]
}

/// `h^2` and `1 / (4 + shift h^2)`.
fn relaxation<T: Real>(n: usize, shift: T) -> (T, T) {
    let h2 = spacing::<T>(n) * spacing(n);
    (h2, T::one() / (from_f64::<T>(4.0) + shift * h2))
}

/// `1 / h^2`, which is a whole number.
fn inverse_h2<T: Real>(n: usize) -> T {
    let intervals = (n - 1) as f64;
    from_f64::<T>(intervals * intervals)
}

fn stencil<T: Real>(n: usize) -> [(isize, isize, T); 5] {
    assert!(n >= 2, "a grid needs at least 2 points per side");
    let (centre, side) = (from_f64::<T>(4.0) * inverse_h2::<T>(n), -inverse_h2::<T>(n));
    [(0, -1, side), (-1, 0, side), (0, 0, centre), (1, 0, side), (0, 1, side)]
}

fn shifted(k: usize, n: usize, di: isize, dj: isize) -> usize {
    k.wrapping_add_signed(dj * n as isize + di)
}

fn interpolated<T: Real>(n: usize, coarse: &[T], k: usize) -> T {
    let m = coarser(n);
    let (i, j) = (k % n, k / n);
    let at = (j / 2) * m + i / 2;
    match (i % 2, j % 2) {
        (0, 0) => coarse[at],
        (1, 0) => from_f64::<T>(0.5) * (coarse[at] + coarse[at + 1]),
        (0, _) => from_f64::<T>(0.5) * (coarse[at] + coarse[at + m]),
        _ => from_f64::<T>(0.25) * (coarse[at] + coarse[at + 1] + coarse[at + m] + coarse[at + m + 1]),
    }
}

/// The value at fine point `i` of a line of `m` coarse values.
pub(super) fn cubic<T: Real>(m: usize, i: usize, coarse: impl Fn(usize) -> T) -> T {
    let k = i / 2;
    if i.is_multiple_of(2) {
        return coarse(k);
    }
    let (first, weights) = cubic_weights(m, k);
    let term = |p: usize| from_f64::<T>(weights[p]) * coarse((first + p).min(m - 1));
    term(0) + term(1) + term(2) + term(3)
}

/// First coarse point and weights for the middle of interval `k` of `m - 1`; the fourth weight of a parabola is 0.
fn cubic_weights(m: usize, k: usize) -> (usize, [f64; 4]) {
    match k {
        0 if m == 3 => (0, [0.375, 0.75, -0.125, 0.0]),
        _ if m == 3 => (0, [-0.125, 0.75, 0.375, 0.0]),
        0 => (0, [0.3125, 0.9375, -0.3125, 0.0625]),
        _ if k == m - 2 => (m - 4, [0.0625, -0.3125, 0.9375, 0.3125]),
        _ => (k - 1, [-0.0625, 0.5625, 0.5625, -0.0625]),
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;
    use rand::{Rng, SeedableRng, rngs::StdRng};

    fn grid(n: usize, f: impl Fn(f64, f64) -> f64) -> Vec<f64> {
        let h = spacing::<f64>(n);
        (0..n * n).map(|k| f((k % n) as f64 * h, (k / n) as f64 * h)).collect()
    }

    fn random(n: usize, seed: u64) -> Vec<f64> {
        let mut rng = StdRng::seed_from_u64(seed);
        (0..n * n).map(|_| rng.random_range(-1.0..1.0)).collect()
    }

    fn clear_boundary(n: usize, mut u: Vec<f64>) -> Vec<f64> {
        for (k, u) in u.iter_mut().enumerate() {
            if k % n == 0 || k % n == n - 1 || k / n == 0 || k / n == n - 1 {
                *u = 0.0;
            }
        }
        u
    }

    fn eigenvalue(n: usize, k: f64, l: f64) -> f64 {
        let h = spacing::<f64>(n);
        4.0 / (h * h) * ((k * PI * h / 2.0).sin().powi(2) + (l * PI * h / 2.0).sin().powi(2))
    }

    fn apply(a: &[(usize, usize, f64)], x: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; x.len()];
        a.iter().for_each(|&(i, j, a)| y[i] += a * x[j]);
        y
    }

    fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn one_interior_point_by_hand() {
        // h = 1/2; neighbours 2, 4, 6, 8 around 1.
        let u = [0.0, 2.0, 0.0, 4.0, 1.0, 6.0, 0.0, 8.0, 0.0];
        let f = [9.0, 9.0, 9.0, 9.0, 8.0, 9.0, 9.0, 9.0, 9.0];
        let mut out = [0.0; 9];
        defect(3, &u, &f, &mut out);
        assert_eq!(out, [0.0, 0.0, 0.0, 0.0, 8.0 + 4.0 * (20.0 - 4.0), 0.0, 0.0, 0.0, 0.0]);
        jacobi(3, 0.5, &u, &f, &mut out);
        // The relaxed value is (8/4 + 20) / 4 = 5.5.
        assert_eq!(out, [0.0, 2.0, 0.0, 4.0, 3.25, 6.0, 0.0, 8.0, 0.0]);
        let mut v = u;
        red_black(3, &mut v, &f, Order::BlackFirst);
        assert_eq!(v, [0.0, 2.0, 0.0, 4.0, 5.5, 6.0, 0.0, 8.0, 0.0]);
    }

    #[test]
    fn red_black_by_hand() {
        // h = 1/3, f = 9 so that h^2 f = 1 up to rounding; red points (1,1) and (2,2), black (2,1) and (1,2).
        let f = [9.0; 16];
        let mut u = [0.0; 16];
        red_black(4, &mut u, &f, Order::RedFirst);
        let interior = |u: &[f64; 16]| [u[5], u[6], u[9], u[10]];
        assert!(largest_difference(&interior(&u), &[0.25, 0.375, 0.375, 0.25]) < 1e-15);
        let mut u = [0.0; 16];
        red_black(4, &mut u, &f, Order::BlackFirst);
        assert!(largest_difference(&interior(&u), &[0.375, 0.25, 0.25, 0.375]) < 1e-15);
    }

    #[test]
    fn transfers_by_hand() {
        let coarse = [1.0, 3.0, 5.0, 9.0];
        let mut fine = [0.0; 9];
        interpolate(3, &coarse, &mut fine);
        assert_eq!(fine, [1.0, 2.0, 3.0, 3.0, 4.5, 6.0, 5.0, 7.0, 9.0]);
        interpolate_add(3, &coarse, &mut fine);
        assert_eq!(fine, [1.0, 2.0, 3.0, 3.0, 9.0, 6.0, 5.0, 7.0, 9.0]);
        let mut unit = [0.0; 25];
        let mut restricted = [7.0; 9];
        for (k, weight) in
            [(12, 4.0), (11, 2.0), (13, 2.0), (7, 2.0), (17, 2.0), (6, 1.0), (8, 1.0), (16, 1.0), (18, 1.0), (0, 0.0)]
        {
            unit.fill(0.0);
            unit[k] = 16.0;
            restrict(5, &unit, &mut restricted);
            assert_eq!(restricted, [0.0, 0.0, 0.0, 0.0, weight, 0.0, 0.0, 0.0, 0.0], "at {k}");
        }
    }

    #[test]
    fn sines_are_eigenvectors() {
        for n in [5, 9, 17] {
            for (k, l) in [(1.0, 1.0), (1.0, 3.0), (2.0, 2.0), (3.0, 1.0)] {
                let u = clear_boundary(n, grid(n, |x, y| (k * PI * x).sin() * (l * PI * y).sin()));
                let lambda = eigenvalue(n, k, l);
                let mut d = vec![0.0; n * n];
                defect(n, &u, &vec![0.0; n * n], &mut d);
                let expected: Vec<f64> = u.iter().map(|u| -lambda * u).collect();
                assert!(largest_difference(&d, &expected) < 1e-14 * lambda.max(8.0 * ((n - 1) * (n - 1)) as f64));
            }
        }
    }

    #[test]
    fn jacobi_damps_sines_by_its_symbol() {
        let (n, omega) = (17, 0.8);
        for (k, l) in [(1.0, 1.0), (8.0, 3.0), (15.0, 15.0)] {
            let u = clear_boundary(n, grid(n, |x, y| (k * PI * x).sin() * (l * PI * y).sin()));
            let mut out = vec![0.0; n * n];
            jacobi(n, omega, &u, &vec![0.0; n * n], &mut out);
            let h = spacing::<f64>(n);
            let factor = 1.0 - omega * h * h / 4.0 * eigenvalue(n, k, l);
            let expected: Vec<f64> = u.iter().map(|u| factor * u).collect();
            assert!(largest_difference(&out, &expected) < 1e-14);
        }
    }

    #[test]
    fn quadratics_are_solved_exactly() {
        // The 5-point stencil is exact for x^2 - 3 y^2 + x y, whose -Laplace is 4; every sweep leaves it alone.
        let n = 9;
        let u = grid(n, |x, y| x * x - 3.0 * y * y + x * y);
        let f = vec![4.0; n * n];
        let mut d = vec![1.0; n * n];
        defect(n, &u, &f, &mut d);
        assert!(norm_max(n, &d) < 1e-12);
        let mut v = u.clone();
        red_black(n, &mut v, &f, Order::RedFirst);
        assert!(largest_difference(&u, &v) < 1e-15);
        jacobi(n, 0.8, &u, &f, &mut v);
        assert!(largest_difference(&u, &v) < 1e-15);
    }

    #[test]
    fn gauss_seidel_converges_to_zero_defect_and_keeps_the_boundary() {
        let n = 9;
        let (start, f) = (random(n, 1), random(n, 2));
        let mut u = start.clone();
        for sweep in 0..400 {
            red_black(n, &mut u, &f, if sweep % 2 == 0 { Order::RedFirst } else { Order::BlackFirst });
        }
        let mut d = vec![0.0; n * n];
        defect(n, &u, &f, &mut d);
        assert!(norm_max(n, &d) < 1e-11);
        for k in (0..n).flat_map(|i| [i, i * n, i * n + n - 1, (n - 1) * n + i]) {
            assert_eq!(u[k], start[k]);
        }
    }

    #[test]
    fn the_matrix_is_the_stencil() {
        for n in [3, 4, 5, 9] {
            let (u, f) = (random(n, 3), random(n, 4));
            let a = poisson5::<f64>(n);
            assert_eq!(a.len(), 5 * (n - 2) * (n - 2));
            let expected: Vec<f64> = apply(&a, &u).iter().zip(&f).map(|(au, f)| f - au).collect();
            let mut d = vec![0.0; n * n];
            defect(n, &u, &f, &mut d);
            assert!(largest_difference(&clear_boundary(n, expected), &d) < 1e-11);
        }
    }

    #[test]
    fn the_interior_matrix_by_hand() {
        // n = 4: four unknowns, 1 / h^2 = 9.
        let mut a = [0.0; 16];
        poisson5_interior::<f64>(4).into_iter().for_each(|(i, j, value)| a[4 * i + j] += value);
        let expected = [36.0, -9.0, -9.0, 0.0, -9.0, 36.0, 0.0, -9.0, -9.0, 0.0, 36.0, -9.0, 0.0, -9.0, -9.0, 36.0];
        assert_eq!(a, expected);
        assert_eq!(poisson5_interior::<f32>(2), []);
        assert_eq!(poisson5_interior::<f32>(3), [(0, 0, 16.0)]);
    }

    #[test]
    fn the_interior_matrix_is_symmetric_with_known_eigenvectors() {
        let n = 9;
        let a = poisson5_interior::<f64>(n);
        assert!(a.iter().all(|&(i, j, value)| a.contains(&(j, i, value))));
        let h = spacing::<f64>(n);
        for (k, l) in [(1.0, 1.0), (2.0, 5.0), (7.0, 7.0)] {
            let u: Vec<f64> = (1..n - 1)
                .flat_map(|j| (1..n - 1).map(move |i| (k * PI * i as f64 * h).sin() * (l * PI * j as f64 * h).sin()))
                .collect();
            let expected: Vec<f64> = u.iter().map(|u| eigenvalue(n, k, l) * u).collect();
            assert!(largest_difference(&apply(&a, &u), &expected) < 1e-11);
        }
    }

    #[test]
    fn restriction_is_a_quarter_of_the_adjoint_of_interpolation() {
        for n in [3, 5, 9, 33] {
            let m = coarser(n);
            let d = clear_boundary(n, random(n, 5));
            let e = clear_boundary(m, random(m, 6));
            let (mut rd, mut pe) = (vec![0.0; m * m], vec![0.0; n * n]);
            restrict(n, &d, &mut rd);
            interpolate(n, &e, &mut pe);
            assert!((vector::dot(&rd, &e) - 0.25 * vector::dot(&d, &pe)).abs() < 1e-13);
        }
    }

    #[test]
    fn interpolation_is_exact_for_bilinear_functions() {
        let f = |x: f64, y: f64| 1.0 + 2.0 * x - 3.0 * y + 4.0 * x * y;
        for n in [3, 5, 17] {
            let mut fine = vec![0.0; n * n];
            interpolate(n, &grid(coarser(n), f), &mut fine);
            assert!(largest_difference(&fine, &grid(n, f)) < 1e-14);
            let mut coarse = vec![0.0; coarser(n) * coarser(n)];
            restrict(n, &fine, &mut coarse);
            assert!(largest_difference(&coarse, &clear_boundary(coarser(n), grid(coarser(n), f))) < 1e-14);
        }
    }

    #[test]
    fn cubic_interpolation_is_exact_for_cubics_and_keeps_the_boundary() {
        let quadratic = |x: f64, y: f64| 1.0 + x - 2.0 * y * y + 3.0 * x * x * y - x * x * y * y;
        let cubic = |x: f64, y: f64| quadratic(x, y) + 4.0 * x * x * x - 5.0 * x * y * y * y + x * x * x * y * y * y;
        for (n, f) in [(5, &quadratic as &dyn Fn(f64, f64) -> f64), (9, &cubic), (17, &cubic), (33, &cubic)] {
            let mut fine = vec![7.0; n * n];
            interpolate_cubic(n, &grid(coarser(n), f), &mut fine);
            let expected: Vec<f64> = clear_boundary(n, grid(n, |x, y| f(x, y) - 7.0)).iter().map(|v| v + 7.0).collect();
            assert!(largest_difference(&fine, &expected) < 1e-13, "n = {n}");
        }
    }

    #[test]
    fn boundaries_are_injected() {
        let n = 9;
        let fine = random(n, 8);
        let mut coarse = vec![7.0; 25];
        inject_boundary(n, &fine, &mut coarse);
        for (c, value) in coarse.iter().enumerate() {
            let inside = (1..4).contains(&(c % 5)) && (1..4).contains(&(c / 5));
            assert_eq!(*value, if inside { 7.0 } else { fine[2 * (c / 5) * n + 2 * (c % 5)] });
        }
    }

    #[test]
    fn discretisation_error_falls_by_four() {
        // Solve -Laplace u = 2 pi^2 sin sin: the discrete solution is the same sine times 2 pi^2 / lambda_h.
        let error = |n: usize| (2.0 * PI * PI / eigenvalue(n, 1.0, 1.0) - 1.0).abs();
        let mut measured = Vec::new();
        for n in [5, 9, 17] {
            let exact = grid(n, |x, y| (PI * x).sin() * (PI * y).sin());
            let f: Vec<f64> = exact.iter().map(|u| 2.0 * PI * PI * u).collect();
            let mut u = vec![0.0; n * n];
            (0..2000).for_each(|_| red_black(n, &mut u, &f, Order::RedFirst));
            measured.push(largest_difference(&u, &exact));
            assert!((measured.last().unwrap() - error(n)).abs() < 1e-12);
        }
        for pair in measured.windows(2) {
            assert!((3.8..4.3).contains(&(pair[0] / pair[1])), "{measured:?}");
        }
    }

    #[test]
    fn norms_by_hand() {
        let mut u = vec![0.0; 25];
        u[7] = -3.0;
        u[8] = 4.0;
        assert_eq!(norm_l2(5, &u), 1.25);
        assert_eq!(norm_max(5, &u), 4.0);
        u[0] = f64::NAN;
        assert!(norm_l2(5, &u).is_nan() && norm_max(5, &u).is_nan());
    }

    #[test]
    fn two_points_a_side_have_no_interior() {
        let (u, mut d) = ([1.0f32; 4], [9.0f32; 4]);
        defect(2, &u, &u, &mut d);
        assert_eq!(d, [0.0; 4]);
        jacobi(2, 0.8, &u, &u, &mut d);
        assert_eq!(d, u);
    }

    #[test]
    #[should_panic(expected = "no coarser grid")]
    fn even_grids_have_no_coarser_grid() {
        restrict(4, &[0.0; 16], &mut [0.0; 4]);
    }

    #[test]
    #[should_panic(expected = "long")]
    fn short_grids_panic() {
        defect(3, &[0.0; 9], &[0.0; 8], &mut [0.0; 9]);
    }
}
