//! Block preconditioners for saddle points.

use std::ptr::null;

use clinalg::Error;
use clinalg::precond::{Inner, SaddleParams, SaddleShape, Schur, SchurKind, Split};
use clinalg_handles::Registry;

use crate::object::{ClinalgHandle, upload};
use crate::options::{Versioned, put_defaults, read};
use crate::solver::ClinalgPreconditioner;
use crate::status::{ClinalgStatus, Fault, guard};
use crate::{choice, put, slice};

/// How the blocks of a preconditioner for [A B'; B -C] are combined; S approximates B A^-1 B' + C.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClinalgSaddleShape {
    /// M = [A 0; 0 S], symmetric positive definite where A and S are: for `CLINALG_METHOD_MINRES`.
    Diagonal = 0,
    /// M = [A B'; 0 -S]: for GMRES, BiCGStab and IDR(s), in about half the iterations.
    Triangular = 1,
}

/// The approximation of the Schur complement B A^-1 B' + C.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClinalgSchur {
    /// `PRODUCT` where A is close to its diagonal, else `DIAGONAL`.
    Auto = 0,
    /// B diag(A)^-1 B' + C: where A is a mass matrix, or has one as its larger part.
    Product = 1,
    /// The diagonal of that matrix: where A is a differential operator of second order and B of first order (Stokes).
    Diagonal = 2,
    /// The diagonal of the mass matrix that was given; in reports only.
    Mass = 3,
}

/// Options of a preconditioner for saddle points. Fill them with `clinalg_saddle_options_default(&options, sizeof options)`, then change what is to
/// differ. Later versions append members, which take their defaults in programs compiled before.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ClinalgSaddleOptions {
    /// `sizeof(clinalg_saddle_options)`, as the program was compiled.
    pub struct_size: usize,
    /// How the blocks are combined, a `clinalg_saddle_shape`.
    pub shape: u32,
    /// The approximation of the Schur complement, a `clinalg_schur`.
    pub schur: u32,
    /// The preconditioner of A: `CLINALG_PRECONDITIONER_AMG`, `_IC`, `_ILU` or `_JACOBI`; `_NONE` chooses one that suits it.
    pub first: u32,
    /// The preconditioner of `CLINALG_SCHUR_PRODUCT`, as `first`.
    pub second: u32,
    /// Rows of A, where these come first; 0 finds the second block by its diagonal, unless `second_rows` names it.
    pub first_count: usize,
    /// The rows of the second block, ascending, from 0 on; null for none.
    pub second_rows: *const usize,
    /// Number of `second_rows`.
    pub second_count: usize,
    /// The positive diagonal of the mass matrix of the second block (for Stokes divided by the viscosity) in place of the Schur complement; null
    /// for none.
    pub mass: *const f64,
    /// Number of values of `mass`.
    pub mass_count: usize,
}

/// The components of a preconditioner for saddle points.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ClinalgSaddleReport {
    /// A `clinalg_saddle_shape`.
    pub shape: u32,
    /// A `clinalg_schur`.
    pub schur: u32,
    /// The preconditioner of A, a `clinalg_preconditioner`.
    pub first: u32,
    /// The preconditioner of `CLINALG_SCHUR_PRODUCT`, a `clinalg_preconditioner`; `CLINALG_PRECONDITIONER_NONE` otherwise.
    pub second: u32,
    /// Rows of A.
    pub first_rows: usize,
    /// Rows of C.
    pub second_rows: usize,
    /// Not 0 where the matrix maps constants of the second block to zero, as for the pressure of an enclosed flow: solutions exist where the
    /// values of b in that block add up to 0, and are known up to such a constant.
    pub null_constant: i32,
}

// SAFETY: numbers and pointers in `repr(C)`, the size first; what the pointers name is read only by the contract of the functions.
unsafe impl Versioned for ClinalgSaddleOptions {
    fn defaults() -> ClinalgSaddleOptions {
        ClinalgSaddleOptions {
            struct_size: size_of::<ClinalgSaddleOptions>(),
            shape: ClinalgSaddleShape::Diagonal as u32,
            schur: ClinalgSchur::Auto as u32,
            first: ClinalgPreconditioner::None as u32,
            second: ClinalgPreconditioner::None as u32,
            first_count: 0,
            second_rows: null(),
            second_count: 0,
            mass: null(),
            mass_count: 0,
        }
    }
}

/// The codes of the preconditioners of blocks.
const INNER: [(ClinalgPreconditioner, Inner); 4] = [
    (ClinalgPreconditioner::Jacobi, Inner::Jacobi),
    (ClinalgPreconditioner::Ilu, Inner::Ilu),
    (ClinalgPreconditioner::Ic, Inner::Ic),
    (ClinalgPreconditioner::Amg, Inner::Amg),
];

