//! Systems without a solution, or with many: what can be found out about them before a solve, and from the residual after one.

use num_traits::{Float, Zero};

use super::Split;
use super::rotations::make_orthogonal;
use crate::matrix::{Inspection, zero_sum_components};
use crate::{Csr, CsrParts, Error, Precision, Real, Result, Scalar, counted, number};

/// Units of roundoff of its terms up to which a sum counts as zero.
pub(super) const ROUNDING: f64 = 64.0;
/// The same for a matrix that is known to be singular: its entries are rounded numbers whose sum is zero.
const ROUNDED: f64 = 2.0;

/// A vector counts as dependent on the others if less than this fraction of its norm is left after orthogonalisation.
const DEPENDENT: f64 = 1e-10;

/// A component of b along null vectors up to this fraction of the tolerance is left to the solve.
const NEGLIGIBLE: f64 = 0.1;

pub(super) fn norm<T: Scalar>(values: &[T]) -> f64 {
    values.iter().map(|value| value.widen().norm_sqr()).sum::<f64>().sqrt()
}

/// Divides a vector by its norm; false where that is 0 or not finite.
pub(super) fn normalise<W: Scalar<Real = f64>>(w: &mut [W]) -> bool {
    let length = norm(w);
    let is_sound = length > 0.0 && length.is_finite();
    if is_sound {
        w.iter_mut().for_each(|w| *w /= W::from_f64(length));
    }
    is_sound
}

/// Whether A maps the vector with ones where `is_member` holds, and zeros elsewhere, to zero up to so many units of roundoff, in `rows`.
fn is_null<T: Scalar>(
    a: &CsrParts<T>,
    roundings: f64,
    rows: impl Iterator<Item = usize>,
    is_member: impl Fn(usize) -> bool,
) -> bool {
    let eps = roundings * <T::Real as Float>::epsilon().into_f64();
    let mut rows = rows;
    rows.all(|i| {
        let values = a.row(i).filter(|&(j, _)| is_member(j)).map(|(_, value)| value.widen());
        let (sum, size) = values.fold((T::Wide::zero(), 0.0), |(sum, size), v| (sum + v, size + v.modulus()));
        sum.modulus() <= eps * size
    })
}

/// Whether a row of A adds up to zero up to rounding.
pub(crate) fn sums_to_zero<T: Scalar>(a: &CsrParts<T>, row: usize) -> bool {
    is_null(a, ROUNDING, std::iter::once(row), |_| true)
}

/// Subtracts from z, at some rows, its mean over these rows.
fn subtract_mean(z: &mut [f64], members: &[usize]) {
    let mean = members.iter().map(|&i| z[i]).sum::<f64>() / members.len() as f64;
    members.iter().for_each(|&i| z[i] -= mean);
}

/// Subtracts from z its component along a vector of norm 1.
fn subtract_component(z: &mut [f64], unit: &[f64]) {
    let size: f64 = z.iter().zip(unit).map(|(z, unit)| z * unit).sum();
    z.iter_mut().zip(unit).for_each(|(z, unit)| *z -= size * unit);
}

/// The component of a column of b along a real vector of norm 1.
fn component<T: Scalar>(b: &[T], unit: &[f64]) -> T::Wide {
    b.iter().zip(unit).map(|(b, &unit)| b.widen() * T::Wide::from_f64(unit)).sum()
}

/// A z, and for each row i the sum over j of |a_ij| times (|z_j| plus the root mean square of z): the quantity to which rounding errors of z are
/// relative.
fn image<T: Scalar>(a: &CsrParts<T>, z: &[f64]) -> Vec<(T::Wide, f64)> {
    let typical = norm(z) / (z.len().max(1) as f64).sqrt();
    let terms = |i: usize| a.row(i).map(|(j, value)| (value.widen(), z[j]));
    let add = |(sum, size): (T::Wide, f64), (value, z): (T::Wide, f64)| {
        (sum + value * T::Wide::from_f64(z), size + value.modulus() * (z.abs() + typical))
    };
    (0..a.rows).map(|i| terms(i).fold((T::Wide::zero(), 0.0), add)).collect()
}

