//! The storage formats of sparse matrices behind handles.

use clinalg::Result;
use clinalg::matrix::Format;

use crate::kind::Kind;
use crate::object::{Stored, typed};
use crate::registry::{Operand, Registry};

impl Registry {
    /// How the products of a sparse matrix run and why, in a sentence: [`Csr::explain`](clinalg::Csr::explain).
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle).
    pub(crate) fn explain_products(&self, a: u64) -> Result<String> {
        self.call(&[Operand::new("a", a, Kind::SPARSE)], None, |objects, _| {
            typed!(objects[0], T => match objects[0].stored::<T>("a")? {
                Stored::Csr(a) => Ok(a.explain()),
                _ => unreachable!("the operand is sparse"),
            })
        })
    }

    /// The format of the products of a sparse matrix, `None` for the one that suits it best:
    /// [`Csr::set_format`](clinalg::Csr::set_format).
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle) and those of the method.
    pub fn set_format(&self, a: u64, format: Option<Format>) -> Result<()> {
        self.call(&[], Some(Operand::new("a", a, Kind::SPARSE)), |_, object| {
            let object = object.expect("an output was named");
            typed!(object, T => match object.stored_mut::<T>("a")? {
                Stored::Csr(a) => a.set_format(format),
                _ => unreachable!("the operand is sparse"),
            })
        })
    }
}
