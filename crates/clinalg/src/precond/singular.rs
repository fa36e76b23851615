//! Systems without a solution, or with many: what can be found out about them before a solve, and from the residual after one.

use num_traits::{Float, Zero};

use super::rotations::make_orthogonal;
use super::{Ilu, Jacobi, Split, complete_factors, is_unsuited, unmatched_row};
use crate::matrix::{Inspection, zero_sum_components};
use crate::solve::{LeastSquares, LeastSquaresParams, Preconditioner, Progress, Stopping};
use crate::{Context, Csr, CsrParts, Error, Precision, Real, Result, Scalar, Vector};

/// Units of roundoff of its terms up to which a sum counts as zero.
const ROUNDING: f64 = 64.0;
/// The same for a matrix that is known to be singular: its entries are rounded numbers whose sum is zero.
const ROUNDED: f64 = 2.0;
/// A residual r with |A' r| below this fraction of |A| |r| counts as a null vector of A'.
const NULL: f64 = 1e-8;

/// A vector counts as dependent on the others if less than this fraction of its norm is left after orthogonalisation.
const DEPENDENT: f64 = 1e-10;

/// A component of b along null vectors up to this fraction of the tolerance is left to the solve.
const NEGLIGIBLE: f64 = 0.1;

fn norm<T: Scalar>(values: &[T]) -> f64 {
    values.iter().map(|value| value.widen().norm_sqr()).sum::<f64>().sqrt()
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
    /// The precision up to which A maps them to 0, where the entries do not show that A is singular.
    doubt: Option<Precision>,
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
        Ok(Some(NullVectors { n: a.rows, members, others: Vec::new(), along, doubt: None }.judged(a)))
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
        NullVectors::of_components(a.rows, members).judged(a)
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
        Ok(NullVectors::of_components(a.rows(), members))
    }

    /// The constants on components with these rows of a matrix with `n` rows.
    fn of_components(n: usize, members: Vec<Vec<usize>>) -> NullVectors {
        let along = match members.as_slice() {
            [one] if one.len() == n => "constants (no Dirichlet condition)".into(),
            all => format!("the constants on {} of its connected components", all.len()),
        };
        NullVectors { n, members, others: Vec::new(), along, doubt: None }
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
        self.doubt = (!self.members.iter().enumerate().all(is_sure)).then_some(T::PRECISION);
        self
    }

    /// Whether the entries of A show that it is singular. If not, A maps the vectors to 0 up to rounding.
    pub fn is_sure(&self) -> bool {
        self.doubt.is_none()
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
        let accuracy = match self.doubt {
            None => "",
            Some(Precision::F32) => " up to the accuracy of f32; if it is meant to be nonsingular, use f64",
            Some(Precision::F64) => " up to the accuracy of f64",
        };
        match self.count() {
            1 => format!("{along}, which A maps to 0{accuracy} (1 null vector)"),
            count => format!("{along}, which A maps to 0{accuracy} ({count} null vectors)"),
        }
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
            "A x = b has no solution: column {} has a component of {part:.1e} of its norm along {}; {advice}",
            column + 1,
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

/// Maximum number of least-squares iterations that look for a null vector of A', and of entries of A that they read in total.
const EXAMINED: (usize, usize) = (10_000, 1_000_000_000);

/// What counts as a null vector after them, in units of roundoff: they reduce |A' r| of nonsingular matrices as well.
const EXAMINED_NULL: f64 = 1e4;

/// Steps of power iteration.
const POWERS: usize = 8;

/// Steps of inverse iteration; where A is singular to working precision the first one or two suffice.
const STEPS: usize = 4;

/// Complete factors for solves with vectors in the host's memory.
struct Factors<T: Scalar> {
    m: Ilu<T>,
    r: Vector<T>,
    z: Vector<T>,
}

impl<T: Scalar> Factors<T> {
    /// `None` where they take too long.
    fn new(context: &Context, a: &CsrParts<T>) -> Result<Option<Factors<T>>> {
        let vector = || Vector::zeros(context, a.rows);
        match complete_factors(context, a) {
            Ok(m) => Ok(Some(Factors { m, r: vector()?, z: vector()? })),
            Err(error) if is_unsuited(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn solve(&mut self, r: &[T::Wide]) -> Result<Vec<T::Wide>> {
        self.r.write(&r.iter().copied().map(T::narrow).collect::<Vec<T>>())?;
        self.m.apply(&self.r, &mut self.z)?;
        Ok(self.z.to_vec()?.into_iter().map(T::widen).collect())
    }
}

fn product<T: Scalar>(a: &CsrParts<T>, w: &[T::Wide]) -> Vec<T::Wide> {
    (0..a.rows).map(|i| a.row(i).map(|(j, value)| value.widen() * w[j]).sum()).collect()
}

/// The fractional parts of multiples of the golden ratio, shifted.
fn scattered<W: Scalar<Real = f64>>(n: usize, shift: f64) -> Vec<W> {
    (0..n).map(|i| W::from_f64((i as f64 * 0.618_033_988_749_895).fract() + shift)).collect()
}

/// A lower bound of |A|, by power iteration with A' A.
fn spectral_norm<T: Scalar>(a: &CsrParts<T>, adjoint: &CsrParts<T>) -> f64 {
    let mut w: Vec<T::Wide> = scattered(a.cols, 0.7);
    let mut most = largest_norm(a);
    for _ in 0..POWERS {
        if !normalise(&mut w) {
            break;
        }
        let image = product(a, &w);
        most = most.max(norm(&image));
        w = product(adjoint, &image);
    }
    most
}

/// A vector w with a small |A' w|, and this norm over a lower bound of |A|: by inverse iteration with A A' and complete factors of both, since
/// A' alone only leads to an eigenvector. The iteration starts from `first`, or from another vector if that has no component along w. `None` if the factors take too
/// long.
fn least_vector<T: Scalar>(context: &Context, a: &CsrParts<T>, first: &[T]) -> Result<Option<(f64, Vec<T::Wide>)>> {
    let mut adjoint = a.transpose()?;
    adjoint.values.iter_mut().for_each(|value| *value = value.conj());
    let Some(mut of_adjoint) = Factors::new(context, &adjoint)? else { return Ok(None) };
    let mut of_a = if adjoint == *a { None } else { Factors::new(context, a)? };
    let size = spectral_norm(a, &adjoint);
    let mut found: Option<(f64, Vec<T::Wide>)> = None;
    let enter = |mut w: Vec<T::Wide>, found: &mut Option<(f64, Vec<T::Wide>)>| -> Option<[Vec<T::Wide>; 2]> {
        let is_sound = normalise(&mut w);
        let image = product(&adjoint, &w);
        let ratio = norm(&image) / size;
        if is_sound && found.as_ref().is_none_or(|best| ratio < best.0) {
            *found = Some((ratio, w.clone()));
        }
        is_sound.then_some([w, image])
    };
    for mut w in [first.iter().map(|value| value.widen()).collect::<Vec<_>>(), scattered(a.rows, -0.3)] {
        if found.as_ref().is_some_and(|best| best.0 <= ROUNDING * <T::Real as Float>::epsilon().into_f64()) {
            break;
        }
        for _ in 0..STEPS {
            let Some([next, image]) = enter(of_adjoint.solve(&w)?, &mut found) else { break };
            // A replaced pivot leaves a component that is not a null vector; without one, only rounding errors are left here.
            let correction = of_adjoint.solve(&image)?;
            enter(next.iter().zip(correction).map(|(&w, correction)| w - correction).collect(), &mut found);
            w = of_a.as_mut().unwrap_or(&mut of_adjoint).solve(&next)?;
            if !normalise(&mut w) {
                break;
            }
        }
    }
    Ok(found)
}

/// Divides a vector by its norm; false where that is 0 or not finite.
fn normalise<W: Scalar<Real = f64>>(w: &mut [W]) -> bool {
    let length = norm(w);
    let is_sound = length > 0.0 && length.is_finite();
    if is_sound {
        w.iter_mut().for_each(|w| *w /= W::from_f64(length));
    }
    is_sound
}

/// The largest Euclidean norm of a row or column, a lower bound of |A|.
fn largest_norm<T: Scalar>(a: &CsrParts<T>) -> f64 {
    let (mut rows, mut cols) = (vec![0.0; a.rows], vec![0.0; a.cols]);
    for (i, j, value) in a.triplets() {
        let square = value.widen().norm_sqr();
        rows[i] += square;
        cols[j] += square;
    }
    rows.iter().chain(&cols).fold(0.0_f64, |most, &square| most.max(square)).sqrt()
}

/// b - A x.
fn residual<T: Scalar>(a: &CsrParts<T>, b: &[T], x: &[T]) -> Vec<T::Wide> {
    let mut r: Vec<T::Wide> = b.iter().map(|value| value.widen()).collect();
    a.triplets().for_each(|(i, j, value)| r[i] -= value.widen() * x[j].widen());
    r
}

/// A' w, and the sum of the moduli of the products of each of its components.
fn adjoint_product<T: Scalar>(a: &CsrParts<T>, w: &[T::Wide]) -> (Vec<T::Wide>, Vec<f64>) {
    let (mut image, mut size) = (vec![T::Wide::zero(); a.cols], vec![0.0; a.cols]);
    for (i, j, value) in a.triplets() {
        let product = value.widen().conj() * w[i];
        image[j] += product;
        size[j] += product.modulus();
    }
    (image, size)
}

/// What a vector of [`least_vector`] says about A and b, if anything.
fn words_of<T: Scalar>(a: &CsrParts<T>, b: &[T], (ratio, w): (f64, Vec<T::Wide>)) -> Result<Option<String>> {
    let eps = <T::Real as Float>::epsilon().into_f64();
    // Rows of small entries make |A' w| small as well, but not relative to the products that it is the sum of.
    let (image, size) = adjoint_product(a, &w);
    let is_null = norm(&image) <= ROUNDING * eps * norm(&size);
    if ratio > ROUNDING * eps || !is_null {
        // A condition number from which on rounding errors become visible.
        let bad = ratio < eps.powf(0.75);
        return Ok(bad.then(|| {
            format!(
                "A is nearly singular: its condition number is at least {:.0e}; check units and redundant equations of A, or scale its rows",
                ratio.recip()
            )
        }));
    }
    let part = w.iter().zip(b).map(|(w, b)| w.conj() * b.widen()).sum::<T::Wide>().modulus() / norm(b);
    let size = small("|A' w|", ratio, "|A| |w|");
    Ok(Some(match unmatched_row(a)? {
        Some(row) => format!(
            "A is structurally singular (rows, one of them row {} counted from 1, have entries in too few columns): {size} for a vector w, and b \
             has a component of {part:.1e} of its norm along it, for which there is no solution",
            row + 1
        ),
        None => format!(
            "A is singular to working precision: {size} for a vector w{}; if A is singular, there is no solution for a component of b of {part:.1e} \
             of its norm",
            in_doubt::<T>()
        ),
    }))
}

/// What tells a singular matrix from one that is nearly so.
fn in_doubt<T: Scalar>() -> &'static str {
    match T::PRECISION {
        Precision::F32 => ", in f32; f64 tells whether A is singular",
        Precision::F64 => "",
    }
}

/// How small a norm is, relative to another one.
fn small(name: &str, ratio: f64, other: &str) -> String {
    if ratio == 0.0 { format!("{name} is 0") } else { format!("{name} is {ratio:.0e} {other}") }
}

/// Says whether A is singular, in three steps: [`singularity`]; if that finds nothing, inverse iteration with complete factors of A and A'; if these would
/// take more than a few seconds, least squares from x, whose remaining residual lies along null vectors of A' if the system has no solution. If `progress`
/// ends the last step, the last iterate is examined.
///
/// # Errors
/// Those of the device.
pub fn diagnose_singularity<T: Scalar>(
    context: &Context,
    a: &CsrParts<T>,
    b: &[T],
    x: &[T],
    progress: Progress<'_>,
) -> Result<Option<String>> {
    let seen = singularity(a, b, x);
    if seen.is_some() {
        return Ok(seen);
    }
    // The residual contains the component of b for which there is no solution; where it is zero or not finite, b does.
    let r: Vec<T> = residual(a, b, x).into_iter().map(T::narrow).collect();
    let length = norm(&r);
    let first = if length > 0.0 && length.is_finite() { &r } else { b };
    if let Some(found) = least_vector(context, a, first)? {
        return words_of(a, b, found);
    }
    let matrix = Csr::from_parts(context, a)?;
    // Columns whose norms cannot be inverted point to another failure.
    let Ok(mut m) = Jacobi::of_normal_equations(&matrix) else { return Ok(None) };
    let start: Vec<T> = if x.iter().all(|x| x.has_finite_parts()) { x.to_vec() } else { vec![T::zero(); a.cols] };
    let (of_b, mut of_x) = (Vector::from_slice(context, b)?, Vector::from_slice(context, &start)?);
    let most = EXAMINED.0.min(EXAMINED.1 / a.nnz().max(1));
    let tolerance = 10.0 * <T::Real as Float>::epsilon().into_f64();
    let params = LeastSquaresParams::from(Stopping::default().tolerance(tolerance).max_iterations(most));
    let mut solver = LeastSquares::new(context, a.rows, a.cols, params)?;
    solver.solve_with(&matrix, Some(&mut m), &of_b, &mut of_x, progress)?;
    Ok(singularity_to(EXAMINED_NULL * <T::Real as Float>::epsilon().into_f64(), a, b, &of_x.to_vec()?))
}

/// What the residual of x, to which a solve for one column b did not converge, says about the square matrix A: a sentence if it shows that A is
/// singular and for how large a part of b there is no solution, `None` if it shows nothing.
///
/// |A' r| is at least |r| times the smallest singular value, and the largest is at least the norm of each row and column.
pub fn singularity<T: Scalar>(a: &CsrParts<T>, b: &[T], x: &[T]) -> Option<String> {
    singularity_to(NULL, a, b, x)
}

/// The same, with the bound of |A' r| / (|A| |r|) below which r counts as a null vector.
fn singularity_to<T: Scalar>(bound: f64, a: &CsrParts<T>, b: &[T], x: &[T]) -> Option<String> {
    let r = residual(a, b, x);
    let size = largest_norm(a);
    let [left, product, whole] = [norm(&r), norm(&adjoint_product(a, &r).0), norm(b)];
    let ratio = product / (size * left);
    if !(ratio < bound && left > 0.0) {
        return None;
    }
    let size = small("|A' r|", ratio, "|A| |r|");
    Some(format!(
        "A is singular to this accuracy: {size} for the residual r, so r is close to a null vector of A'{}; if A is singular, there is no solution \
         for a component of b of {:.1e} of its norm",
        in_doubt::<T>(),
        left / whole
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::precond::{check_finite, check_zeros};

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
    fn condition_numbers_are_bounded_closely() {
        let Some(context) = clinalg_testing::found(Context::global()) else { return };
        let words = |a: &CsrParts<f64>| {
            let (b, x) = (vec![1.0; a.rows], vec![0.0; a.rows]);
            let go_on = &mut |_: usize, _: f64| std::ops::ControlFlow::Continue(());
            diagnose_singularity(&context, a, &b, &x, go_on).unwrap().unwrap()
        };
        // Wilkinson's triangle of ones and minus ones, of 40 rows: numpy.linalg.cond gives 8.9989e12.
        let n = 40;
        let entries: Vec<_> =
            (0..n).flat_map(|i| (i..n).map(move |j| (i, j, if i == j { 1.0 } else { -1.0 }))).collect();
        let found = words(&CsrParts::from_triplets(n, n, &entries).unwrap());
        assert!(found.contains("nearly singular: its condition number is at least 9e12"), "{found}");
        // A cycle with one weak link, whose singular values are the moduli of the entries: 2^42 is their ratio. The singular vectors on
        // both sides of the weak link are orthogonal.
        let n = 400;
        let size = |i: usize| if i == n / 3 { 2.0_f64.powi(-42) } else { 1.0 };
        let entries: Vec<_> = (0..n).map(|i| (i, (i + 1) % n, size(i))).collect();
        let found = words(&CsrParts::from_triplets(n, n, &entries).unwrap());
        assert!(found.contains("at least 4e12"), "{found}");
    }

    #[test]
    fn a_residual_along_a_null_vector_is_reported() {
        let a = chains(5);
        let (mut b, x) = (vec![0.0; 11], vec![0.0; 11]);
        b[..5].fill(1.0);
        let words = singularity(&a, &b, &x).unwrap();
        assert!(
            words.contains("b of 1.0e0 of its norm") && words.contains("|A' r| is 0 for the residual r"),
            "{words}"
        );
        b[10] = 1.0;
        assert_eq!(singularity(&a, &b, &x), None);
    }
}