/// Whether A maps a vector to 0 up to rounding.
fn is_mapped_to_zero<T: Scalar>(a: &CsrParts<T>, z: &[f64]) -> bool {
    let eps = ROUNDING * <T::Real as Float>::epsilon().into_f64();
    image(a, z).into_iter().all(|(sum, size)| sum.modulus() <= eps * size)
}

/// Null vectors of a symmetric or Hermitian matrix: some with ones at some rows and zeros elsewhere, others in the span of given vectors. b has to be
/// orthogonal to them.
///
/// ```
/// use clinalg::CsrParts;
/// use clinalg::precond::NullVectors;
///
/// let a = CsrParts::from_triplets(2, 2, &[(0, 0, 1.0), (0, 1, -1.0), (1, 0, -1.0), (1, 1, 1.0)])?;
/// let null = NullVectors::constants(&a);
/// assert_eq!(null.count(), 1);
/// assert!(null.check(&[1.0, -1.0], 1e-10).is_ok() && null.check(&[1.0, 1.0], 1e-10).is_err());
/// # Ok::<(), clinalg::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct NullVectors {
    /// Rows of the matrix.
    n: usize,
    /// For each null vector of ones and zeros, the rows with ones.
    members: Vec<Vec<usize>>,
    /// The other null vectors, orthonormal and orthogonal to those.
    others: Vec<Vec<f64>>,
    /// A description of what b must be orthogonal to.
    along: String,
    /// Of the entries.
    precision: Precision,
    /// Whether the entries, as this precision holds them, show that A is singular.
    is_sure: bool,
}

impl NullVectors {
    /// The constants of the second block of a saddle-point matrix, if A maps them to 0, as for an enclosed flow; `None` if the square
    /// matrix A is not a saddle-point matrix.
    ///
    /// # Errors
    /// Those of [`Split::rows`].
    pub fn of_saddle<T: Scalar>(a: &CsrParts<T>) -> Result<Option<NullVectors>> {
        let Some(split) = Split::find(a) else { return Ok(None) };
        let [_, second] = split.rows(a.rows)?;
        let mut is_second = vec![false; a.rows];
        second.iter().for_each(|&i| is_second[i] = true);
        let null = is_null(a, ROUNDING, 0..a.rows, |j| is_second[j]);
        let members = if null { vec![second] } else { Vec::new() };
        let along = "the constants of the second block (an enclosed flow)".into();
        let others = Vec::new();
        let found = NullVectors { n: a.rows, members, others, along, precision: T::PRECISION, is_sure: true };
        Ok(Some(found.judged(a)))
    }

    /// The constants on those connected components of the square matrix A whose rows add up to 0, as for a problem without Dirichlet conditions.
    pub fn constants<T: Scalar>(a: &CsrParts<T>) -> NullVectors {
        let mut part = vec![usize::MAX; a.rows];
        let mut members: Vec<Vec<usize>> = Vec::new();
        for seed in 0..a.rows {
            if part[seed] != usize::MAX {
                continue;
            }
            let mut own = vec![seed];
            part[seed] = seed;
            let mut at = 0;
            while at < own.len() {
                for (j, value) in a.row(own[at]) {
                    if part[j] == usize::MAX && !value.is_zero() {
                        part[j] = seed;
                        own.push(j);
                    }
                }
                at += 1;
            }
            if is_null(a, ROUNDING, own.iter().copied(), |_| true) {
                members.push(own);
            }
        }
        NullVectors::of_components(a.rows, members, T::PRECISION).judged(a)
    }

    /// The same for a symmetric or Hermitian matrix on a device, which finds the components.
    ///
    /// # Errors
    /// Those of the device.
    pub(crate) fn constants_on_device<T: Scalar>(a: &Csr<T>, inspection: &Inspection) -> Result<NullVectors> {
        let members = match inspection.zero_sum_rows {
            0 => Vec::new(),
            _ => zero_sum_components(a)?,
        };
        Ok(NullVectors::of_components(a.rows(), members, T::PRECISION))
    }

