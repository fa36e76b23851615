//! The host's C functions, found by name when the first call comes.
//!
//! MATLAB and Octave export the same functions under three naming schemes, so one library serves
//! all hosts if it links none of them. Every function may leave by an exception of the host or by
//! `longjmp` and is therefore `C-unwind`, never called inside `catch_unwind`, and never called from
//! another thread.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::mem::transmute_copy;
use std::sync::OnceLock;

use crate::fault::Fault;

/// An array of the host.
#[repr(C)]
pub(crate) struct MxArray {
    _private: [u8; 0],
}

/// `mxClassID`, equal in all hosts.
pub(crate) mod class {
    pub(crate) const CELL: i32 = 1;
    pub(crate) const LOGICAL: i32 = 3;
    pub(crate) const DOUBLE: i32 = 6;
    pub(crate) const SINGLE: i32 = 7;
    pub(crate) const INT8: i32 = 8;
    pub(crate) const UINT64: i32 = 15;
    pub(crate) const FUNCTION: i32 = 16;
}

/// How the host names its functions and lays out complex numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// GNU Octave: plain names.
    Octave,
    /// MATLAB before R2018a: `_730` for what takes 64-bit sizes, plain names for the rest.
    Matlab700,
    /// MATLAB R2018a and later: `_800` throughout.
    Matlab800,
}

/// Where names are looked up: the process, then libraries of MATLAB, which a host may keep to
/// itself.
pub(crate) struct Libraries([*mut c_void; 4]);

impl Libraries {
    pub(crate) fn open() -> Libraries {
        let loaded = |name: &CStr| {
            // SAFETY: RTLD_NOLOAD only looks for a library that is loaded already.
            unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) }
        };
        Libraries([libc::RTLD_DEFAULT, loaded(c"libmx.so"), loaded(c"libmex.so"), loaded(c"libut.so")])
    }

    pub(crate) fn find(&self, name: &str, suffix: &str) -> Option<*mut c_void> {
        let name = CString::new(format!("{name}{suffix}")).ok()?;
        let [everywhere, private @ ..] = self.0;
        let found = |library| {
            // SAFETY: the handle is RTLD_DEFAULT or from `dlopen`, and the name ends in zero.
            let address = unsafe { libc::dlsym(library, name.as_ptr()) };
            (!address.is_null()).then_some(address)
        };
        // RTLD_DEFAULT is the null pointer, which for `dlopen` means "not loaded".
        found(everywhere).or_else(|| private.into_iter().filter(|l| !l.is_null()).find_map(found))
    }

    fn scheme(&self) -> Scheme {
        if self.find("mxGetData", "_800").is_some() {
            Scheme::Matlab800
        } else if self.find("mxCreateNumericMatrix", "_730").is_some() {
            Scheme::Matlab700
        } else {
            Scheme::Octave
        }
    }

    fn address(&self, scheme: Scheme, name: &str) -> Option<*mut c_void> {
        match scheme {
            Scheme::Octave => self.find(name, ""),
            Scheme::Matlab700 => self.find(name, "_730").or_else(|| self.find(name, "")),
            Scheme::Matlab800 => self.find(name, "_800"),
        }
    }
}

type Data = unsafe extern "C-unwind" fn(*const MxArray) -> *mut c_void;

/// Where the host keeps the values of complex arrays.
pub(crate) enum Complex {
    /// Real parts and imaginary parts in two arrays; the function gives the latter.
    Separate(Data),
    /// Each real part followed by its imaginary part; the functions give those in double and in single precision.
    Interleaved(Data, Data),
}

impl Complex {
    fn find(libraries: &Libraries, scheme: Scheme) -> Result<Complex, &'static str> {
        let found = |name| match libraries.address(scheme, name) {
            // SAFETY: as in `Host::find`.
            Some(address) => Ok(unsafe { transmute_copy::<*mut c_void, Data>(&address) }),
            None => Err(name),
        };
        Ok(match scheme {
            Scheme::Matlab800 => Complex::Interleaved(found("mxGetComplexDoubles")?, found("mxGetComplexSingles")?),
            Scheme::Octave | Scheme::Matlab700 => Complex::Separate(found("mxGetImagData")?),
        })
    }
}

