//! The policy: which preconditioner and which method suit a matrix, and why.

use super::{Method, PreconditionerKind};
use crate::matrix::Inspection;

/// Smaller systems are solved in less time than a preconditioner takes to set up, unless their diagonal entries differ by more than [`SPREAD`].
const SMALL: usize = 1000;
/// The ratio of the largest modulus of a diagonal entry to the smallest nonzero one.
const SPREAD: f64 = 1e3;
/// A matrix that is not symmetric counts as an M-matrix if at least this fraction of its off-diagonal entries is not positive, ...
const SIGNS: f64 = 0.95;
/// ... and the off-diagonal moduli of each row add up to at most this many times the diagonal entry. Conservative differences of a flow that is
/// not free of divergence on the grid exceed 1 by a little.
const WEAKLY_DOMINANT: f64 = 1.05;
/// Where the smaller triangle contributes at most this fraction of the off-diagonal entries, as where the flow along the numbering of the unknowns
/// dominates, ILU(0) is nearly exact.
const ONE_TRIANGLE: f64 = 0.05;
/// On CPUs multigrid, with its slow set-up, takes longer than ILU(0) for matrices with more off-diagonal entries per row
/// than this on average, as in three dimensions (two cores, 60^3 unknowns: 1.4 to 4.8 times as long).
const MOST_ON_CPU: usize = 5;
/// If the off-diagonal moduli of each row add up to at most this fraction of the diagonal entry, a few iterations suffice.
const DOMINANT: f64 = 0.5;

/// What the policy decides from.
pub(super) struct Facts<'f> {
    pub(super) matrix: &'f Inspection,
    pub(super) is_complex: bool,
    /// A saddle point whose second block has zeros or negative entries on the diagonal, known where the matrix is symmetric.
    pub(super) is_saddle: bool,
    /// The fraction of the off-diagonal moduli, relative to the diagonal, in the smaller of the two triangles; known where a real matrix is not symmetric.
    pub(super) lesser_triangle: Option<f64>,
    pub(super) on_cpu: bool,
    /// Null vectors that are constant on a connected component.
    pub(super) null_vectors: usize,
    /// The method that is prescribed.
    pub(super) method: Option<Method>,
    /// Several devices, which have no incomplete factors.
    pub(super) on_team: bool,
}

impl Facts<'_> {
    /// Whether the preconditioner has to be definite, as conjugate gradients and MINRES need it.
    fn needs_definite(&self) -> bool {
        self.method.is_some_and(Method::needs_definite)
    }

    /// Whether the matrix has to be positive definite, as conjugate gradients need it.
    fn needs_positive(&self) -> bool {
        self.method.is_some_and(Method::is_conjugate_gradients)
    }

    fn is_least_squares(&self) -> bool {
        self.matrix.rows != self.matrix.cols || self.method.is_some_and(Method::is_least_squares)
    }

    fn is_small(&self) -> bool {
        self.matrix.rows < SMALL && self.matrix.spread <= SPREAD
    }

    fn has_zeros(&self) -> bool {
        self.matrix.zero_diagonal > 0
    }

    /// Whether the diagonal has entries of both signs, so that Jacobi is indefinite, which the method does not accept.
    fn is_indefinite_diagonal(&self) -> bool {
        self.matrix.negative_diagonal > 0 && self.needs_definite()
    }

    /// Whether it has the signs and the diagonal of an M-matrix, as from diffusion with convection by upwind differences.
    fn is_m_matrix(&self) -> bool {
        let Inspection { rows, positive_diagonal, off_diagonal, nonpositive_off_diagonal, dominance, .. } =
            *self.matrix;
        positive_diagonal == rows
            && nonpositive_off_diagonal as f64 >= SIGNS * off_diagonal as f64
            && dominance <= WEAKLY_DOMINANT
    }

    /// Whether the set-up of multigrid for an M-matrix that is not symmetric would take longer than it saves.
    fn has_long_rows_for_cpu(&self) -> bool {
        self.on_cpu && self.matrix.off_diagonal > MOST_ON_CPU * self.matrix.rows
    }

    /// The fraction of the off-diagonal entries that are not positive, in percent.
    fn percent_nonpositive(&self) -> f64 {
        100.0 * self.matrix.nonpositive_off_diagonal as f64 / self.matrix.off_diagonal.max(1) as f64
    }

    /// Whether it may be positive definite, by its symmetry and its diagonal.
    fn may_be_definite(&self) -> bool {
        self.matrix.hermitian && self.matrix.negative_diagonal == 0
    }
}