    /// The constants on components with these rows of a matrix with `n` rows.
    fn of_components(n: usize, members: Vec<Vec<usize>>, precision: Precision) -> NullVectors {
        let along = match members.as_slice() {
            [one] if one.len() == n => "constants (no Dirichlet condition)".into(),
            all => format!("the constants on {} of its connected components", all.len()),
        };
        NullVectors { n, members, others: Vec::new(), along, precision, is_sure: true }
    }

    /// Judges whether the entries of A show that it maps the vectors of ones and zeros to 0. Where it does so up to rounding only, a nonsingular
    /// matrix can look the same, and neither is b checked nor changed.
    pub(crate) fn judged<T: Scalar>(mut self, a: &CsrParts<T>) -> NullVectors {
        let mut part = vec![usize::MAX; a.rows];
        for (k, members) in self.members.iter().enumerate() {
            members.iter().for_each(|&i| part[i] = k);
        }
        let is_sure = |(k, members): (usize, &Vec<usize>)| match self.members.len() {
            1 => is_null(a, ROUNDED, 0..a.rows, |j| part[j] == k),
            _ => is_null(a, ROUNDED, members.iter().copied(), |j| part[j] == k),
        };
        self.is_sure = self.members.iter().enumerate().all(is_sure);
        self
    }

    /// Whether the entries of A show that it is singular. If not, A maps the vectors to 0 up to rounding.
    pub fn is_sure(&self) -> bool {
        self.is_sure
    }

    /// Adds the linear combinations of `vectors`, each with as many values as A has rows, that A maps to 0 up to rounding, such as the
    /// [rigid motions](crate::amg::rigid_motions) of a body that is not fixed.
    ///
    /// # Errors
    /// [`Error::Length`] for `vectors`.
    pub fn with_span<T: Scalar>(mut self, a: &CsrParts<T>, vectors: &[f64]) -> Result<NullVectors> {
        let n = self.n.max(1);
        crate::error::check_length("vectors", vectors.len().next_multiple_of(n), vectors.len())?;
        let mut basis: Vec<Vec<f64>> = Vec::new();
        for vector in vectors.chunks_exact(n) {
            let mut z = vector.to_vec();
            let whole = norm(&z);
            // Twice, because of rounding (reorthogonalisation).
            for _ in 0..2 {
                self.members.iter().for_each(|members| subtract_mean(&mut z, members));
                self.others.iter().chain(&basis).for_each(|other| subtract_component(&mut z, other));
            }
            // Dependent on the others up to rounding.
            if norm(&z) > DEPENDENT * whole && normalise(&mut z) {
                basis.push(z);
            }
        }
        let mut images: Vec<Vec<T::Wide>> =
            basis.iter().map(|z| image(a, z).into_iter().map(|(sum, _)| sum).collect()).collect();
        make_orthogonal(&mut images, &mut basis);
        let (before, independent) = (self.count(), basis.len());
        self.others.extend(basis.into_iter().filter(|z| is_mapped_to_zero(a, z)));
        let kind = match self.count() - before {
            0 => return Ok(self),
            found if found == independent => "the given near-null vectors",
            _ => "combinations of the given near-null vectors",
        };
        self.along = if before == 0 { kind.into() } else { format!("{} and {kind}", self.along) };
        Ok(self)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.members.len() + self.others.len()
    }

    /// A description of what A maps to 0, with the number of null vectors.
    pub fn words(&self) -> String {
        let along = &self.along;
        // A matrix that was rounded to single precision may have become singular by that.
        let (accuracy, advice) = match (self.precision, self.is_sure) {
            (Precision::F64, true) => ("", ""),
            (Precision::F64, false) => (" up to the accuracy of f64", ""),
            (Precision::F32, true) => (" in f32", "; if A is meant to be nonsingular, use f64"),
            (Precision::F32, false) => (" up to the accuracy of f32", "; if A is meant to be nonsingular, use f64"),
        };
        format!("{along}, which A maps to 0{accuracy} ({}{advice})", counted(self.count(), "null vector"))
    }

