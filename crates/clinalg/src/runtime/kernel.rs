//! Kernel files, programs and kernels.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use hashbrown::Equivalent;

use super::context::{Context, KernelFamily};
use crate::{Precision, Scalar};

/// A kernel source file, embedded in the program or made by it; told apart by its place.
#[derive(Debug)]
pub struct File {
    pub(crate) name: &'static str,
    pub(crate) source: &'static str,
    kernels: &'static [KernelText],
    flushes: bool,
    is_rounded: bool,
    is_one_program: bool,
}

/// A kernel of an embedded [`File`]; made by the build script.
#[derive(Debug)]
pub struct KernelText {
    /// Its name.
    pub name: &'static str,
    /// The bytes of the source that define it.
    pub spans: &'static [(usize, usize)],
}

/// The place of a kernel in the list of its [`File`]; made by the build script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelId(pub usize);

impl File {
    /// The file `name`, without its extension, with the text `source`, which includes nothing: the definitions of
    /// `kernels/common.clh` stand before it.
    pub const fn new(name: &'static str, source: &'static str) -> File {
        File::embedded(name, source, &[])
    }

    /// As [`File::new`], with the kernels that the file defines.
    pub const fn embedded(name: &'static str, source: &'static str, kernels: &'static [KernelText]) -> File {
        File { name, source, kernels, flushes: false, is_rounded: false, is_one_program: false }
    }

    /// The same with numbers below the normal range taken as zero where the device gains by that: GPUs save a test around
    /// each reciprocal square root in single precision.
    pub const fn flushing(self) -> File {
        File { flushes: true, ..self }
    }

    /// The same with divisions and square roots in single precision correctly rounded where the device can
    /// ([`correctly_rounded_divide_sqrt`](super::DeviceInfo::correctly_rounded_divide_sqrt)); OpenCL C leaves them 2.5 and 3 units in the last place.
    pub const fn rounded(self) -> File {
        File { is_rounded: true, ..self }
    }

    /// The same with all its kernels in one program, built when the first of them is needed: for files whose kernels are launched together.
    /// Drivers take a fixed time for each program besides that for its kernels.
    pub const fn one_program(self) -> File {
        File { is_one_program: true, ..self }
    }

    /// The file's name for messages, and the source of a program with its kernels in `text`.
    fn source_with(&self, text: &str) -> (String, String) {
        let before = if self.kernels.is_empty() { COMMON } else { "" };
        (format!("{}.cl", self.name), format!("{before}\n#line 1 \"{}.cl\"\n{text}", self.name))
    }

    /// The source without the definitions of the file's other kernels; the lines keep their numbers.
    fn text_of(&self, name: &str) -> String {
        let Some(own) = self.kernels.iter().find(|kernel| kernel.name == name) else { return self.source.to_owned() };
        let others = self.kernels.iter().filter(|kernel| kernel.name != name);
        let mut spans: Vec<(usize, usize)> = others.flat_map(|kernel| kernel.spans).copied().collect();
        // A macro may define several kernels at once.
        spans.retain(|span| !own.spans.contains(span));
        spans.sort_unstable();
        spans.dedup();
        let mut text = String::with_capacity(self.source.len());
        let mut at = 0;
        for (begin, end) in spans {
            text.push_str(&self.source[at..begin]);
            text.extend(self.source[begin..end].chars().filter(|c| *c == '\n'));
            at = end;
        }
        text.push_str(&self.source[at..]);
        text
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

/// What stands before kernels that are made at run time.
pub(crate) const COMMON: &str = include_str!(concat!(env!("OUT_DIR"), "/common.clh"));

/// One compilation of a kernel file: its precision and the numbers it is compiled with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Program {
    file: &'static File,
    precision: Precision,
    defines: Defines,
}

impl Program {
    /// `file` for a precision, which decides what `REAL` is.
    pub const fn new(file: &'static File, precision: Precision) -> Program {
        Program { file, precision, defines: Defines { count: 0, all: [(Word(""), 0); DEFINES] } }
    }