type Property = unsafe extern "C-unwind" fn(*const MxArray, usize, *const c_char) -> *mut MxArray;
type Destroy = unsafe extern "C-unwind" fn(*mut MxArray);

/// Reads the properties of objects.
pub(crate) struct Properties {
    pub(crate) copy: Property,
    pub(crate) destroy: Destroy,
}

impl Properties {
    fn find(libraries: &Libraries, scheme: Scheme) -> Option<Properties> {
        let copy = libraries.address(scheme, "mxGetProperty")?;
        let destroy = libraries.address(scheme, "mxDestroyArray")?;
        // SAFETY: as in `Host::find`.
        Some(unsafe {
            Properties {
                copy: transmute_copy::<*mut c_void, Property>(&copy),
                destroy: transmute_copy::<*mut c_void, Destroy>(&destroy),
            }
        })
    }
}

type Raise = unsafe extern "C-unwind" fn(*const c_char, *const c_char, ...);

macro_rules! host {
    ($($field:ident = $name:literal: $type:ty;)*) => {
        /// The functions of the host that this library calls.
        pub(crate) struct Host {
            /// Bytes of a character.
            pub(crate) char_bytes: usize,
            /// Where the values of a complex array are.
            pub(crate) complex: Complex,
            /// Nothing if the host has no such functions; objects then cannot be operands.
            pub(crate) properties: Option<Properties>,
            $(pub(crate) $field: $type,)*
        }

        impl Host {
            fn find(libraries: &Libraries, scheme: Scheme) -> Result<Host, &'static str> {
                Ok(Host {
                    char_bytes: if scheme == Scheme::Octave { 1 } else { 2 },
                    complex: Complex::find(libraries, scheme)?,
                    properties: Properties::find(libraries, scheme),
                    $($field: {
                        let address = libraries.address(scheme, $name).ok_or($name)?;
                        // SAFETY: the host documents the function of this name with this signature,
                        // and both types are one address.
                        unsafe { transmute_copy::<*mut c_void, $type>(&address) }
                    },)*
                })
            }
        }
    };
}

host! {
    class_id = "mxGetClassID": unsafe extern "C-unwind" fn(*const MxArray) -> c_int;
    is_char = "mxIsChar": unsafe extern "C-unwind" fn(*const MxArray) -> bool;
    is_double = "mxIsDouble": unsafe extern "C-unwind" fn(*const MxArray) -> bool;
    is_uint64 = "mxIsUint64": unsafe extern "C-unwind" fn(*const MxArray) -> bool;
    class_name = "mxGetClassName": unsafe extern "C-unwind" fn(*const MxArray) -> *const c_char;
    is_complex = "mxIsComplex": unsafe extern "C-unwind" fn(*const MxArray) -> bool;
    is_sparse = "mxIsSparse": unsafe extern "C-unwind" fn(*const MxArray) -> bool;
    rows = "mxGetM": unsafe extern "C-unwind" fn(*const MxArray) -> usize;
    cols = "mxGetN": unsafe extern "C-unwind" fn(*const MxArray) -> usize;
    elements = "mxGetNumberOfElements": unsafe extern "C-unwind" fn(*const MxArray) -> usize;
    scalar = "mxGetScalar": unsafe extern "C-unwind" fn(*const MxArray) -> f64;
    dimensions = "mxGetNumberOfDimensions": unsafe extern "C-unwind" fn(*const MxArray) -> usize;
    data = "mxGetData": unsafe extern "C-unwind" fn(*const MxArray) -> *mut c_void;
    row_indices = "mxGetIr": unsafe extern "C-unwind" fn(*const MxArray) -> *mut usize;
    column_offsets = "mxGetJc": unsafe extern "C-unwind" fn(*const MxArray) -> *mut usize;
    string = "mxGetString": unsafe extern "C-unwind" fn(*const MxArray, *mut c_char, usize) -> c_int;
    new_numeric = "mxCreateUninitNumericMatrix": unsafe extern "C-unwind" fn(usize, usize, c_int, c_int) -> *mut MxArray;
    new_logical = "mxCreateLogicalScalar": unsafe extern "C-unwind" fn(bool) -> *mut MxArray;
    new_string = "mxCreateString": unsafe extern "C-unwind" fn(*const c_char) -> *mut MxArray;
    new_sparse = "mxCreateSparse": unsafe extern "C-unwind" fn(usize, usize, usize, c_int) -> *mut MxArray;
    new_struct = "mxCreateStructMatrix":
        unsafe extern "C-unwind" fn(usize, usize, c_int, *const *const c_char) -> *mut MxArray;
    set_field = "mxSetField": unsafe extern "C-unwind" fn(*mut MxArray, usize, *const c_char, *mut MxArray);
    print = "mexPrintf": unsafe extern "C-unwind" fn(*const c_char, ...) -> c_int;
    lock = "mexLock": unsafe extern "C-unwind" fn();
    unlock = "mexUnlock": unsafe extern "C-unwind" fn();
    at_exit = "mexAtExit": unsafe extern "C-unwind" fn(unsafe extern "C" fn()) -> c_int;
}