fn inner_of(argument: &'static str, code: u32) -> Result<Option<Inner>, Fault> {
    let known = INNER.map(|(code, inner)| (code, Some(inner)));
    let none = [(ClinalgPreconditioner::None, None)];
    choice(argument, code, &[none.as_slice(), &known].concat())
}

fn code_of(inner: Option<Inner>) -> u32 {
    let code =
        INNER.iter().find(|(_, known)| Some(*known) == inner).map_or(ClinalgPreconditioner::None, |(code, _)| *code);
    code as u32
}

impl ClinalgSaddleOptions {
    fn params(&self) -> Result<SaddleParams, Fault> {
        let shapes = [
            (ClinalgSaddleShape::Diagonal, SaddleShape::Diagonal),
            (ClinalgSaddleShape::Triangular, SaddleShape::Triangular),
        ];
        let schurs = [
            (ClinalgSchur::Auto, Schur::Auto),
            (ClinalgSchur::Product, Schur::Product),
            (ClinalgSchur::Diagonal, Schur::Diagonal),
        ];
        let mut params = SaddleParams::default()
            .shape(choice("shape", self.shape, &shapes)?)
            .schur(choice("schur", self.schur, &schurs)?);
        params.first = inner_of("first", self.first)?;
        params.second = inner_of("second", self.second)?;
        Ok(params)
    }

    /// Which rows belong to which block, if the options say it.
    ///
    /// # Safety
    /// `second_rows` is null or names as many values as its number says.
    unsafe fn split(&self) -> Result<Option<Split>, Fault> {
        match (self.first_count, self.second_rows.is_null()) {
            (0, true) => Ok(None),
            (first, true) => Ok(Some(Split::First(first))),
            (0, false) => {
                // SAFETY: by the contract above.
                let rows = unsafe { slice("second_rows", self.second_rows, self.second_count)? };
                Ok(Some(Split::Second(rows.to_vec())))
            }
            (first, false) => {
                let expected = "0 where second_rows names the second block; set only one of the two";
                Err(Error::value("first_count", expected, first).into())
            }
        }
    }
}

/// The defaults: a block diagonal preconditioner whose parts are chosen from the matrix. `struct_size` is `sizeof(clinalg_saddle_options)`.
///
/// # Safety
/// `options` is null or has room for `struct_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_saddle_options_default(
    options: *mut ClinalgSaddleOptions,
    struct_size: usize,
) -> ClinalgStatus {
    // SAFETY: by the contract above.
    guard(|| unsafe { put_defaults(options, struct_size) })
}

/// A block preconditioner for the real sparse matrix [A B'; B -C] of a saddle point (Stokes, mixed elements, constraints): an operator whose
/// product, by `clinalg_matrix_mv`, applies its inverse, for `clinalg_solver_options.inverse`. It does not refer to the matrix afterwards.
///
/// # Safety
/// `options` names as many bytes as its first member says, its arrays as many values as their numbers say; `handle` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_saddle_create(
    options: *const ClinalgSaddleOptions,
    a: ClinalgHandle,
    handle: *mut ClinalgHandle,
) -> ClinalgStatus {
    upload(handle, |_| {
        // SAFETY: by the contract above.
        let options = unsafe { read(options)? };
        let params = options.params()?;
        // SAFETY: by the contract above.
        let split = unsafe { options.split()? };
        let mass = match options.mass.is_null() {
            true => None,
            // SAFETY: by the contract above.
            false => Some(unsafe { slice("mass", options.mass, options.mass_count)? }),
        };
        Ok(Registry::global().saddle(a, split.as_ref(), mass, &params)?)
    })
}

/// What a preconditioner of `clinalg_saddle_create` is made of.
///
/// # Safety
/// `report` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_saddle_info(
    preconditioner: ClinalgHandle,
    report: *mut ClinalgSaddleReport,
) -> ClinalgStatus {
    guard(|| {
        let found = Registry::global().saddle_report(preconditioner)?;
        let shape = match found.shape {
            SaddleShape::Triangular => ClinalgSaddleShape::Triangular,
            _ => ClinalgSaddleShape::Diagonal,
        };
        let (schur, second) = match found.schur {
            SchurKind::Product(inner) => (ClinalgSchur::Product, Some(inner)),
            SchurKind::Mass => (ClinalgSchur::Mass, None),
            _ => (ClinalgSchur::Diagonal, None),
        };
        let value = ClinalgSaddleReport {
            shape: shape as u32,
            schur: schur as u32,
            first: code_of(found.first),
            second: code_of(second),
            first_rows: found.first_rows,
            second_rows: found.second_rows,
            null_constant: i32::from(found.null_constant),
        };
        // SAFETY: by the contract above.
        unsafe { put("report", report, value) }
    })
}
