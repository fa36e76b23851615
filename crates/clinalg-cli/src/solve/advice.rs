//! What `--precond auto` takes for a matrix, and why.

use clinalg::precond::{Advice as Suggestion, Needs, Suited, advise as suited};
use clinalg::{CsrParts, Scalar};

use super::method::{Method, Precond};

/// A preconditioner with the reason for it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Advice {
    pub(crate) precond: Precond,
    pub(crate) why: String,
    /// Unknowns per node that the pattern of the matrix shows, for algebraic multigrid.
    pub(crate) unknowns_per_node: Option<usize>,
}

impl From<Suggestion> for Advice {
    fn from(Suggestion { suited, why, unknowns_per_node }: Suggestion) -> Advice {
        let precond = match suited {
            Suited::Jacobi => Precond::Jacobi,
            Suited::Amg => Precond::Amg,
            Suited::Ilu => Precond::Ilu,
            Suited::Ilut => Precond::Ilut,
            Suited::Cholesky => Precond::Ic,
            Suited::Ssor => Precond::Ssor,
            Suited::Saddle => Precond::Saddle,
            _ => Precond::None,
        };
        Advice { precond, why, unknowns_per_node }
    }
}

impl Advice {
    /// What suits the stationary iteration in its place: M has to be close to A, unless it is multigrid.
    pub(super) fn for_richardson(self) -> Advice {
        match self.precond.coarsening() {
            Some(_) => self,
            None => {
                Suggestion::new(Suited::Ilut, "Richardson iteration needs an accurate preconditioner".into()).into()
            }
        }
    }
}

/// The preconditioner for a matrix, of one device or several, and a method where one was asked for.
pub(crate) fn advise<T: Scalar>(
    parts: &CsrParts<T>,
    symmetric: bool,
    method: Option<Method>,
    several_devices: bool,
    null_vectors: usize,
) -> Advice {
    if parts.rows != parts.cols || method.is_some_and(Method::is_least_squares) {
        return Suggestion::new(Suited::None, "least squares".into()).into();
    }
    let needs = Needs {
        definite: method.is_some_and(|m| !matches!(m, Method::BiCgStab | Method::Gmres | Method::Idrs)),
        positive: method.is_some_and(Method::is_conjugate_gradients),
        team: several_devices,
        null_vectors,
    };
    suited(parts, symmetric, needs).into()
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
        let precond = |parts: &CsrParts<f64>, symmetric, method| advise(parts, symmetric, method, false, 0).precond;
        assert_eq!(precond(&banded(2000, &laplace), true, None), Precond::Amg);
        assert_eq!(precond(&banded(999, &laplace), true, None), Precond::None);
        let mut scaled = banded(999, &laplace);
        let sizes: Vec<f64> = (0..999).map(|i| if i % 2 == 0 { 1.0 } else { 100.0 }).collect();
        let places: Vec<_> = scaled.triplets().map(|(i, j, _)| sizes[i] * sizes[j]).collect();
        scaled.values.iter_mut().zip(places).for_each(|(value, size)| *value *= size);
        assert_eq!(precond(&scaled, true, None), Precond::Amg);
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
        assert_eq!(advise(&banded(2000, &laplace), true, None, true, 0).precond, Precond::Amg);
        assert_eq!(advise(&flow, false, None, true, 0).precond, Precond::Jacobi);
        for (several_devices, others) in [(false, Precond::Ssor), (true, Precond::Jacobi)] {
            let of = |count| advise(&banded(2000, &laplace), true, None, several_devices, count).precond;
            assert_eq!([of(1), of(2)], [Precond::Amg, others]);
        }
    }
}
