//! The programs and kernels built in a context.

use std::ffi::CString;
use std::hash::BuildHasherDefault;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Instant;

use hashbrown::HashMap;
use ocl::ffi;
use serde::Serialize;

use super::context::Context;
use super::kernel::{self, COMMON, GeneratedKernel, Kernel, Key, KeyRef, Name, Quick};
use super::launch::{Arg, Range};
use super::program::{Program, Shared};
use super::raw::{Raw, lock};
use super::status::SUCCESS;
use super::{fork, host};
use crate::{Error, Precision, Result};

/// A kernel, which one launch at a time sets the arguments of, and its program.
struct Built {
    kernel: Mutex<Raw>,
    _program: Arc<Program>,
    max_local: usize,
    /// The value of [`Programs::clock`] at the last launch.
    used: AtomicU64,
}

/// Most kernels that a context keeps unless its options say otherwise.
const MOST_KERNELS: usize = 256;

/// The kernels built in a context.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ProgramsReport {
    /// Kernels kept now.
    pub kept: usize,
    /// Kernels built since the context was made, from their source or from the cache on disk.
    pub builds: u64,
    /// Seconds that threads spent on it, summed.
    pub seconds: f64,
}

/// What was built so far.
pub(super) struct Programs {
    /// Most of `kernels`.
    most: usize,
    kernels: RwLock<HashMap<Key, Arc<Built>, BuildHasherDefault<Quick>>>,
    pub(super) shared: Shared,
    /// Held while a program that kernels share is built.
    pub(super) sharing: Mutex<()>,
    /// Counts builds and launches.
    clock: AtomicU64,
    builds: AtomicU64,
    build_nanoseconds: AtomicU64,
}

impl Programs {
    pub(super) fn new(most: Option<usize>) -> Programs {
        Programs {
            most: most.unwrap_or(MOST_KERNELS).max(1),
            kernels: RwLock::default(),
            shared: Shared::default(),
            sharing: Mutex::new(()),
            clock: AtomicU64::new(0),
            builds: AtomicU64::new(0),
            build_nanoseconds: AtomicU64::new(0),
        }
    }
}

impl Context {
    /// The kernels built so far.
    pub fn programs_report(&self) -> ProgramsReport {
        let programs = self.programs();
        ProgramsReport {
            kept: programs.kernels.read().unwrap_or_else(PoisonError::into_inner).len(),
            builds: programs.builds.load(Ordering::Relaxed),
            seconds: self.build_seconds(),
        }
    }

    /// Seconds that the host has spent on building kernels in this context.
    pub(crate) fn build_seconds(&self) -> f64 {
        self.programs().build_nanoseconds.load(Ordering::Relaxed) as f64 * 1e-9
    }

    /// Builds `kernel`, so that its first launch finds it.
    pub(crate) fn prepare(&self, kernel: &Kernel) -> Result<()> {
        self.built(KeyRef::Embedded(kernel)).map(drop)
    }

    /// Builds `kernels` by several threads.
    pub(crate) fn prepare_all(&self, kernels: &[Kernel]) -> Result<()> {
        self.build_all(kernels.iter().map(KeyRef::Embedded))
    }

    /// Does `work` while another thread builds `kernels`, in their order, where a driver takes long even for what it has compiled before.
    pub(crate) fn while_preparing<R>(&self, kernels: &[Kernel], work: impl FnOnce() -> R) -> R {
        if !self.shares_programs() || kernels.iter().all(|kernel| self.known(KeyRef::Embedded(kernel)).is_some()) {
            return work();
        }
        std::thread::scope(|scope| {
            // Without the thread, and where it fails, the first launch builds the kernel and reports what is wrong.
            host::spawn(scope, || kernels.iter().for_each(|kernel| drop(self.prepare(kernel))));
            work()
        })
    }

    /// Builds kernels made at run time, in one program where they may share it, so that their first launches find them.
    ///
    /// # Errors
    /// [`Error::Build`]; [`Error::NoFp64`].
    pub fn prepare_generated(&self, kernels: &[GeneratedKernel]) -> Result<()> {
        self.build_all(kernels.iter().map(KeyRef::Generated))
    }

