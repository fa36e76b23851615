//! The 3-D problem `-Laplace u + shift u = f` on the unit cube, on a grid of `n` by `n` by `n` points.
//!
//! The points include the boundary; `h = 1 / (n - 1)`, and point `(i, j, k)` at `x = i h`, `y = j h`, `z = k h` is
//! `u[(k * n + j) * n + i]`. The values of `u` on the boundary are the boundary condition: no smoother changes them.
//! `shift` is at least 0; 0 is the Poisson problem. The components are those of Trottenberg, Oosterlee, Schüller,
//! *Multigrid* (2001), section 2.9: 7-point stencil, red-black Gauss-Seidel or weighted Jacobi, full weighting, trilinear
//! interpolation; each transfer is the product of those along the three directions, planes last.
//!
//! Functions panic when a grid is not `n * n * n` long, or when `n` has no next coarser grid (`n` odd, at least 3) where
//! one is needed.
use super::grid2::{Order, coarser, cubic, spacing};
use crate::{Real, from_f64};

/// One sweep of weighted Jacobi: `out = u + omega D^-1 (f - A u)` with `D = 6 / h^2 + shift` inside, `out = u` on the
/// boundary.
///
/// # Panics
/// When a grid is not `n * n * n` long.
pub fn jacobi<T: Real>(n: usize, shift: T, omega: T, u: &[T], f: &[T], out: &mut [T]) {
    check(n, &[u, f, out]);
    out.copy_from_slice(u);
    let (h2, weight) = relaxation(n, shift);
    for p in interior(n) {
        let relaxed = weight * (h2 * f[p] + neighbours(n, u, p));
        out[p] = u[p] + omega * (relaxed - u[p]);
    }
}

/// One sweep of red-black Gauss-Seidel on `u` in place: each half-sweep solves for the points of one colour.
///
/// # Panics
/// When a grid is not `n * n * n` long.
pub fn red_black<T: Real>(n: usize, shift: T, u: &mut [T], f: &[T], order: Order) {
    order.colours().into_iter().for_each(|colour| half_sweep(n, shift, u, f, colour as usize));
}

/// Half a sweep of red-black Gauss-Seidel: the points with `(i + j + k) % 2 == colour` (0 is red, 1 is black).
///
/// # Panics
/// When a grid is not `n * n * n` long.
pub fn half_sweep<T: Real>(n: usize, shift: T, u: &mut [T], f: &[T], colour: usize) {
    check(n, &[u, f]);
    let (h2, weight) = relaxation(n, shift);
    for p in interior(n).filter(|p| (p / (n * n) + p / n % n + p % n) % 2 == colour) {
        u[p] = weight * (h2 * f[p] + neighbours(n, u, p));
    }
}

/// The defect `d = f + Laplace_h u - shift u` inside, 0 on the boundary.
///
/// # Panics
/// When a grid is not `n * n * n` long.
pub fn defect<T: Real>(n: usize, shift: T, u: &[T], f: &[T], d: &mut [T]) {
    check(n, &[u, f, d]);
    d.fill(T::zero());
    let intervals = (n - 1) as f64;
    let (inverse_h2, six) = (from_f64::<T>(intervals * intervals), from_f64::<T>(6.0));
    for p in interior(n) {
        d[p] = (f[p] - shift * u[p]) + inverse_h2 * (neighbours(n, u, p) - six * u[p]);
    }
}

