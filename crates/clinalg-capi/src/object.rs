//! Objects behind handles: upload, download, release.

use std::ffi::{c_char, c_void};
use std::path::Path;

use clinalg::io::matrix_market;
use clinalg::matrix::Format;
use clinalg::runtime::fork;
use clinalg::{Complex, Context, Csr, CsrParts, Dense, Error, Precision, Scalar};
use clinalg_handles::{Kind, Registry, ScalarType};

use crate::status::{ClinalgStatus, Fault, guard};
use crate::{choice, put, put_text, slice, slice_mut, too_many};

/// A device object; 0 is never one.
pub type ClinalgHandle = u64;

/// The type of the values of an object.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClinalgPrecision {
    /// `float`.
    F32 = 0,
    /// `double`.
    F64 = 1,
    /// Complex numbers of two `float`: the real part, then the imaginary part, as C99's `float complex`.
    ComplexF32 = 2,
    /// Complex numbers of two `double`: the real part, then the imaginary part, as C99's `double complex`.
    ComplexF64 = 3,
}

/// A complex number, with the layout of C99's `double complex` and C++'s `std::complex<double>`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClinalgComplex {
    /// Real part.
    pub re: f64,
    /// Imaginary part.
    pub im: f64,
}

impl From<ClinalgComplex> for Complex<f64> {
    fn from(value: ClinalgComplex) -> Complex<f64> {
        Complex::new(value.re, value.im)
    }
}

impl From<Complex<f64>> for ClinalgComplex {
    fn from(value: Complex<f64>) -> ClinalgComplex {
        ClinalgComplex { re: value.re, im: value.im }
    }
}

/// The kind of an object.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClinalgKind {
    /// A contiguous vector.
    Vector = 1,
    /// A dense column-major matrix.
    Dense = 2,
    /// A sparse matrix in compressed rows.
    Csr = 3,
    /// A band matrix.
    Band = 4,
    /// A wave.
    Wave = 5,
    /// An operator, which products and solvers accept.
    Operator = 6,
    /// A system of differential equations, of `rows` points and `cols` fields.
    Ode = 7,
    /// A problem of elastodynamics, whose matrices have `rows` rows and `cols` columns.
    Elastodynamics = 8,
    /// A team of `rows` devices.
    Team = 9,
    /// A sparse matrix whose rows are distributed over the devices of a team.
    TeamMatrix = 10,
    /// A method for a system of differential equations of `rows` points and `cols` fields.
    OdeStepper = 11,
    /// A Poisson solver for `rows` points.
    Poisson = 12,
    /// A Krylov solver for `rows` equations.
    Solver = 13,
    /// The factors of a dense matrix of `rows` rows and `cols` columns.
    Factorisation = 15,
    /// Algebraic multigrid for a matrix of `rows` rows on a team.
    TeamAmg = 16,
    /// A kind of object unknown to this version of the header.
    Other = 255,
}

/// Kind, type of values, shape and size of an object.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ClinalgInfo {
    /// The kind of object.
    pub kind: ClinalgKind,
    /// The type of its values.
    pub precision: ClinalgPrecision,
    /// Number of rows; of a vector its length.
    pub rows: usize,
    /// Number of columns; 1 for a vector.
    pub cols: usize,
    /// Entries that a download returns: rows x cols of a full object, the stored ones of a sparse
    /// matrix; 0 for a band matrix, whose download leaves zeros out.
    pub entries: usize,
    /// Subdiagonals of a band matrix, else 0.
    pub kl: usize,
    /// Superdiagonals of a band matrix, else 0.
    pub ku: usize,
}

/// Offsets, indices and values.
type Compressed<'a, T> = (&'a [usize], &'a [usize], &'a [T]);

/// Compressed storage of `count` rows or columns; the last offset gives the number of entries.
///
/// # Safety
/// `offsets` is null or names `count + 1` values.
unsafe fn compressed<'a, T>(
    count: usize,
    offsets: *const usize,
    indices: *const usize,
    values: *const T,
) -> Result<Compressed<'a, T>, Fault> {
    let length = count.checked_add(1).ok_or_else(|| too_many("offsets"))?;
    // SAFETY: by the contract above.
    let offsets = unsafe { slice("offsets", offsets, length)? };
    let entries = offsets[count];
    // SAFETY: the caller's arrays have as many entries as the last offset says.
    unsafe { Ok((offsets, slice("indices", indices, entries)?, slice("values", values, entries)?)) }
}

