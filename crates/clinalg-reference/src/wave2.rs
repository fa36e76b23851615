//! The 2-D wave equation `u_tt = c^2 Laplace u` on the unit square, on a grid of `n` by `n` points.
//!
//! Grids are as in [`grid2`](super::grid2): point `(i, j)` at `x = i h`, `y = j h` is `u[j * n + i]`, `h = 1 / (n - 1)`. Values
//! on the boundary never change. The scheme is the leapfrog of Courant, Friedrichs and Lewy (1928); LeVeque, *Finite
//! Difference Methods for Ordinary and Partial Differential Equations* (2007), chapter 10.
//!
//! Functions panic when a grid is not `n * n` long.
use super::grid2::{check, interior, neighbours};
use crate::{Real, from_f64, to_f64};

/// One leapfrog step inside: `p = a u + (r2 (sum of the four neighbours of u) - p)`, where `u` are the values now and `p`
/// those one step before, on return those one step later. `r2 = (c dt / h)^2` and `a = 2 - 4 r2`.
///
/// # Panics
/// When a grid is not `n * n` long.
pub fn leap<T: Real>(n: usize, a: T, r2: T, u: &[T], p: &mut [T]) {
    check(n, &[u, p]);
    for k in interior(n) {
        p[k] = a * u[k] + (r2 * neighbours(n, u, k) - p[k]);
    }
}

/// `out = Laplace_h u` inside by the 5-point stencil, 0 on the boundary.
///
/// # Panics
/// When a grid is not `n * n` long.
pub fn laplacian<T: Real>(n: usize, u: &[T], out: &mut [T]) {
    check(n, &[u, out]);
    out.fill(T::zero());
    let inverse_h2 = from_f64::<T>(((n - 1) * (n - 1)) as f64);
    for k in interior(n) {
        out[k] = inverse_h2 * (neighbours(n, u, k) - from_f64::<T>(4.0) * u[k]);
    }
}

/// The two sums of the discrete energy, of values `u` and those one step before, `p`: of the squares of `u - p`, and over the
/// pairs of neighbours of which one at least lies inside, of the product of the differences of `u` and of `p`, or with `mean`
/// of the squared differences of `(u + p) / 2`.
///
/// # Panics
/// When a grid is not `n * n` long.
pub fn energy_sums<T: Real>(n: usize, mean: bool, u: &[T], p: &[T]) -> [f64; 2] {
    check(n, &[u, p]);
    let squares = interior(n).map(|k| (to_f64(u[k]) - to_f64(p[k])).powi(2)).sum();
    let difference = |v: &[T], k: usize, to: usize| to_f64(v[to]) - to_f64(v[k]);
    let pair = |k: usize, to: usize| {
        let (du, dp) = (difference(u, k, to), difference(p, k, to));
        if mean { (0.5 * (du + dp)).powi(2) } else { du * dp }
    };
    let along: f64 = (1..n - 1).flat_map(|j| (0..n - 1).map(move |i| j * n + i)).map(|k| pair(k, k + 1)).sum();
    let across: f64 = (0..n - 1).flat_map(|j| (1..n - 1).map(move |i| j * n + i)).map(|k| pair(k, k + n)).sum();
    [squares, along + across]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_interior_point_by_hand() {
        let u = [0.0, 1.0, 0.0, 2.0, 5.0, 3.0, 0.0, 4.0, 0.0];
        let mut p = [9.0, 1.0, 9.0, 2.0, 6.0, 3.0, 9.0, 4.0, 9.0];
        let mut lap = [7.0; 9];
        laplacian(3, &u, &mut lap);
        // h = 1/2: 4 (1 + 2 + 3 + 4 - 20).
        assert_eq!(lap, [0.0, 0.0, 0.0, 0.0, -40.0, 0.0, 0.0, 0.0, 0.0]);
        // r2 = 1/4, a = 1: 5 + (10 / 4 - 6).
        leap(3, 1.0, 0.25, &u, &mut p);
        assert_eq!(p, [9.0, 1.0, 9.0, 2.0, 1.5, 3.0, 9.0, 4.0, 9.0]);
    }

    #[test]
    fn sums_by_hand() {
        let u = [0.0, 1.0, 0.0, 2.0, 5.0, 3.0, 0.0, 4.0, 0.0];
        let mut p = u;
        p[4] = 7.0;
        // Differences of the middle to its neighbours: 4, 3, 2, 1 for u and 6, 5, 4, 3 for p.
        assert_eq!(energy_sums(3, false, &u, &p), [4.0, 24.0 + 15.0 + 8.0 + 3.0]);
        assert_eq!(energy_sums(3, true, &u, &p), [4.0, 25.0 + 16.0 + 9.0 + 4.0]);
    }
}
