//! Block preconditioners: the equations of Stokes and Oseen by markers and cells.

use super::*;
use clinalg::CsrParts;
use clinalg::precond::{Jacobi, Saddle, SaddleParams, SaddleShape, Schur, SchurKind, Split};
use clinalg::solve::{Minres, MinresParams};

/// The last pressure is fixed by an entry, or the flow is enclosed: pressures are known up to a constant.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Pressure {
    Fixed,
    Free,
}

/// Velocities on the faces between n x n cells of the unit square, at rest on its sides, pressures in the cells; times h^2. With `wind` the velocity
/// (0, wind) carries u, (wind, 0) carries v.
fn stokes(n: usize, nu: f64, wind: f64, pressure: Pressure) -> CsrParts<f64> {
    let half = n * (n - 1);
    let u = |i: usize, j: usize| j * (n - 1) + i;
    let v = |i: usize, j: usize| half + j * n + i;
    let p = |i: usize, j: usize| 2 * half + j * n + i;
    let mut entries = Vec::new();
    for j in 0..n {
        for i in 0..n {
            for (at, here, along, across, full) in [(u(i, j), i + 1 < n, 1, n - 1, j), (v(i, j), j + 1 < n, n, 1, i)] {
                if !here {
                    continue;
                }
                let own = if at < half { i } else { j };
                // Along its direction n - 1 faces; across n, with a side at half a cell from the first and the last.
                let ends = f64::from(u8::from(full == 0)) + f64::from(u8::from(full + 1 == n));
                entries.push((at, at, nu * (4.0 + ends)));
                if own > 0 {
                    entries.push((at, at - along, -nu));
                    entries.push((at - along, at, -nu));
                }
                if full > 0 {
                    entries.push((at, at - across, -nu - 0.5 * wind));
                    entries.push((at - across, at, -nu + 0.5 * wind));
                }
                let cells = if at < half { [p(i, j), p(i + 1, j)] } else { [p(i, j), p(i, j + 1)] };
                for (cell, sign) in cells.into_iter().zip([1.0, -1.0]) {
                    entries.extend([(at, cell, sign), (cell, at, sign)]);
                }
            }
        }
    }
    let size = 2 * half + n * n;
    if pressure == Pressure::Fixed {
        entries.push((size - 1, size - 1, -1.0));
    }
    CsrParts::from_triplets(size, size, &entries).unwrap()
}

/// Iterations with a preconditioner for a right-hand side whose solution is chosen, which is found.
fn solved(k: &Csr<f64>, m: &mut Saddle<f64>, pressures: &[usize]) -> usize {
    let (context, n) = (k.context(), k.rows());
    let chosen = Vector::from_slice(context, &noise::<f64>(n, 5)).unwrap();
    let (mut b, mut x) = (Vector::zeros(context, n).unwrap(), Vector::zeros(context, n).unwrap());
    k.apply(1.0, &chosen, 0.0, &mut b).unwrap();
    let made = m.report().clone();
    let stopping = Stopping::default().tolerance(1e-10).max_iterations(300);
    let report = match made.shape {
        SaddleShape::Diagonal => {
            Minres::new(context, n, MinresParams::from(stopping)).unwrap().solve(k, Some(m), &b, &mut x).unwrap()
        }
        _ => {
            let params = GmresParams::from(stopping).restart(100);
            Gmres::new(context, n, params).unwrap().solve(k, Some(m), &b, &mut x).unwrap()
        }
    };
    assert_eq!(report.stop, Stop::Converged, "{report}; {made}");
    let (x, chosen) = (x.to_vec().unwrap(), chosen.to_vec().unwrap());
    let mut error: Vec<f64> = x.iter().zip(&chosen).map(|(x, y)| x - y).collect();
    if made.null_constant {
        let mean = pressures.iter().map(|&i| error[i]).sum::<f64>() / pressures.len() as f64;
        pressures.iter().for_each(|&i| error[i] -= mean);
    }
    let largest = error.iter().fold(0.0, |a: f64, e| a.max(e.abs()));
    assert!(largest < 1e-5, "{largest:e}: {report}; {made}");
    report.iterations
}

/// With the parameters, after the rows were permuted if that is wanted.
fn count(context: &Context, parts: &CsrParts<f64>, params: &SaddleParams, permuted: bool) -> usize {
    let n = parts.rows;
    let at = |i: usize| if permuted { (i * 7 + 3) % n } else { i };
    assert!(!permuted || !n.is_multiple_of(7));
    let entries: Vec<_> = parts.triplets().map(|(i, j, v)| (at(i), at(j), v)).collect();
    let parts = CsrParts::from_triplets(n, n, &entries).unwrap();
    let k = Csr::from_parts(context, &parts).unwrap();
    let split = Split::find(&parts).unwrap();
    assert_eq!(matches!(split, Split::Second(_)), permuted);
    let [_, second] = split.rows(n).unwrap();
    let mut m = Saddle::new(&k, &split, params).unwrap();
    solved(&k, &mut m, &second)
}

