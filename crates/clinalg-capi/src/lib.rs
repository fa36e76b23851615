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

/// An enumeration of C. Its values come as plain numbers: one that it does not list would be undefined behaviour.
trait Code: Copy + std::fmt::Debug {
    /// How the names of its values begin in the header.
    const PREFIX: &'static str;

    fn code(self) -> u32;

    /// The name of the value in the header.
    fn name(self) -> String {
        let mut name = Self::PREFIX.to_owned();
        let mut ends_word = true;
        for c in format!("{self:?}").chars() {
            if ends_word && c.is_ascii_uppercase() {
                name.push('_');
            }
            name.push(c.to_ascii_uppercase());
            ends_word = !c.is_ascii_uppercase();
        }
        name
    }
}

macro_rules! codes {
    ($($name:ty: $prefix:literal),* $(,)?) => {
    $(
        impl Code for $name {
            const PREFIX: &'static str = $prefix;

            fn code(self) -> u32 {
                self as u32
            }
        }
    )*

    #[cfg(test)]
    const PREFIXES: &[&str] = &[$($prefix),*];
    };
}

codes! {
    ClinalgPrecision: "CLINALG_PRECISION",
    ClinalgFormat: "CLINALG_FORMAT",
    ClinalgTriangle: "CLINALG_TRIANGLE",
    ClinalgScheme: "CLINALG_SCHEME",
    ClinalgWaveSide: "CLINALG_WAVE_SIDE",
    ClinalgMethod: "CLINALG_METHOD",
    ClinalgPreconditioner: "CLINALG_PRECONDITIONER",
    ClinalgSmoother: "CLINALG_SMOOTHER",
    ClinalgBackend: "CLINALG_BACKEND",
    ClinalgCycle: "CLINALG_CYCLE",
    ClinalgDomain: "CLINALG_DOMAIN",
    ClinalgKnown: "CLINALG_KNOWN",
    ClinalgElastodynamicsMethod: "CLINALG_ELASTODYNAMICS_METHOD",
    ClinalgSaddleShape: "CLINALG_SADDLE_SHAPE",
    ClinalgSchur: "CLINALG_SCHUR",
    ClinalgHeatKind: "CLINALG_HEAT_KIND",
    ClinalgStorage: "CLINALG_STORAGE",
    ClinalgOdeDirection: "CLINALG_ODE_DIRECTION",
    ClinalgCondition: "CLINALG_CONDITION",
    ClinalgCentring: "CLINALG_CENTRING",
    ClinalgCoefficientAt: "CLINALG_COEFFICIENT_AT",
    ClinalgTranspose: "CLINALG_TRANSPOSE",
    ClinalgFactorisation: "CLINALG_FACTORISATION",
    ClinalgGuess: "CLINALG_GUESS",
    ClinalgSpectrumEnd: "CLINALG_SPECTRUM_END",
    ClinalgOdeNorm: "CLINALG_ODE_NORM",
    ClinalgOrdering: "CLINALG_ORDERING",
    ClinalgMatching: "CLINALG_MATCHING",
    ClinalgAmgSmoother: "CLINALG_AMG_SMOOTHER",
    ClinalgAmgCycle: "CLINALG_AMG_CYCLE",
    ClinalgAmgCoarsening: "CLINALG_AMG_COARSENING",
    ClinalgDeviceText: "CLINALG_TEXT",
    ClinalgDeviceNumber: "CLINALG_NUMBER",
}

/// What a code from C stands for. The error for another one lists the names of the header.
fn choice<C: Code, T: Copy>(argument: &'static str, code: u32, known: &[(C, T)]) -> Result<T, Fault> {
    known.iter().find(|(own, _)| own.code() == code).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<_> = known.iter().map(|(own, _)| format!("{} ({})", own.name(), own.code())).collect();
        let expected = match names.as_slice() {
            [most @ .., last] if !most.is_empty() => format!("{} or {last}", most.join(", ")),
            _ => names.concat(),
        };
        Fault::Library(clinalg::Error::Value { argument, expected, got: code.to_string() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names that the error for a code lists, with their numbers.
    fn listed(fault: Result<(), Fault>) -> Vec<(String, String)> {
        let Err(Fault::Library(error)) = fault else { panic!("an unknown code is an error") };
        let message = error.to_string();
        let names = message.split([',', ' ']).zip(message.split([',', ' ']).skip(1));
        let names = names.filter(|(name, _)| name.starts_with("CLINALG_"));
        names.map(|(name, number)| (name.to_owned(), number.trim_matches(['(', ')']).to_owned())).collect()
    }

    #[test]
    fn names_in_errors_are_those_of_the_header() {
        let header = include_str!("../include/clinalg.h");
        let options = |change: fn(&mut ClinalgAmgOptions)| {
            let mut options = <ClinalgAmgOptions as options::Versioned>::defaults();
            change(&mut options);
            options.params().map(drop)
        };
        let all = [
            (object::scalar_of(99).map(drop), 4),
            (solver::preconditioning_of(99).map(drop), 10),
            (solver::cycle_of(99).map(drop), 3),
            (solver::backend_of(99).map(drop), 3),
            (options(|options| options.smoother = 99), 4),
            (options(|options| options.cycle = 99), 3),
            (options(|options| options.coarsening = 99), 3),
        ];
        for (fault, count) in all {
            let names = listed(fault);
            assert_eq!(names.len(), count, "{names:?}");
            for (name, number) in names {
                assert!(header.contains(&format!("  {name} = {number},\n")), "{name} = {number}");
            }
        }
    }

    #[test]
    fn every_name_of_a_device_property_is_in_the_header() {
        let header = include_str!("../include/clinalg.h");
        for name in
            [ClinalgDeviceText::Driver.name(), ClinalgDeviceNumber::Fp64.name(), ClinalgOrdering::CuthillMckee.name()]
        {
            assert!(header.contains(&format!("  {name} = ")), "{name}");
        }
        for prefix in PREFIXES {
            assert!(header.contains(&format!("  {prefix}_")), "{prefix}");
        }
    }
}