/// What the look-up gave.
pub(crate) struct Found {
    pub(crate) scheme: Scheme,
    /// The functions, or the name of one that the host lacks.
    pub(crate) host: Result<Host, &'static str>,
    raise: Option<Raise>,
}

/// The host's functions, looked up on the first call.
pub(crate) fn found() -> &'static Found {
    static FOUND: OnceLock<Found> = OnceLock::new();
    FOUND.get_or_init(|| {
        let libraries = Libraries::open();
        let scheme = libraries.scheme();
        // SAFETY: as in `Host::find`.
        let raise: Option<Raise> =
            libraries.address(scheme, "mexErrMsgIdAndTxt").map(|a| unsafe { transmute_copy(&a) });
        Found { scheme, host: Host::find(&libraries, scheme), raise }
    })
}

/// An error on its way to the host: plain memory, so that nothing is lost when the host's error
/// function leaves by `longjmp`.
pub(crate) struct Report {
    id: [u8; 64],
    text: [u8; 4096],
}

/// Copies as much of `text` as fits, cut at a character, ended by zero; zero bytes become spaces.
fn copy_text(text: &str, target: &mut [u8]) {
    let mut length = text.len().min(target.len() - 1);
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    for (to, from) in target.iter_mut().zip(&text.as_bytes()[..length]) {
        *to = if *from == 0 { b' ' } else { *from };
    }
    target[length] = 0;
}

impl Report {
    pub(crate) fn new(fault: &Fault) -> Report {
        let mut report = Report { id: [0; 64], text: [0; 4096] };
        copy_text(fault.id, &mut report.id);
        copy_text(&fault.text, &mut report.text);
        report
    }

    /// Leaves by the host's error function; returns only where the host has none. Nothing with a
    /// destructor may be alive in the callers.
    pub(crate) fn raise(&self) {
        if let Some(raise) = found().raise {
            // SAFETY: three texts that end in zero; the second is the format of the third.
            unsafe { raise(self.id.as_ptr().cast(), c"%s".as_ptr(), self.text.as_ptr()) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_at_characters_and_hold_no_zero() {
        let mut target = [0xff_u8; 6];
        copy_text("a\0bé€", &mut target);
        assert_eq!(&target, b"a b\xc3\xa9\0");
        copy_text("", &mut target);
        assert_eq!(target[0], 0);
    }

    #[test]
    fn a_process_without_a_host_lacks_its_functions() {
        let libraries = Libraries::open();
        assert_eq!(libraries.scheme(), Scheme::Octave);
        assert_eq!(Host::find(&libraries, Scheme::Octave).err(), Some("mxGetImagData"));
    }
}
