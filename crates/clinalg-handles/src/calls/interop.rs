//! OpenCL objects of the caller on handles, and those of this library for the caller.

use std::ffi::c_void;

use clinalg::{Context, Dense, Result, Scalar, Vector};

use crate::kind::Kind;
use crate::object::cell::use_one;
use crate::object::{Stored, typed};
use crate::registry::{Operand, Registry};

impl Registry {
    /// A vector in the memory of `mem`, a `cl_mem` of the caller: [`Vector::from_opencl`].
    ///
    /// # Safety
    /// As [`Vector::from_opencl`].
    ///
    /// # Errors
    /// As [`Vector::from_opencl`].
    pub unsafe fn import_vector<T: Scalar>(&self, context: &Context, mem: *mut c_void, len: usize) -> Result<u64> {
        // SAFETY: by the contract above.
        Ok(self.insert(unsafe { Vector::<T>::from_opencl(context, mem, len)? }))
    }

    /// A dense matrix by columns in the memory of `mem`, a `cl_mem` of the caller: [`Dense::from_opencl`].
    ///
    /// # Safety
    /// As [`Dense::from_opencl`].
    ///
    /// # Errors
    /// As [`Dense::from_opencl`].
    pub unsafe fn import_dense<T: Scalar>(
        &self,
        context: &Context,
        mem: *mut c_void,
        (rows, cols): (usize, usize),
    ) -> Result<u64> {
        // SAFETY: by the contract above.
        Ok(self.insert(unsafe { Dense::<T>::from_opencl(context, mem, rows, cols)? }))
    }

    /// The context of a vector or dense matrix.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle).
    pub fn context_of(&self, handle: u64) -> Result<Context> {
        let cell = self.cell(&Operand::new("object", handle, Kind::FULL))?;
        Ok(use_one("object", &cell, false)?.context().expect("the operand is full"))
    }

    /// The `cl_mem` of a vector or dense matrix, retained for the caller: [`Vector::export`].
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle) and those of the method.
    pub fn export(&self, handle: u64) -> Result<*mut c_void> {
        self.call(&[], Some(Operand::new("object", handle, Kind::FULL)), |_, object| {
            let object = object.expect("an output was named");
            typed!(object, T => {
                match object.stored_mut::<T>("object")? {
                    Stored::Vector(vector) => vector.export(),
                    Stored::Dense(matrix) => matrix.export(),
                    Stored::Csr(_) | Stored::Band(_) => unreachable!("the operand is full"),
                }
            })
        })
    }
}
