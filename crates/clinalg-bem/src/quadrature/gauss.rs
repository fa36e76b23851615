//! Gauss rules on an interval.

/// Nodes and weights of the Gauss rule of `n` points for a weight function with moment
/// recurrence coefficients `alpha` (diagonal) and `beta` (squared off-diagonal, `beta[0]` = total
/// mass) by the eigenvalues of the Jacobi matrix (Golub and Welsch 1969), with Newton's method on
/// the orthogonal polynomial between bounds that interlace.
fn gauss(alpha: &[f64], beta: &[f64], low: f64, high: f64) -> Vec<(f64, f64)> {
    let n = alpha.len();
    // Monic polynomials p_k at x, with derivative of the last.
    let value = |k: usize, x: f64| {
        let (mut p, mut d, mut before, mut before_d) = (1.0, 0.0, 0.0, 0.0);
        for i in 0..k {
            let b = if i == 0 { 0.0 } else { beta[i] };
            let next = (x - alpha[i]) * p - b * before;
            let next_d = p + (x - alpha[i]) * d - b * before_d;
            (before, before_d, p, d) = (p, d, next, next_d);
        }
        (p, d)
    };
    let mut roots: Vec<f64> = Vec::new();
    for k in 1..=n {
        let mut bounds = vec![low];
        bounds.extend(&roots);
        bounds.push(high);
        roots = bounds
            .windows(2)
            .map(|pair| {
                let (mut a, mut b) = (pair[0], pair[1]);
                let sign = value(k, a).0.signum();
                let mut x = 0.5 * (a + b);
                for _ in 0..100 {
                    let (p, d) = value(k, x);
                    if p.signum() == sign {
                        a = x
                    } else {
                        b = x
                    }
                    let newton = x - p / d;
                    let next = if newton > a && newton < b { newton } else { 0.5 * (a + b) };
                    if (next - x).abs() <= f64::EPSILON * (1.0 + x.abs()) {
                        return next;
                    }
                    x = next;
                }
                x
            })
            .collect();
    }
    let weight = |x: f64| {
        // 1 / sum of squares of the orthonormal polynomials.
        let (mut p, mut before, mut norm, mut sum) = (1.0, 0.0, beta[0], 0.0);
        for i in 0..n {
            sum += p * p / norm;
            let b = if i == 0 { 0.0 } else { beta[i] };
            (before, p) = (p, (x - alpha[i]) * p - b * before);
            norm *= beta.get(i + 1).copied().unwrap_or(1.0);
        }
        1.0 / sum
    };
    roots.iter().map(|&x| (x, weight(x))).collect()
}

/// The Gauss-Legendre rule of `n` points on (0, 1).
pub fn gauss_legendre(n: usize) -> Vec<(f64, f64)> {
    let alpha = vec![0.5; n];
    let beta: Vec<f64> = (0..n)
        .map(|k| {
            let k = k as f64;
            if k == 0.0 { 1.0 } else { k * k / (4.0 * (4.0 * k * k - 1.0)) }
        })
        .collect();
    gauss(&alpha, &beta, 0.0, 1.0)
}

/// Most points of [`hat_rule`].
pub const MOST_HAT_POINTS: usize = 24;

/// The Gauss rule of `n` points for the weight 1 - |t| on (-1, 1); weights sum to 1.
///
/// The recurrence coefficients come from the discretised Stieltjes procedure (Gautschi 2004,
/// section 2.2.3), exact here because a Gauss-Legendre rule on each half integrates all products.
///
/// # Panics
/// For more than [`MOST_HAT_POINTS`] points.
pub fn hat_rule(n: usize) -> Vec<(f64, f64)> {
    assert!(n <= MOST_HAT_POINTS, "the hat rule has at most {MOST_HAT_POINTS} points");
    let half = gauss_legendre(MOST_HAT_POINTS + 1);
    let support: Vec<(f64, f64)> = half.iter().flat_map(|&(x, w)| [(-x, w * (1.0 - x)), (x, w * (1.0 - x))]).collect();
    let mut beta = Vec::with_capacity(n);
    let mut p = vec![1.0; support.len()];
    let mut before = vec![0.0; support.len()];
    let mut norm = 1.0;
    for k in 0..n {
        let square: f64 = support.iter().zip(&p).map(|((_, w), p)| w * p * p).sum();
        let b = square / norm;
        beta.push(b);
        norm = square;
        let b = if k == 0 { 0.0 } else { b };
        // Symmetric weight: the diagonal coefficients vanish.
        let next: Vec<f64> = support.iter().zip(&p).zip(&before).map(|((&(x, _), p), q)| x * p - b * q).collect();
        before = std::mem::replace(&mut p, next);
    }
    gauss(&vec![0.0; n], &beta, -1.0, 1.0)
}
