//! Approximate inverses, which are applied by products only.

use crate::matrix::Values;
use crate::matrix::host::{check_finite, check_square};
use crate::ops::{self, Operator};
use crate::solve::Preconditioner;
use crate::{Context, Csr, CsrParts, Error, Real, Result, Scalar, Vector};

/// SPAI-0: the diagonal D that makes |D A - I| smallest in the Frobenius norm, d_i = conj(a_ii) / sum_j |a_ij|^2 (Bröker and Grote 2002).
#[derive(Debug)]
pub struct Spai0<T: Scalar> {
    diagonal: Vector<T>,
}

impl<T: Scalar> Spai0<T> {
    /// For a square matrix.
    ///
    /// # Errors
    /// [`Error::Shape`]; [`Error::Unsuitable`] that names the first row (counted from 1) without a diagonal entry or an entry that is not
    /// finite; [`Error::Allocation`].
    pub fn new(a: &Csr<T>) -> Result<Spai0<T>> {
        Spai0::from_parts(a.context(), &a.to_parts()?)
    }

    /// As [`Spai0::new`] for a matrix in the host's memory.
    ///
    /// # Errors
    /// As [`Spai0::new`].
    pub fn from_parts(context: &Context, a: &CsrParts<T>) -> Result<Spai0<T>> {
        check_square(a)?;
        check_finite(a)?;
        let mut diagonal = a.diagonal();
        for (i, d) in diagonal.iter_mut().enumerate() {
            // Scaled, so that no square overflows.
            let largest = a.row(i).map(|e| e.1.modulus().into_f64()).fold(0.0, f64::max);
            let squares: f64 = a.row(i).map(|e| (e.1.modulus().into_f64() / largest).powi(2)).sum();
            let value = T::narrow(
                d.widen().conj()
                    / <T::Wide as Scalar>::from_f64(squares * largest)
                    / <T::Wide as Scalar>::from_f64(largest),
            );
            if value == T::zero() || !value.has_finite_parts() {
                let row = i + 1;
                let reason = match *d == T::zero() {
                    true => format!("row {row} (counted from 1) has a zero on its diagonal"),
                    false => format!(
                        "the diagonal entry of row {row} (counted from 1) is too small compared with the others in its row"
                    ),
                };
                return Err(Error::unsuitable("a", reason + "; use an incomplete LU factorisation"));
            }
            *d = value;
        }
        Ok(Spai0 { diagonal: Vector::from_slice(context, &diagonal)? })
    }
}

impl<T: Scalar> Preconditioner<T> for Spai0<T> {
    fn size(&self) -> usize {
        self.diagonal.len()
    }

    fn context(&self) -> &Context {
        self.diagonal.context()
    }

    fn apply(&mut self, r: &Vector<T>, z: &mut Vector<T>) -> Result<()> {
        self.diagonal.check_same(r, "r")?;
        self.diagonal.check_same(z, "z")?;
        ops::multiply(r, &self.diagonal, z)
    }
}

/// FSAI: M^-1 = G^H G with the lower triangular G on the pattern of the matrix that makes |I - G L| smallest in the Frobenius norm, L
/// being the Cholesky factor of the matrix, which is not computed (Kolotilina and Yeremin 1993). For symmetric (complex: Hermitian)
/// positive definite matrices, whose lower triangle is read.
///
/// An application takes two products. The rows of G are found on the host, each from a small dense system.
#[derive(Debug)]
pub struct Fsai<T: Scalar> {
    g: Csr<T>,
    gh: Csr<T>,
    work: Vector<T>,
}

/// Maximum number of entries per row of G: the work for its dense system grows with their cube.
const LONGEST_ROW: usize = 64;

impl<T: Scalar> Fsai<T> {
    /// For a square matrix.
    ///
    /// # Errors
    /// [`Error::Shape`]; [`Error::Unsuitable`] that names the first row (counted from 1) whose dense system is not positive definite, or an
    /// entry that is not finite; [`Error::Allocation`].
    pub fn new(a: &Csr<T>) -> Result<Fsai<T>> {
        Fsai::from_parts(a.context(), &a.to_parts()?)
    }

