//! The 2-D problem `-div(a grad u) + shift u = f` with a variable coefficient.
//!
//! The discretisation is that of finite volumes around the points: the flux through the face between two neighbours is
//! their difference over h times the coefficient of the face. The [interpolation](Interpolation) follows the coefficient,
//! as the solution does where it jumps, restriction is a quarter of its transpose P', and coarser grids have the Galerkin
//! operator P' A P / 4, which couples nine points (Alcouffe, Brandt, Dendy, Painter 1981; Dendy, *Black box multigrid*,
//! 1982; Trottenberg, Oosterlee, Schüller, *Multigrid*, 2001, section 7.7). Coefficients that are averaged instead lose
//! jumps which no line of the coarser grids meets, so much that cycles diverge.
//!
//! Functions panic when a grid is not `n * n` long for the faces' `n`.
use super::cycle::Order;
use crate::Real;

/// Points per side of the next coarser grid.
fn coarser(n: usize) -> usize {
    assert!(n >= 3 && n % 2 == 1, "{n} points per side have no coarser grid");
    n.div_ceil(2)
}

/// The square of the mesh width.
fn h2<T: Real>(n: usize) -> T {
    let h = T::one() / T::from_f64((n - 1) as f64);
    h * h
}

/// Coefficients between neighbouring points of a grid of `n` by `n` points: four per point on the finest grid,
/// of eight on the coarser ones.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Faces<T> {
    n: usize,
    /// Between `(i, j)` and `(i + 1, j)` at `j * n + i`; the last column is 0 and never used.
    pub(crate) x: Vec<T>,
    /// Between `(i, j)` and `(i, j + 1)` at `j * n + i`; the last row is 0 and never used.
    pub(crate) y: Vec<T>,
    /// Between `(i, j)` and `(i + 1, j + 1)` at `j * n + i`; empty on the finest grid.
    pub(crate) rising: Vec<T>,
    /// Between `(i + 1, j)` and `(i, j + 1)` at `j * n + i`; empty on the finest grid.
    pub(crate) falling: Vec<T>,
    /// What the shift is multiplied by at each point, the sum of the row of P' P / 4; empty, for 1, on the finest grid.
    pub(crate) mass: Vec<T>,
}

/// The interpolation to a grid of `n` by `n` points that follows its coefficients: one flux goes through a point between
/// two coarse ones, and none stays in the middle of four.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Interpolation<T> {
    n: usize,
    /// What the fine points around coarse point `c` of m by m take of it, at `k * m * m + c`: k = 0 to 7 for those to the
    /// southwest, south, southeast, west, east, northwest, north and northeast. 0 where there is no such point.
    pub(crate) weights: Vec<T>,
}

/// Steps to the points around another, in the order of [`Interpolation::weights`].
const AROUND: [(isize, isize); 8] = [(-1, -1), (0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1), (1, 1)];

impl<T: Real> Faces<T> {
    /// Of a coefficient given at the `n * n` points: the harmonic mean of the two neighbours. Half of the way between them
    /// has the one value, half the other, and fluxes through both in series are equal, as resistances in series add up;
    /// so a jump between two points costs no order of accuracy.
    ///
    /// # Panics
    /// When `a` is not `n * n` long or `n < 2`.
    pub(crate) fn from_points(n: usize, a: &[T]) -> Faces<T> {
        assert!(n >= 2 && a.len() == n * n, "the coefficient is not n * n = {n} * {n} long");
        Faces::new(n, |p| harmonic(a[p], a[p + 1]), |p| harmonic(a[p], a[p + n]))
    }

    /// Of a coefficient given in the `(n - 1) * (n - 1)` cells between the points, row by row: the mean of the cells on
    /// either side of a face's line, through which the flux is shared; a jump may lie along the lines of the grid.
    ///
    /// # Panics
    /// When `a` is not `(n - 1) * (n - 1)` long or `n < 2`.
    pub(crate) fn from_cells(n: usize, a: &[T]) -> Faces<T> {
        assert!(n >= 2 && a.len() == (n - 1) * (n - 1), "the coefficient does not have {} * {0} cells", n - 1);
        let m = n - 1;
        let mean = |p: Option<usize>, q: Option<usize>| match (p, q) {
            (Some(p), Some(q)) => T::from_f64(0.5) * (a[p] + a[q]),
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
            rising: Vec::new(),
            falling: Vec::new(),
            mass: Vec::new(),
        }
    }