    /// Builds those of `keys` that are made at run time in one program, which costs a driver less time than one for each, and takes them from
    /// `missing`. Kernels that cannot share a program stay in `missing`.
    fn build_together(&self, keys: &[KeyRef], missing: &mut Vec<KeyRef>) {
        let mut groups: Vec<Vec<&GeneratedKernel>> = Vec::new();
        for key in keys {
            let KeyRef::Generated(kernel) = *key else { continue };
            match groups.iter_mut().find(|group| group.iter().all(|member| member.may_share(kernel))) {
                Some(group) => group.push(kernel),
                None => groups.push(vec![kernel]),
            }
        }
        let is_missing = |kernel: &&GeneratedKernel| missing.contains(&KeyRef::Generated(kernel));
        groups.retain(|group| group.len() > 1 && group.iter().any(is_missing));
        for group in groups {
            let started = Instant::now();
            let Some(program) = self.program_of_all(&group) else { continue };
            self.programs().build_nanoseconds.fetch_add(started.elapsed().as_nanos() as u64, Ordering::Relaxed);
            missing.retain(|&key| match key {
                KeyRef::Generated(kernel) if group.contains(&kernel) => {
                    self.build_with(key.to_key(), Some(program.clone())).is_err()
                }
                _ => true,
            });
        }
    }

