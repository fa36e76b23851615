//! Relaxation, defect and transfers of `-Laplace u + shift u = f` on the host, in two and three dimensions.

use crate::Real;
use crate::multigrid::algebra::cubic_weights;
use crate::multigrid::cycle::Order;

/// A grid of `n` points per side in `dim` dimensions, 2 or 3, boundary included.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stencil {
    pub(crate) n: usize,
    pub(crate) dim: u32,
    pub(crate) shift: f64,
}

impl Stencil {
    /// Positions of the interior points in ascending order.
    pub(crate) fn interior(self) -> impl Iterator<Item = usize> {
        let n = self.n;
        let planes = if self.dim == 2 { 0..1 } else { 1..n - 1 };
        planes.flat_map(move |k| (1..n - 1).flat_map(move |j| (1..n - 1).map(move |i| (k * n + j) * n + i)))
    }

    /// The sum of the values around interior point `p`, in ascending order of the positions.
    pub(crate) fn neighbours<T: Real>(self, u: &[T], p: usize) -> T {
        let n = self.n;
        if self.dim == 2 {
            u[p - n] + u[p - 1] + u[p + 1] + u[p + n]
        } else {
            u[p - n * n] + u[p - n] + u[p - 1] + u[p + 1] + u[p + n] + u[p + n * n]
        }
    }

    /// `h^2` and the inverse diagonal of the matrix times `h^2`.
    fn relaxation<T: Real>(self) -> (T, T) {
        let h = T::one() / T::from_f64((self.n - 1) as f64);
        (h * h, T::one() / (T::from_f64(f64::from(2 * self.dim)) + T::from_f64(self.shift) * (h * h)))
    }

    /// One weighted Jacobi sweep from `u` to `out`, which takes the boundary of `u`.
    pub(crate) fn jacobi<T: Real>(self, omega: T, u: &[T], f: &[T], out: &mut [T]) {
        out.copy_from_slice(u);
        let (h2, weight) = self.relaxation::<T>();
        for p in self.interior() {
            let relaxed = weight * (h2 * f[p] + self.neighbours(u, p));
            out[p] = u[p] + omega * (relaxed - u[p]);
        }
    }

    /// One red-black Gauss-Seidel sweep.
    pub(crate) fn red_black<T: Real>(self, u: &mut [T], f: &[T], order: Order) {
        order.colours().into_iter().for_each(|colour| self.half_sweep(u, f, colour as usize));
    }

    /// Relaxes the points whose indices add up to `colour` modulo 2.
    pub(crate) fn half_sweep<T: Real>(self, u: &mut [T], f: &[T], colour: usize) {
        let n = self.n;
        let (h2, weight) = self.relaxation::<T>();
        for p in self.interior().filter(|p| (p / (n * n) + p / n % n + p % n) % 2 == colour) {
            u[p] = weight * (h2 * f[p] + self.neighbours(u, p));
        }
    }

    /// The defect inside, 0 on the boundary.
    pub(crate) fn defect<T: Real>(self, u: &[T], f: &[T], d: &mut [T]) {
        d.fill(T::zero());
        let intervals = (self.n - 1) as f64;
        let (inverse_h2, shift) = (T::from_f64(intervals * intervals), T::from_f64(self.shift));
        let diagonal = T::from_f64(f64::from(2 * self.dim));
        for p in self.interior() {
            d[p] = (f[p] - shift * u[p]) + inverse_h2 * (self.neighbours(u, p) - diagonal * u[p]);
        }
    }

    /// The next coarser grid.
    fn coarser(self) -> Stencil {
        Stencil { n: self.n.div_ceil(2), ..self }
    }

    /// The position on this grid of point `c` of the next coarser one.
    fn of_coarse(self, c: usize) -> usize {
        let (n, m) = (self.n, self.coarser().n);
        (2 * (c / (m * m)) * n + 2 * (c / m % m)) * n + 2 * (c % m)
    }

    /// Full weighting, the product of `1/4 [1 2 1]` in each direction; 0 on the boundary.
    pub(crate) fn restrict<T: Real>(self, fine: &[T], coarse: &mut [T]) {
        let n = self.n;
        coarse.fill(T::zero());
        let [two, four, quarter, sixteenth] = [2.0, 4.0, 0.25, 0.0625].map(T::from_f64);
        let plane = |p: usize| {
            let corners = fine[p - n - 1] + fine[p - n + 1] + fine[p + n - 1] + fine[p + n + 1];
            let sides = fine[p - n] + fine[p - 1] + fine[p + 1] + fine[p + n];
            sixteenth * (four * fine[p] + two * sides + corners)
        };
        for c in self.coarser().interior() {
            let p = self.of_coarse(c);
            coarse[c] = match self.dim {
                2 => plane(p),
                _ => quarter * (plane(p - n * n) + two * plane(p) + plane(p + n * n)),
            };
        }
    }

    /// Adds the bilinear or trilinear interpolant of `coarse` to the interior points of `fine`.
    pub(crate) fn interpolate_add<T: Real>(self, coarse: &[T], fine: &mut [T]) {
        let (n, m) = (self.n, self.coarser().n);
        let [half, quarter] = [0.5, 0.25].map(T::from_f64);
        for p in self.interior() {
            let (i, j, k) = (p % n, p / n % n, p / (n * n));
            let (east, north) = (i % 2, j % 2 * m);
            // The four coarse points around in plane `c`; where two of them are one, half their sum is exact.
            let corners = |c: usize| {
                let at = (c * m + j / 2) * m + i / 2;
                [at, at + east, at + north, at + north + east].map(|at| coarse[at])
            };
            let plane = |c: usize| {
                let [a, b, c, d] = corners(c);
                half * (half * (a + b) + half * (c + d))
            };
            fine[p] += match (self.dim, i % 2, j % 2) {
                (2, 1, 1) => {
                    let [a, b, c, d] = corners(0);
                    quarter * (a + b + c + d)
                }
                (2, ..) => plane(0),
                _ if k.is_multiple_of(2) => plane(k / 2),
                _ => half * (plane(k / 2) + plane(k / 2 + 1)),
            };
        }
    }

