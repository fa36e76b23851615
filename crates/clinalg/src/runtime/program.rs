//! Programs: built from their source or from a binary on disk.

use std::collections::HashMap;
use std::ffi::{CStr, CString, c_void};
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use ocl::ffi;

use super::cache;
use super::context::Context;
use super::faults::{self, Quirk};
use super::fork;
use super::kernel::{self, COMMON, GeneratedKernel, Key};
use super::raw::{Raw, lock};
use super::status::SUCCESS;
use super::together::together;
use crate::{Error, Result};

/// A built program, released when its last kernel goes.
pub(super) struct Program(Raw);

impl Program {
    pub(super) fn raw(&self) -> *mut c_void {
        self.0.0
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if fork::is_child() {
            return;
        }
        // SAFETY: it is owned and released once; the driver keeps what its kernels and launches still need.
        unsafe { ffi::clReleaseProgram(self.raw()) };
    }
}

/// The programs that kernels share; those whose kernels went are gone.
pub(super) type Shared = Mutex<HashMap<kernel::Program, Weak<Program>>>;

/// How often a program is built again after a failure without a reason, and the pause before the first time.
const ATTEMPTS: u32 = 3;
const PAUSE: Duration = Duration::from_millis(50);

/// Whether a build failed for something else than the text, with which a compiler finds fault in words: PoCL's cache, say, while other processes
/// fill it. Its log is empty then, or says that the device failed to build the program.
fn gives_no_reason(log: &str) -> bool {
    !log.contains("error:")
}

/// The target of the log messages, of level `info`, that a program is built from its source.
pub const BUILDING: &str = "clinalg::building";

