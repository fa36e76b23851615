//! Conjugate gradients, BiCGStab and GMRES on a team.

use std::ops::ControlFlow;

use super::krylov::{BestAnd, Method, Preconditioner, dot, precondition, record, solve};
use super::vector::{Dots, Vector};
use super::{Operator, Partition, Team};
use crate::solve::best::Best;
use crate::solve::judge::Judge;
use crate::solve::scalars::after_step;
use crate::solve::{BiCgStabParams, CgParams, GmresParams, Progress, Report, Stop, Stopping};
use crate::{Error, Real, Result};

/// Conjugate gradients (Hestenes and Stiefel 1952; Saad, Iterative Methods for Sparse Linear Systems, 2003, algorithms 6.18 and 9.1)
/// for symmetric positive definite A, with an optional symmetric positive definite preconditioner.
///
/// Two reductions over the ranks per iteration. The residuals are those of one device to rounding.
///
/// ```
/// use clinalg::solve::CgParams;
/// use clinalg::team::{Cg, Csr, Partition, Team, Vector};
/// use clinalg::{Context, ContextOptions, CsrParts, Device};
///
/// let context = || Context::new(&Device::default_device()?, &ContextOptions::default());
/// let team = Team::of_contexts(vec![context()?, context()?])?;
/// let a = CsrParts::from_triplets(2, 2, &[(0, 0, 4.0), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 3.0)])?;
/// let partition = Partition::even(2, team.ranks())?;
/// let mut a = Csr::new(&team, &a, &partition)?;
/// let b = Vector::from_slice(&team, &partition, &[1.0, 2.0])?;
/// let mut x = a.vector()?;
/// let report = Cg::new(&team, &partition, CgParams::default())?.solve(&mut a, None, &b, &mut x)?;
/// println!("{report}");
/// # Ok::<(), clinalg::Error>(())
/// ```
#[derive(Debug)]
pub struct Cg<T: Real> {
    params: CgParams,
    vectors: [Vector<T>; 4],
    best: Best<Vector<T>>,
    dots: Dots<T>,
}

/// BiCGStab (van der Vorst 1992; Saad 2003, algorithm 7.7), preconditioned from the right, for any nonsingular A.
///
/// Three reductions over the ranks per iteration; otherwise as [`Cg`]. Restarts from the best iterate with another shadow residual
/// and returns the best iterate as [`solve::BiCgStab`](crate::solve::BiCgStab) does.
#[derive(Debug)]
pub struct BiCgStab<T: Real> {
    params: BiCgStabParams,
    vectors: [Vector<T>; 7],
    best: Best<Vector<T>>,
    dots: Dots<T>,
    /// Whether the shadow residual has scattered signs; `changed_at` is the residual at the last change.
    scattered: bool,
    changed_at: f64,
    /// The largest |A M^-1 p| / |p| so far in the solve.
    largest: f64,
}

/// The shadow residual may change again once the residual has fallen below this fraction of that at the last change.
const SHADOW_PROGRESS: f64 = 0.9;

/// Restarted GMRES (Saad and Schultz 1986; Saad 2003, algorithm 9.5), preconditioned from the right, with classical Gram-Schmidt
/// orthogonalisation done twice, for any nonsingular A. Preconditioned so, it minimises |b - A x| itself: the last iterate is the best one.
///
/// Three reductions over the ranks per iteration; otherwise as [`Cg`].
#[derive(Debug)]
pub struct Gmres<T: Real> {
    params: GmresParams,
    basis: Vec<Vector<T>>,
    spare: [Vector<T>; 3],
    dots: Dots<T>,
    /// The residual at the start of the last cycle.
    last: f64,
}

/// The calls that every method has.
macro_rules! calls {
    ($name:ident) => {
        impl<T: Real> $name<T> {
            /// Solves A x = b from the start x.
            ///
            /// # Errors
            #[doc = concat!("As [`", stringify!($name), "::solve_with`].")]
            pub fn solve(
                &mut self,
                a: &mut dyn Operator<T>,
                m: Option<&mut dyn Preconditioner<T>>,
                b: &Vector<T>,
                x: &mut Vector<T>,
            ) -> Result<Report> {
                self.solve_with(a, m, b, x, &mut |_, _| ControlFlow::Continue(()))
            }

            /// Solves A x = b from the start x, and calls `progress` after each iteration; across processes all of them have to
            /// stop at the same one.
            ///
            /// # Errors
            /// [`Error::Context`] or [`Error::Shape`] that names `b` or `x`; [`Error::Length`] that names `a`; [`Error::Value`] for
            /// a parameter; as [`Error::Rank`], what a device reports. An iteration that does not converge is not an error: see
            /// [`Report::stop`].
            pub fn solve_with(
                &mut self,
                a: &mut dyn Operator<T>,
                m: Option<&mut dyn Preconditioner<T>>,
                b: &Vector<T>,
                x: &mut Vector<T>,
                progress: Progress<'_>,
            ) -> Result<Report> {
                solve(self, a, m, b, x, progress)
            }

            /// When the next solve ends, to be changed.
            pub fn stopping_mut(&mut self) -> &mut Stopping {
                &mut self.params.stopping
            }
        }
    };
}
calls!(Cg);
calls!(BiCgStab);
calls!(Gmres);