    fn build_all<'a>(&self, keys: impl Iterator<Item = KeyRef<'a>>) -> Result<()> {
        let mut all: Vec<KeyRef> = Vec::new();
        for key in keys {
            if !all.contains(&key) {
                all.push(key);
            }
        }
        let mut missing: Vec<KeyRef> = all.iter().copied().filter(|key| self.known(*key).is_none()).collect();
        if missing.is_empty() {
            return Ok(());
        }
        // The next process finds in the disk cache the program of all of them, not that of what happened to be missing here.
        let together = if self.shares_programs() { missing.clone() } else { all };
        self.build_together(&together, &mut missing);
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(missing.len());
        let next = AtomicUsize::new(0);
        let work = || -> Result<()> {
            while let Some(&key) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
                self.built(key)?;
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            // A thread that cannot be made leaves its work to the others.
            let others: Vec<_> = (1..threads).filter_map(|_| host::spawn(scope, work)).collect();
            let own = work();
            others.into_iter().fold(own, |result, thread| match thread.join() {
                Ok(other) => result.and(other),
                Err(panic) => std::panic::resume_unwind(panic),
            })
        })
    }

    /// Enqueues a kernel of another crate; it is built at its first launch. An empty range is no launch.
    ///
    /// # Safety
    /// `args` are what the kernel takes, in its order, and their buffers are alive and of this context; for every item of
    /// `range` the kernel stays inside them.
    ///
    /// # Errors
    /// [`Error::Build`]; [`Error::NoFp64`]; [`Error::Value`] for a work-group larger than the device runs;
    /// those of the enqueue.
    pub unsafe fn launch_kernel(&self, kernel: &Kernel, range: Range, args: &[Arg]) -> Result<()> {
        self.run(kernel, range, args)
    }

    /// Enqueues a kernel made at run time; it is built at its first launch. An empty range is no launch.
    ///
    /// # Safety
    /// As for [`Context::launch_kernel`].
    ///
    /// # Errors
    /// As [`Context::launch_kernel`].
    pub unsafe fn launch_generated(&self, kernel: &GeneratedKernel, range: Range, args: &[Arg]) -> Result<()> {
        self.run_key(KeyRef::Generated(kernel), range, args)
    }

    /// Enqueues `kernel`; an empty range is no launch.
    pub(crate) fn run(&self, kernel: &Kernel, range: Range, args: &[Arg]) -> Result<()> {
        self.run_key(KeyRef::Embedded(kernel), range, args)
    }

    fn run_key(&self, key: KeyRef, range: Range, args: &[Arg]) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        let built = self.built(key)?;
        let group = range.local[0] * range.local[1];
        if group > built.max_local {
            return Err(Error::value(
                "work-group size",
                format!("at most {} for kernel {} on this device", built.max_local, key.name().as_str()),
                group,
            ));
        }
        built.used.store(self.programs().clock.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        let raw = lock(&built.kernel);
        // SAFETY: the kernel is live and locked.
        unsafe { self.command_queue().launch(|| key.name(), *raw, range, args) }
    }

    /// Builds `source` anew, runs its kernel `name`, waits for it and forgets both: for kernels that are made up at run
    /// time and needed once.
    ///
    /// # Safety
    /// `args` are what the kernel takes, in its order, and their buffers are alive and of this context; for every item of
    /// `range` the kernel stays inside them.
    ///
    /// # Errors
    /// [`Error::Build`]; [`Error::NoFp64`]; those of the enqueue.
    pub unsafe fn run_source(
        &self,
        name: &str,
        source: &str,
        precision: Precision,
        range: Range,
        args: &[Arg],
    ) -> Result<()> {
        fork::check()?;
        self.require_precision(precision)?;
        let source = format!("{COMMON}\n{source}");
        let options =
            CString::new(kernel::options(precision, self.family(), self.local())).expect("options hold no zero byte");
        let _guard = self.lock_compiler();
        let program = self.build_source(&format!("{name}.cl"), &source, &options)?;
        let name_text = CString::new(name).expect("kernel names hold no zero byte");
        let mut code = SUCCESS;
        // SAFETY: the program is built and the name ends in zero; the kernel is used by this call only. It is released
        // once, and the driver keeps what the launch still needs.
        unsafe {
            let raw = ffi::clCreateKernel(program.raw(), name_text.as_ptr(), &mut code);
            let done = self.check("clCreateKernel", code).and_then(|()| {
                self.command_queue()
                    .launch(|| Name::Generated(name.into()), Raw(raw), range, args)
                    .and_then(|()| self.finish())
            });
            if !raw.is_null() {
                ffi::clReleaseKernel(raw);
            }
            done
        }
    }

    fn known(&self, key: KeyRef) -> Option<Arc<Built>> {
        self.programs().kernels.read().unwrap_or_else(PoisonError::into_inner).get(&key).cloned()
    }

    fn built(&self, key: KeyRef) -> Result<Arc<Built>> {
        match self.known(key) {
            Some(built) => Ok(built),
            None => self.build_with(key.to_key(), None),
        }
    }

    /// Builds the kernel of `key` for the table, where `program` is its program if there is one already.
    fn build_with(&self, key: Key, program: Option<Arc<Program>>) -> Result<Arc<Built>> {
        fork::check()?;
        self.require_precision(key.precision())?;
        let started = Instant::now();
        let built = self.build(&key, program)?;
        let programs = self.programs();
        programs.build_nanoseconds.fetch_add(started.elapsed().as_nanos() as u64, Ordering::Relaxed);
        programs.builds.fetch_add(1, Ordering::Relaxed);
        built.used.store(programs.clock.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        let mut known = programs.kernels.write().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have been first; its kernel is used and this one goes.
        let built = known.entry(key).or_insert_with(|| Arc::new(built)).clone();
        while known.len() > programs.most {
            let idle = known.iter().filter(|(key, built)| Arc::strong_count(built) == 1 && !key.is_held());
            let oldest = idle.min_by_key(|(_, built)| built.used.load(Ordering::Relaxed));
            let Some(oldest) = oldest.map(|(key, _)| key.clone()) else { break };
            known.remove(&oldest);
        }
        Ok(built)
    }

    /// Builds the program of a kernel where it is not there, from the disk cache where that holds one that the driver takes.
    fn build(&self, key: &Key, program: Option<Arc<Program>>) -> Result<Built> {
        let name = CString::new(key.name().as_str()).map_err(|_| {
            Error::value("kernel name", "a name without zero bytes", key.name().as_str().replace('\0', "\\0"))
        })?;
        let _guard = self.lock_compiler();
        let program = program.map_or_else(|| self.program_of(key, &name), Ok)?;
        let mut code = SUCCESS;
        // SAFETY: the program is built and the name ends in zero.
        let raw = unsafe { ffi::clCreateKernel(program.raw(), name.as_ptr(), &mut code) };
        // The kernel is released on every way out.
        let mut built = Built { kernel: Mutex::new(Raw(raw)), _program: program, max_local: 0, used: 0.into() };
        self.check("clCreateKernel", code)?;
        let query = |what, answer: *mut usize, sizes: usize| {
            // SAFETY: the answer has room for so many size_t.
            let code = unsafe {
                let bytes = sizes * size_of::<usize>();
                ffi::clGetKernelWorkGroupInfo(raw, self.device_id(), what, bytes, answer.cast(), null_mut())
            };
            self.check("clGetKernelWorkGroupInfo", code)
        };
        query(ffi::CL_KERNEL_WORK_GROUP_SIZE, &mut built.max_local, 1)?;
        // NVIDIA's driver says 256 also of kernels that were compiled for a work-group of 512.
        let mut fixed = [0_usize; 3];
        query(ffi::CL_KERNEL_COMPILE_WORK_GROUP_SIZE, fixed.as_mut_ptr(), 3)?;
        built.max_local = built.max_local.max(fixed.iter().product());
        Ok(built)
    }
}