    /// `file` for the scalar type `T`, which is `SCALAR` in it.
    pub fn of<T: Scalar>(file: &'static File) -> Program {
        let program = Program::new(file, T::PRECISION);
        if T::IS_COMPLEX { program.with(&[("SCALAR_COMPLEX", 1)]) } else { program }
    }

    /// The same compiled with these numbers as well, at most nine in all. `LOCAL` takes the place of the context's.
    ///
    /// # Panics
    /// For more than nine.
    pub const fn with(mut self, defines: &[(&'static str, u64)]) -> Program {
        let mut k = 0;
        while k < defines.len() {
            self.defines.all[self.defines.count] = (Word(defines[k].0), defines[k].1);
            self.defines.count += 1;
            k += 1;
        }
        self
    }

    pub(super) fn is_one_program(&self) -> bool {
        self.file.is_one_program
    }

    /// The file's name for messages, and the source of all its kernels.
    pub(super) fn source(&self) -> (String, String) {
        self.file.source_with(self.file.source)
    }

    /// A kernel of the file's list.
    ///
    /// # Panics
    /// When the list has no such kernel: `id` is of another file.
    pub const fn kernel(self, id: KernelId) -> Kernel {
        Kernel { program: self, name: Word(self.file.kernels[id.0].name) }
    }
}

/// Names one kernel and how it is compiled; the context keeps what was built for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Kernel {
    program: Program,
    name: Word,
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
const DEFINES: usize = 9;

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
        Kernel { program: Program::new(file, precision), name: Word(name) }
    }

    /// The kernel `name` of `file` for values of the type `T`, which is `SCALAR` in it.
    pub fn of<T: Scalar>(file: &'static File, name: &'static str) -> Kernel {
        Kernel { program: Program::of::<T>(file), name: Word(name) }
    }

    /// As [`Program::with`].
    ///
    /// # Panics
    /// As [`Program::with`].
    pub const fn with(mut self, defines: &[(&'static str, u64)]) -> Kernel {
        self.program = self.program.with(defines);
        self
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name.0
    }
}

/// A kernel whose source was made at run time. Clones share what is built, and so do kernels of the same text.
#[derive(Debug, Clone)]
pub struct GeneratedKernel(Arc<Generated>);

#[derive(Debug, PartialEq, Eq, Hash)]
struct Generated {
    name: Arc<str>,
    source: String,
    precision: Precision,
    flushes: bool,
}

impl GeneratedKernel {
    /// The kernel `name` that `source` defines; the definitions of `kernels/common.clh` stand before it.
    pub fn new(name: &str, source: String, precision: Precision) -> GeneratedKernel {
        GeneratedKernel(Arc::new(Generated { name: name.into(), source, precision, flushes: false }))
    }

    /// As [`File::flushing`].
    pub fn flushing(self) -> GeneratedKernel {
        let Generated { name, precision, .. } = &*self.0;
        let (name, precision) = (name.clone(), *precision);
        let source = Arc::try_unwrap(self.0).map_or_else(|shared| shared.source.clone(), |own| own.source);
        GeneratedKernel(Arc::new(Generated { name, source, precision, flushes: true }))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Its source.
    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// Whether both may stand in one program: the same options and pragmas, and names of their own.
    pub(super) fn may_share(&self, other: &GeneratedKernel) -> bool {
        let ([a, b], pragmas) = ([&*self.0, &*other.0], super::together::pragmas);
        (a.precision, a.flushes) == (b.precision, b.flushes)
            && a.name != b.name
            && pragmas(&a.source) == pragmas(&b.source)
    }
}

impl PartialEq for GeneratedKernel {
    fn eq(&self, other: &GeneratedKernel) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl Eq for GeneratedKernel {}

impl Hash for GeneratedKernel {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Few kernels have a name and a length in common.
        (&self.0.name, self.0.source.len()).hash(state);
    }
}

/// What a context keeps built kernels by.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Embedded(Box<Kernel>),
    Generated(GeneratedKernel),
}

/// A [`Key`] that borrows its kernel: a launch copies and allocates nothing. Both hash alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum KeyRef<'a> {
    Embedded(&'a Kernel),
    Generated(&'a GeneratedKernel),
}

impl Equivalent<Key> for KeyRef<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        *self == key.borrow()
    }
}

impl KeyRef<'_> {
    pub(super) fn to_key(self) -> Key {
        match self {
            KeyRef::Embedded(kernel) => Key::Embedded(Box::new(*kernel)),
            KeyRef::Generated(kernel) => Key::Generated(kernel.clone()),
        }
    }