/// So many vectors.
fn vectors<T: Real, const N: usize>(team: &Team, partition: &Partition) -> Result<[Vector<T>; N]> {
    let made: Vec<_> = (0..N).map(|_| Vector::zeros(team, partition)).collect::<Result<_>>()?;
    Ok(made.try_into().expect("as many were made"))
}

impl<T: Real> Cg<T> {
    /// A solver for systems with rows on the ranks by `partition`.
    ///
    /// # Errors
    /// As [`Vector::zeros`].
    pub fn new(team: &Team, partition: &Partition, params: CgParams) -> Result<Cg<T>> {
        let (vectors, best) = (vectors(team, partition)?, Best::new(Vector::zeros(team, partition)?));
        Ok(Cg { params, vectors, best, dots: Dots::new(team, 2)? })
    }
}

impl<T: Real> Method<T> for Cg<T> {
    fn stopping(&self) -> &Stopping {
        &self.params.stopping
    }

    /// The error falls in every step, but its residual may rise until the last of n steps.
    fn patience(&self, rows: usize) -> usize {
        rows
    }

    fn vectors(&mut self) -> [&mut Vector<T>; 3] {
        let [r, p, q, _] = &mut self.vectors;
        [r, p, q]
    }

    fn best(&mut self) -> Option<BestAnd<'_, T>> {
        let [r, p, q, _] = &mut self.vectors;
        Some((&mut self.best, [r, p, q]))
    }

    fn takes_best_when_stopped(&self) -> bool {
        false
    }

    fn cycle(
        &mut self,
        judge: &mut Judge<'_>,
        a: &mut dyn Operator<T>,
        mut m: Option<&mut (dyn Preconditioner<T> + '_)>,
        x: &mut Vector<T>,
        unit: f64,
    ) -> Result<Option<Stop>> {
        let Cg { vectors: [r, p, q, z], best, dots, .. } = self;
        let first = precondition(&mut m, r, z)?;
        p.copy_from(first)?;
        let mut rho = dot(dots, r, p)?;
        loop {
            if !rho.is_finite() {
                return Ok(Some(Stop::NotFinite));
            }
            if rho <= 0.0 {
                return Ok(Some(if rho == 0.0 { Stop::Breakdown } else { Stop::Indefinite }));
            }
            a.apply(p, q)?;
            let curvature = dot(dots, p, q)?;
            if !curvature.is_finite() {
                return Ok(Some(Stop::NotFinite));
            }
            if curvature <= 0.0 {
                return Ok(Some(Stop::Indefinite));
            }
            let step = rho / curvature;
            r.update(T::from_f64(-step), q, T::one())?;
            let preconditioned = m.is_some();
            let z = precondition(&mut m, r, z)?;
            let (squares, next) = if preconditioned {
                let both = dots.of(&[(r, r), (r, z)])?;
                (both[0], both[1])
            } else {
                let squares = dot(dots, r, r)?;
                (squares, squares)
            };
            best.before(x, judge.iterations(), unit * squares.sqrt())?;
            x.update(T::from_f64(unit * step), p, T::one())?;
            if let Some(stop) = record(judge, unit * squares.sqrt()) {
                return Ok(Some(stop));
            }
            p.update(T::one(), z, T::from_f64(next / rho))?;
            rho = next;
        }
    }
}

impl<T: Real> BiCgStab<T> {
    /// A solver for systems with rows on the ranks by `partition`.
    ///
    /// # Errors
    /// As [`Vector::zeros`].
    pub fn new(team: &Team, partition: &Partition, params: BiCgStabParams) -> Result<BiCgStab<T>> {
        let (vectors, best) = (vectors(team, partition)?, Best::new(Vector::zeros(team, partition)?));
        let dots = Dots::new(team, 3)?;
        Ok(BiCgStab { params, vectors, best, dots, scattered: false, changed_at: f64::INFINITY, largest: 0.0 })
    }
}