/// Full weighting to the next coarser grid: the product of `1/4 [1 2 1]` in each direction inside, 0 on the boundary.
///
/// `n` is the number of points per side of the fine grid; `coarse` has [`coarser`]`(n)` a side. An eighth of the adjoint of
/// [`interpolate`] on grids that vanish on the boundary.
///
/// # Panics
/// When a grid is not as long as its side says, or `n` has no coarser grid.
pub fn restrict<T: Real>(n: usize, fine: &[T], coarse: &mut [T]) {
    let m = coarser(n);
    check(n, &[fine]);
    check(m, &[coarse]);
    coarse.fill(T::zero());
    let (two, four, quarter, sixteenth) =
        (from_f64::<T>(2.0), from_f64::<T>(4.0), from_f64::<T>(0.25), from_f64::<T>(0.0625));
    let plane = |p: usize| {
        let corners = fine[p - n - 1] + fine[p - n + 1] + fine[p + n - 1] + fine[p + n + 1];
        let sides = fine[p - n] + fine[p - 1] + fine[p + 1] + fine[p + n];
        sixteenth * (four * fine[p] + two * sides + corners)
    };
    for c in interior(m) {
        let p = (2 * (c / (m * m)) * n + 2 * (c / m % m)) * n + 2 * (c % m);
        coarse[c] = quarter * (plane(p - n * n) + two * plane(p) + plane(p + n * n));
    }
}

/// Trilinear interpolation from the next coarser grid at every point.
///
/// `n` is the number of points per side of the fine grid; `coarse` has [`coarser`]`(n)` a side.
///
/// # Panics
/// When a grid is not as long as its side says, or `n` has no coarser grid.
pub fn interpolate<T: Real>(n: usize, coarse: &[T], fine: &mut [T]) {
    check(coarser(n), &[coarse]);
    check(n, &[fine]);
    for (p, fine) in fine.iter_mut().enumerate() {
        *fine = interpolated(n, coarse, p);
    }
}

/// Coarse-grid correction: adds the trilinear interpolation of `coarse` to `fine` at the interior points.
///
/// # Panics
/// When a grid is not as long as its side says, or `n` has no coarser grid.
pub fn interpolate_add<T: Real>(n: usize, coarse: &[T], fine: &mut [T]) {
    check(coarser(n), &[coarse]);
    check(n, &[fine]);
    for p in interior(n) {
        fine[p] += interpolated(n, coarse, p);
    }
}

/// Tricubic interpolation from the next coarser grid at the interior points; the boundary of `fine` stays. Cubics as in
/// [`grid2::interpolate_cubic`](super::grid2::interpolate_cubic).
///
/// # Panics
/// When a grid is not as long as its side says, or `n` has no coarser grid.
pub fn interpolate_cubic<T: Real>(n: usize, coarse: &[T], fine: &mut [T]) {
    let m = coarser(n);
    check(m, &[coarse]);
    check(n, &[fine]);
    for p in interior(n) {
        let (i, j, k) = (p % n, p / n % n, p / (n * n));
        let plane = |c: usize| cubic(m, i, |a| cubic(m, j, |b| coarse[(c * m + b) * m + a]));
        fine[p] = cubic(m, k, plane);
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
        let at = [c % m, c / m % m, c / (m * m)];
        if at.iter().any(|&i| i == 0 || i == m - 1) {
            *value = fine[(2 * at[2] * n + 2 * at[1]) * n + 2 * at[0]];
        }
    }
}

/// `-Laplace_h + shift` on all `n * n * n` points as `(row, column, value)`: interior points have the 7-point stencil, the
/// rows of boundary points are empty. So `f - A u` is the [`defect`] inside.
pub fn poisson7<T: Real>(n: usize, shift: T) -> Vec<(usize, usize, T)> {
    let intervals = (n - 1) as f64;
    let side = from_f64::<T>(-(intervals * intervals));
    let centre = from_f64::<T>(6.0 * intervals * intervals) + shift;
    interior(n)
        .flat_map(|p| {
            let sides = [p - n * n, p - n, p - 1, p + 1, p + n, p + n * n].map(|q| (p, q, side));
            sides.into_iter().chain([(p, p, centre)])
        })
        .collect()
}

fn check<T>(n: usize, grids: &[&[T]]) {
    assert!(n >= 2, "a grid needs at least 2 points per side");
    assert!(grids.iter().all(|grid| grid.len() == n * n * n), "a grid is not {n} * {n} * {n} long");
}

/// `h^2` and `1 / (6 + shift h^2)`.
fn relaxation<T: Real>(n: usize, shift: T) -> (T, T) {
    let h2 = spacing::<T>(n) * spacing(n);
    (h2, T::one() / (from_f64::<T>(6.0) + shift * h2))
}