fn area(rows: usize, cols: usize) -> Result<usize, Fault> {
    rows.checked_mul(cols).ok_or_else(|| too_many("rows x cols"))
}

pub(crate) fn upload(handle: *mut ClinalgHandle, make: impl FnOnce(&Context) -> Result<u64, Fault>) -> ClinalgStatus {
    guard(|| {
        if handle.is_null() {
            return Err(Fault::Null("handle"));
        }
        let made = make(&Context::global()?)?;
        // SAFETY: checked above; every caller passes on a pointer valid for a write.
        unsafe { put("handle", handle, made) }
    })
}

/// Evaluates `$body` with `$real` standing for the type that the code `$precision` names.
macro_rules! typed {
    ($precision:expr, $real:ident => $body:expr) => {
        match scalar_of($precision)? {
            ScalarType::F32 => {
                type $real = f32;
                $body
            }
            ScalarType::F64 => {
                type $real = f64;
                $body
            }
            ScalarType::C32 => {
                type $real = Complex<f32>;
                $body
            }
            ScalarType::C64 => {
                type $real = Complex<f64>;
                $body
            }
        }
    };
}

pub(crate) use typed;

/// The codes of the types of values.
const SCALARS: [(ClinalgPrecision, ScalarType); 4] = [
    (ClinalgPrecision::F32, ScalarType::F32),
    (ClinalgPrecision::F64, ScalarType::F64),
    (ClinalgPrecision::ComplexF32, ScalarType::C32),
    (ClinalgPrecision::ComplexF64, ScalarType::C64),
];

pub(crate) fn scalar_of(code: u32) -> Result<ScalarType, Fault> {
    choice("precision", code, &SCALARS)
}

/// The precision of what is real by its nature.
pub(crate) fn precision_of(code: u32) -> Result<Precision, Fault> {
    let scalar = scalar_of(code)?;
    if scalar.is_complex() {
        let expected = "CLINALG_PRECISION_F32 (0) or CLINALG_PRECISION_F64 (1): its values are real";
        return Err(Error::value("precision", expected, code).into());
    }
    Ok(scalar.precision())
}

/// A vector with a copy of `values[0..len]`, of the type `precision` (a `clinalg_precision`).
///
/// # Safety
/// `values` names `len` values (null for none); `handle` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_vector_create(
    precision: u32,
    values: *const c_void,
    len: usize,
    handle: *mut ClinalgHandle,
) -> ClinalgStatus {
    upload(handle, |context| {
        typed!(precision, T => {
            // SAFETY: by the contract above.
            let values = unsafe { slice("values", values.cast::<T>(), len)? };
            Ok(Registry::global().upload_vector(context, values)?)
        })
    })
}

/// A vector of `len` values that are all `value`, of the type `precision` (a `clinalg_precision`); no array of the
/// host is needed. `clinalg_array_fill_complex` gives it a value with an imaginary part.
///
/// # Safety
/// `handle` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_vector_constant(
    precision: u32,
    len: usize,
    value: f64,
    handle: *mut ClinalgHandle,
) -> ClinalgStatus {
    upload(
        handle,
        |context| typed!(precision, T => Ok(Registry::global().upload_constant(context, len, T::from_f64(value))?)),
    )
}

/// A dense matrix, `values[j * rows + i]` at row i and column j.
///
/// # Safety
/// `values` names `rows * cols` values of the type `precision`; `handle` is null or valid for a
/// write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_dense_create(
    precision: u32,
    rows: usize,
    cols: usize,
    values: *const c_void,
    handle: *mut ClinalgHandle,
) -> ClinalgStatus {
    upload(handle, |context| {
        typed!(precision, T => {
            // SAFETY: by the contract above.
            let values = unsafe { slice("values", values.cast::<T>(), area(rows, cols)?)? };
            Ok(Registry::global().upload_dense(context, rows, cols, values)?)
        })
    })
}

