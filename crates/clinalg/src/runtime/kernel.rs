//! Kernel files, launch ranges and arguments.

use std::ffi::c_void;
use std::hash::{Hash, Hasher};

use crate::{Precision, Real};

/// A kernel source file, embedded in the program or made by it; told apart by its place.
#[derive(Debug)]
pub struct File {
    pub(crate) name: &'static str,
    pub(crate) source: &'static str,
    flushes: bool,
}

impl File {
    /// The file `name`, without its extension, with the text `source`; the definitions of `kernels/common.cl` stand before
    /// it.
    pub const fn new(name: &'static str, source: &'static str) -> File {
        File { name, source, flushes: false }
    }

    /// The same with numbers below the normal range taken as zero where the device gains by that: GPUs save a test around
    /// each reciprocal square root in single precision.
    pub const fn flushing(self) -> File {
        File { flushes: true, ..self }
    }
}

impl PartialEq for File {
    fn eq(&self, other: &File) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for File {}

impl Hash for File {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_usize(std::ptr::from_ref(self).addr());
    }
}

/// What stands before every kernel file.
pub(crate) const COMMON: &str = include_str!("../../../../kernels/common.cl");

macro_rules! file {
    ($name:literal) => {
        File::new($name, include_str!(concat!("../../../../kernels/", $name, ".cl")))
    };
}

pub(crate) mod files {
    //! One entry per file of `kernels/`.
    use super::File;

    pub(crate) static VECTOR: File = file!("vector");
    pub(crate) static REDUCE: File = file!("reduce");
    pub(crate) static CSR: File = file!("csr");
    pub(crate) static BAND: File = file!("band");
    pub(crate) static DENSE: File = file!("dense");
    pub(crate) static MANY: File = file!("many");
    pub(crate) static BLOCKS: File = file!("blocks");
    pub(crate) static CHUNKS: File = file!("chunks");
    pub(crate) static STENCIL: File = file!("stencil");
    pub(crate) static CONVERT: File = file!("convert");
    pub(crate) static GRID2: File = file!("grid2");
    pub(crate) static GRID2_GPU: File = file!("grid2_gpu");
    pub(crate) static WAVE2: File = file!("wave2");
    pub(crate) static KRYLOV: File = file!("krylov");
    pub(crate) static MIXED: File = file!("mixed");
    pub(crate) static GRID3: File = file!("grid3");
    pub(crate) static FACES2: File = file!("faces2");
    pub(crate) static INVERSE: File = file!("inverse");
}

/// Names one kernel and how it is compiled; the context keeps what was built for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Kernel {
    file: &'static File,
    name: Word,
    pub(crate) precision: Precision,
    defines: Defines,
}

/// A word of the program's text, told apart by its place: a launch compares and hashes no letters. The same word at two
/// places would be two, which costs a kernel object and nothing else.
#[derive(Debug, Clone, Copy)]
struct Word(&'static str);

impl PartialEq for Word {
    fn eq(&self, other: &Word) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Word {}

impl Hash for Word {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_usize(self.0.as_ptr().addr());
    }
}

/// Most numbers that a kernel is compiled with beyond those of the precision.
const DEFINES: usize = 8;

/// Numbers passed as `-DNAME=value`; in the kernel's name itself, so that a launch allocates nothing.
#[derive(Debug, Clone, Copy)]
struct Defines {
    count: usize,
    all: [(Word, u64); DEFINES],
}

impl Defines {
    fn used(&self) -> &[(Word, u64)] {
        &self.all[..self.count]
    }
}

impl PartialEq for Defines {
    fn eq(&self, other: &Defines) -> bool {
        self.used() == other.used()
    }
}

impl Eq for Defines {}

impl Hash for Defines {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.used().hash(state);
    }
}

/// A hash of few words and numbers of the program itself, which nobody tries to collide (that of the compiler rustc).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Quick(u64);

impl Hasher for Quick {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&b| self.write_u64(b.into()));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
}

impl Kernel {
    /// The kernel `name` of `file`; `precision` decides what `REAL` is.
    pub const fn new(file: &'static File, name: &'static str, precision: Precision) -> Kernel {
        let defines = Defines { count: 0, all: [(Word(""), 0); DEFINES] };
        Kernel { file, name: Word(name), precision, defines }
    }

