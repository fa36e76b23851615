//! Structures of options that can grow: their first member says how much of them the caller's header knows.

use std::ffi::{c_char, c_void};
use std::ptr::null_mut;

use clinalg::Error;
use clinalg::automatic::SolverText;
use clinalg::solve::{GmresParams, IdrParams};
use clinalg_handles::Preconditioning;

use crate::callback::{ClinalgProgress, progress};
use crate::check_array;
use crate::object::ClinalgHandle;
use crate::solver::{
    ClinalgMethod, ClinalgPreconditioner, ClinalgReport, Wanted, krylov, method_of_name, preconditioner_of_name,
    preconditioning_of, results, summary,
};
use crate::status::{ClinalgStatus, Fault, guard};

/// Options of a Krylov solver. Fill them with `clinalg_solver_options_default(&options, sizeof options)`, then change what is to
/// differ. Later versions append members, which take their defaults in programs compiled before.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ClinalgSolverOptions {
    /// `sizeof(clinalg_solver_options)`, as the program was compiled.
    pub struct_size: usize,
    /// The method, a `clinalg_method`.
    pub method: u32,
    /// The preconditioner, a `clinalg_preconditioner`.
    pub preconditioner: u32,
    /// Relative residual |b - A x| / |b| to reach.
    pub tolerance: f64,
    /// Maximum number of iterations.
    pub max_iterations: usize,
    /// Iterations between restarts of GMRES.
    pub restart: usize,
    /// A matrix or operator whose product approximates the inverse of A, in the place of `preconditioner`, such as
    /// `clinalg_preconditioner_create` and `clinalg_amg_create` make; 0 for none. For LSQR and LSMR it approximates the inverse of A^H A and is
    /// Hermitian positive definite.
    pub inverse: ClinalgHandle,
    /// Called after every iteration; null for none.
    pub progress: ClinalgProgress,
    /// Passed to `progress`.
    pub progress_data: *mut c_void,
    /// The dimension s of the shadow space of IDR(s), at least 1: a larger one takes fewer iterations and more memory.
    pub idr_dimension: usize,
}

impl ClinalgSolverOptions {
    pub(crate) fn wanted(&self) -> Wanted {
        let ClinalgSolverOptions { method, tolerance, max_iterations, restart, idr_dimension, .. } = *self;
        Wanted { method, tolerance, max_iterations, restart, idr_dimension }
    }
}

impl ClinalgSolverOptions {
    /// Sets the members that a text names.
    fn set(&mut self, text: &str) -> Result<(), Fault> {
        // Names without a code are told apart from unknown ones, and are not offered in their place.
        let wanted: SolverText = text
            .parse()
            .or_else(|_: Error| {
                let has_method = |method| method_of_name(method).is_some();
                SolverText::parse_where(text, has_method, |kind| preconditioner_of_name(kind).is_some())
            })
            .map_err(|error| error.renamed("solver", "text"))?;
        let lacking = |name: &str, expected: &str| Fault::Library(Error::value("text", expected, format!("`{name}`")));
        if let Some(method) = wanted.method {
            let known = method_of_name(method).ok_or_else(|| {
                lacking("block-cg", "another method; `cg` takes several columns of b together where that is faster")
            })?;
            self.method = known as u32;
        }
        if let Some(kind) = wanted.preconditioner {
            let known = preconditioner_of_name(kind).ok_or_else(|| {
                let expected = "a preconditioner with a code; create this one with its own function and set `inverse`, or name it in \
                                clinalg_system_options.solver";
                let name = SolverText::PRECONDITIONERS.iter().find(|(_, of)| *of == kind);
                lacking(name.map_or("", |(name, _)| name), expected)
            })?;
            self.preconditioner = known as u32;
        }
        self.tolerance = wanted.tolerance.unwrap_or(self.tolerance);
        self.max_iterations = wanted.max_iterations.unwrap_or(self.max_iterations);
        self.restart = wanted.restart.unwrap_or(self.restart);
        self.idr_dimension = wanted.idr_dimensions.unwrap_or(self.idr_dimension);
        Ok(())
    }
}

/// A structure whose first member is its size in bytes.
///
/// # Safety
/// It is `repr(C)`, begins with that size as a `usize`, and any bytes are a value of it.
pub(crate) unsafe trait Versioned: Copy {
    /// Sizes in earlier published versions, in bytes.
    const FORMER: &'static [usize] = &[];
    /// Every member at its default, the size that of this version.
    fn defaults() -> Self;
}

// SAFETY: numbers and pointers in `repr(C)`, the size first; only what the caller sets is called.
unsafe impl Versioned for ClinalgSolverOptions {
    fn defaults() -> ClinalgSolverOptions {
        let defaults = GmresParams::default();
        ClinalgSolverOptions {
            struct_size: size_of::<ClinalgSolverOptions>(),
            method: ClinalgMethod::Cg as u32,
            preconditioner: ClinalgPreconditioner::None as u32,
            tolerance: defaults.stopping.tolerance_of::<f64>(),
            max_iterations: defaults.stopping.max_iterations,
            restart: defaults.restart,
            inverse: 0,
            progress: None,
            progress_data: null_mut(),
            idr_dimension: IdrParams::default().dimensions,
        }
    }
}

