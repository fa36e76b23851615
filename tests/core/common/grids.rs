//! Grids of n points per side, boundary included, on the unit square and cube, and the solver on them.

use clinalg::multigrid::{Backend, Grid, Poisson, PoissonParams, PoissonReport};
use clinalg::{Context, Real};

use super::{capable, difference, eps, largest};

/// Whether point `p` of a grid in `dim` dimensions is not on the boundary.
fn inside_in(dim: u32, n: usize, p: usize) -> bool {
    (0..dim).all(|k| (1..n - 1).contains(&(p / n.pow(k) % n)))
}

/// Whether point `p` of the square is not on the boundary.
pub(crate) fn inside(n: usize, p: usize) -> bool {
    inside_in(2, n, p)
}

/// `u`, on the square or the cube, with zeros inside: only its boundary values.
pub(crate) fn boundary_of<T: Real>(n: usize, u: &[T]) -> Vec<T> {
    let dim = u.len().ilog(n);
    assert_eq!(u.len(), n.pow(dim));
    u.iter().enumerate().map(|(p, &u)| if inside_in(dim, n, p) { T::zero() } else { u }).collect()
}

/// The values of `u`, on the square, at the points inside: the unknowns.
pub(crate) fn unknowns<T: Real>(n: usize, u: &[T]) -> Vec<T> {
    u.iter().enumerate().filter(|(p, _)| inside(n, *p)).map(|(_, &u)| u).collect()
}

/// The values of `f(x, y)` on the square.
pub(crate) fn sample<T: Real>(n: usize, f: impl Fn(f64, f64) -> f64) -> Vec<T> {
    let h = 1.0 / (n - 1) as f64;
    (0..n * n).map(|p| T::from_f64(f((p % n) as f64 * h, (p / n) as f64 * h))).collect()
}

/// Solves on a device, or by the reference; the solution and the report.
pub(crate) fn run<T: Real>(
    context: Option<&Context>,
    grid: &Grid,
    params: &PoissonParams,
    f: &[T],
    u: &[T],
) -> (Vec<T>, PoissonReport) {
    let mut poisson = match context {
        Some(context) => Poisson::<T>::new(context, grid, params).unwrap(),
        None => Poisson::<T>::reference(grid, params, None).unwrap(),
    };
    let mut u = u.to_vec();
    let report = poisson.solve(f, &mut u).unwrap();
    assert_eq!(report.history.len(), report.cycles + 1);
    (u, report)
}

/// Solves from `u` by the reference and on every device by kernels and by matrices, and fails unless the boundary stays,
/// the solutions agree to `bound` of the largest value and the residuals of all cycles agree.
pub(crate) fn assert_backends_agree<T: Real>(
    grid: &Grid,
    params: &PoissonParams,
    u: &[T],
    bound: f64,
    solve: impl Fn(Option<&Context>, &PoissonParams) -> (Vec<T>, PoissonReport),
) {
    let (expected, report) = solve(None, params);
    let n = grid.points()[0];
    let boundary = boundary_of(n, u);
    assert_eq!(boundary_of(n, &expected), boundary);
    for context in capable::<T>() {
        for backend in [Backend::Kernels, Backend::Matrix] {
            let params = PoissonParams { backend, ..*params };
            let (got, its) = solve(Some(context), &params);
            let what = format!("{:?}, {params:?} on {context:?}", grid.points());
            assert_eq!(boundary_of(n, &got), boundary, "{what}");
            let found = difference(&got, &expected);
            assert!(found <= bound * largest(expected.iter().copied()), "{what}: {found:e}");
            assert_eq!(its.levels, report.levels, "{what}");
            for (a, b) in its.history.iter().zip(&report.history) {
                // Of the solution's rounding errors the residual sees up to 4 d / h^2 + shift.
                let scale = eps::<T>() + its.rounding_floor;
                assert!((a - b).abs() <= 10.0 * scale + bound * a, "{what}: {a:e} and {b:e}");
            }
        }
    }
}