impl<T: Real> Method<T> for BiCgStab<T> {
    fn stopping(&self) -> &Stopping {
        &self.params.stopping
    }

    fn begin(&mut self) {
        (self.scattered, self.changed_at, self.largest) = (false, f64::INFINITY, 0.0);
    }

    fn vectors(&mut self) -> [&mut Vector<T>; 3] {
        let [r, p, v, ..] = &mut self.vectors;
        [r, p, v]
    }

    fn best(&mut self) -> Option<BestAnd<'_, T>> {
        let [r, p, v, ..] = &mut self.vectors;
        Some((&mut self.best, [r, p, v]))
    }

    fn changes_after(&mut self, norm: f64) -> bool {
        let changes = norm <= SHADOW_PROGRESS * self.changed_at;
        if changes {
            (self.scattered, self.changed_at) = (true, norm);
        }
        changes
    }

    fn cycle(
        &mut self,
        judge: &mut Judge<'_>,
        a: &mut dyn Operator<T>,
        mut m: Option<&mut (dyn Preconditioner<T> + '_)>,
        x: &mut Vector<T>,
        unit: f64,
    ) -> Result<Option<Stop>> {
        let BiCgStab { vectors: [r, p, v, shadow, t, z, w], best, dots, scattered, largest, .. } = self;
        let eps = T::epsilon().into_f64();
        if *scattered {
            shadow.scatter_signs(r)?
        } else {
            shadow.copy_from(r)?
        }
        p.copy_from(r)?;
        let first = dots.of(&[(shadow, r), (shadow, shadow)])?;
        let (mut rho, shadow_length) = (first[0], first[1].sqrt());
        loop {
            // z = M^-1 p, v = A z; the step along z makes r orthogonal to the shadow residual.
            let along_p = precondition(&mut m, p, z)?;
            a.apply(along_p, v)?;
            let three = dots.of(&[(shadow, v), (v, v), (p, p)])?;
            let (sigma, square, length) = (three[0], three[1], three[2].sqrt());
            if !(rho.is_finite() && sigma.is_finite() && square.is_finite()) {
                return Ok(Some(Stop::NotFinite));
            }
            let quotient = square.sqrt() / length;
            if quotient <= eps * *largest || sigma.abs() <= eps * shadow_length * square.sqrt() {
                return Ok(Some(Stop::Breakdown));
            }
            *largest = largest.max(quotient);
            let alpha = rho / sigma;
            r.update(T::from_f64(-alpha), v, T::one())?;
            // w = M^-1 r, t = A w; the step along w minimises r.
            let along = precondition(&mut m, r, w)?;
            a.apply(along, t)?;
            let three = dots.of(&[(t, r), (t, t), (r, r)])?;
            let (mixed, other, half) = (three[0], three[1], three[2].sqrt());
            let norm = unit * half;
            let omega = mixed / other;
            let is_sound = mixed.is_finite() && other.is_finite() && half.is_finite();
            let goes_on = is_sound && mixed.abs() > eps * other.sqrt() * half && !judge.reaches(norm);
            let next = if goes_on { unit * after_step(half, mixed, other, omega) } else { norm };
            best.before(x, judge.iterations(), next)?;
            x.update(T::from_f64(unit * alpha), along_p, T::one())?;
            if judge.reaches(norm) {
                return Ok(Some(record(judge, norm).unwrap_or(Stop::Converged)));
            }
            if !is_sound {
                return Ok(Some(Stop::NotFinite));
            }
            if !goes_on {
                return Ok(Some(record(judge, norm).unwrap_or(Stop::Breakdown)));
            }
            x.update(T::from_f64(unit * omega), along, T::one())?;
            r.update(T::from_f64(-omega), t, T::one())?;
            let both = dots.of(&[(r, r), (shadow, r)])?;
            let (squares, next) = (both[0], both[1]);
            let norm = unit * squares.sqrt();
            best.correct(norm);
            if let Some(stop) = record(judge, norm) {
                return Ok(Some(stop));
            }
            if next.abs() <= eps * shadow_length * squares.sqrt() {
                return Ok(Some(Stop::Breakdown));
            }
            let beta = next / rho * (alpha / omega);
            // p = r + beta (p - omega v).
            p.update(T::from_f64(-omega), v, T::one())?;
            p.update(T::one(), r, T::from_f64(beta))?;
            rho = next;
        }
    }
}