/// An error unless a version up to this one has that size.
fn check_size<O: Versioned>(size: usize) -> Result<(), Fault> {
    let known = size_of::<O>();
    if size > known {
        let expected = format!(
            "at most {known}: the program was compiled with the header of a newer version than this library {}; update the library",
            env!("CARGO_PKG_VERSION")
        );
        return Err(Error::value("struct_size", expected, size).into());
    }
    if size != known && !O::FORMER.contains(&size) {
        let former: Vec<_> = O::FORMER.iter().map(usize::to_string).collect();
        let sizes = if former.is_empty() { String::new() } else { former.join(", ") + " or " };
        let expected = format!("{sizes}{known}: call the default function of the structure first, which sets its size");
        return Err(Error::value("struct_size", expected, size).into());
    }
    Ok(())
}

/// Writes as many bytes of the defaults as the caller has.
///
/// # Safety
/// `options` is null or has room for `size` bytes.
pub(crate) unsafe fn put_defaults<O: Versioned>(options: *mut O, size: usize) -> Result<(), Fault> {
    check_array("options", options, 1)?;
    check_size::<O>(size)?;
    let defaults = O::defaults();
    // SAFETY: both have `size` bytes: by the contract above and the check. The size stands first.
    unsafe {
        std::ptr::copy_nonoverlapping((&raw const defaults).cast::<u8>(), options.cast::<u8>(), size);
        options.cast::<usize>().write(size);
    }
    Ok(())
}

/// The caller's options, with defaults for members that its header does not have.
///
/// # Safety
/// `options` is null or names as many bytes as its first member says.
pub(crate) unsafe fn read<O: Versioned>(options: *const O) -> Result<O, Fault> {
    check_array("options", options, 1)?;
    // SAFETY: by the contract above, as every version begins with its size.
    let size = unsafe { options.cast::<usize>().read() };
    check_size::<O>(size)?;
    let mut read = O::defaults();
    // SAFETY: `size` bytes are there, by the contract and the check, and any bytes are a value.
    unsafe { std::ptr::copy_nonoverlapping(options.cast::<u8>(), (&raw mut read).cast::<u8>(), size) };
    Ok(read)
}

/// The preconditioner that options name, by its code or by the handle of an approximate inverse.
pub(crate) fn one_preconditioner(code: u32, inverse: ClinalgHandle) -> Result<Preconditioning, Fault> {
    match (preconditioning_of(code)?, inverse) {
        (named, 0) => Ok(named),
        (Preconditioning::None, inverse) => Ok(Preconditioning::Inverse(inverse)),
        _ => {
            let expected = "CLINALG_PRECONDITIONER_NONE when options.inverse is set; set only one of the two";
            Err(Error::value("preconditioner", expected, code).into())
        }
    }
}

/// An error about the preconditioner; names the member `inverse` if the preconditioner was given there.
pub(crate) fn of_options(fault: Fault, inverse: ClinalgHandle) -> Fault {
    match fault {
        Fault::Library(error) if inverse != 0 => Fault::Library(error.renamed("preconditioner", "inverse")),
        other => other,
    }
}

/// The handle that a solve starts from, if there is one.
///
/// # Safety
/// `handle` is null or valid for reading.
pub(crate) unsafe fn given(argument: &'static str, handle: *const ClinalgHandle) -> Result<Option<u64>, Fault> {
    if handle.is_null() {
        return Err(Fault::Null(argument));
    }
    // SAFETY: by the contract above.
    let handle = unsafe { *handle };
    Ok((handle != 0).then_some(handle))
}

/// The defaults: CG without preconditioner to 1e-10 in at most 10 000 iterations, restart 30. `struct_size` is
/// `sizeof(clinalg_solver_options)`.
///
/// # Safety
/// `options` is null or has room for `struct_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_solver_options_default(
    options: *mut ClinalgSolverOptions,
    struct_size: usize,
) -> ClinalgStatus {
    // SAFETY: by the contract above.
    guard(|| unsafe { put_defaults(options, struct_size) })
}