    /// The mean of a column of b at the rows of a null vector.
    fn mean<T: Scalar>(b: &[T], members: &[usize]) -> T::Wide {
        members.iter().map(|&i| b[i].widen()).sum::<T::Wide>() / T::Wide::from_f64(members.len() as f64)
    }

    /// The component of a column of b along them, relative to its norm; 0 for b = 0.
    fn part<T: Scalar>(&self, b: &[T]) -> f64 {
        let square = |members: &Vec<usize>| Self::mean(b, members).norm_sqr() * members.len() as f64;
        let others = self.others.iter().map(|z| component(b, z).norm_sqr());
        let part = self.members.iter().map(square).chain(others).sum::<f64>().sqrt();
        if part == 0.0 { 0.0 } else { part / norm(b) }
    }

    fn fault(&self, column: usize, part: f64, advice: &str) -> Error {
        let reason = format!(
            "A x = b has no solution: column {} has a component of {} of its norm along {}; {advice}",
            column + 1,
            number(part, 2),
            self.words()
        );
        Error::unsuitable("b", reason)
    }

    /// The first column of b (with as many values as A has rows), counted from 0, whose component along them keeps a solve from reaching
    /// the relative residual `tolerance`, and the size of this component relative to the norm of the column. `None` also where A
    /// [may be nonsingular](NullVectors::is_sure).
    pub fn obstacle<T: Scalar>(&self, b: &[T], tolerance: f64) -> Option<(usize, f64)> {
        if !self.is_sure() {
            return None;
        }
        let mut parts = b.chunks_exact(self.n.max(1)).map(|b| self.part(b)).enumerate();
        parts.find(|&(_, part)| part > NEGLIGIBLE * tolerance)
    }

    /// An error for a column of b that has an [obstacle](NullVectors::obstacle).
    ///
    /// # Errors
    /// [`Error::Unsuitable`] that names the column, counted from 1, and the size of the component.
    pub fn check<T: Scalar>(&self, b: &[T], tolerance: f64) -> Result<()> {
        let Some((column, part)) = self.obstacle(b, tolerance) else { return Ok(()) };
        let advice = match (self.others.len(), self.count()) {
            (0, 1) => "subtract its mean there",
            (0, _) => "subtract its mean on each of them",
            _ => "subtract its projection onto them",
        };
        Err(self.fault(column, part, advice))
    }