    /// Points per side.
    pub(crate) fn side(&self) -> usize {
        self.n
    }

    /// The Galerkin operator of the next coarser grid for its `interpolation` to this one. A constant still has no flux.
    ///
    /// # Panics
    /// When `n` is even or below 3, or the interpolation is that of another grid.
    pub(crate) fn coarser(&self, interpolation: &Interpolation<T>) -> Faces<T> {
        assert_eq!(self.n, interpolation.n, "the interpolation is that of another grid");
        let m = coarser(self.n);
        let inside = |c: usize| (1..m - 1).contains(&(c % m)) && (1..m - 1).contains(&(c / m));
        let coupling = |c: usize, (right, up): (isize, isize)| {
            let other = c.wrapping_add_signed(up * m as isize + right);
            // Rows of boundary points are not known, but the matrix is symmetric.
            if inside(c) {
                self.coarse_coupling(interpolation, c, (right, up))
            } else if other < m * m && inside(other) {
                self.coarse_coupling(interpolation, other, (-right, -up))
            } else {
                T::zero()
            }
        };
        let all = |step| (0..m * m).map(|c| coupling(c, step)).collect();
        // The point at which a falling face is kept has none of its ends.
        let falling = |c: usize| if c % m < m - 1 { coupling(c + 1, (-1, 1)) } else { T::zero() };
        let mut mass = vec![T::zero(); m * m];
        let ones = vec![T::one(); self.n * self.n];
        restrict(interpolation, if self.mass.is_empty() { &ones } else { &self.mass }, &mut mass);
        Faces {
            n: m,
            x: all((1, 0)),
            y: all((0, 1)),
            rising: all((1, 1)),
            falling: (0..m * m).map(falling).collect(),
            mass,
        }
    }

    /// The coefficient of P' A P / 4 between interior coarse point `c` and the one at the distance `step`, where those of A
    /// and of the coarse grid are divided by the squares of their mesh widths.
    fn coarse_coupling(&self, interpolation: &Interpolation<T>, c: usize, step: (isize, isize)) -> T {
        let (n, m) = (self.n, coarser(self.n));
        let p = 2 * (c / m) * n + 2 * (c % m);
        let other = c.wrapping_add_signed(step.1 * m as isize + step.0);
        // What a fine point takes of the coarse point in such a place from it.
        let taken = |coarse: usize, (right, up): (isize, isize)| match (up + 1) * 3 + right + 1 {
            _ if right.abs() > 1 || up.abs() > 1 => T::zero(),
            4 => T::one(),
            k => interpolation.weights[(k - isize::from(k > 4)) as usize * m * m + coarse],
        };
        let mut sum = T::zero();
        for (right, up) in AROUND.into_iter().chain([(0, 0)]) {
            let far = (right - 2 * step.0, up - 2 * step.1);
            if far.0.abs() > 2 || far.1.abs() > 2 {
                continue;
            }
            let own = taken(other, far);
            let coefficients = self.coefficients(p.wrapping_add_signed(up * n as isize + right));
            let flux = |&k: &usize| coefficients[k] * (taken(other, (far.0 + AROUND[k].0, far.1 + AROUND[k].1)) - own);
            sum += taken(c, (right, up)) * self.order().iter().map(flux).sum::<T>();
        }
        sum
    }

    /// The coefficients between interior point `p` and those around it, in the order of [`Interpolation::weights`].
    fn coefficients(&self, p: usize) -> [T; 8] {
        let (n, Faces { x, y, rising, falling, .. }) = (self.n, self);
        let [southwest, southeast, northwest, northeast] = match rising.is_empty() {
            true => [T::zero(); 4],
            false => [rising[p - n - 1], falling[p - n], falling[p - 1], rising[p]],
        };
        [southwest, y[p - n], southeast, x[p - 1], x[p], northwest, y[p], northeast]
    }