/// Sets the members that a text names, such as "cg,amg,tol=1e-8"; the others stay as they are. Fill the options with
/// `clinalg_solver_options_default` first. The parts stand between commas in any order, in upper or lower case:
///
/// - a method: `cg`, `fcg`, `minres`, `bicgstab`, `idrs`, `gmres`, `richardson`, `lsqr` or `lsmr`;
/// - a preconditioner: `none`, `jacobi`, `amg`, `spai0`, `ssor`, `ilu`, `ilut`, `ic`, `fsai` or `lu`, a complete factorisation;
/// - `direct` for both, `gmres` and `lu`: a direct solver;
/// - `tol=` with the relative residual to reach, above 0 and below 1;
/// - `max-iterations=`, `restart=` and `idr-dimension=` with whole numbers, the last two at least 1.
///
/// They are named as the options of the program. An unknown name is `CLINALG_STATUS_VALUE` with a message that lists the
/// known ones, as is one that is known but that `clinalg_system_solve` does not have (`block-cg`, `auto`, `sa`,
/// `classical`, `saddle`); `clinalg_system_options.solver` takes those but `block-cg`. A failed call changes nothing.
///
/// # Safety
/// `text` is null or a text that ends in zero; `options` names as many bytes as its first member says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_solver_options_parse(
    text: *const c_char,
    options: *mut ClinalgSolverOptions,
) -> ClinalgStatus {
    guard(|| {
        // SAFETY: by the contract above.
        let (text, mut parsed) = unsafe { (crate::text("text", text)?, read(options)?) };
        parsed.set(text)?;
        // SAFETY: `read` has checked the size, by which the options are valid for a write.
        unsafe { std::ptr::copy_nonoverlapping((&raw const parsed).cast::<u8>(), options.cast(), parsed.struct_size) };
        Ok(())
    })
}

/// Solves A x = b for a dense, sparse or band matrix or an operator, real or complex, or for a matrix on a team. `*x` holds the initial guess on entry and the
/// result on return. If the solve does not converge, this is the iterate with the smallest residual found, number `report->iterate`; if `progress` ended CG
/// or MINRES, it is the last iterate. 0 there makes a new vector and starts from zero. `history`, if not null, gets the first `capacity` relative residuals,
/// beginning with that of the initial guess. b and x may be dense matrices of several columns. These are solved for one after the other, or together by block
/// conjugate gradients with `CLINALG_METHOD_CG` where A has 64 entries in a row or more and b four columns or more; the report is that of the column
/// with the largest residual. With `CLINALG_METHOD_LSQR` and `CLINALG_METHOD_LSMR` A may be rectangular: x makes |b - A x| smallest and is of several
/// such the nearest to the start. Their solves converge also where |A^H (b - A x)| is small relative to |A| |b - A x|; `relative_residual`, which is
/// |b - A x| / |b|, stays large where no x solves the system. Options of a larger size than this library knows are an error.
///
/// # Safety
/// `options` names as many bytes as its first member says; `x` is valid for reading and writing; `report` and `history` are null or
/// valid for a write, the latter of `capacity` values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_system_solve(
    options: *const ClinalgSolverOptions,
    a: ClinalgHandle,
    b: ClinalgHandle,
    x: *mut ClinalgHandle,
    report: *mut ClinalgReport,
    history: *mut f64,
    capacity: usize,
) -> ClinalgStatus {
    guard(|| {
        // SAFETY: by the contract above.
        let (wanted, start) = unsafe { (read(options)?, given("x", x)?) };
        let preconditioning = one_preconditioner(wanted.preconditioner, wanted.inverse)?;
        let mut progress = progress(wanted.progress, wanted.progress_data);
        let solved = krylov(&wanted.wanted(), preconditioning, (a, b, start), &mut progress);
        let (handle, done) = solved.map_err(|fault| of_options(fault, wanted.inverse))?;
        // SAFETY: by the contract above.
        unsafe { results((x, handle), (report, summary(&done)), (history, capacity), &done.history) }
    })
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::{Versioned, put_defaults, read};

    /// A structure of two versions: `added` came with the second.
    #[repr(C)]
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct Grown {
        struct_size: usize,
        first: f64,
        added: f64,
    }

    // SAFETY: numbers in `repr(C)`, the size first.
    unsafe impl Versioned for Grown {
        const FORMER: &[usize] = &[offset_of!(Grown, added)];

        fn defaults() -> Grown {
            Grown { struct_size: size_of::<Grown>(), first: 1.0, added: 2.0 }
        }
    }

    #[test]
    fn members_that_an_older_header_lacks_take_their_defaults() {
        let old = offset_of!(Grown, added);
        let mut options = Grown { struct_size: 0, first: 0.0, added: -1.0 };
        // SAFETY: the structure has more bytes than `old`.
        assert!(unsafe { put_defaults(&raw mut options, old) }.is_ok());
        assert_eq!(options, Grown { struct_size: old, first: 1.0, added: -1.0 });
        options.first = 5.0;
        // SAFETY: as above.
        let taken = unsafe { read(&raw const options) }.ok().unwrap();
        assert_eq!((taken.first, taken.added), (5.0, 2.0));
    }

    #[test]
    fn sizes_that_no_version_had_are_errors() {
        let mut options = Grown::defaults();
        for size in [0, 8, offset_of!(Grown, added) + 4, size_of::<Grown>() + 8, usize::MAX] {
            options.struct_size = size;
            // SAFETY: only the size is read before it is refused.
            let refused = unsafe { (read(&raw const options).is_err(), put_defaults(&raw mut options, size).is_err()) };
            assert_eq!(refused, (true, true), "{size}");
        }
    }
}