/// A sparse matrix from compressed rows: `rows + 1` offsets, `offsets[rows]` column indices
/// (0-based) and values. Unsorted entries are sorted, duplicates summed.
///
/// # Safety
/// The arrays have those lengths; `handle` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_sparse_from_csr(
    precision: u32,
    rows: usize,
    cols: usize,
    offsets: *const usize,
    indices: *const usize,
    values: *const c_void,
    handle: *mut ClinalgHandle,
) -> ClinalgStatus {
    upload(handle, |context| {
        typed!(precision, T => {
            // SAFETY: by the contract above.
            let (offsets, indices, values) = unsafe { compressed(rows, offsets, indices, values.cast::<T>())? };
            Ok(Registry::global().upload_csr(context, (rows, cols), offsets, indices, values)?)
        })
    })
}

/// A sparse matrix from compressed columns: `cols + 1` offsets, `offsets[cols]` row indices
/// (0-based) and values.
///
/// # Safety
/// The arrays have those lengths; `handle` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_sparse_from_csc(
    precision: u32,
    rows: usize,
    cols: usize,
    offsets: *const usize,
    indices: *const usize,
    values: *const c_void,
    handle: *mut ClinalgHandle,
) -> ClinalgStatus {
    upload(handle, |context| {
        typed!(precision, T => {
            // SAFETY: by the contract above.
            let (offsets, indices, values) = unsafe { compressed(cols, offsets, indices, values.cast::<T>())? };
            Ok(Registry::global().upload_csc(context, (rows, cols), offsets, indices, values)?)
        })
    })
}

/// A band matrix of `kl` sub- and `ku` superdiagonals from its full column-major form; a nonzero
/// outside the band is an error.
///
/// # Safety
/// `values` names `rows * cols` values of the type `precision`; `handle` is null or valid for a
/// write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_band_create(
    precision: u32,
    rows: usize,
    cols: usize,
    kl: usize,
    ku: usize,
    values: *const c_void,
    handle: *mut ClinalgHandle,
) -> ClinalgStatus {
    upload(handle, |context| {
        typed!(precision, T => {
            // SAFETY: by the contract above.
            let values = unsafe { slice("values", values.cast::<T>(), area(rows, cols)?)? };
            Ok(Registry::global().upload_band(context, (rows, cols), (kl, ku), values)?)
        })
    })
}

/// Copies `count` values from `offset` on of a vector or dense matrix to the host. `precision` must
/// be that of the object.
///
/// # Safety
/// `values` has room for `count` values of the type `precision`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_array_read(
    handle: ClinalgHandle,
    precision: u32,
    offset: usize,
    count: usize,
    values: *mut c_void,
) -> ClinalgStatus {
    guard(|| {
        typed!(precision, T => {
            // SAFETY: by the contract above.
            let values = unsafe { slice_mut("values", values.cast::<T>(), count)? };
            Ok(Registry::global().read(handle, offset, values)?)
        })
    })
}

/// Replaces `count` values from `offset` on of a vector or dense matrix. `precision` must be that
/// of the object.
///
/// # Safety
/// `values` names `count` values of the type `precision`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_array_write(
    handle: ClinalgHandle,
    precision: u32,
    offset: usize,
    count: usize,
    values: *const c_void,
) -> ClinalgStatus {
    guard(|| {
        typed!(precision, T => {
            // SAFETY: by the contract above.
            let values = unsafe { slice("values", values.cast::<T>(), count)? };
            Ok(Registry::global().write(handle, offset, values)?)
        })
    })
}

/// Downloads a sparse or band matrix in compressed columns. `entries` is the capacity of `indices`
/// and `values` on entry and the number of entries on return; with too small a capacity nothing is
/// copied and the call fails with the required number in `entries`. `precision` must be that of the
/// object.
///
/// # Safety
/// `offsets` has room for cols + 1 values, `indices` and `values` for `*entries`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_sparse_read(
    handle: ClinalgHandle,
    precision: u32,
    offsets: *mut usize,
    indices: *mut usize,
    values: *mut c_void,
    entries: *mut usize,
) -> ClinalgStatus {
    guard(|| {
        let rows = Registry::global().info(handle)?.rows;
        typed!(precision, T => {
            let columns = Registry::global().sparse_rows::<T>(handle, 0..rows)?.transpose()?;
            // SAFETY: by the contract above.
            unsafe { copy_sparse(&columns, offsets, indices, values.cast(), entries) }
        })
    })
}

