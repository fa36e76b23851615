//! Reads OpenCL C kernel files and generates Rust functions that launch their kernels.
//!
//! For build scripts and checks. A kernel file says in its header how it is compiled:
//!
//! ```text
//! //@ build
//! //@ build WIDTH=2 ITEMS=4
//! //@ variant Dots DOTS=1
//! //@ build Dots LANES=8
//! //@ crate clinalg-bem
//! //@ rounded
//! //@ one_program
//! ```
//!
//! A `crate` line names the crate that embeds the file, if it is not `clinalg`. With a `rounded` line, divisions and square roots in single
//! precision are correctly rounded where the device can. With a `doubles` line, kernels take doubles in single precision too, and only devices
//! with double precision build them. With a `one_program` line, the first kernel that is launched builds all kernels of the file in one program: for files whose
//! kernels are launched together, as each program costs a driver a fixed time. Without it each kernel is a program. A `build` line is a set of defines that is in use; its values are samples for the checks, its names become the setters
//! of the generated program type. A `variant` names defines that change the arguments of kernels; it becomes a program type of
//! its own, made with [`From`] of those whose defines are part of its own. A kernel of different arguments in the two families has a
//! function for each, `_gpu` and `_cpu` at the end of its name. [`KernelFile::read`] preprocesses the file for each build and takes the kernels' signatures from the result;
//! [`generate`] writes the Rust module.

mod builds;
mod emit;
mod include;
mod lexer;
mod preprocess;
mod signature;

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use builds::Header;
pub use builds::{Build, Variant};
pub use emit::{Target, build, generate};
pub use include::resolve;
pub use signature::{Argument, Families, Kernel, Kind, Space};

/// What is wrong in a kernel file: the file, the line where it is known, and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl Error {
    fn new(text: impl Into<String>) -> Error {
        Error(text.into())
    }

    fn within(self, place: impl fmt::Display) -> Error {
        Error(format!("{place}: {}", self.0))
    }
}

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What the builds of the family for CPUs define; the runtime does so itself.
pub const FAMILY: &str = "CPU";

/// What the builds for complex values define; the runtime does so itself.
pub const COMPLEX: &str = "SCALAR_COMPLEX";

/// A kernel file with its builds and the kernels that they define.
#[derive(Debug, Clone)]
pub struct KernelFile {
    /// The file's name without its extension.
    pub name: String,
    /// The crate that embeds it.
    pub owner: String,
    /// The text, with its includes in their place.
    pub text: String,
    /// The program types; the first has no name and no defines.
    pub variants: Vec<Variant>,
    /// The ways in which the file is compiled.
    pub builds: Vec<Build>,
    /// The kernels of each variant, in the order of the file; one of different arguments in the two families twice.
    pub kernels: Vec<Vec<Kernel>>,
    /// Whether divisions and square roots are to be correctly rounded in single precision too.
    pub is_rounded: bool,
    /// Whether kernels take doubles in single precision too, so that only devices with double precision build them.
    pub has_doubles: bool,
    /// Whether all kernels are built in one program.
    pub is_one_program: bool,
}

impl KernelFile {
    /// Reads `path`; what it includes is in the same folder.
    ///
    /// # Errors
    /// The file cannot be read, a line of its header is malformed, its directives are unbalanced, or a kernel has different arguments in
    /// two builds of one variant and one family.
    pub fn read(path: &Path) -> Result<KernelFile> {
        let name = path.file_stem().and_then(|s| s.to_str()).ok_or_else(|| Error::new("no file name"))?;
        let folder = path.parent().unwrap_or(Path::new("."));
        KernelFile::parse(name, &include::resolve(folder, &format!("{name}.cl"))?).map_err(|e| e.within(path.display()))
    }