    pub(super) fn name(self) -> Name {
        match self {
            KeyRef::Embedded(kernel) => Name::Embedded(kernel.name()),
            KeyRef::Generated(kernel) => Name::Generated(kernel.0.name.clone()),
        }
    }
}

impl Key {
    pub(super) fn borrow(&self) -> KeyRef<'_> {
        match self {
            Key::Embedded(kernel) => KeyRef::Embedded(kernel),
            Key::Generated(kernel) => KeyRef::Generated(kernel),
        }
    }

    pub(super) fn precision(&self) -> Precision {
        match self {
            Key::Embedded(kernel) => kernel.program.precision,
            Key::Generated(kernel) => kernel.0.precision,
        }
    }

    pub(super) fn name(&self) -> Name {
        self.borrow().name()
    }

    /// Whether somebody besides the table has the kernel.
    pub(super) fn is_held(&self) -> bool {
        match self {
            Key::Embedded(_) => false,
            Key::Generated(kernel) => Arc::strong_count(&kernel.0) > 1,
        }
    }

    /// The name of the source for messages, and the source.
    pub(super) fn source(&self) -> (String, String) {
        match self {
            Key::Embedded(kernel) => kernel.program.file.source_with(&kernel.program.file.text_of(kernel.name.0)),
            Key::Generated(GeneratedKernel(kernel)) => {
                (format!("{}.cl", kernel.name), format!("{COMMON}\n#line 1 \"{}.cl\"\n{}", kernel.name, kernel.source))
            }
        }
    }

    /// The program of all kernels of the file, for a kernel of a file.
    pub(super) fn whole(&self) -> Option<&Program> {
        match self {
            Key::Embedded(kernel) => Some(&kernel.program),
            Key::Generated(_) => None,
        }
    }

    pub(super) fn options(&self, context: &Context) -> String {
        let (defines, flushes, is_rounded) = match self {
            Key::Embedded(kernel) => {
                (kernel.program.defines.used(), kernel.program.file.flushes, kernel.program.file.is_rounded)
            }
            Key::Generated(kernel) => (&[][..], kernel.0.flushes, false),
        };
        let (family, local) = (context.family(), context.local());
        let own = defines.iter().find(|(name, _)| name.0 == "LOCAL");
        let mut options = options(self.precision(), family, own.map_or(local, |(_, local)| *local as usize));
        for (name, value) in defines.iter().filter(|(name, _)| name.0 != "LOCAL") {
            options.push_str(&format!(" -D{}={value}", name.0));
        }
        if flushes {
            options.push_str(" -cl-denorms-are-zero");
        }
        if is_rounded && self.precision() == Precision::F32 && context.device().correctly_rounded_divide_sqrt {
            options.push_str(" -cl-fp32-correctly-rounded-divide-sqrt");
        }
        options
    }
}

/// The name of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Name {
    Embedded(&'static str),
    Generated(Arc<str>),
}

impl Name {
    pub(super) fn as_str(&self) -> &str {
        match self {
            Name::Embedded(name) => name,
            Name::Generated(name) => name,
        }
    }
}

/// What every build is given: the language, the precision, the family of kernels, the items of a work-group.
pub(super) fn options(precision: Precision, family: KernelFamily, local: usize) -> String {
    let family = match family {
        KernelFamily::Cpu => " -DCPU=1",
        KernelFamily::Gpu => "",
    };
    let real = match precision {
        Precision::F32 => "-DREAL=float -DREAL_BITS=32 -cl-single-precision-constant",
        Precision::F64 => "-DREAL=double -DREAL_BITS=64",
    };
    format!("-cl-std=CL1.2 {real} -DLOCAL={local}{family}")
}