/// Downloads `row_count` rows of a sparse or band matrix from row `first_row` on (0-based) in compressed rows: one offset
/// more than rows, the first 0, and as many column indices (0-based) and values as the last offset says, row by row with
/// ascending columns. Of a sparse matrix nothing else is transferred. `entries` is the capacity of `indices` and `values`
/// on entry and the number of entries on return; with too small a capacity nothing is copied and the call fails with the
/// required number in `entries`. The entries of the object are enough for a sparse matrix. `precision` must be that of the
/// object.
///
/// # Safety
/// `offsets` has room for `row_count + 1` values, `indices` and `values` for `*entries`.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "C has no slices")]
pub unsafe extern "C" fn clinalg_sparse_read_rows(
    handle: ClinalgHandle,
    precision: u32,
    first_row: usize,
    row_count: usize,
    offsets: *mut usize,
    indices: *mut usize,
    values: *mut c_void,
    entries: *mut usize,
) -> ClinalgStatus {
    guard(|| {
        let end = first_row.checked_add(row_count).ok_or_else(|| too_many("first_row + row_count"))?;
        typed!(precision, T => {
            let rows = Registry::global().sparse_rows::<T>(handle, first_row..end)?;
            // SAFETY: by the contract above.
            unsafe { copy_sparse(&rows, offsets, indices, values.cast(), entries) }
        })
    })
}

/// # Safety
/// As [`clinalg_sparse_read`].
unsafe fn copy_sparse<T: Copy>(
    parts: &CsrParts<T>,
    offsets: *mut usize,
    indices: *mut usize,
    values: *mut T,
    entries: *mut usize,
) -> Result<(), Fault> {
    if entries.is_null() {
        return Err(Fault::Null("entries"));
    }
    let found = parts.values.len();
    // SAFETY: by the contract above.
    let capacity = unsafe { entries.replace(found) };
    if capacity < found {
        return Err(Error::Length { argument: "entries", expected: found, got: capacity }.into());
    }
    // SAFETY: by the contract above.
    unsafe {
        slice_mut("offsets", offsets, parts.offsets.len())?.copy_from_slice(&parts.offsets);
        slice_mut("indices", indices, found)?.copy_from_slice(&parts.indices);
        slice_mut("values", values, found)?.copy_from_slice(&parts.values);
    }
    Ok(())
}

/// Reads a MatrixMarket file into a sparse matrix (coordinate files) or a dense one (array files),
/// with values of the type `precision`, a complex one for files of complex values.
///
/// # Safety
/// `path` is null or a path that ends in zero, of any bytes on Unix; `handle` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_matrix_market_read(
    path: *const c_char,
    precision: u32,
    handle: *mut ClinalgHandle,
) -> ClinalgStatus {
    fn load<T: Scalar>(context: &Context, path: &Path) -> Result<u64, Fault> {
        let file = matrix_market::read(path)?;
        Ok(match file.storage.is_sparse() {
            true => Registry::global().insert(Csr::from_parts(context, &file.to_csr_parts::<T>()?)?),
            false => {
                let values = file.to_column_major::<T>()?;
                Registry::global().insert(Dense::from_column_major(context, file.rows, file.cols, &values)?)
            }
        })
    }
    upload(handle, |context| {
        // SAFETY: by the contract above.
        let path = unsafe { crate::path("path", path)? };
        typed!(precision, T => load::<T>(context, path))
    })
}

