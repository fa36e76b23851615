//! The C ABI of clinalg.
//!
//! Every function returns a [`ClinalgStatus`]; results go through pointers.
//! Objects are `uint64_t` handles, never pointers: a released, foreign or forged handle is an error.
//! No panic crosses into C. The header `include/clinalg.h` is generated from this crate.
//!
//! A function is called `clinalg_<noun>_<verb>`, after the kind of object that it makes or works on.
//!
//! Arrays are borrowed for the length of a call. All functions may be called from any thread.

mod automatic;
mod callback;
mod complex;
mod convert;
mod device;
mod eigen;
mod elastodynamics;
mod factorisation;
mod heat;
mod heat_problem;
mod interop;
mod krylov;
mod multigrid;
mod object;
mod ode;
mod ode_options;
mod operation;
mod options;
mod poisson;
mod preconditioner;
mod saddle;
mod solver;
mod sparse;
mod sparse_input;
mod status;
mod team;
mod wave;
mod waveform;

pub use automatic::*;
pub use callback::*;
pub use complex::*;
pub use convert::*;
pub use device::*;
pub use eigen::*;
pub use elastodynamics::*;
pub use factorisation::*;
pub use heat::*;
pub use heat_problem::*;
pub use interop::*;
pub use krylov::*;
pub use multigrid::*;
pub use object::*;
pub use ode::*;
pub use ode_options::*;
pub use operation::*;
pub use options::*;
pub use poisson::*;
pub use preconditioner::*;
pub use saddle::*;
pub use solver::*;
pub use sparse::*;
pub use sparse_input::*;
pub use status::{ClinalgStatus, clinalg_last_error_id, clinalg_last_error_message, clinalg_version};
pub use team::*;
pub use wave::*;
pub use waveform::*;

use std::ffi::{CStr, c_char};
use std::path::Path;

use status::Fault;

/// Refuses what no array of `len` values can be: null, not aligned, or larger than the address space.
fn check_array<T>(argument: &'static str, pointer: *const T, len: usize) -> Result<(), Fault> {
    if pointer.is_null() {
        return Err(Fault::Null(argument));
    }
    if !pointer.is_aligned() {
        let expected = format!("an address divisible by {}", align_of::<T>());
        return Err(Fault::Library(clinalg::Error::Value { argument, expected, got: format!("{pointer:p}") }));
    }
    if len > isize::MAX as usize / size_of::<T>() {
        return Err(too_many(argument));
    }
    Ok(())
}

fn too_many(argument: &'static str) -> Fault {
    let expected = "a length that fits the address space".into();
    Fault::Library(clinalg::Error::Value { argument, expected, got: "more".into() })
}

/// The slice behind a pointer; an empty one may be null.
///
/// # Safety
/// `pointer` is null or names `len` values that nobody writes while the slice lives.
unsafe fn slice<'a, T>(argument: &'static str, pointer: *const T, len: usize) -> Result<&'a [T], Fault> {
    if len == 0 {
        return Ok(&[]);
    }
    check_array(argument, pointer, len)?;
    // SAFETY: by the contract above and the check.
    Ok(unsafe { std::slice::from_raw_parts(pointer, len) })
}

/// The writable slice behind a pointer; an empty one may be null.
///
/// # Safety
/// `pointer` is null or names `len` values that nobody else uses while the slice lives.
unsafe fn slice_mut<'a, T>(argument: &'static str, pointer: *mut T, len: usize) -> Result<&'a mut [T], Fault> {
    if len == 0 {
        return Ok(&mut []);
    }
    check_array(argument, pointer, len)?;
    // SAFETY: by the contract above and the check.
    Ok(unsafe { std::slice::from_raw_parts_mut(pointer, len) })
}

/// Writes a result.
///
/// # Safety
/// `pointer` is null or valid for a write.
unsafe fn put<T>(argument: &'static str, pointer: *mut T, value: T) -> Result<(), Fault> {
    if pointer.is_null() {
        return Err(Fault::Null(argument));
    }
    // SAFETY: by the contract above.
    unsafe { pointer.write(value) };
    Ok(())
}

/// The text behind a pointer.
///
/// # Safety
/// `pointer` is null or names a text that ends in zero.
unsafe fn text<'a>(argument: &'static str, pointer: *const c_char) -> Result<&'a str, Fault> {
    if pointer.is_null() {
        return Err(Fault::Null(argument));
    }
    // SAFETY: by the contract above.
    let bytes = unsafe { CStr::from_ptr(pointer) };
    bytes.to_str().map_err(|error| {
        let got = format!("not UTF-8 from byte {} on", error.valid_up_to());
        Fault::Library(clinalg::Error::value(argument, "text in UTF-8", got))
    })
}

/// The path behind a pointer: any bytes on Unix, text in UTF-8 elsewhere.
///
/// # Safety
/// `pointer` is null or names a text that ends in zero.
unsafe fn path<'a>(argument: &'static str, pointer: *const c_char) -> Result<&'a Path, Fault> {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        if pointer.is_null() {
            return Err(Fault::Null(argument));
        }
        // SAFETY: by the contract above.
        let bytes = unsafe { CStr::from_ptr(pointer) };
        Ok(Path::new(std::ffi::OsStr::from_bytes(bytes.to_bytes())))
    }
    #[cfg(not(unix))]
    {
        // SAFETY: by the contract above.
        unsafe { text(argument, pointer) }.map(Path::new)
    }
}

/// Writes `text` with an ending zero, cut to the buffer's bytes, and to `needed`, if not null, the bytes of all of it.
///
/// # Safety
/// The buffer is null or has room for its bytes; `needed` is null or valid for a write.
unsafe fn put_text(text: &str, (buffer, capacity): (*mut c_char, usize), needed: *mut usize) -> Result<(), Fault> {
    // SAFETY: by the contract above.
    let buffer = unsafe { slice_mut("buffer", buffer.cast::<u8>(), capacity)? };
    if let Some(room) = capacity.checked_sub(1) {
        let mut kept = room.min(text.len());
        while !text.is_char_boundary(kept) {
            kept -= 1;
        }
        buffer[..kept].copy_from_slice(&text.as_bytes()[..kept]);
        buffer[kept] = 0;
    }
    if needed.is_null() {
        return Ok(());
    }
    // SAFETY: by the contract above.
    unsafe { put("needed", needed, text.len() + 1) }
}

/// What a code from C stands for. Codes are plain numbers here: an enumeration with a value it does
/// not list would be undefined behaviour.
fn choice<T: Copy + std::fmt::Debug>(argument: &'static str, code: u32, known: &[(u32, T)]) -> Result<T, Fault> {
    known.iter().find(|(number, _)| *number == code).map(|(_, value)| *value).ok_or_else(|| {
        let words: Vec<_> = known.iter().map(|(number, value)| format!("{number} ({})", variant(value))).collect();
        let expected = match words.as_slice() {
            [most @ .., last] if !most.is_empty() => format!("{} or {last}", most.join(", ")),
            _ => words.concat(),
        };
        Fault::Library(clinalg::Error::Value { argument, expected, got: code.to_string() })
    })
}

/// The name of an enumeration's variant, without what is in it: of `Of(Ilu)`, `Ilu`.
fn variant(value: &impl std::fmt::Debug) -> String {
    let text = format!("{value:?}");
    let text = text.strip_prefix("Some(").or_else(|| text.strip_prefix("Of(")).unwrap_or(&text);
    text.split(['(', ' ', ')', '{']).next().unwrap_or_default().to_owned()
}
