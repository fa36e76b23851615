//! Functions of the caller: products of operators, progress of solves.

use std::ffi::c_void;
use std::ops::ControlFlow;

use clinalg::{Complex, Error};
use clinalg_handles::{Kind, Product, Registry, ScalarType};

use crate::object::{ClinalgHandle, scalar_of, typed, upload};
use crate::status::{ClinalgStatus, Fault};

/// A function that writes the product A x into the vector y, with the pointer given to `clinalg_operator_create`; 0 continues, another
/// number makes the call that needed the product fail. x and y are valid until it returns. It may call functions of this
/// library: on them, and on objects that the running call does not write. To use the operator itself, or to write what the running call
/// reads, is an error at once. It must return: no exception may leave it.
pub type ClinalgApply = Option<unsafe extern "C" fn(x: ClinalgHandle, y: ClinalgHandle, data: *mut c_void) -> i32>;

/// A function that is called once when an operator is released, with the pointer given to `clinalg_operator_create`.
pub type ClinalgFree = Option<unsafe extern "C" fn(data: *mut c_void)>;

/// A function that a solve calls after every iteration or cycle, 0 being the start, with its relative residual and the pointer of the
/// options; 0 continues, another number ends the solve with `CLINALG_STOP_CANCELLED`. It may read the objects that the solve reads; to use x,
/// which the solve writes, or the solver is an error at once, except that `clinalg_object_get_info` works.
pub type ClinalgProgress =
    Option<unsafe extern "C" fn(iteration: usize, relative_residual: f64, data: *mut c_void) -> i32>;

/// The caller's pointer, released with the operator.
struct Data {
    pointer: *mut c_void,
    free: ClinalgFree,
}

// SAFETY: the contract of `clinalg_operator_create` lets any thread use the pointer, one at a time.
unsafe impl Send for Data {}

impl Data {
    fn get(&self) -> *mut c_void {
        self.pointer
    }
}

impl Drop for Data {
    fn drop(&mut self) {
        if let Some(free) = self.free {
            // SAFETY: by the contract of `clinalg_operator_create`; this is the only call.
            unsafe { free(self.pointer) };
        }
    }
}

/// An operator of `rows` x `cols`, of the type `precision`, whose product `apply` computes on the current device: products and solvers take its
/// handle in the place of a matrix, and `clinalg_solver_options.inverse` takes one that approximates an inverse. `apply` is called with
/// `data` by the threads that use the operator, one at a time. `free_data`, if not null, is called with `data` once the operator is released, and also
/// where this call fails. There is no Jacobi preconditioner of it.
///
/// # Safety
/// `apply` and `free_data` may be called with `data` from any thread until the operator is released; `handle` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_operator_create(
    precision: u32,
    rows: usize,
    cols: usize,
    apply: ClinalgApply,
    data: *mut c_void,
    free_data: ClinalgFree,
    handle: *mut ClinalgHandle,
) -> ClinalgStatus {
    let data = Data { pointer: data, free: free_data };
    upload(handle, move |context| {
        let Some(apply) = apply else { return Err(Fault::Null("apply")) };
        let product: Product = Box::new(move |x, y| {
            // SAFETY: by the contract above.
            match unsafe { apply(x, y, data.get()) } {
                0 => Ok(()),
                code => Err(Error::value("apply", "0 from the function that computes the product", code)),
            }
        });
        let registry = Registry::global();
        typed!(precision, T => Ok(registry.operator_of::<T>(context, (rows, cols), Kind::Vector, product)?))
    })
}

/// Calls a function of the caller after every iteration.
pub(crate) fn progress(function: ClinalgProgress, data: *mut c_void) -> impl FnMut(usize, f64) -> ControlFlow<()> {
    move |iteration, residual| match function {
        // SAFETY: by the contract of the options, in the thread that solves.
        Some(function) if unsafe { function(iteration, residual, data) } != 0 => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    }
}