/// From 16 to 64 cells a side the unknowns grow sixteenfold.
#[test]
fn stokes_takes_about_as_many_iterations_on_every_grid() {
    let Some(context) = capable::<f64>().next() else { return };
    for pressure in [Pressure::Fixed, Pressure::Free] {
        for (nu, shape, most) in
            [(1.0, SaddleShape::Diagonal, 110), (1e-2, SaddleShape::Diagonal, 130), (1.0, SaddleShape::Triangular, 55)]
        {
            let params = SaddleParams::default().shape(shape).schur(Schur::Diagonal);
            let [coarse, _, fine] = [16, 32, 64].map(|n| count(context, &stokes(n, nu, 0.0, pressure), &params, false));
            let message = format!("{pressure:?} {nu} {shape:?}: {coarse} to {fine}");
            assert!(fine <= most && fine as f64 <= 1.6 * coarse as f64, "{message}");
        }
    }
    let parts = stokes(16, 1.0, 0.0, Pressure::Free);
    let defaults = SaddleParams::default();
    let [plain, permuted] = [false, true].map(|permuted| count(context, &parts, &defaults, permuted));
    // Multigrid numbers its aggregates in another order.
    assert!(plain.abs_diff(permuted) * 4 <= plain, "{plain}, {permuted}");
    // Not symmetric, incomplete factors for A.
    let slow = SaddleParams::default().shape(SaddleShape::Triangular);
    let carried = count(context, &stokes(16, 1.0, 0.2, Pressure::Fixed), &slow, false);
    assert!(carried < 150, "{carried}");
}

#[test]
fn blocks_are_given_or_found() {
    let Some(context) = capable::<f64>().next() else { return };
    let n = 16;
    let parts = stokes(n, 1.0, 0.0, Pressure::Free);
    let k = Csr::from_parts(context, &parts).unwrap();
    let split = Split::find(&parts).unwrap();
    let [first, second] = split.rows(parts.rows).unwrap();
    assert_eq!((first.len(), second.len()), (2 * n * (n - 1), n * n));
    let params = SaddleParams::default();
    let mut m = Saddle::with_mass(&k, &split, &vec![1.0; n * n], &params).unwrap();
    assert!(m.report().schur == SchurKind::Mass && m.report().null_constant, "{}", m.report());
    assert!(solved(&k, &mut m, &second) < 100);
    let jacobi = |n: usize| Box::new(Jacobi::new(&Vector::filled(context, n, 4.0).unwrap()).unwrap());
    let own = |a: usize, b: usize| Saddle::with_blocks(&k, &split, SaddleShape::Diagonal, jacobi(a), jacobi(b));
    assert_eq!(own(first.len(), second.len()).unwrap().report().schur, SchurKind::Given);
    assert!(matches!(own(first.len(), first.len()), Err(Error::Length { argument: "second", .. })));
    assert!(matches!(Saddle::with_mass(&k, &split, &[1.0], &params), Err(Error::Length { argument: "mass", .. })));
    assert!(Saddle::with_mass(&k, &split, &vec![0.0; n * n], &params).is_err());
    assert!(Saddle::new(&k, &Split::First(parts.rows), &params).unwrap_err().to_string().contains("split"));
    assert!(Saddle::new(&k, &Split::Second(vec![5, 3]), &params).is_err());
    // A circuit's row without a diagonal is one of two blocks; a matrix of zeros on the diagonal alone has none, nor has one that is indefinite there.
    let find = |n, entries: &[(usize, usize, f64)]| Split::find(&CsrParts::from_triplets(n, n, entries).unwrap());
    assert_eq!(find(2, &[(0, 1, 1.0), (1, 0, 1.0)]), None);
    assert_eq!(find(3, &[(0, 0, 1.0), (1, 2, 1.0), (2, 1, 1.0)]), None);
    assert_eq!(find(3, &[(0, 0, 1.0), (1, 1, -1.0), (1, 2, 1.0), (2, 1, 1.0), (2, 2, -1.0)]), Some(Split::First(1)));
    assert_eq!(find(2, &[(0, 1, 1.0), (1, 0, 1.0), (1, 1, 2.0)]), Some(Split::Second(vec![0])));
}