    /// The neighbours that a point has, counted as in [`Interpolation::weights`].
    fn order(&self) -> &'static [usize] {
        if self.rising.is_empty() { &[1, 3, 4, 6] } else { &[1, 3, 4, 6, 0, 2, 5, 7] }
    }

    /// The neighbours of interior point `p` with the coefficients between: to the south, west, east and north, then, on
    /// coarser grids, to the southwest, southeast, northwest and northeast.
    pub(crate) fn around(&self, p: usize) -> impl Iterator<Item = (usize, T)> {
        let (n, coefficients) = (self.n, self.coefficients(p));
        self.order().iter().map(move |&k| {
            let (right, up) = AROUND[k];
            (p.wrapping_add_signed(up * n as isize + right), coefficients[k])
        })
    }

    /// What the shift is multiplied by at point `p`.
    pub(crate) fn mass(&self, p: usize) -> T {
        if self.mass.is_empty() { T::one() } else { self.mass[p] }
    }

    /// The value that solves the equation of interior point `p` with its neighbours as they are.
    fn relaxed(&self, h2: T, shift: T, u: &[T], f: &[T], p: usize) -> T {
        let fluxes: T = self.around(p).map(|(q, face)| face * u[q]).sum();
        (h2 * f[p] + fluxes) / (self.total(p) + shift * h2 * self.mass(p))
    }

    /// Sum of the coefficients around interior point `p`.
    fn total(&self, p: usize) -> T {
        self.around(p).map(|(_, face)| face).sum()
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

impl<T: Real> Interpolation<T> {
    /// The interpolation to the grid of `faces`. On the boundary, which it does not change, it is linear.
    ///
    /// # Panics
    /// When the grid has no coarser one.
    pub(crate) fn new(faces: &Faces<T>) -> Interpolation<T> {
        let (n, m) = (faces.n, coarser(faces.n));
        let half = [T::from_f64(0.5); 2];
        // Of points on a row, or a column, between two coarse ones, what each side gives.
        let row = |p: usize| match p / n {
            j if j == 0 || j == n - 1 => half,
            _ => {
                let [sw, _, se, w, e, nw, _, ne] = faces.coefficients(p);
                shares(sw + w + nw, se + e + ne)
            }
        };
        let column = |p: usize| match p % n {
            i if i == 0 || i == n - 1 => half,
            _ => {
                let [sw, s, se, _, _, nw, n, ne] = faces.coefficients(p);
                shares(sw + s + se, nw + n + ne)
            }
        };
        let mut weights = vec![T::zero(); 8 * m * m];
        let mut put = |k: usize, c: usize, weight: T| weights[k * m * m + c] = weight;
        for c in 0..m * m {
            let p = 2 * (c / m) * n + 2 * (c % m);
            let (right, up) = (c % m < m - 1, c / m < m - 1);
            if right {
                let [west, east] = row(p + 1);
                put(4, c, west);
                put(3, c + 1, east);
            }
            if up {
                let [south, north] = column(p + n);
                put(6, c, south);
                put(1, c + m, north);
            }
            if right && up {
                let p = p + n + 1;
                let [sw, south, se, west, east, nw, north, ne] = faces.coefficients(p);
                let ([s_west, s_east], [n_west, n_east]) = (row(p - n), row(p + n));
                let ([w_south, w_north], [e_south, e_north]) = (column(p - 1), column(p + 1));
                let total = faces.total(p);
                put(7, c, (sw + south * s_west + west * w_south) / total);
                put(5, c + 1, (se + south * s_east + east * e_south) / total);
                put(2, c + m, (nw + north * n_west + west * w_north) / total);
                put(0, c + m + 1, (ne + north * n_east + east * e_north) / total);
            }
        }
        Interpolation { n, weights }
    }

    /// Coarse points with the weights that give interior point `p`, in ascending order.
    pub(crate) fn at(&self, p: usize) -> impl Iterator<Item = (usize, T)> {
        let (n, m) = (self.n, coarser(self.n));
        let c = p / n / 2 * m + p % n / 2;
        let from: &[(usize, usize)] = match (p % n % 2, p / n % 2) {
            (0, 0) => &[],
            (_, 0) => &[(4, 0), (3, 1)],
            (0, _) => &[(6, 0), (1, 2)],
            _ => &[(7, 0), (5, 1), (2, 2), (0, 3)],
        };
        let same = from.is_empty().then(|| (c, T::one()));
        let around = from.iter().map(move |&(k, corner)| {
            let c = c + [0, 1, m, m + 1][corner];
            (c, self.weights[k * m * m + c])
        });
        same.into_iter().chain(around)
    }

    fn check(&self, fine: &[T], coarse: &[T]) {
        let (n, m) = (self.n, coarser(self.n));
        assert!(fine.len() == n * n, "the fine grid is not {n} * {n} long");
        assert!(coarse.len() == m * m, "the coarse grid is not {m} * {m} long");
    }
}

/// Parts of the one side and of the other in both. What is below 0, as Galerkin operators may have it, is taken for none.
fn shares<T: Real>(low: T, high: T) -> [T; 2] {
    let (low, high) = (low.max(T::zero()), high.max(T::zero()));
    let sum = low + high;
    if sum > T::zero() { [low / sum, high / sum] } else { [T::from_f64(0.5); 2] }
}

/// `2 / (1 / a + 1 / b)`; 0 where one of them is.
fn harmonic<T: Real>(a: T, b: T) -> T {
    if a == b { a } else { T::from_f64(2.0) * a * (b / (a + b)) }
}

/// One sweep of weighted Jacobi: `out = u + omega D^-1 (f - A u)` inside, `out = u` on the boundary.
///
/// # Panics
/// When a grid does not fit the faces.
pub(crate) fn jacobi<T: Real>(faces: &Faces<T>, shift: T, omega: T, u: &[T], f: &[T], out: &mut [T]) {
    faces.check(&[u, f, out]);
    out.copy_from_slice(u);
    let h2 = h2::<T>(faces.n);
    for p in faces.interior() {
        out[p] = u[p] + omega * (faces.relaxed(h2, shift, u, f, p) - u[p]);
    }
}

/// One sweep of red-black Gauss-Seidel on `u` in place; see [`half_sweep`].
///
/// # Panics
/// When a grid does not fit the faces.
pub(crate) fn red_black<T: Real>(faces: &Faces<T>, shift: T, u: &mut [T], f: &[T], order: Order) {
    order.colours().into_iter().for_each(|colour| half_sweep(faces, shift, u, f, colour as usize, order));
}

/// Half a sweep of red-black Gauss-Seidel: the points with `(i + j) % 2 == colour`. Where a point has eight neighbours,
/// those of either colour fall into two classes, by whether `i` is odd, that follow one another: for red the even ones
/// first, for black the odd ones, and the other way round with [`Order::BlackFirst`].
///
/// # Panics
/// When a grid does not fit the faces.
pub(crate) fn half_sweep<T: Real>(faces: &Faces<T>, shift: T, u: &mut [T], f: &[T], colour: usize, order: Order) {
    faces.check(&[u, f]);
    let n = faces.n;
    let h2 = h2::<T>(n);
    let first = usize::from(colour == 1) ^ usize::from(order == Order::BlackFirst);
    // With four neighbours the classes do not see each other.
    for odd in [first, 1 - first] {
        for p in faces.interior().filter(|p| (p / n + p % n) % 2 == colour && p % n % 2 == odd) {
            u[p] = faces.relaxed(h2, shift, u, f, p);
        }
    }
}

/// The defect `d = f + div_h(a grad_h u) - shift u` inside, 0 on the boundary. Fluxes are taken of differences, so that
/// a constant has none.
///
/// # Panics
/// When a grid does not fit the faces.
pub(crate) fn defect<T: Real>(faces: &Faces<T>, shift: T, u: &[T], f: &[T], d: &mut [T]) {
    faces.check(&[u, f, d]);
    d.fill(T::zero());
    let n = faces.n;
    let inverse_h2 = T::from_f64(((n - 1) * (n - 1)) as f64);
    for p in faces.interior() {
        let sum: T = faces.around(p).map(|(q, face)| face * (u[q] - u[p])).sum();
        d[p] = (f[p] - shift * faces.mass(p) * u[p]) + inverse_h2 * sum;
    }
}

/// Coarse-grid correction: adds the interpolant of `coarse` to `fine` at the interior points.
///
/// # Panics
/// When a grid does not fit the interpolation.
pub(crate) fn interpolate_add<T: Real>(interpolation: &Interpolation<T>, coarse: &[T], fine: &mut [T]) {
    interpolation.check(fine, coarse);
    let n = interpolation.n;
    for p in (1..n - 1).flat_map(|j| (1..n - 1).map(move |i| j * n + i)) {
        fine[p] += interpolation.at(p).map(|(c, weight)| weight * coarse[c]).sum();
    }
}

/// A quarter of the transpose of the interpolation, inside; 0 on the boundary. `fine` is not read there.
///
/// # Panics
/// When a grid does not fit the interpolation.
pub(crate) fn restrict<T: Real>(interpolation: &Interpolation<T>, fine: &[T], coarse: &mut [T]) {
    interpolation.check(fine, coarse);
    let (n, m) = (interpolation.n, coarser(interpolation.n));
    coarse.fill(T::zero());
    for c in (1..m - 1).flat_map(|j| (1..m - 1).map(move |i| j * m + i)) {
        let p = 2 * (c / m) * n + 2 * (c % m);
        let around = AROUND.iter().enumerate().map(|(k, &(right, up))| {
            interpolation.weights[k * m * m + c] * fine[p.wrapping_add_signed(up * n as isize + right)]
        });
        coarse[c] = T::from_f64(0.25) * (fine[p] + around.sum());
    }
}

#[cfg(test)]
mod tests {
    use clinalg_reference::grid2;

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
    }

    /// P' K P as a dense matrix, by the definition, K of the interior points.
    fn galerkin(faces: &Faces<f64>, interpolation: &Interpolation<f64>) -> Vec<Vec<f64>> {
        let (n, m) = (faces.n, coarser(faces.n));
        let mut p = vec![vec![0.0; m * m]; n * n];
        for (q, row) in p.iter_mut().enumerate() {
            if (1..n - 1).contains(&(q % n)) && (1..n - 1).contains(&(q / n)) {
                interpolation.at(q).for_each(|(c, w)| row[c] = w);
            } else {
                // Linear on the boundary.
                let ends = |i: usize| [i / 2, i.div_ceil(2)];
                for (j, i) in ends(q / n).into_iter().flat_map(|j| ends(q % n).map(|i| (j, i))) {
                    row[j * m + i] += 0.25;
                }
            }
        }
        let mut product = vec![vec![0.0; m * m]; m * m];
        for q in faces.interior() {
            for (to, face) in faces.around(q) {
                for (c, row) in product.iter_mut().enumerate() {
                    (0..m * m).for_each(|d| row[d] += p[q][c] * face * (p[q][d] - p[to][d]));
                }
            }
        }
        product
    }

    #[test]
    fn the_coarse_operator_is_that_of_galerkin() {
        let n = 17;
        let a: Vec<f64> = sequence(n * n, 8).iter().map(|a| 10.0_f64.powf(3.0 * a)).collect();
        let mut faces = Faces::from_points(n, &a);
        // The second time from eight neighbours to eight.
        for _ in 0..2 {
            let interpolation = Interpolation::new(&faces);
            let coarse = faces.coarser(&interpolation);
            let m = coarse.side();
            let want = galerkin(&faces, &interpolation);
            for c in coarse.interior() {
                let mut row = vec![0.0; m * m];
                for (d, face) in coarse.around(c) {
                    row[d] -= face;
                    row[c] += face;
                }
                let scale = want[c][c];
                assert!(row.iter().zip(&want[c]).all(|(a, b)| (a - b).abs() < 1e-12 * scale), "{c}");
            }
            faces = coarse;
        }
    }

    #[test]
    fn a_constant_coefficient_is_the_poisson_problem() {
        let n = 9;
        let (u, f) = (sequence(n * n, 1), sequence(n * n, 2));
        for faces in [Faces::from_points(n, &[2.0; 81]), Faces::from_cells(n, &[2.0; 64])] {
            // The nine points that bilinear elements have on a grid of this mesh width.
            let coarse = faces.coarser(&Interpolation::new(&faces));
            for p in coarse.interior() {
                assert!(coarse.coefficients(p) == [0.5, 1.0, 0.5, 1.0, 1.0, 0.5, 1.0, 0.5] && coarse.mass(p) == 1.0);
            }
            let half: Vec<f64> = f.iter().map(|f| f / 2.0).collect();
            let (mut got, mut want) = (vec![0.0; n * n], vec![0.0; n * n]);
            defect(&faces, 6.0, &u, &f, &mut got);
            grid2::defect_shifted(n, 3.0, &u, &half, &mut want);
            assert!(got.iter().zip(&want).all(|(a, b)| (a - 2.0 * b).abs() < 1e-12));
            let (mut v, mut w) = (u.clone(), u.clone());
            red_black(&faces, 6.0, &mut v, &f, Order::BlackFirst);
            grid2::red_black_shifted(n, 3.0, &mut w, &half, grid2::Order::BlackFirst);
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
            let along = Interpolation::new(&faces);
            interpolate_add(&along, &coarse, &mut up);
            restrict(&along, &fine, &mut down);
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            assert!((dot(&up, &fine) - 4.0 * dot(&down, &coarse)).abs() < 1e-13);
            // A constant stays one.
            let mut ones = vec![0.0; n * n];
            interpolate_add(&along, &[1.0; 25], &mut ones);
            assert!(ones.iter().zip(clear(n, vec![1.0; n * n])).all(|(a, b)| (a - b).abs() < 1e-15));
        }
        let faces = Faces::from_points(n, &[3.0; 81]);
        let (mut up, mut down) = (vec![0.0; n * n], vec![0.0; m * m]);
        let (mut bilinear, mut weighted) = (up.clone(), down.clone());
        let along = Interpolation::new(&faces);
        interpolate_add(&along, &coarse, &mut up);
        grid2::interpolate_add(n, &coarse, &mut bilinear);
        restrict(&along, &fine, &mut down);
        grid2::restrict(n, &fine, &mut weighted);
        assert!(up.iter().zip(&bilinear).all(|(a, b)| (a - b).abs() < 1e-15));
        assert!(down.iter().zip(&weighted).all(|(a, b)| (a - b).abs() < 1e-15));
    }

    #[test]
    fn relaxation_leaves_no_defect_of_its_last_points() {
        let n = 17;
        let a: Vec<f64> = sequence(n * n, 5).iter().map(|a| 1.1 + a).collect();
        let faces = Faces::from_points(n, &a);
        let coarse = faces.coarser(&Interpolation::new(&faces));
        for faces in [faces, coarse] {
            let n = faces.side();
            let (u, f) = (sequence(n * n, 3), sequence(n * n, 4));
            for order in [Order::RedFirst, Order::BlackFirst] {
                let (mut u, mut d) = (u.clone(), vec![0.0; n * n]);
                red_black(&faces, 2.0, &mut u, &f, order);
                defect(&faces, 2.0, &u, &f, &mut d);
                // With eight neighbours the last class only: even i and odd j, or both even.
                let last = |p: usize| match order {
                    Order::RedFirst => p / n % 2 == 1 && (p % n).is_multiple_of(2),
                    Order::BlackFirst => (p / n).is_multiple_of(2) && (p % n).is_multiple_of(2),
                };
                assert!(faces.interior().filter(|&p| last(p)).all(|p| d[p].abs() < 1e-11));
                assert!(faces.interior().any(|p| d[p].abs() > 0.1));
            }
        }
    }

    #[test]
    fn sweeps_in_opposite_orders_are_adjoint() {
        // For f = 0 a sweep is a matrix S; with A = D - K the product A S is symmetric when S is followed by its mirror.
        let n = 9;
        let a: Vec<f64> = sequence(17 * 17, 5).iter().map(|a| 1.1 + a).collect();
        let finer = Faces::from_points(17, &a);
        let faces = finer.coarser(&Interpolation::new(&finer));
        let clear = |mut v: Vec<f64>| {
            let inside: Vec<usize> = faces.interior().collect();
            (0..n * n).filter(|p| !inside.contains(p)).for_each(|p| v[p] = 0.0);
            v
        };
        let both = |u: &[f64]| {
            let (mut v, zero) = (u.to_vec(), vec![0.0; n * n]);
            red_black(&faces, 2.0, &mut v, &zero, Order::RedFirst);
            red_black(&faces, 2.0, &mut v, &zero, Order::BlackFirst);
            let mut d = vec![0.0; n * n];
            defect(&faces, 2.0, &v, &zero, &mut d);
            d
        };
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let (u, v) = (clear(sequence(n * n, 6)), clear(sequence(n * n, 7)));
        let (one, other) = (dot(&both(&u), &v), dot(&u, &both(&v)));
        assert!((one - other).abs() < 1e-12 * one.abs(), "{one} {other}");
    }
}