/// A row of the table: the preconditioner for a matrix to which the condition applies, and to which none of the rows above does.
struct Rule {
    applies: fn(&Facts<'_>) -> bool,
    kind: PreconditionerKind,
    reason: fn(&Facts<'_>) -> String,
}

fn zeros_on_the_diagonal(facts: &Facts<'_>) -> String {
    format!("{} rows have a zero on the diagonal (a saddle point or a circuit)", facts.matrix.zero_diagonal)
}

fn components(facts: &Facts<'_>) -> String {
    format!("singular: the constants on {} connected components are null vectors", facts.null_vectors)
}

fn one_device_only(_: &Facts<'_>) -> String {
    "incomplete factors run on one device only".into()
}

const fn rule(kind: PreconditionerKind, applies: fn(&Facts<'_>) -> bool, reason: fn(&Facts<'_>) -> String) -> Rule {
    Rule { applies, kind, reason }
}

/// The first rule that applies decides; the last one always does.
const RULES: [Rule; 17] = [
    rule(PreconditionerKind::None, |f| f.is_least_squares(), |_| "least squares".into()),
    rule(
        PreconditionerKind::None,
        |f| f.is_small(),
        |f| format!("{} equations are too few for a preconditioner to pay off", f.matrix.rows),
    ),
    rule(
        PreconditionerKind::Saddle,
        |f| f.is_saddle && !f.is_complex && !f.on_team && !f.needs_positive(),
        |f| {
            let second = f.matrix.zero_diagonal + f.matrix.negative_diagonal;
            format!("a symmetric saddle point: {second} of {} diagonal entries are zero or negative", f.matrix.rows)
        },
    ),
    rule(
        PreconditionerKind::None,
        |f| f.has_zeros() && f.on_team,
        |f| format!("{}; {}", zeros_on_the_diagonal(f), one_device_only(f)),
    ),
    rule(
        PreconditionerKind::None,
        |f| f.has_zeros() && f.needs_definite(),
        |f| format!("{}, and the method needs a definite preconditioner", zeros_on_the_diagonal(f)),
    ),
    rule(
        PreconditionerKind::Ilut,
        |f| f.has_zeros(),
        |f| format!("{}: incomplete factors with permuted rows", zeros_on_the_diagonal(f)),
    ),
    rule(
        PreconditionerKind::Jacobi,
        |f| f.matrix.dominance <= DOMINANT && !f.is_indefinite_diagonal(),
        |f| {
            let percent = 100.0 * f.matrix.dominance;
            format!("in each row the off-diagonal entries add up to at most {percent:.0} % of the diagonal entry")
        },
    ),
    rule(
        PreconditionerKind::Jacobi,
        |f| f.on_team && !f.may_be_definite() && !f.is_indefinite_diagonal(),
        one_device_only,
    ),
    // The coarsest level of a hierarchy, and factors, can be made nonsingular for the constants of a single component only.
    rule(PreconditionerKind::Jacobi, |f| f.may_be_definite() && f.null_vectors >= 2 && f.on_team, components),
    rule(PreconditionerKind::Ssor, |f| f.may_be_definite() && f.null_vectors >= 2, components),
    rule(
        PreconditionerKind::Cholesky,
        |f| f.may_be_definite() && f.is_complex,
        |_| "Hermitian with a positive diagonal".into(),
    ),
    rule(
        PreconditionerKind::Amg,
        |f| f.may_be_definite(),
        |f| {
            format!(
                "symmetric, a positive diagonal, {:.0} % of the off-diagonal entries not positive, off-diagonal sums up to {:.2} times the diagonal",
                f.percent_nonpositive(),
                f.matrix.dominance
            )
        },
    ),
    rule(PreconditionerKind::None, |f| f.matrix.hermitian && f.needs_definite(), indefinite),
    rule(PreconditionerKind::Ilut, |f| f.matrix.hermitian, indefinite),
    rule(
        PreconditionerKind::None,
        |f| f.needs_definite(),
        |_| "not symmetric, for a method that needs a symmetric matrix".into(),
    ),
    rule(
        PreconditionerKind::Amg,
        |f| {
            let both = f.lesser_triangle.is_some_and(|share| share > ONE_TRIANGLE);
            both && f.is_m_matrix() && !f.has_long_rows_for_cpu()
        },
        |f| {
            format!(
                "not symmetric, nearly an M-matrix: a positive diagonal, {:.0} % of the off-diagonal entries not positive, off-diagonal sums up to {:.2} times the diagonal",
                f.percent_nonpositive(),
                f.matrix.dominance
            )
        },
    ),
    rule(PreconditionerKind::Ilu, |_| true, |f| format!("not symmetric, {}", why_no_multigrid(f))),
];

/// What distinguishes a matrix without zeros on its diagonal from an M-matrix.
fn why_no_multigrid(facts: &Facts<'_>) -> String {
    let (negative, percent) = (facts.matrix.negative_diagonal, facts.percent_nonpositive());
    let Some(lesser) = facts.lesser_triangle else { return "no zero on the diagonal".into() };
    if lesser <= ONE_TRIANGLE {
        return format!("{:.0} % of the off-diagonal sums are on one side of the diagonal", 100.0 * (1.0 - lesser));
    }
    if negative > 0 {
        return format!("{negative} of {} diagonal entries are negative", facts.matrix.rows);
    }
    if facts.is_m_matrix() {
        let entries = facts.matrix.off_diagonal as f64 / facts.matrix.rows as f64;
        return format!(
            "nearly an M-matrix, but with {entries:.1} off-diagonal entries per row multigrid is slow to set up on a CPU"
        );
    }
    if percent < 100.0 * SIGNS {
        return format!("{percent:.0} % of the off-diagonal entries not positive, too few for multigrid");
    }
    format!("off-diagonal sums up to {:.2} times the diagonal, too much for multigrid", facts.matrix.dominance)
}

fn indefinite(facts: &Facts<'_>) -> String {
    let (negative, n) = (facts.matrix.negative_diagonal, facts.matrix.rows);
    format!("symmetric, not positive definite: {negative} of {n} diagonal entries are negative")
}

fn for_richardson(_: &Facts<'_>) -> String {
    "Richardson iteration needs an accurate preconditioner".into()
}

/// The preconditioner, and why.
pub(super) fn preconditioner(facts: &Facts<'_>) -> (PreconditionerKind, String) {
    let rule = RULES.iter().find(|rule| (rule.applies)(facts)).expect("the last rule always applies");
    // M has to be close to A, unless it is multigrid; a team has no incomplete factors, which would be.
    if facts.method == Some(Method::Richardson) && !rule.kind.is_multigrid() && !facts.on_team {
        return (PreconditionerKind::Ilut, for_richardson(facts));
    }
    (rule.kind, (rule.reason)(facts))
}

/// The method for a matrix with this preconditioner; `varies` if that differs from one application to the next.
pub(super) fn method(matrix: &Inspection, kind: PreconditionerKind, varies: bool) -> Method {
    let is_positive = matrix.hermitian && matrix.positive_diagonal == matrix.rows;
    match kind {
        _ if matrix.rows != matrix.cols => Method::Lsmr,
        PreconditionerKind::Saddle if matrix.hermitian => Method::Minres,
        PreconditionerKind::Saddle | PreconditionerKind::Lu => Method::Gmres,
        _ if varies => Method::FlexibleCg,
        PreconditionerKind::Ilu | PreconditionerKind::Ilut => Method::BiCgStab,
        _ if is_positive => Method::Cg,
        _ => Method::BiCgStab,
    }
}

/// The methods that take over one after the other where `first`, which was chosen by [`method`], fails.
pub(super) fn takeovers(first: Method, hermitian: bool) -> &'static [Method] {
    match first {
        Method::Cg | Method::Minres | Method::BiCgStab if hermitian => &[Method::Gmres, Method::Minres],
        Method::Cg | Method::Minres | Method::BiCgStab => &[Method::Gmres],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CsrParts;
    use crate::precond::Split;

    /// A row of `entries`, a distance and a value each, shifted along the diagonal.
    fn banded(n: usize, entries: &[(i64, f64)]) -> CsrParts<f64> {
        let entry =
            |i: usize, &(d, v): &(i64, f64)| i.checked_add_signed(d as isize).filter(|&j| j < n).map(|j| (i, j, v));
        let entries: Vec<_> = (0..n).flat_map(|i| entries.iter().filter_map(move |e| entry(i, e))).collect();
        CsrParts::from_triplets(n, n, &entries).unwrap()
    }

    fn kind(parts: &CsrParts<f64>, method: Option<Method>) -> PreconditionerKind {
        of(parts, method, false, 0)
    }

    fn of(parts: &CsrParts<f64>, method: Option<Method>, on_team: bool, null_vectors: usize) -> PreconditionerKind {
        with(parts, method, on_team, null_vectors, false)
    }

    fn with(
        parts: &CsrParts<f64>,
        method: Option<Method>,
        on_team: bool,
        null_vectors: usize,
        on_cpu: bool,
    ) -> PreconditionerKind {
        let matrix = crate::automatic::inspection::inspect(parts).unwrap();
        let is_saddle = matrix.hermitian && Split::find(parts).is_some();
        let sides: [f64; 2] = [-1_isize, 1].map(|side| {
            let on_side = parts.triplets().filter(|&(i, j, _)| (j as isize - i as isize) * side > 0);
            on_side.map(|entry| entry.2.abs()).sum()
        });
        let lesser_triangle = (!on_team).then(|| sides[0].min(sides[1]) / (sides[0] + sides[1]));
        preconditioner(&Facts {
            matrix: &matrix,
            is_complex: false,
            is_saddle,
            lesser_triangle,
            on_cpu,
            null_vectors,
            method,
            on_team,
        })
        .0
    }

    #[test]
    fn matrices_get_what_suits_them() {
        use PreconditionerKind::{Amg, Ilu, Ilut, Jacobi, None as Plain, Saddle, Ssor};
        let laplace = [(-1, -1.0), (0, 2.0), (1, -1.0)];
        assert_eq!(kind(&banded(2000, &laplace), None), Amg);
        assert_eq!(kind(&banded(999, &laplace), None), Plain);
        let mut scaled = banded(999, &laplace);
        let sizes: Vec<f64> = (0..999).map(|i| if i % 2 == 0 { 1.0 } else { 100.0 }).collect();
        let places: Vec<_> = scaled.triplets().map(|(i, j, _)| sizes[i] * sizes[j]).collect();
        scaled.values.iter_mut().zip(places).for_each(|(value, size)| *value *= size);
        assert_eq!(kind(&scaled, None), Amg);
        assert_eq!(kind(&banded(2000, &[(-1, -1.0), (0, 9.0), (1, -1.0)]), None), Jacobi);
        let upwind = banded(2000, &[(-1, -3.0), (0, 4.0), (1, -1.0)]);
        assert_eq!(kind(&upwind, None), Amg);
        assert_eq!(kind(&upwind, Some(Method::Cg)), Plain);
        // On CPUs only with short rows.
        let on_cpu = |parts: &CsrParts<f64>| with(parts, None, false, 0, true);
        let long = [(-900, -1.0), (-30, -1.0), (-1, -2.0), (0, 8.0), (1, -1.0), (30, -1.0), (900, -2.0)];
        assert_eq!((on_cpu(&upwind), kind(&banded(9000, &long), None)), (Amg, Amg));
        assert_eq!(on_cpu(&banded(9000, &long)), Ilu);
        assert_eq!(kind(&banded(2000, &[(-1, -30.0), (0, 31.0), (1, -1.0)]), None), Ilu);
        // Central differences beyond a cell Peclet number of 2, and a diagonal that is too small.
        let flow = banded(2000, &[(-1, -3.0), (0, 4.0), (1, 1.0)]);
        assert_eq!(kind(&flow, None), Ilu);
        assert_eq!(kind(&banded(2000, &[(-1, -3.0), (0, 3.6), (1, -1.0)]), None), Ilu);
        assert_eq!(kind(&flow, Some(Method::Cg)), Plain);
        assert_eq!(kind(&flow, Some(Method::Richardson)), Ilut);
        assert_eq!(kind(&banded(2000, &[(-1, 1.0), (1, 1.0)]), None), Ilut);
        let negative = banded(2000, &[(-1, 1.0), (0, -1.0), (1, 1.0)]);
        assert_eq!(kind(&negative, None), Ilut);
        assert_eq!(kind(&negative, Some(Method::Minres)), Plain);
        // Pairs of an unknown and a multiplier, and the same with a coupling that is not symmetric.
        let pairs: Vec<_> = (0..1000).flat_map(|k| [(k, k, 2.0), (k, k + 1000, 1.0), (k + 1000, k, 1.0)]).collect();
        let saddle = CsrParts::from_triplets(2000, 2000, &pairs).unwrap();
        assert_eq!(kind(&saddle, None), Saddle);
        assert_eq!(kind(&saddle, Some(Method::Cg)), Plain);
        let mut oseen = saddle.clone();
        oseen.values[1] = 3.0;
        assert_eq!(kind(&oseen, None), Ilut);
        let signs = banded(2000, &[(-1, 0.1), (0, -1.0), (1, 0.1)]);
        assert_eq!(kind(&signs, None), Jacobi);
        assert_eq!(kind(&signs, Some(Method::Minres)), Plain);
        assert_eq!(of(&banded(2000, &laplace), None, true, 0), Amg);
        assert_eq!(of(&flow, None, true, 0), Jacobi);
        for (on_team, others) in [(false, Ssor), (true, Jacobi)] {
            let of = |count| of(&banded(2000, &laplace), None, on_team, count);
            assert_eq!([of(1), of(2)], [Amg, others]);
        }
    }
}
