//! Small dense systems for the coefficients of methods.

/// Solves `a x = b` by Gaussian elimination with row pivoting; `a` is square and regular.
pub(crate) fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).expect("rows are left");
        a.swap(k, pivot);
        b.swap(k, pivot);
        let pivot = a[k].clone();
        for i in k + 1..n {
            let factor = a[i][k] / pivot[k];
            for (entry, above) in a[i].iter_mut().zip(&pivot) {
                *entry -= factor * above;
            }
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| a[k][j] * b[j]).sum();
        b[k] = (b[k] - known) / a[k][k];
    }
    b
}

/// Weights w with sum_j w_j nodes_j^k = moments_k for k = 0, 1, ...
pub(crate) fn weights(nodes: &[f64], moments: &[f64]) -> Vec<f64> {
    let rows = (0..nodes.len()).map(|k| nodes.iter().map(|x| x.powi(k as i32)).collect()).collect();
    solve(rows, moments.to_vec())
}
