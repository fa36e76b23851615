//! One-sided Jacobi rotations.

use crate::Scalar;

/// Rotates vectors and their images until the images are orthogonal (one-sided Jacobi rotations), so that null vectors are separated from the others.
pub(super) fn make_orthogonal<W: Scalar<Real = f64, Wide = W>>(images: &mut [Vec<W>], vectors: &mut [Vec<f64>]) {
    /// Maximum number of sweeps, more than are needed.
    const SWEEPS: usize = 30;
    for _ in 0..SWEEPS {
        let mut is_done = true;
        for p in 0..images.len() {
            for q in p + 1..images.len() {
                let [long, other] = [p, q].map(|k| images[k].iter().map(|w| w.norm_sqr()).sum::<f64>());
                let product: f64 = images[p].iter().zip(&images[q]).map(|(v, w)| (v.conj() * *w).re()).sum();
                if product.abs() <= f64::EPSILON * (long * other).sqrt() {
                    continue;
                }
                is_done = false;
                let zeta = (other - long) / (2.0 * product);
                let tangent = zeta.signum() / (zeta.abs() + zeta.hypot(1.0));
                let cosine = tangent.hypot(1.0).recip();
                rotate(images, (p, q), cosine, cosine * tangent);
                rotate(vectors, (p, q), cosine, cosine * tangent);
            }
        }
        if is_done {
            break;
        }
    }
}

/// Rotates two vectors in their plane.
fn rotate<W: Scalar<Real = f64>>(vectors: &mut [Vec<W>], (p, q): (usize, usize), cosine: f64, sine: f64) {
    let (before, after) = vectors.split_at_mut(q);
    let [c, s] = [cosine, sine].map(W::from_f64);
    for (v, w) in before[p].iter_mut().zip(&mut after[0]) {
        (*v, *w) = (c * *v - s * *w, s * *v + c * *w);
    }
}
