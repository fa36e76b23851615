//! The 2-D problem `-div(a grad u) + shift u = f` with a variable coefficient, on the grids of [`grid2`](super::grid2).
//!
//! Finite volumes around the points: the flux through the face between two neighbours is their difference over h times the
//! coefficient of the face (Trottenberg, Oosterlee, Schüller, *Multigrid*, 2001, section 7.7).
//!
//! Functions panic when a grid is not `n * n` long.
use super::grid2::{check, interior};
use crate::{Real, from_f64};

/// The coefficients of the faces between neighbouring points of a grid of `n` by `n` points.
#[derive(Debug, Clone, PartialEq)]
pub struct Faces<T> {
    /// Points per side.
    pub n: usize,
    /// Between `(i, j)` and `(i + 1, j)` at `j * n + i`; the last column is 0 and not read.
    pub x: Vec<T>,
    /// Between `(i, j)` and `(i, j + 1)` at `j * n + i`; the last row is 0 and not read.
    pub y: Vec<T>,
}

impl<T: Real> Faces<T> {
    /// Of a coefficient given at the `n * n` points: the harmonic mean of the two neighbours, 0 where one of them is.
    ///
    /// # Panics
    /// When `a` is not `n * n` long.
    pub fn from_points(n: usize, a: &[T]) -> Faces<T> {
        check(n, &[a]);
        let mean = |a: T, b: T| if a == b { a } else { from_f64::<T>(2.0) * a * (b / (a + b)) };
        Faces {
            n,
            x: (0..n * n).map(|p| if p % n == n - 1 { T::zero() } else { mean(a[p], a[p + 1]) }).collect(),
            y: (0..n * n).map(|p| if p / n == n - 1 { T::zero() } else { mean(a[p], a[p + n]) }).collect(),
        }
    }

    /// Of a coefficient given in the `(n - 1) * (n - 1)` cells between the points, row by row: the mean of the cells on
    /// either side of the line between two points, on the boundary the one cell.
    ///
    /// # Panics
    /// When `a` is not `(n - 1) * (n - 1)` long.
    pub fn from_cells(n: usize, a: &[T]) -> Faces<T> {
        assert!(n >= 2 && a.len() == (n - 1) * (n - 1), "the coefficient does not have {} * {0} cells", n - 1);
        let m = n - 1;
        let mean = |low: Option<T>, high: Option<T>| match (low, high) {
            (Some(low), Some(high)) => from_f64::<T>(0.5) * (low + high),
            (one, other) => one.or(other).unwrap_or(T::zero()),
        };
        // Cells are counted from 1, so that there is none where an index is 0.
        let inside = |i: usize| (1..=m).contains(&i);
        let cell = |i: usize, j: usize| (inside(i) && inside(j)).then(|| a[(j - 1) * m + i - 1]);
        Faces {
            n,
            x: (0..n * n).map(|p| (p % n, p / n)).map(|(i, j)| mean(cell(i + 1, j), cell(i + 1, j + 1))).collect(),
            y: (0..n * n).map(|p| (p % n, p / n)).map(|(i, j)| mean(cell(i, j + 1), cell(i + 1, j + 1))).collect(),
        }
    }
}

/// The defect `d = f + div_h(a grad_h u) - shift u` inside, 0 on the boundary.
///
/// # Panics
/// When a grid does not fit the faces.
pub fn defect<T: Real>(faces: &Faces<T>, shift: T, u: &[T], f: &[T], d: &mut [T]) {
    let Faces { n, x, y } = faces;
    let n = *n;
    check(n, &[u, f, d]);
    d.fill(T::zero());
    let inverse_h2 = from_f64::<T>(((n - 1) * (n - 1)) as f64);
    for p in interior(n) {
        let south = y[p - n] * (u[p - n] - u[p]);
        let west = x[p - 1] * (u[p - 1] - u[p]);
        let east = x[p] * (u[p + 1] - u[p]);
        let north = y[p] * (u[p + n] - u[p]);
        d[p] = (f[p] - shift * u[p]) + inverse_h2 * (south + west + east + north);
    }
}

#[cfg(test)]
mod tests {
    use super::super::grid2;
    use super::*;

    #[test]
    fn faces_by_hand() {
        let faces = Faces::from_points(3, &[1.0, 3.0, 1.0, 1.0, 1.0, 0.0, 2.0, 2.0, 6.0]);
        assert_eq!(faces.x, [1.5, 1.5, 0.0, 1.0, 0.0, 0.0, 2.0, 3.0, 0.0]);
        assert_eq!(faces.y, [1.0, 1.5, 0.0, 4.0 / 3.0, 4.0 / 3.0, 0.0, 0.0, 0.0, 0.0]);
        let faces = Faces::from_cells(3, &[1.0, 3.0, 5.0, 7.0]);
        assert_eq!(faces.x, [1.0, 3.0, 0.0, 3.0, 5.0, 0.0, 5.0, 7.0, 0.0]);
        assert_eq!(faces.y, [1.0, 2.0, 3.0, 5.0, 6.0, 7.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn one_interior_point_by_hand() {
        // h = 1/2; values 2, 4, 6, 8 around 1, through faces of 1, 2, 3, 4.
        let u = [0.0, 2.0, 0.0, 4.0, 1.0, 6.0, 0.0, 8.0, 0.0];
        let faces = Faces {
            n: 3,
            x: vec![0.0, 0.0, 0.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0],
            y: vec![0.0, 1.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 0.0],
        };
        let mut d = [9.0; 9];
        defect(&faces, 5.0, &u, &[7.0; 9], &mut d);
        assert_eq!(d, [0.0, 0.0, 0.0, 0.0, 7.0 - 5.0 + 4.0 * (1.0 + 6.0 + 15.0 + 28.0), 0.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn a_constant_coefficient_is_the_poisson_problem() {
        let n = 9;
        let u: Vec<f64> = (0..n * n).map(|p| ((p * 37) % 19) as f64 - 9.0).collect();
        let f: Vec<f64> = (0..n * n).map(|p| ((p * 23) % 17) as f64).collect();
        let half: Vec<f64> = f.iter().map(|f| f / 2.0).collect();
        let (mut got, mut want) = (vec![0.0; n * n], vec![0.0; n * n]);
        grid2::defect_shifted(n, 3.0, &u, &half, &mut want);
        for faces in [Faces::from_points(n, &[2.0; 81]), Faces::from_cells(n, &[2.0; 64])] {
            defect(&faces, 6.0, &u, &f, &mut got);
            assert!(got.iter().zip(&want).all(|(a, b)| (a - 2.0 * b).abs() < 1e-9));
        }
    }
}