/// Positions of the interior points, plane by plane.
fn interior(n: usize) -> impl Iterator<Item = usize> {
    (1..n - 1).flat_map(move |k| (1..n - 1).flat_map(move |j| (1..n - 1).map(move |i| (k * n + j) * n + i)))
}

fn neighbours<T: Real>(n: usize, u: &[T], p: usize) -> T {
    u[p - n * n] + u[p - n] + u[p - 1] + u[p + 1] + u[p + n] + u[p + n * n]
}

fn interpolated<T: Real>(n: usize, coarse: &[T], p: usize) -> T {
    let m = coarser(n);
    let (i, j, k) = (p % n, p / n % n, p / (n * n));
    let half = from_f64::<T>(0.5);
    // Where two of the four values are one, half their sum is exact.
    let plane = |c: usize| {
        let (at, east, north) = ((c * m + j / 2) * m + i / 2, i % 2, j % 2 * m);
        half * (half * (coarse[at] + coarse[at + east]) + half * (coarse[at + north] + coarse[at + north + east]))
    };
    if k.is_multiple_of(2) { plane(k / 2) } else { half * (plane(k / 2) + plane(k / 2 + 1)) }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use rand::{Rng, SeedableRng, rngs::StdRng};

    use super::*;

    fn random(len: usize, seed: u64) -> Vec<f64> {
        let mut rng = StdRng::seed_from_u64(seed);
        (0..len).map(|_| rng.random_range(-1.0..1.0)).collect()
    }

    fn inside(n: usize, p: usize) -> bool {
        [p % n, p / n % n, p / (n * n)].iter().all(|&i| i > 0 && i < n - 1)
    }

    fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn one_interior_point_by_hand() {
        // h = 1/2; neighbours 1 to 6 around 1; shift 2.
        let mut u = [0.0; 27];
        for (p, value) in [(4, 1.0), (10, 2.0), (12, 3.0), (14, 4.0), (16, 5.0), (22, 6.0), (13, 1.0)] {
            u[p] = value;
        }
        let f = [8.0; 27];
        let mut d = [9.0; 27];
        defect(3, 2.0, &u, &f, &mut d);
        let mut want = [0.0; 27];
        want[13] = 8.0 - 2.0 + 4.0 * (21.0 - 6.0);
        assert_eq!(d, want);
        // (24 + 2) u = 8 + 4 * 21.
        let relaxed: f64 = 92.0 / 26.0;
        let mut out = [0.0_f64; 27];
        jacobi(3, 2.0, 0.5, &u, &f, &mut out);
        assert!((out[13] - (1.0 + relaxed) / 2.0).abs() < 1e-15);
        red_black(3, 2.0, &mut u, &f, Order::BlackFirst);
        assert!((u[13] - relaxed).abs() < 1e-15);
        assert_eq!(u[12], 3.0);
    }

    #[test]
    fn defects_are_those_of_the_matrix() {
        let n = 6;
        let (u, f) = (random(n * n * n, 1), random(n * n * n, 2));
        let mut d = vec![0.0; n * n * n];
        defect(n, 3.0, &u, &f, &mut d);
        let mut want = f.clone();
        poisson7(n, 3.0).into_iter().for_each(|(i, j, a)| want[i] -= a * u[j]);
        (0..want.len()).filter(|&p| !inside(n, p)).for_each(|p| want[p] = 0.0);
        assert!(largest_difference(&d, &want) < 1e-12);
    }

    #[test]
    fn sines_are_eigenvectors() {
        for (n, modes) in [(5, [1.0, 1.0, 1.0]), (9, [1.0, 2.0, 3.0]), (12, [3.0, 1.0, 2.0])] {
            let h = 1.0 / (n - 1) as f64;
            let u: Vec<f64> = (0..n * n * n)
                .map(|p| {
                    let at = [p % n, p / n % n, p / (n * n)];
                    at.iter().zip(modes).map(|(&i, m)| (m * PI * i as f64 * h).sin()).product()
                })
                .collect();
            let lambda: f64 = modes.iter().map(|m| 4.0 / (h * h) * (m * PI * h / 2.0).sin().powi(2)).sum();
            let mut d = vec![0.0; u.len()];
            defect(n, 0.5, &u, &vec![0.0; u.len()], &mut d);
            let want: Vec<f64> =
                (0..u.len()).map(|p| if inside(n, p) { -(lambda + 0.5) * u[p] } else { 0.0 }).collect();
            assert!(largest_difference(&d, &want) < 1e-11);
        }
    }

    #[test]
    fn gauss_seidel_solves_its_equations_colour_by_colour() {
        let n = 7;
        let (mut u, f) = (random(n * n * n, 3), random(n * n * n, 4));
        let start = u.clone();
        red_black(n, 1.0, &mut u, &f, Order::RedFirst);
        let mut d = vec![0.0; u.len()];
        defect(n, 1.0, &u, &f, &mut d);
        for p in 0..u.len() {
            let black = (p % n + p / n % n + p / (n * n)) % 2 == 1;
            assert!(!inside(n, p) || !black || d[p].abs() < 1e-12, "the colour relaxed last has no defect");
            assert!(inside(n, p) || u[p] == start[p]);
        }
        let mut again = start;
        half_sweep(n, 1.0, &mut again, &f, 0);
        half_sweep(n, 1.0, &mut again, &f, 1);
        assert_eq!(again, u);
    }

    #[test]
    fn transfers_are_adjoint_and_exact_for_linear_and_cubic_functions() {
        let (n, m) = (9, 5);
        let (mut fine, mut coarse) = (random(n * n * n, 5), random(m * m * m, 6));
        (0..fine.len()).filter(|&p| !inside(n, p)).for_each(|p| fine[p] = 0.0);
        (0..coarse.len()).filter(|&p| !inside(m, p)).for_each(|p| coarse[p] = 0.0);
        let (mut up, mut down) = (vec![0.0; fine.len()], vec![0.0; coarse.len()]);
        interpolate(n, &coarse, &mut up);
        restrict(n, &fine, &mut down);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        assert!((dot(&up, &fine) - 8.0 * dot(&down, &coarse)).abs() < 1e-12);

        let sample = |n: usize, g: &dyn Fn(f64, f64, f64) -> f64| -> Vec<f64> {
            let h = 1.0 / (n - 1) as f64;
            let at = |p: usize| [p % n, p / n % n, p / (n * n)].map(|i| i as f64 * h);
            (0..n * n * n).map(|p| g(at(p)[0], at(p)[1], at(p)[2])).collect()
        };
        let linear = |x: f64, y: f64, z: f64| 1.0 + 2.0 * x - 3.0 * y + 5.0 * z + x * y * z;
        interpolate(n, &sample(m, &linear), &mut up);
        assert!(largest_difference(&up, &sample(n, &linear)) < 1e-14);
        let mut sum = sample(n, &linear);
        interpolate_add(n, &sample(m, &linear), &mut sum);
        for (p, value) in sample(n, &linear).into_iter().enumerate() {
            assert!((sum[p] - if inside(n, p) { 2.0 * value } else { value }).abs() < 1e-13);
        }
        let cubic = |x: f64, y: f64, z: f64| (1.0 + x * x * x) * (2.0 - y * y) * (z * z * z - z);
        let mut got = sample(n, &cubic);
        interpolate_cubic(n, &sample(m, &cubic), &mut got);
        assert!(largest_difference(&got, &sample(n, &cubic)) < 1e-14);
        let mut boundary = vec![7.0; m * m * m];
        inject_boundary(n, &got, &mut boundary);
        let want = sample(m, &cubic);
        for p in 0..boundary.len() {
            assert_eq!(
                boundary[p],
                if inside(m, p) { 7.0 } else { got[(2 * (p / (m * m)) * n + 2 * (p / m % m)) * n + 2 * (p % m)] }
            );
            assert!(inside(m, p) || (boundary[p] - want[p]).abs() < 1e-15);
        }
    }
}