/// Information about the object of a handle.
///
/// # Safety
/// `info` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_object_get_info(handle: ClinalgHandle, info: *mut ClinalgInfo) -> ClinalgStatus {
    guard(|| {
        let found = Registry::global().info(handle)?;
        let kind = match found.kind {
            Kind::Vector => ClinalgKind::Vector,
            Kind::Dense => ClinalgKind::Dense,
            Kind::Csr => ClinalgKind::Csr,
            Kind::Band => ClinalgKind::Band,
            Kind::Wave => ClinalgKind::Wave,
            Kind::Operator => ClinalgKind::Operator,
            Kind::Ode => ClinalgKind::Ode,
            Kind::Elastodynamics => ClinalgKind::Elastodynamics,
            Kind::Team => ClinalgKind::Team,
            Kind::TeamMatrix => ClinalgKind::TeamMatrix,
            Kind::OdeStepper => ClinalgKind::OdeStepper,
            Kind::Poisson => ClinalgKind::Poisson,
            Kind::Solver => ClinalgKind::Solver,
            Kind::Factorisation => ClinalgKind::Factorisation,
            Kind::TeamAmg => ClinalgKind::TeamAmg,
            _ => ClinalgKind::Other,
        };
        let value = ClinalgInfo {
            kind,
            precision: match found.scalar() {
                ScalarType::F32 => ClinalgPrecision::F32,
                ScalarType::F64 => ClinalgPrecision::F64,
                ScalarType::C32 => ClinalgPrecision::ComplexF32,
                ScalarType::C64 => ClinalgPrecision::ComplexF64,
            },
            rows: found.rows,
            cols: found.cols,
            entries: found.entries,
            kl: found.kl,
            ku: found.ku,
        };
        // SAFETY: by the contract above.
        unsafe { put("info", info, value) }
    })
}

/// Adds an owner to an object of any kind: `clinalg_object_release` frees it when each owner has called it once. The
/// handle stays the same.
#[unsafe(no_mangle)]
pub extern "C" fn clinalg_object_retain(handle: ClinalgHandle) -> ClinalgStatus {
    guard(|| Ok(Registry::global().retain(handle)?))
}

/// Releases an object of any kind. It is freed unless `clinalg_object_retain` has given it other owners. The handle is
/// stale then, and one more release is an error without side effects.
#[unsafe(no_mangle)]
pub extern "C" fn clinalg_object_release(handle: ClinalgHandle) -> ClinalgStatus {
    if fork::is_child() {
        return ClinalgStatus::Ok;
    }
    guard(|| Ok(Registry::global().release(handle, Kind::ALL)?))
}

/// How the products of a sparse matrix run.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClinalgFormat {
    /// Chosen from the matrix, as at its upload.
    Best = 0,
    /// The compressed rows as they are.
    Csr = 1,
    /// Blocks of rows with about the same number of entries (nnz-balanced CSR).
    Balanced = 2,
    /// Entries at few distances from the diagonal: columns are not read.
    Dia = 3,
    /// A stencil with constant coefficients: neither columns nor values are read.
    Stencil = 4,
    /// Dense blocks of 2 x 2 to 6 x 6, on a GPU: one column index per block.
    Bsr = 5,
    /// Chunks of rows sorted by their length (SELL-C-sigma), on a GPU.
    Sell = 6,
}

/// Chooses the format of a sparse matrix by its current values; `format` is a `clinalg_format`. One that the matrix or the
/// device does not support is an error and changes nothing.
#[unsafe(no_mangle)]
pub extern "C" fn clinalg_sparse_set_format(handle: ClinalgHandle, format: u32) -> ClinalgStatus {
    guard(|| {
        let format = choice(
            "format",
            format,
            &[
                (ClinalgFormat::Best, None),
                (ClinalgFormat::Csr, Some(Format::Csr)),
                (ClinalgFormat::Balanced, Some(Format::Balanced)),
                (ClinalgFormat::Dia, Some(Format::Dia)),
                (ClinalgFormat::Stencil, Some(Format::Stencil)),
                (ClinalgFormat::Bsr, Some(Format::Bsr)),
                (ClinalgFormat::Sell, Some(Format::Sell)),
            ],
        )?;
        Ok(Registry::global().set_format(handle, format)?)
    })
}

/// How the products of a sparse matrix run and why, or the kind and size of another object, cut to `capacity` bytes with the ending zero. `needed`, if
/// not null, gets the bytes of the whole text with its zero.
///
/// # Safety
/// `buffer` is null or has room for `capacity` bytes; `needed` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_object_explain(
    handle: ClinalgHandle,
    buffer: *mut c_char,
    capacity: usize,
    needed: *mut usize,
) -> ClinalgStatus {
    guard(|| {
        let text = Registry::global().explain(handle)?;
        // SAFETY: by the contract above.
        unsafe { put_text(&text, (buffer, capacity), needed) }
    })
}