    /// The text of a file with each `#include` replaced by the file it names, from the same folder.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn resolved(path: &Path) -> Result<String> {
        let name = path.file_name().and_then(|s| s.to_str()).ok_or_else(|| Error::new("no file name"))?;
        include::resolve(path.parent().unwrap_or(Path::new(".")), name)
    }

    /// As [`KernelFile::read`] for a text.
    ///
    /// # Errors
    /// As [`KernelFile::read`].
    pub fn parse(name: &str, text: &str) -> Result<KernelFile> {
        let Header { owner, variants, builds, is_rounded, has_doubles, is_one_program } = builds::parse(text)?;
        let mut kernels: Vec<Vec<Kernel>> = vec![Vec::new(); variants.len()];
        for build in &builds {
            let tokens = preprocess::preprocess(name, text, &build.defines)?;
            let is_cpu = build.defines.iter().any(|(name, _)| name == FAMILY);
            for kernel in signature::kernels(&tokens, Families::of(is_cpu))? {
                let known = &mut kernels[build.variant];
                match known.iter_mut().find(|k| k.name == kernel.name && k.arguments == kernel.arguments) {
                    Some(first) => first.join(&kernel),
                    None => known.push(kernel.clone()),
                }
                if known.iter().any(|other| other.contradicts(&kernel)) {
                    let (name, defines) = (&kernel.name, build.defines_text());
                    let advice = "builds of one family that change the arguments of a kernel need a `variant` line";
                    return Err(Error::new(format!("{name} has other arguments in the build `{defines}`; {advice}")));
                }
            }
        }
        for list in &mut kernels {
            list.sort_by_key(|kernel| kernel.spans[0]);
        }
        let (name, text) = (name.to_owned(), text.to_owned());
        Ok(KernelFile { name, owner, text, variants, builds, kernels, is_rounded, has_doubles, is_one_program })
    }

    /// Whether its kernels take values of a scalar type that may be complex.
    pub fn has_scalars(&self) -> bool {
        let arguments = self.kernels.iter().flatten().flat_map(|kernel| &kernel.arguments);
        let is_complex = |build: &Build| build.defines.iter().any(|(name, _)| name == COMPLEX);
        arguments.clone().any(|argument| argument.kind == Kind::Scalar) || self.builds.iter().any(is_complex)
    }

    /// The names that the builds of a variant define beyond those of the variant itself, of the family and of the scalar type.
    pub fn parameters(&self, variant: usize) -> BTreeSet<&str> {
        let fixed = &self.variants[variant].defines;
        let builds = self.builds.iter().filter(|build| build.variant == variant);
        let names = builds.flat_map(|build| &build.defines).map(|(name, _)| name.as_str());
        names.filter(|name| ![FAMILY, COMPLEX].contains(name) && !fixed.iter().any(|(own, _)| own == name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
// Header.
//@ build
//@ build WIDTH=2
//@ variant Dots DOTS=1
//@ build Dots WIDTH=4 LOCAL=64
#ifdef DOTS
#define MORE , __global REAL *partial
#else
#define MORE
#endif
inline REAL twice(REAL x) { return 2 * x; }
__kernel void scale(ulong n, REAL a, __global const REAL *x, __global REAL *out MORE)
{
    if (n > 0) { out[0] = twice(a * x[0]); }
}
#define MAKE(name, type) __kernel void name(uint n, __global const type *x) { }
MAKE(first, uint)
MAKE(second, REAL)
";

    fn names(kernels: &[Kernel]) -> Vec<&str> {
        kernels.iter().map(|k| k.name.as_str()).collect()
    }

    #[test]
    fn a_variant_has_its_own_arguments() {
        let file = KernelFile::parse("demo", TEXT).unwrap();
        assert_eq!(names(&file.kernels[0]), ["scale", "first", "second"]);
        assert_eq!(file.kernels[0][0].arguments.len(), 4);
        assert_eq!(file.kernels[1][0].arguments.len(), 5);
        assert_eq!(file.parameters(0), BTreeSet::from(["WIDTH"]));
        assert_eq!(file.parameters(1), BTreeSet::from(["LOCAL", "WIDTH"]));
    }

    #[test]
    fn spans_cover_whole_definitions() {
        let file = KernelFile::parse("demo", TEXT).unwrap();
        let text = |k: usize| {
            let (begin, end) = file.kernels[0][k].spans[0];
            &TEXT[begin..end]
        };
        assert!(
            text(0).starts_with("__kernel void scale(")
                && text(0).ends_with("    if (n > 0) { out[0] = twice(a * x[0]); }\n}")
        );
        assert_eq!(text(1), "MAKE(first, uint)");
        assert_eq!(text(2), "MAKE(second, REAL)");
    }

    #[test]
    fn other_arguments_without_a_variant_are_an_error() {
        let text = "//@ build\n//@ build A=1\n#ifdef A\n#define MORE , uint n\n#else\n#define MORE\n#endif\n\
                    __kernel void f(__global uint *x MORE) {}\n";
        let error = KernelFile::parse("demo", text).unwrap_err().to_string();
        assert!(error.contains("f has other arguments in the build `A=1`"), "{error}");
    }
    #[test]
    fn families_may_differ_in_arguments() {
        let text = "//@ build\n//@ build CPU=1\n//@ variant Dots DOTS=1\n//@ build Dots N=3\n#ifdef CPU\n\
                    __kernel void mv(ulong n, uint parts) {}\n__kernel void one(ulong n) {}\n#else\n\
                    __kernel void mv(ulong n) {}\n__kernel void one(ulong n) {}\n#endif\n";
        let file = KernelFile::parse("demo", text).unwrap();
        assert_eq!(names(&file.kernels[0]), ["mv", "one", "mv"]);
        let families = |k: usize| (file.kernels[0][k].families.gpu, file.kernels[0][k].families.cpu);
        assert_eq!([0, 1, 2].map(families), [(false, true), (true, true), (true, false)]);
        assert_eq!(file.kernels[0][1].spans.len(), 2);
        let rust = generate(&file, Target { root: "crate", is_unsafe: false });
        for expected in
            ["fn mv_cpu<'a>(", "fn mv_gpu<'a>(", "fn one<'a>(", "fn mv<'a>(", "From<Program<T>> for Dots<T>"]
        {
            assert_eq!(rust.matches(expected).count(), if expected == "fn one<'a>(" { 2 } else { 1 }, "{expected}");
        }
        assert_eq!(rust.matches("const MV: KernelId").count(), 1);
        let text = text
            .replace("//@ build CPU=1", "//@ build CPU=1\n//@ build CPU=1 MORE=1")
            .replace("uint parts", "\n#ifdef MORE\nuint parts\n#else\nulong parts\n#endif\n");
        assert!(KernelFile::parse("demo", &text).is_err());
    }
}