impl Context {
    /// Held while a kernel is built, where the driver's compiler bears one thread only.
    pub(super) fn lock_compiler(&self) -> Option<MutexGuard<'static, ()>> {
        static COMPILER: Mutex<()> = Mutex::new(());
        let alone = faults::of(self.device()).any(|fault| fault.quirk == Quirk::OneCompilation);
        alone.then(|| COMPILER.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A program that has the kernel `name` of `key`.
    pub(super) fn program_of(&self, key: &Key, name: &CStr) -> Result<Arc<Program>> {
        let options = key.options(self);
        let whole = key.whole().filter(|whole| whole.is_one_program() || self.shares_programs());
        if let Some(program) = whole.and_then(|whole| self.shared_program(whole, &options, name)) {
            return Ok(program);
        }
        self.cached_program(key.source(), &options, name).map(Arc::new)
    }

    /// The program of a source, which has the kernel `name`, from the disk cache where that has it.
    fn cached_program(&self, (file, source): (String, String), options: &str, name: &CStr) -> Result<Program> {
        let options_text = CString::new(options).expect("options hold no zero byte");
        let Some(folder) = cache::folder(self.device()) else {
            return self.build_source(&file, &source, &options_text);
        };
        let stored = cache::Key::new(self.device(), &source, options);
        let load = || {
            let program = self.build_binary(&cache::load(&folder, &stored)?, &options_text, name);
            if program.is_none() {
                cache::remove(&folder, &stored);
            }
            program
        };
        if let Some(program) = load() {
            return Ok(program);
        }
        let build_lock = cache::BuildLock::acquire(&folder, &stored);
        if build_lock.as_ref().is_some_and(|lock| lock.waited)
            && let Some(program) = load()
        {
            return Ok(program);
        }
        let program = self.build_source(&file, &source, &options_text)?;
        if let Some(binary) = binary_of(&program) {
            cache::store(&folder, &stored, &binary);
        }
        Ok(program)
    }

    /// Whether kernels share programs. Asked for binaries, drivers compile all kernels of a program at once.
    pub(super) fn shares_programs(&self) -> bool {
        faults::of(self.device()).any(|fault| fault.quirk == Quirk::SharedPrograms)
            && cache::folder(self.device()).is_none()
    }

    /// One program of kernels that may share it; `None` where they cannot after all.
    pub(super) fn program_of_all(&self, kernels: &[&GeneratedKernel]) -> Option<Arc<Program>> {
        let sources: Vec<_> = kernels.iter().map(|kernel| (kernel.name(), kernel.source())).collect();
        let source = format!("{COMMON}\n{}", together(&sources, self.local())?);
        let options = Key::Generated(kernels[0].clone()).options(self);
        let name = CString::new(kernels[0].name()).ok()?;
        let _guard = self.lock_compiler();
        self.cached_program((kernels[0].name().to_owned(), source), &options, &name).map(Arc::new).ok()
    }

    /// The program of all kernels of a file; `None` also where a kernel of the file does not compile with these options,
    /// which are meant for another.
    fn shared_program(&self, whole: &kernel::Program, options: &str, name: &CStr) -> Option<Arc<Program>> {
        let known = || lock(&self.programs().shared).get(whole).and_then(Weak::upgrade);
        if let Some(program) = known() {
            return Some(program);
        }
        let _building = self.programs().sharing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(program) = known() {
            return Some(program);
        }
        let (file, source) = whole.source();
        let program = match self.cached_program((file.clone(), source), options, name) {
            Ok(program) => Arc::new(program),
            Err(error) => {
                log::debug!("the kernels of {file} are built one by one: {error}");
                return None;
            }
        };
        let mut shared = lock(&self.programs().shared);
        shared.retain(|_, program| program.strong_count() > 0);
        shared.insert(*whole, Arc::downgrade(&program));
        Some(program)
    }

    /// Builds a program from its text; `name` is for the error.
    pub(super) fn build_source(&self, name: &str, source: &str, options: &CString) -> Result<Program> {
        log::info!(target: BUILDING, "building {name} for {}", self.device().name);
        let mut done = self.build_source_once(name, source, options);
        for attempt in 1..=ATTEMPTS {
            match &done {
                Err(Error::Build { log, .. }) if gives_no_reason(log) => {
                    log::warn!("{} could not build {name} and gave no reason; trying again", self.device().name);
                    std::thread::sleep(attempt * PAUSE);
                    done = self.build_source_once(name, source, options);
                }
                _ => break,
            }
        }
        done
    }

    fn build_source_once(&self, name: &str, source: &str, options: &CString) -> Result<Program> {
        let text = source.as_ptr().cast();
        let mut code = SUCCESS;
        // SAFETY: one string of the given length.
        let program = unsafe { ffi::clCreateProgramWithSource(self.raw().0, 1, &text, &source.len(), &mut code) };
        self.check("clCreateProgramWithSource", code)?;
        let program = Program(Raw(program));
        if self.compile(&program, options) != SUCCESS {
            let log = self.build_log(&program);
            return Err(Error::Build { device: self.device().name.clone(), program: name.to_owned(), log });
        }
        Ok(program)
    }

    /// A program from a stored binary; `None` where the driver does not take it or it lacks the kernel `name`.
    fn build_binary(&self, binary: &[u8], options: &CString, name: &CStr) -> Option<Program> {
        let (mut code, mut binary_status) = (SUCCESS, SUCCESS);
        // SAFETY: one binary of the given length for the one device.
        let program = unsafe {
            ffi::clCreateProgramWithBinary(
                self.raw().0,
                1,
                &self.device_id(),
                &binary.len(),
                &binary.as_ptr(),
                &mut binary_status,
                &mut code,
            )
        };
        if program.is_null() {
            return None;
        }
        let program = Program(Raw(program));
        if code != SUCCESS || binary_status != SUCCESS || self.compile(&program, options) != SUCCESS {
            return None;
        }
        // SAFETY: the program is built and the name ends in zero; the kernel is released once, here.
        unsafe {
            let kernel = ffi::clCreateKernel(program.raw(), name.as_ptr(), &mut code);
            if !kernel.is_null() {
                ffi::clReleaseKernel(kernel);
            }
        }
        (code == SUCCESS).then_some(program)
    }

    fn compile(&self, program: &Program, options: &CString) -> i32 {
        // SAFETY: the program belongs to this context and the options end in zero.
        unsafe { ffi::clBuildProgram(program.raw(), 1, &self.device_id(), options.as_ptr(), None, null_mut()) }
    }

    fn build_log(&self, program: &Program) -> String {
        let query = |n: usize, p: *mut c_void, r: *mut usize| {
            // SAFETY: `p` is null or has room for `n` bytes.
            unsafe { ffi::clGetProgramBuildInfo(program.raw(), self.device_id(), ffi::CL_PROGRAM_BUILD_LOG, n, p, r) }
        };
        super::device::text(query)
    }
}

/// The binary of a program built for one device; `None` where the driver gives none, and in a context of several devices, where a
/// program has one for each.
fn binary_of(program: &Program) -> Option<Vec<u8>> {
    let (mut size, mut bytes) = (0_usize, 0_usize);
    // SAFETY: asking for the size of the answer writes `bytes` only.
    let code = unsafe { ffi::clGetProgramInfo(program.raw(), ffi::CL_PROGRAM_BINARY_SIZES, 0, null_mut(), &mut bytes) };
    if code != SUCCESS || bytes != size_of::<usize>() {
        return None;
    }
    // SAFETY: one device, so the answer is one size_t.
    let code = unsafe {
        ffi::clGetProgramInfo(
            program.raw(),
            ffi::CL_PROGRAM_BINARY_SIZES,
            size_of::<usize>(),
            (&raw mut size).cast(),
            null_mut(),
        )
    };
    if code != SUCCESS || size == 0 {
        return None;
    }
    let mut binary = vec![0_u8; size];
    let mut pointer = binary.as_mut_ptr();
    // SAFETY: one device, so one pointer to `size` bytes is wanted.
    let code = unsafe {
        ffi::clGetProgramInfo(
            program.raw(),
            ffi::CL_PROGRAM_BINARIES,
            size_of::<*mut u8>(),
            (&raw mut pointer).cast(),
            null_mut(),
        )
    };
    (code == SUCCESS).then_some(binary)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compilers_give_reasons_and_caches_do_not() {
        assert!(gives_no_reason("") && gives_no_reason("Device pthread-haswell failed to build the program"));
        assert!(!gives_no_reason("<program source>:3:1: error: unknown type name 'flot'"));
    }
}
