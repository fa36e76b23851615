//! What `--precond auto` takes for a matrix, and why.

use clinalg::precond::Split;
use clinalg::{CsrParts, Scalar};
use num_traits::Zero;

use super::method::{Method, Precond};

/// Smaller systems are solved before a preconditioner is made.
const SMALL: usize = 1000;
/// Sums of moduli beside the diagonal up to this part of it: a few iterations suffice.
const DOMINANT: f64 = 0.5;

/// A preconditioner with the reason for it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Advice {
    pub(crate) precond: Precond,
    pub(crate) why: String,
}

/// What a look at every row finds.
struct Rows {
    /// Diagonal entries that are zero or not stored.
    zeros: usize,
    negative: usize,
    /// The largest sum of moduli beside the diagonal over the modulus on it.
    dominance: f64,
    /// Entries beside the diagonal, and those of them that are not above 0.
    beside: usize,
    not_positive: usize,
}

impl Rows {
    fn of<T: Scalar>(parts: &CsrParts<T>) -> Rows {
        let mut found = Rows { zeros: 0, negative: 0, dominance: 0.0, beside: 0, not_positive: 0 };
        for i in 0..parts.rows {
            let (mut own, mut sum) = (T::Wide::zero(), 0.0);
            for (j, value) in parts.row(i) {
                let value = value.widen();
                if i == j {
                    own = value;
                } else {
                    sum += value.modulus();
                    found.beside += 1;
                    found.not_positive += usize::from(value.re() <= 0.0);
                }
            }
            found.zeros += usize::from(own.is_zero());
            found.negative += usize::from(own.re() < 0.0);
            if !own.is_zero() {
                found.dominance = f64::max(found.dominance, sum / own.modulus());
            }
        }
        found
    }
}

/// The preconditioner for a matrix, of one device or several, and a method where one was asked for.
pub(crate) fn advise<T: Scalar>(
    parts: &CsrParts<T>,
    symmetric: bool,
    method: Option<Method>,
    several_devices: bool,
) -> Advice {
    let advice = |precond, why: String| Advice { precond, why };
    let n = parts.rows;
    if n != parts.cols || method.is_some_and(Method::is_least_squares) {
        return advice(Precond::None, "least squares".into());
    }
    if n < SMALL {
        return advice(Precond::None, format!("{n} equations are few"));
    }
    let Rows { zeros, negative, dominance, beside, not_positive } = Rows::of(parts);
    // Such a method was asked for; diagonal entries of both signs make Jacobi indefinite.
    let definite_needed = method.is_some_and(|m| !matches!(m, Method::BiCgStab | Method::Gmres | Method::Idrs));
    let indefinite_fits = !matches!(method, Some(Method::Cg | Method::Fcg));
    if symmetric && !T::IS_COMPLEX && !several_devices && indefinite_fits && Split::find(parts).is_some() {
        let second = zeros + negative;
        return advice(
            Precond::Saddle,
            format!("a symmetric saddle point: {second} of {n} diagonal entries are zero or negative"),
        );
    }
    if zeros > 0 {
        let zeros = format!("{zeros} rows have a zero on the diagonal (a saddle point or a circuit)");
        return match (several_devices, definite_needed) {
            (true, _) => advice(Precond::None, format!("{zeros}; a team has no incomplete factors")),
            (_, true) => advice(Precond::None, format!("{zeros}, and the method needs a definite preconditioner")),
            _ => advice(Precond::Ilut, format!("{zeros}: factors with rows permuted")),
        };
    }
    if dominance <= DOMINANT && !(negative > 0 && definite_needed) {
        let percent = 100.0 * dominance;
        return advice(
            Precond::Jacobi,
            format!("the off-diagonal entries of each row add up to at most {percent:.0} % of its diagonal"),
        );
    }
    if several_devices && !(symmetric && negative == 0) && !(negative > 0 && definite_needed) {
        return advice(Precond::Jacobi, "a team has no incomplete factors".into());
    }
    if symmetric && negative == 0 && T::IS_COMPLEX {
        return advice(Precond::Ic, "Hermitian with a positive diagonal".into());
    }
    if symmetric && negative == 0 {
        let share = 100.0 * not_positive as f64 / beside.max(1) as f64;
        let why = format!(
            "symmetric, a positive diagonal, {share:.0} % of the entries beside it not above 0, rows up to {dominance:.2} times the diagonal"
        );
        return advice(Precond::Amg, why);
    }
    if symmetric {
        let why = format!("symmetric and indefinite: {negative} of {n} diagonal entries are negative");
        return advice(if definite_needed { Precond::None } else { Precond::Ilut }, why);
    }
    if definite_needed {
        return advice(Precond::None, "not symmetric, for a method that needs a symmetric matrix".into());
    }
    advice(Precond::Ilu, "not symmetric, no zero on the diagonal".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row of `entries`, a distance and a value each, shifted along the diagonal.
    fn banded(n: usize, entries: &[(i64, f64)]) -> CsrParts<f64> {
        let entry =
            |i: usize, &(d, v): &(i64, f64)| i.checked_add_signed(d as isize).filter(|&j| j < n).map(|j| (i, j, v));
        let entries: Vec<_> = (0..n).flat_map(|i| entries.iter().filter_map(move |e| entry(i, e))).collect();
        CsrParts::from_triplets(n, n, &entries).unwrap()
    }

    #[test]
    fn matrices_get_what_suits_them() {
        let laplace = [(-1, -1.0), (0, 2.0), (1, -1.0)];
        let precond = |parts: &CsrParts<f64>, symmetric, method| advise(parts, symmetric, method, false).precond;
        assert_eq!(precond(&banded(2000, &laplace), true, None), Precond::Amg);
        assert_eq!(precond(&banded(999, &laplace), true, None), Precond::None);
        assert_eq!(precond(&banded(2000, &[(-1, -1.0), (0, 9.0), (1, -1.0)]), true, None), Precond::Jacobi);
        let flow = banded(2000, &[(-1, -3.0), (0, 4.0), (1, -1.0)]);
        assert_eq!(precond(&flow, false, None), Precond::Ilu);
        assert_eq!(precond(&flow, false, Some(Method::Cg)), Precond::None);
        assert_eq!(precond(&banded(2000, &[(-1, 1.0), (1, 1.0)]), true, None), Precond::Ilut);
        assert_eq!(precond(&banded(2000, &[(-1, 1.0), (0, -1.0), (1, 1.0)]), true, None), Precond::Ilut);
        assert_eq!(
            precond(&banded(2000, &[(-1, 1.0), (0, -1.0), (1, 1.0)]), true, Some(Method::Minres)),
            Precond::None
        );
        // Pairs of an unknown and a multiplier.
        let pairs: Vec<_> = (0..1000).flat_map(|k| [(k, k, 2.0), (k, k + 1000, 1.0), (k + 1000, k, 1.0)]).collect();
        let saddle = CsrParts::from_triplets(2000, 2000, &pairs).unwrap();
        assert_eq!(precond(&saddle, true, None), Precond::Saddle);
        assert_eq!(precond(&saddle, true, Some(Method::Cg)), Precond::None);
        assert_eq!(precond(&saddle, false, None), Precond::Ilut);
        let signs = banded(2000, &[(-1, 0.1), (0, -1.0), (1, 0.1)]);
        assert_eq!(precond(&signs, true, None), Precond::Jacobi);
        assert_eq!(precond(&signs, true, Some(Method::Minres)), Precond::None);
        assert_eq!(advise(&banded(2000, &laplace), true, None, true).precond, Precond::Amg);
        assert_eq!(advise(&flow, false, None, true).precond, Precond::Jacobi);
    }
}