    /// Removes the components of the columns of b for which [`NullVectors::check`] would fail. Returns whether there was one.
    ///
    /// # Errors
    /// [`Error::Unsuitable`] that names the column, counted from 1, of which nothing is left.
    pub fn remove<T: Scalar>(&self, b: &mut [T], tolerance: f64) -> Result<bool> {
        let mut removed = false;
        if !self.is_sure() {
            return Ok(false);
        }
        for (column, b) in b.chunks_exact_mut(self.n.max(1)).enumerate() {
            let part = self.part(b);
            if part.is_nan() || part <= NEGLIGIBLE * tolerance {
                continue;
            }
            let before = norm(b);
            for members in &self.members {
                let mean = Self::mean(b, members);
                members.iter().for_each(|&i| b[i] = T::narrow(b[i].widen() - mean));
            }
            for z in &self.others {
                let size = component(b, z);
                b.iter_mut().zip(z).for_each(|(b, &z)| *b = T::narrow(b.widen() - size * T::Wide::from_f64(z)));
            }
            if norm(b) <= 1e3 * <T::Real as Float>::epsilon().into_f64() * before {
                return Err(self.fault(
                    column,
                    part,
                    "this column has no other component; give another right-hand side",
                ));
            }
            removed = true;
        }
        Ok(removed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::precond::{check_finite, check_zeros, singularity};

    /// Two chains of `n` nodes without boundary conditions, and a fixed node.
    fn chains(n: usize) -> CsrParts<f64> {
        let mut entries = vec![(2 * n, 2 * n, 1.0)];
        for first in [0, n] {
            for i in first..first + n - 1 {
                entries.extend([(i, i, 1.0), (i + 1, i + 1, 1.0), (i, i + 1, -1.0), (i + 1, i, -1.0)]);
            }
        }
        CsrParts::from_triplets(2 * n + 1, 2 * n + 1, &entries).unwrap()
    }

    #[test]
    fn constants_on_connected_parts_are_found_and_removed() {
        let a = chains(5);
        let null = NullVectors::constants(&a);
        assert_eq!(null.count(), 2);
        let mut b: Vec<f64> = (0..11).map(f64::from).collect();
        assert!(null.remove(&mut b, 1e-10).unwrap());
        assert_eq!(b, [-2.0, -1.0, 0.0, 1.0, 2.0, -2.0, -1.0, 0.0, 1.0, 2.0, 10.0]);
        assert!(null.check(&b, 1e-10).is_ok() && !null.remove(&mut b, 1e-10).unwrap());
        b[0] += 1.0;
        assert!(matches!(null.check(&b, 1e-10), Err(Error::Unsuitable { argument: "b", .. })));
        assert!(null.obstacle(&b, 1e-10).is_some_and(|(column, part)| column == 0 && part > 1e-3));
        let mut null_alone = [1.0; 11];
        null_alone[10] = 0.0;
        assert!(null.remove(&mut null_alone, 1e-10).is_err());
        assert!(null.check(&[0.0; 22], 1e-10).is_ok());
        let fixed = CsrParts::from_triplets(2, 2, &[(0, 0, 2.0), (0, 1, -1.0), (1, 0, -1.0), (1, 1, 2.0)]).unwrap();
        assert_eq!(NullVectors::constants(&fixed).count(), 0);
    }

    #[test]
    fn b_is_left_alone_where_a_matrix_is_singular_up_to_rounding_only() {
        fn shifted<T: Real>(shift: f64) -> NullVectors {
            let a = chains(5);
            let entries: Vec<_> = a
                .triplets()
                .map(|(i, j, value)| (i, j, T::from_f64(value + if i == j { shift } else { 0.0 })))
                .collect();
            NullVectors::constants(&CsrParts::from_triplets(11, 11, &entries).unwrap())
        }
        // The shifts are 5 to 30 units of roundoff of the sums of the moduli.
        for null in [shifted::<f32>(1e-5), shifted::<f64>(1e-14)] {
            let mut b: Vec<f64> = (0..11).map(f64::from).collect();
            assert!(null.count() == 2 && !null.is_sure());
            assert!(null.check(&b, 1e-10).is_ok() && !null.remove(&mut b, 1e-10).unwrap() && b[0] == 0.0);
            assert!(null.words().contains("up to the accuracy of f"), "{}", null.words());
        }
        assert!(shifted::<f64>(0.0).is_sure() && shifted::<f64>(1e-10).count() == 0);
        // Rounding to f32 loses the shift: A is singular in f32, not as a fact.
        let rounded = shifted::<f32>(1e-10);
        let error = rounded.check(&[1.0; 11], 1e-5).unwrap_err().to_string();
        assert!(rounded.is_sure() && error.contains("in f32") && error.contains("use f64"), "{error}");
    }

    #[test]
    fn null_vectors_in_the_span_of_given_ones_are_found() {
        // Four bars between the corners of a square and a diagonal: three rigid motions.
        let nodes = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]];
        let mut entries = Vec::new();
        for (a, b) in [(0, 1), (1, 3), (3, 2), (2, 0), (0, 3)] {
            let [x, y]: [f64; 2] = [0, 1].map(|d| nodes[b][d] - nodes[a][d]);
            let unit = [x / x.hypot(y), y / x.hypot(y)];
            for (i, j, sign) in [(a, a, 1.0), (b, b, 1.0), (a, b, -1.0), (b, a, -1.0)] {
                entries.extend((0..4).map(|k| (2 * i + k / 2, 2 * j + k % 2, sign * unit[k / 2] * unit[k % 2])));
            }
        }
        let a = CsrParts::from_triplets(8, 8, &entries).unwrap();
        let coordinates = nodes.concat();
        let motions = crate::amg::rigid_motions(&coordinates, 2).unwrap();
        let null = NullVectors::constants(&a);
        assert_eq!(null.count(), 1);
        let null = null.with_span(&a, &motions).unwrap();
        assert_eq!(null.count(), 3);
        assert!(null.words().contains("constants") && null.words().ends_with("(3 null vectors)"), "{}", null.words());
        // The constants are among the given vectors.
        assert!(null.words().contains("and the given near-null vectors"), "{}", null.words());
        let x: Vec<f64> = (0..8).map(|k| f64::from(k * k % 5)).collect();
        let mut b: Vec<f64> = (0..8).map(|i| a.row(i).map(|(j, value)| value * x[j]).sum()).collect();
        let consistent = b.clone();
        assert!(null.check(&b, 1e-10).is_ok());
        // A rotation.
        b.iter_mut().zip(&motions[16..]).for_each(|(b, z)| *b += z);
        assert!(null.check(&b, 1e-10).unwrap_err().to_string().contains("subtract its projection onto them"));
        assert!(null.remove(&mut b, 1e-10).unwrap());
        assert!(b.iter().zip(&consistent).all(|(b, c)| (b - c).abs() < 1e-14));
        // With a node held, only the rotation about it is left: a combination of the three.
        let held: Vec<_> = entries.iter().copied().chain([(0, 0, 1.0), (1, 1, 1.0)]).collect();
        let held = CsrParts::from_triplets(8, 8, &held).unwrap();
        let null = NullVectors::constants(&held).with_span(&held, &motions).unwrap();
        assert_eq!(null.count(), 1);
        assert!(null.words().starts_with("combinations of the given"), "{}", null.words());
        assert_eq!(null.obstacle(&[0.0, 0.0, 0.0, 1.0, -1.0, 0.0, -1.0, 1.0], 1e-10).map(|found| found.0), Some(0));
        assert!(NullVectors::constants(&held).with_span(&held, &motions[..7]).is_err());
    }