    /// The kernel compiled with these numbers as well, at most eight in all. `LOCAL` takes the place of the context's.
    ///
    /// # Panics
    /// For more than eight.
    pub const fn with(mut self, defines: &[(&'static str, u64)]) -> Kernel {
        let mut k = 0;
        while k < defines.len() {
            self.defines.all[self.defines.count] = (Word(defines[k].0), defines[k].1);
            self.defines.count += 1;
            k += 1;
        }
        self
    }

    /// The same with those of `(name, value, usual value)` whose value is not the usual one, which the file gives them
    /// itself: one compilation for all that have the usual ones.
    pub(crate) fn with_changed(self, defines: &[(&'static str, u64, u64)]) -> Kernel {
        let changed = defines.iter().filter(|(_, value, usual)| value != usual);
        changed.fold(self, |kernel, &(name, value, _)| kernel.with(&[(name, value)]))
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name.0
    }

    /// The program this kernel is a part of.
    pub(super) fn program(&self) -> ProgramKey {
        let defines = self.defines.used().iter().map(|(name, value)| (name.0, *value)).collect();
        ProgramKey { file: self.file, precision: self.precision, defines }
    }
}

/// One compilation of one file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct ProgramKey {
    file: &'static File,
    precision: Precision,
    defines: Vec<(&'static str, u64)>,
}

impl ProgramKey {
    pub(super) fn file(&self) -> &'static File {
        self.file
    }

    pub(super) fn options(&self, local: usize) -> String {
        let own = self.defines.iter().find(|(name, _)| *name == "LOCAL");
        let mut options = options(self.precision, own.map_or(local, |(_, local)| *local as usize));
        for (name, value) in self.defines.iter().filter(|(name, _)| *name != "LOCAL") {
            options.push_str(&format!(" -D{name}={value}"));
        }
        if self.file.flushes {
            options.push_str(" -cl-denorms-are-zero");
        }
        options
    }
}

/// What every build is given: the language, the precision, the items of a work-group.
pub(super) fn options(precision: Precision, local: usize) -> String {
    let real = match precision {
        Precision::F32 => "-DREAL=float -DREAL_BITS=32 -cl-single-precision-constant",
        Precision::F64 => "-DREAL=double -DREAL_BITS=64",
    };
    format!("-cl-std=CL1.2 {real} -DLOCAL={local}")
}

/// A kernel and the work-items that run it, made before the call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Launch {
    pub(crate) kernel: Kernel,
    pub(crate) range: Range,
}

/// How many work-items run, and in groups of how many.
#[derive(Debug, Clone, Copy)]
pub struct Range {
    pub(super) dims: u32,
    pub(super) global: [usize; 2],
    pub(super) local: [usize; 2],
}

impl Range {
    /// At least `items` work-items in groups of `local`; OpenCL C 1.2 wants whole groups.
    pub fn d1(items: usize, local: usize) -> Range {
        Range { dims: 1, global: [items.div_ceil(local) * local, 1], local: [local, 1] }
    }

    /// At least `items[0]` by `items[1]` work-items in groups of `local`.
    pub fn d2(items: [usize; 2], local: [usize; 2]) -> Range {
        let up = |k: usize| items[k].div_ceil(local[k]) * local[k];
        Range { dims: 2, global: [up(0), up(1)], local }
    }

    /// Work-items in the first direction.
    pub(crate) fn items(&self) -> usize {
        self.global[0]
    }

    pub(super) fn is_empty(&self) -> bool {
        self.global[0] == 0 || self.global[1] == 0
    }
}

/// A kernel argument.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Arg {
    /// Device memory; made by [`Buffer::arg`](super::Buffer::arg).
    Mem(Mem),
    /// `uint`.
    U32(u32),
    /// `ulong`.
    U64(u64),
    /// `float`.
    F32(f32),
    /// `double`.
    F64(f64),
}

/// A memory object as an argument; alive as long as the buffer it came from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mem(pub(super) *mut c_void);

impl Arg {
    /// A count or index (`ulong` in the kernel).
    pub fn size(value: usize) -> Arg {
        Arg::U64(value as u64)
    }

    /// A value of the precision `T` (`REAL` in the kernel).
    pub fn real<T: Real>(value: f64) -> Arg {
        match T::PRECISION {
            Precision::F32 => Arg::F32(value as f32),
            Precision::F64 => Arg::F64(value),
        }
    }

    /// Size and address as `clSetKernelArg` takes them.
    pub(super) fn raw(&self) -> (usize, *const c_void) {
        fn of<T>(value: &T) -> (usize, *const c_void) {
            (size_of::<T>(), std::ptr::from_ref(value).cast())
        }
        match self {
            Arg::Mem(m) => of(&m.0),
            Arg::U32(v) => of(v),
            Arg::U64(v) => of(v),
            Arg::F32(v) => of(v),
            Arg::F64(v) => of(v),
        }
    }
}
