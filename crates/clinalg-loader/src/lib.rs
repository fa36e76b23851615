//! The OpenCL API, forwarded to a `libOpenCL` that is opened at run time.
//!
//! The `ocl` crate links `libOpenCL`, so a program that uses it does not even start on a machine
//! without an OpenCL loader. This crate defines the same entry points itself. Linked into a program
//! they win over the library, which is then opened on the first call; where it is missing every
//! entry point answers `CL_PLATFORM_NOT_FOUND_KHR` (-1001) and the caller can say so.
//!
//! ```
//! match clinalg_loader::status() {
//!     Ok(file) => println!("OpenCL loader: {file}"),
//!     Err(why) => println!("no OpenCL loader: {why}"),
//! }
//! ```

use std::ffi::c_void;
use std::num::NonZeroUsize;

use libloading::Library;
use once_cell::race::OnceNonZeroUsize;
use once_cell::sync::Lazy;

mod table;

/// What every entry point answers when no `libOpenCL` can be opened.
pub const CL_PLATFORM_NOT_FOUND_KHR: i32 = -1001;

type Ptr = *mut c_void;
type Callback = *const c_void;

const CANDIDATES: &[&str] = if cfg!(target_os = "windows") {
    &["OpenCL.dll"]
} else if cfg!(target_os = "macos") {
    &["/System/Library/Frameworks/OpenCL.framework/OpenCL"]
} else {
    &["libOpenCL.so.1", "libOpenCL.so"]
};

static LIBRARY: Lazy<Result<(Library, &'static str), String>> = Lazy::new(|| {
    let mut reasons = Vec::new();
    for &name in CANDIDATES {
        // SAFETY: an OpenCL loader's initialisers have no preconditions.
        match unsafe { Library::new(name) } {
            Ok(library) => return Ok((library, name)),
            Err(error) => reasons.push(format!("{name}: {}", reason(&error))),
        }
    }
    Err(reasons.join("; "))
});

/// The dynamic linker's own message, which `libloading` keeps as the source of its error.
fn reason(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

/// The name of the OpenCL loader in use, opening it if this is the first call.
///
/// # Errors
/// Each file name tried with the dynamic linker's message, when no loader can be opened.
pub fn status() -> Result<&'static str, &'static str> {
    match &*LIBRARY {
        Ok((_, name)) => Ok(name),
        Err(reasons) => Err(reasons),
    }
}

/// Makes the linker keep this crate's entry points in a program that names none of them itself.
pub fn keep_linked() {
    std::hint::black_box(table::clGetPlatformIDs as *const () as usize);
}

type Address = OnceNonZeroUsize;

/// The address of `name` (which ends in a zero byte), looked up once.
fn resolve(address: &Address, name: &'static str) -> Option<usize> {
    let found = address.get_or_try_init(|| {
        let (library, _) = LIBRARY.as_ref().map_err(drop)?;
        // SAFETY: only the address is taken here; `forward` gives it the type of the OpenCL header.
        let symbol = unsafe { library.get::<*const c_void>(name.as_bytes()) }.map_err(drop)?;
        NonZeroUsize::new(*symbol as usize).ok_or(())
    });
    found.ok().map(NonZeroUsize::get)
}

/// Defines entry points: opens the library's symbol once, then calls it, or evaluates `$absent`.
macro_rules! forward {
    ($ret:ty, $absent:expr; $($name:ident($($arg:ident: $ty:ty),*);)*) => {$(
        // A library made with this crate keeps the entry points to itself.
        #[cfg(target_os = "linux")]
        core::arch::global_asm!(concat!(".hidden ", stringify!($name)));
        /// Forwards to the entry point of the same name.
        ///
        /// # Safety
        /// As the OpenCL specification says for this entry point.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, clippy::too_many_arguments)]
        pub(crate) unsafe extern "system" fn $name($($arg: $ty),*) -> $ret {
            static ADDRESS: $crate::Address = $crate::Address::new();
            let Some(address) = $crate::resolve(&ADDRESS, concat!(stringify!($name), "\0")) else {
                return $absent;
            };
            // SAFETY: the symbol of this name has this signature in every OpenCL library.
            let function: unsafe extern "system" fn($($ty),*) -> $ret = unsafe { std::mem::transmute(address) };
            // SAFETY: the caller keeps the contract of the OpenCL specification.
            unsafe { function($($arg),*) }
        }
    )*};
}
pub(crate) use forward;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_the_linkers_own() {
        // SAFETY: there is no such file.
        let error = unsafe { Library::new("libNoSuchLibrary.so.9") }.expect_err("no such library");
        assert!(reason(&error).contains("libNoSuchLibrary.so.9: "), "{}", reason(&error));
    }
}