    #[test]
    fn rows_of_zeros_and_numbers_that_are_none_are_named() {
        let a = CsrParts::from_triplets(3, 3, &[(0, 0, 1.0), (2, 1, 1.0), (1, 1, 0.0)]).unwrap();
        let zeros = |a: &CsrParts<f64>, b: &[f64]| check_zeros(a, b).unwrap_err().to_string();
        assert!(zeros(&a, &[1.0, 1.0, 1.0]).contains("row 2 (counted from 1) has only zeros"));
        assert!(zeros(&a, &[1.0, 0.0, 1.0, 1.0, 3.0, 1.0]).contains("b is 3"));
        assert!(check_zeros(&a, &[1.0, 0.0, 1.0]).unwrap().is_some_and(|words| words.contains("unknown 3")));
        let wrong = CsrParts::from_triplets(2, 2, &[(0, 0, 1.0), (1, 0, f64::NAN)]).unwrap();
        assert!(check_finite(&wrong, &[1.0, 1.0]).unwrap_err().to_string().contains("row 2 and column 1"));
        assert!(check_finite(&a, &[1.0, f64::INFINITY, 0.0]).unwrap_err().to_string().contains("row 2"));
        assert!(check_finite(&a, &[1.0; 3]).is_ok());
        // Unknown 2 with an entry that is 0.
        let a = CsrParts::from_triplets(3, 3, &[(0, 0, 1.0), (1, 2, 1.0), (2, 0, 1.0), (2, 1, 0.0)]).unwrap();
        assert!(zeros(&a, &[1.0, 1.0, 1.0]).contains("unknown 2 (counted from 1) appears in no equation"));
    }

    #[test]
    fn a_residual_along_a_null_vector_is_reported() {
        let a = chains(5);
        let (mut b, x) = (vec![0.0; 11], vec![0.0; 11]);
        b[..5].fill(1.0);
        let words = singularity(&a, &b, &x).unwrap();
        assert!(words.contains("b of 1 of its norm") && words.contains("|A' r| is 0 for the residual r"), "{words}");
        b[10] = 1.0;
        assert_eq!(singularity(&a, &b, &x), None);
    }
}
