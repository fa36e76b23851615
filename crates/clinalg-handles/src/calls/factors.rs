//! Incomplete factors as matrices, and preconditioners of triangular factors.

use clinalg::precond::{
    CholeskyParams, Ilu, IluKind, IluParams, IncompleteCholesky, Matching, Ordering, Preconditioner, Triangle,
};
use clinalg::{Context, Csr, CsrParts, Error, Result, Scalar, Vector};

use super::preconditioner::InverseOf;
use crate::calls::sparse::sparse;
use crate::kind::Kind;
use crate::object::{Object, typed};
use crate::registry::{Operand, Registry};

/// M = L U, or L alone: systems with one or two triangular matrices.
struct Factors<T: Scalar> {
    first: Triangle<T>,
    second: Option<Triangle<T>>,
    work: Vector<T>,
}

impl<T: Scalar> Factors<T> {
    fn new(first: &Csr<T>, second: Option<&Csr<T>>) -> Result<Factors<T>> {
        let context = first.context();
        let second = second.map(|second| {
            if second.rows() != first.rows() {
                let (expected, got) = (format!("{} rows", first.rows()), format!("{}", second.rows()));
                return Err(Error::Shape { argument: "second", expected, got });
            }
            if !context.same(second.context()) {
                return Err(Error::Context { argument: "second" });
            }
            triangle("second", second)
        });
        let (second, work) = (second.transpose()?, Vector::zeros(context, first.rows())?);
        Ok(Factors { first: triangle("first", first)?, second, work })
    }
}

/// The side of the diagonal on which all entries are is found.
fn triangle<T: Scalar>(argument: &'static str, a: &Csr<T>) -> Result<Triangle<T>> {
    if a.rows() != a.cols() {
        let (expected, got) = ("a square matrix".into(), format!("{} x {}", a.rows(), a.cols()));
        return Err(Error::Shape { argument, expected, got });
    }
    let parts = a.to_parts()?;
    let is_lower = parts.triplets().all(|(i, j, _)| j <= i);
    if !is_lower && !parts.triplets().all(|(i, j, _)| j >= i) {
        let expected = "a triangular matrix, such as a factor of an incomplete factorisation";
        return Err(Error::value(argument, expected, "entries on both sides of the diagonal"));
    }
    Triangle::new(a.context(), is_lower, &parts)
}

impl<T: Scalar> Preconditioner<T> for Factors<T> {
    fn size(&self) -> usize {
        self.work.len()
    }

    fn context(&self) -> &Context {
        self.work.context()
    }

    fn apply(&mut self, r: &Vector<T>, z: &mut Vector<T>) -> Result<()> {
        match &self.second {
            None => self.first.solve(r, z),
            Some(second) => {
                self.first.solve(r, &mut self.work)?;
                second.solve(&self.work, z)
            }
        }
    }
}

impl Registry {
    /// The factors of ILU(0) of the sparse matrix `a`, A = L U at the positions of A, as new sparse matrices: L with ones on the diagonal, and U. Rows and
    /// columns keep their order.
    ///
    /// # Errors
    /// [`Error::Handle`]; those of [`Ilu::new`], among them a pivot that is zero.
    pub fn incomplete_lu(&self, a: u64) -> Result<[u64; 2]> {
        let params = IluParams::default().kind(IluKind::Zero).matching(Matching::Never).ordering(Ordering::Natural);
        let objects = self.call(&[Operand::new("a", a, Kind::SPARSE)], None, |inputs, _| {
            typed!(inputs[0], T => {
                let a = sparse::<T>(inputs[0], "a")?;
                let [lower, upper] = Ilu::new(a, &params)?.to_parts()?;
                Ok([made(a.context(), &lower)?, made(a.context(), &upper)?])
            })
        })?;
        Ok(objects.map(|object| self.insert(object)))
    }

    /// The factor L of IC(0) of the sparse matrix `a`, A + shift diag(A) = L L^H at the positions of A, as a new sparse matrix. Rows and columns keep their
    /// order.
    ///
    /// # Errors
    /// [`Error::Handle`]; those of [`IncompleteCholesky::new`], among them a pivot that is not positive.
    pub fn incomplete_cholesky(&self, a: u64, shift: f64) -> Result<u64> {
        let params = CholeskyParams::default().shift(shift).ordering(Ordering::Natural);
        let object = self.call(&[Operand::new("a", a, Kind::SPARSE)], None, |inputs, _| {
            typed!(inputs[0], T => {
                let a = sparse::<T>(inputs[0], "a")?;
                made(a.context(), &IncompleteCholesky::new(a, &params)?.to_parts()?)
            })
        })?;
        Ok(self.insert(object))
    }

    /// A preconditioner M = `first` `second` of one or two sparse triangular matrices, as [`Registry::preconditioner`] gives it: its products apply the
    /// inverse of `second` after that of `first`. Keeps nothing of them.
    ///
    /// # Errors
    /// [`Error::Handle`]; [`Error::Precision`]; [`Error::Value`] for a matrix that is not triangular; [`Error::Singular`] for a zero on a diagonal;
    /// [`Error::Shape`].
    pub fn triangular_factors(&self, first: u64, second: Option<u64>) -> Result<u64> {
        let second = second.map(|second| Operand::new("second", second, Kind::SPARSE));
        let operands: Vec<_> = std::iter::once(Operand::new("first", first, Kind::SPARSE)).chain(second).collect();
        let object = self.call(&operands, None, |inputs, _| {
            typed!(inputs[0], T => {
                let second = inputs.get(1).map(|second| sparse::<T>(second, "second")).transpose()?;
                Ok(Object::operator(InverseOf::new(Factors::new(sparse::<T>(inputs[0], "first")?, second)?)))
            })
        })?;
        Ok(self.insert(object))
    }
}

fn made<T: clinalg::Scalar>(context: &Context, parts: &CsrParts<T>) -> Result<Object> {
    Ok(Csr::from_parts(context, parts)?.into())
}