    /// Bicubic or tricubic interpolation to the interior points of `fine`, direction by direction.
    pub(crate) fn interpolate_cubic<T: Real>(self, coarse: &[T], fine: &mut [T]) {
        let (n, m) = (self.n, self.coarser().n);
        for p in self.interior() {
            let (i, j, k) = (p % n, p / n % n, p / (n * n));
            let plane = |c: usize| cubic(m, i, |a| cubic(m, j, |b| coarse[(c * m + b) * m + a]));
            fine[p] = if self.dim == 2 { plane(0) } else { cubic(m, k, plane) };
        }
    }

    /// Boundary values of `fine` at the points of the next coarser grid; the interior of `coarse` stays.
    pub(crate) fn inject_boundary<T: Real>(self, fine: &[T], coarse: &mut [T]) {
        let m = self.coarser().n;
        let last = |i: usize| i == 0 || i == m - 1;
        for (c, value) in coarse.iter_mut().enumerate() {
            if last(c % m) || last(c / m % m) || (self.dim == 3 && last(c / (m * m))) {
                *value = fine[self.of_coarse(c)];
            }
        }
    }
}

/// The value at fine point `i` of a line of `m` coarse values.
fn cubic<T: Real>(m: usize, i: usize, coarse: impl Fn(usize) -> T) -> T {
    let k = i / 2;
    if i.is_multiple_of(2) {
        return coarse(k);
    }
    let (first, weights) = cubic_weights(m, k);
    let term = |p: usize| T::from_f64(weights[p]) * coarse((first + p).min(m - 1));
    term(0) + term(1) + term(2) + term(3)
}

#[cfg(test)]
mod tests {
    use clinalg_reference::{grid2, grid3};
    use rand::{Rng, SeedableRng, rngs::StdRng};

    use super::*;

    /// Both orders for the oracle.
    fn order(order: Order) -> grid2::Order {
        match order {
            Order::RedFirst => grid2::Order::RedFirst,
            Order::BlackFirst => grid2::Order::BlackFirst,
        }
    }

    /// Every function against the sequential oracle, to the last bit.
    fn matches_the_oracle<T: Real>(dim: u32, n: usize) {
        let mut rng = StdRng::seed_from_u64(n as u64);
        let mut random =
            |n: usize| -> Vec<T> { (0..n.pow(dim)).map(|_| T::from_f64(rng.random_range(-1.0..1.0))).collect() };
        let (u, f, coarse) = (random(n), random(n), random(n.div_ceil(2)));
        let (shift, omega) = (T::from_f64(3.0), T::from_f64(0.8));
        let stencil = Stencil { n, dim, shift: 3.0 };
        let (mut got, mut want) = (u.clone(), u.clone());

        stencil.jacobi(omega, &u, &f, &mut got);
        match dim {
            2 => grid2::jacobi_shifted(n, shift, omega, &u, &f, &mut want),
            _ => grid3::jacobi(n, shift, omega, &u, &f, &mut want),
        }
        assert_eq!(got, want, "Jacobi, n = {n}");
        for first in [Order::RedFirst, Order::BlackFirst] {
            stencil.red_black(&mut got, &f, first);
            match dim {
                2 => grid2::red_black_shifted(n, shift, &mut want, &f, order(first)),
                _ => grid3::red_black(n, shift, &mut want, &f, order(first)),
            }
            assert_eq!(got, want, "red-black, n = {n}");
        }
        stencil.defect(&u, &f, &mut got);
        match dim {
            2 => grid2::defect_shifted(n, shift, &u, &f, &mut want),
            _ => grid3::defect(n, shift, &u, &f, &mut want),
        }
        assert_eq!(got, want, "defect, n = {n}");
        if n == 4 {
            return;
        }
        stencil.interpolate_add(&coarse, &mut got);
        match dim {
            2 => grid2::interpolate_add(n, &coarse, &mut want),
            _ => grid3::interpolate_add(n, &coarse, &mut want),
        }
        assert_eq!(got, want, "interpolation, n = {n}");
        stencil.interpolate_cubic(&coarse, &mut got);
        match dim {
            2 => grid2::interpolate_cubic(n, &coarse, &mut want),
            _ => grid3::interpolate_cubic(n, &coarse, &mut want),
        }
        assert_eq!(got, want, "cubic interpolation, n = {n}");
        let (mut got, mut want) = (coarse.clone(), coarse);
        stencil.inject_boundary(&u, &mut got);
        match dim {
            2 => grid2::inject_boundary(n, &u, &mut want),
            _ => grid3::inject_boundary(n, &u, &mut want),
        }
        assert_eq!(got, want, "boundary, n = {n}");
        stencil.restrict(&u, &mut got);
        match dim {
            2 => grid2::restrict(n, &u, &mut want),
            _ => grid3::restrict(n, &u, &mut want),
        }
        assert_eq!(got, want, "restriction, n = {n}");
    }

    #[test]
    fn bits_are_those_of_the_oracle() {
        for n in [3, 4, 5, 9, 17, 33] {
            for dim in [2, 3] {
                matches_the_oracle::<f32>(dim, n);
                matches_the_oracle::<f64>(dim, n);
            }
        }
    }
}