impl<T: Real> Gmres<T> {
    /// A solver for systems with rows on the ranks by `partition`.
    ///
    /// # Errors
    /// As [`Vector::zeros`]; [`Error::Value`] for a restart of 0.
    pub fn new(team: &Team, partition: &Partition, params: GmresParams) -> Result<Gmres<T>> {
        let restart = params.restart.min(partition.rows());
        if restart == 0 {
            return Err(Error::value("restart", "at least 1", 0));
        }
        let basis = (0..=restart).map(|_| Vector::zeros(team, partition)).collect::<Result<_>>()?;
        Ok(Gmres {
            params,
            basis,
            spare: vectors(team, partition)?,
            dots: Dots::new(team, restart + 1)?,
            last: f64::INFINITY,
        })
    }
}

impl<T: Real> Method<T> for Gmres<T> {
    fn stopping(&self) -> &Stopping {
        &self.params.stopping
    }

    fn begin(&mut self) {
        self.last = f64::INFINITY;
    }

    fn vectors(&mut self) -> [&mut Vector<T>; 3] {
        let [p, q, _] = &mut self.spare;
        [&mut self.basis[0], p, q]
    }

    fn cycle(
        &mut self,
        judge: &mut Judge<'_>,
        a: &mut dyn Operator<T>,
        mut m: Option<&mut (dyn Preconditioner<T> + '_)>,
        x: &mut Vector<T>,
        unit: f64,
    ) -> Result<Option<Stop>> {
        let Gmres { basis, spare: [z, ..], dots, last, .. } = self;
        let restart = basis.len() - 1;
        let norm = basis[0].norm2()?;
        let eps = T::epsilon().into_f64();
        if unit * norm >= *last * (1.0 - 10.0 * eps) {
            return Ok(Some(Stop::Stagnated));
        }
        *last = unit * norm;
        basis[0].scale(T::from_f64(1.0 / norm))?;
        // The triangular factor, column by column, the rotations that made it, and the rotated right-hand side.
        let mut columns: Vec<Vec<f64>> = Vec::with_capacity(restart);
        let mut rotations: Vec<(f64, f64)> = Vec::with_capacity(restart);
        let mut rhs = vec![norm];
        let mut seen = None;
        while seen.is_none() && columns.len() < restart {
            let k = columns.len();
            let (known, rest) = basis.split_at_mut(k + 1);
            let w = &mut rest[0];
            a.apply(precondition(&mut m, &known[k], z)?, w)?;
            let mut column = vec![0.0; k + 2];
            for _ in 0..2 {
                let pairs: Vec<_> = known.iter().map(|v| (v, &*w)).collect();
                let parts = dots.of(&pairs)?;
                for ((v, part), sum) in known.iter().zip(&parts).zip(&mut column) {
                    w.update(T::from_f64(-part), v, T::one())?;
                    *sum += part;
                }
            }
            let length = w.norm2()?;
            let before = column.iter().map(|part| part * part).sum::<f64>().sqrt();
            // The Krylov space is exhausted: it holds the solution unless A is singular.
            let exhausted = length <= eps * before.max(length);
            column[k + 1] = if exhausted { 0.0 } else { length };
            if column.iter().any(|value| !value.is_finite()) {
                seen = Some(Stop::NotFinite);
                break;
            }
            for (i, (c, s)) in rotations.iter().enumerate() {
                let (above, below) = (column[i], column[i + 1]);
                (column[i], column[i + 1]) = (c * above + s * below, c * below - s * above);
            }
            let hypotenuse = column[k].hypot(column[k + 1]);
            if hypotenuse == 0.0 {
                seen = Some(Stop::Breakdown);
                break;
            }
            let (c, s) = (column[k] / hypotenuse, column[k + 1] / hypotenuse);
            column[k] = hypotenuse;
            rotations.push((c, s));
            columns.push(column);
            rhs.push(-s * rhs[k]);
            rhs[k] *= c;
            let residual = rhs[k + 1].abs();
            seen = record(judge, unit * residual);
            if exhausted {
                seen = seen.or(Some(Stop::Breakdown));
            } else {
                w.scale(T::from_f64(1.0 / length))?;
            }
        }
        // y from R y = rhs, then x += M^-1 V y.
        let count = columns.len();
        let mut y = rhs[..count].to_vec();
        for i in (0..count).rev() {
            for j in i + 1..count {
                y[i] -= columns[j][i] * y[j];
            }
            y[i] /= columns[i][i];
        }
        if let Some((last, first)) = y.split_last() {
            let [z, sum, _] = &mut self.spare;
            sum.copy_from(&self.basis[count - 1])?;
            sum.scale(T::from_f64(*last))?;
            for (v, part) in self.basis.iter().zip(first) {
                sum.update(T::from_f64(*part), v, T::one())?;
            }
            x.update(T::from_f64(unit), precondition(&mut m, sum, z)?, T::one())?;
        }
        Ok(seen)
    }
}