    /// As [`Fsai::new`] for a matrix in the host's memory, whose rows are sorted.
    ///
    /// # Errors
    /// As [`Fsai::new`].
    pub fn from_parts(context: &Context, a: &CsrParts<T>) -> Result<Fsai<T>> {
        check_square(a)?;
        if !a.is_canonical() {
            let mut sorted = a.clone();
            sorted.canonicalise();
            return Fsai::from_parts(context, &sorted);
        }
        check_finite(a)?;
        let mut g = CsrParts { rows: a.rows, cols: a.cols, offsets: vec![0], indices: Vec::new(), values: Vec::new() };
        let mut dense: Vec<T::Wide> = Vec::new();
        for i in 0..a.rows {
            let mut pattern: Vec<(usize, f64)> =
                a.row(i).filter(|&(j, _)| j < i).map(|(j, value)| (j, value.modulus().into_f64())).collect();
            if pattern.len() >= LONGEST_ROW {
                pattern.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
                pattern.truncate(LONGEST_ROW - 1);
                pattern.sort_by_key(|entry| entry.0);
            }
            let mut columns: Vec<usize> = pattern.into_iter().map(|entry| entry.0).collect();
            columns.push(i);
            let row = row_of_inverse(a, &columns, &mut dense).ok_or_else(|| {
                let reason = format!(
                    "the matrix is not positive definite, as row {} (counted from 1) shows; use an incomplete LU factorisation",
                    i + 1
                );
                Error::unsuitable("a", reason)
            })?;
            g.indices.extend(columns);
            g.values.extend(row);
            g.offsets.push(g.indices.len());
        }
        let mut gh = g.transpose()?;
        gh.values.iter_mut().for_each(|value| *value = value.conj());
        let (g, gh) = (Csr::from_parts(context, &g)?, Csr::from_parts(context, &gh)?);
        Ok(Fsai { g, gh, work: Vector::uninit(context, a.rows)? })
    }

    /// Stored entries of G.
    pub fn nnz(&self) -> usize {
        self.g.nnz()
    }
}

/// The row y of G with A(J, J) y^H = e / sqrt(e' A(J, J)^-1 e) for its columns J, e being the last unit vector. `None` where A(J, J) is
/// not positive definite.
fn row_of_inverse<T: Scalar>(a: &CsrParts<T>, columns: &[usize], dense: &mut Vec<T::Wide>) -> Option<Vec<T>> {
    let (m, zero) = (columns.len(), <T::Wide as Scalar>::from_f64(0.0));
    dense.clear();
    dense.resize(m * m, zero);
    for (p, &i) in columns.iter().enumerate() {
        // The lower triangle, by rows.
        let mut q = 0;
        for (j, value) in a.row(i).take_while(|entry| entry.0 <= i) {
            while q < p && columns[q] < j {
                q += 1;
            }
            if columns[q] == j {
                dense[p * m + q] = value.widen();
            }
        }
    }
    for p in 0..m {
        for q in 0..=p {
            let sum: T::Wide = (0..q).map(|k| dense[p * m + k] * dense[q * m + k].conj()).sum();
            let rest = dense[p * m + q] - sum;
            if q < p {
                dense[p * m + q] = rest / dense[q * m + q];
            } else if rest.re() > 0.0 && rest.has_finite_parts() {
                dense[p * m + p] = <T::Wide as Scalar>::from_f64(rest.re().sqrt());
            } else {
                return None;
            }
        }
    }
    // A(J, J) = C C^H: C^H y = e is what C^-H C^-1 e becomes after its scaling.
    let mut y = vec![zero; m];
    y[m - 1] = <T::Wide as Scalar>::from_f64(1.0) / dense[m * m - 1];
    for p in (0..m - 1).rev() {
        let sum: T::Wide = (p + 1..m).map(|k| dense[k * m + p].conj() * y[k]).sum();
        y[p] = -sum / dense[p * m + p];
    }
    Some(y.into_iter().map(|y| T::narrow(y.conj())).collect())
}

impl<T: Scalar> Preconditioner<T> for Fsai<T> {
    fn size(&self) -> usize {
        self.work.len()
    }

    fn context(&self) -> &Context {
        self.work.context()
    }

    fn apply(&mut self, r: &Vector<T>, z: &mut Vector<T>) -> Result<()> {
        self.work.check_same(r, "r")?;
        self.work.check_same(z, "z")?;
        self.g.apply(T::one(), r, T::zero(), &mut self.work)?;
        self.gh.apply(T::one(), &self.work, T::zero(), z)
    }
}