impl Drop for Built {
    fn drop(&mut self) {
        if fork::is_child() {
            return;
        }
        let kernel = self.kernel.get_mut().unwrap_or_else(PoisonError::into_inner).0;
        if !kernel.is_null() {
            // SAFETY: it is owned and released once; the driver keeps what launches still need.
            unsafe { ffi::clReleaseKernel(kernel) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::kernels::vector;
    use crate::runtime::{Buffer, ContextOptions, devices};

    const SCALE: Kernel = Kernel::new(&vector::FILE, "scale", Precision::F32);

    fn context() -> Option<Context> {
        let devices = clinalg_testing::found(devices())?;
        Some(Context::new(&devices[0], &ContextOptions::default()).unwrap())
    }

    #[test]
    fn a_build_failure_carries_the_compilers_words() {
        let Some(context) = context() else { return };
        let x = Buffer::from_slice(&context, &[1.0_f32, 2.0]).unwrap();
        // The definition makes the kernel's name a number.
        let broken = SCALE.with(&[("scale", 7)]);
        for _ in 0..2 {
            let args = [Arg::size(2), Arg::F32(1.0), x.arg(), x.arg()];
            let error = context.run(&broken, Range::d1(2, 1), &args).unwrap_err();
            assert_eq!(error.id(), "clinalg:device:build");
            let Error::Build { device, program, log } = &error else { panic!("{error}") };
            assert_eq!((device, program.as_str()), (&context.device().name, "vector.cl"));
            assert!(!log.is_empty());
        }
        let unknown = Kernel::new(&vector::FILE, "no_such_kernel", Precision::F32);
        let error = context.run(&unknown, Range::d1(2, 1), &[]).unwrap_err();
        assert_eq!(error.id(), "clinalg:device:opencl", "{error}");
        assert_eq!(x.to_vec().unwrap(), [1.0, 2.0]);
    }

    #[test]
    fn a_bad_launch_is_an_error() {
        let Some(context) = context() else { return };
        let x = Buffer::from_slice(&context, &[1.0_f32, 2.0]).unwrap();
        let args = [Arg::size(2), Arg::F32(1.0), x.arg(), x.arg()];
        let many = context.device().max_work_group * 2;
        let error = context.run(&SCALE, Range::d1(many, many), &args).unwrap_err();
        assert_eq!(error.id(), "clinalg:argument:value", "{error}");
        // One argument more than the kernel has.
        let more = [args.as_slice(), &[Arg::size(1)]].concat();
        let error = context.run(&SCALE, Range::d1(2, 1), &more).unwrap_err();
        assert_eq!(error.id(), "clinalg:device:opencl", "{error}");
        // An empty range launches nothing and needs no kernel.
        context.run(&Kernel::new(&vector::FILE, "no_such_kernel", Precision::F32), Range::d1(0, 64), &[]).unwrap();
        context.run(&SCALE, Range::d1(2, 1), &[Arg::size(2), Arg::F32(2.0), x.arg(), x.arg()]).unwrap();
        assert_eq!(x.to_vec().unwrap(), [2.0, 4.0]);
    }
}
