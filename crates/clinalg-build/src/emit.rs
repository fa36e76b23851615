//! The Rust module of a kernel file.

use std::fmt::Write as _;
use std::path::Path;

use crate::include;
use crate::signature::{Argument, Kernel, Kind, Space};
use crate::{Error, FAMILY, KernelFile, Result, Variant};

/// Where the generated code stands.
#[derive(Debug, Clone, Copy)]
pub struct Target<'t> {
    /// The path of the crate `clinalg`.
    pub root: &'t str,
    /// Whether the launching functions are `unsafe`: the caller vouches for the lengths.
    pub is_unsafe: bool,
}

/// Words of Rust that name arguments in kernels.
const KEYWORDS: [&str; 12] = ["as", "box", "fn", "in", "let", "loop", "match", "mod", "move", "ref", "type", "use"];

/// The module `file.name`, for `include!`; the text of the file is expected at `$OUT_DIR/<name>.cl`.
pub fn generate(file: &KernelFile, target: Target<'_>) -> String {
    let mut out = String::new();
    let name = &file.name;
    let root = target.root;
    let texts = texts(file);
    line(&mut out, 0, &format!("/// Launches of the kernels in `kernels/{name}.cl`."));
    line(&mut out, 0, "#[allow(dead_code, unused_imports, clippy::all)]");
    line(&mut out, 0, &format!("pub(crate) mod {name} {{"));
    line(&mut out, 1, "use std::marker::PhantomData;");
    line(
        &mut out,
        1,
        &format!(
            "use {root}::runtime::{{Arg, Context, File, In, Kernel, KernelId, KernelText, Out, Program as Base, Range, argument}};"
        ),
    );
    line(&mut out, 1, &format!("use {root}::{{Real, Result, Scalar}};"));
    let rounded = if file.is_rounded { ".rounded()" } else { "" };
    let one_program = if file.is_one_program { ".one_program()" } else { "" };
    line(&mut out, 1, "/// The file.");
    line(
        &mut out,
        1,
        &format!(
            "pub(crate) static FILE: File = File::embedded({name:?}, include_str!(concat!(env!(\"OUT_DIR\"), \"/{name}.cl\")), &KERNELS){rounded}{one_program};"
        ),
    );
    line(&mut out, 1, &format!("static KERNELS: [KernelText; {}] = [", texts.len()));
    for kernel in &texts {
        line(&mut out, 2, &format!("KernelText {{ name: {:?}, spans: &{:?} }},", kernel.name, kernel.spans));
    }
    line(&mut out, 1, "];");
    for (k, kernel) in texts.iter().enumerate() {
        line(&mut out, 1, &format!("/// `{}`", kernel.name));
        line(&mut out, 1, &format!("pub(crate) const {}: KernelId = KernelId({k});", kernel.name.to_uppercase()));
    }
    for (k, variant) in file.variants.iter().enumerate() {
        if file.builds.iter().any(|build| build.variant == k) {
            program(&mut out, file, k, variant, target);
        }
    }
    line(&mut out, 0, "}");
    out
}

/// One entry per kernel name, with its spans in all builds.
fn texts(file: &KernelFile) -> Vec<Kernel> {
    let mut all: Vec<Kernel> = Vec::new();
    for kernel in file.kernels.iter().flatten() {
        match all.iter_mut().find(|known| known.name == kernel.name) {
            Some(known) => known.join(kernel),
            None => all.push(kernel.clone()),
        }
    }
    all
}

fn line(out: &mut String, depth: usize, text: &str) {
    out.push_str(&"    ".repeat(depth));
    out.push_str(text);
    out.push('\n');
}

fn program(out: &mut String, file: &KernelFile, index: usize, variant: &Variant, target: Target<'_>) {
    let name = if variant.name.is_empty() { "Program" } else { &variant.name };
    // The runtime defines the family itself.
    let fixed = variant.defines.iter().filter(|(n, _)| n != FAMILY);
    let fixed: Vec<String> = fixed.map(|(n, v)| format!("({n:?}, {v})")).collect();
    line(
        out,
        1,
        &format!(
            "/// A compilation of `{}.cl` for `T`{}.",
            file.name,
            if variant.defines.is_empty() {
                String::new()
            } else {
                format!(
                    " with `{}`",
                    variant.defines.iter().map(|(n, v)| format!("{n}={v}")).collect::<Vec<_>>().join(" ")
                )
            }
        ),
    );
    line(out, 1, "#[derive(Debug, Clone, Copy, PartialEq)]");
    line(out, 1, &format!("pub(crate) struct {name}<T> {{ base: Base, scalar: PhantomData<fn() -> T> }}"));
    let has_scalars = file.has_scalars();
    let (bound, make) = if has_scalars { ("Scalar", "of::<T>(&FILE)") } else { ("Real", "new(&FILE, T::PRECISION)") };
    line(out, 1, &format!("impl<T: {bound}> {name}<T> {{"));
    line(out, 2, "/// Without further defines.");
    line(out, 2, "pub(crate) fn new() -> Self {");
    line(out, 3, &format!("Self {{ base: Base::{make}.with(&[{}]), scalar: PhantomData }}", fixed.join(", ")));
    line(out, 2, "}");
    line(out, 2, "/// One of its kernels, to be built before its first launch.");
    line(out, 2, "pub(crate) fn kernel(&self, id: KernelId) -> Kernel { self.base.kernel(id) }");
    let mut parameters = file.parameters(index);
    // Every build has it.
    parameters.insert("LOCAL");
    for parameter in parameters {
        let setter = identifier(&parameter.to_lowercase());
        line(out, 2, &format!("/// Defines `{parameter}`."));
        line(
            out,
            2,
            &format!(
                "pub(crate) fn {setter}(mut self, value: u64) -> Self {{ self.base = self.base.with(&[({parameter:?}, value)]); self }}"
            ),
        );
        line(out, 2, &format!("/// Defines `{parameter}` unless `value` is `usual`, which the file has without it."));
        line(
            out,
            2,
            &format!(
                "pub(crate) fn {}_unless(self, value: u64, usual: u64) -> Self {{ if value == usual {{ self }} else {{ self.{setter}(value) }} }}",
                parameter.to_lowercase()
            ),
        );
    }
    for kernel in &file.kernels[index] {
        function(out, kernel, &function_name(kernel, &file.kernels[index]), has_scalars, target);
    }
    line(out, 1, "}");
    for (k, other) in file.variants.iter().enumerate() {
        let is_part = k != index && other.defines.iter().all(|define| variant.defines.contains(define));
        if is_part && file.builds.iter().any(|build| build.variant == k) {
            let added = variant.defines.iter().filter(|define| !other.defines.contains(define));
            let added: Vec<String> = added.map(|(n, v)| format!("({n:?}, {v})")).collect();
            let from = if other.name.is_empty() { "Program" } else { &other.name };
            line(out, 1, &format!("impl<T: {bound}> From<{from}<T>> for {name}<T> {{"));
            line(out, 2, &format!("fn from(program: {from}<T>) -> Self {{"));
            line(out, 3, &format!("Self {{ base: program.base.with(&[{}]), scalar: PhantomData }}", added.join(", ")));
            line(out, 2, "}");
            line(out, 1, "}");
        }
    }
}

/// That of the kernel, with its family where the other one has the name with other arguments.
fn function_name(kernel: &Kernel, all: &[Kernel]) -> String {
    let is_alone = all.iter().filter(|other| other.name == kernel.name).count() == 1;
    match (is_alone, kernel.families.cpu) {
        (true, _) => identifier(&kernel.name),
        (false, true) => format!("{}_cpu", kernel.name),
        (false, false) => format!("{}_gpu", kernel.name),
    }
}

fn function(out: &mut String, kernel: &Kernel, name: &str, has_scalars: bool, target: Target<'_>) {
    let groups = groups(&kernel.arguments);
    let mut parameters = String::new();
    let mut values = String::new();
    for group in &groups {
        let first = group[0];
        let (argument, count) = match group.len() {
            1 => (identifier(&first.name), None),
            n => (first.name.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned(), Some(n)),
        };
        let _ = match count {
            None => write!(parameters, ", {argument}: {}", argument_type(first, has_scalars)),
            Some(n) => write!(parameters, ", {argument}: [{}; {n}]", view_type(first, has_scalars)),
        };
        for k in 0..group.len() {
            let value = if count.is_some() { format!("{argument}[{k}]") } else { argument.clone() };
            let _ = match first.space {
                Space::Value => write!(values, "argument({value}), "),
                Space::Local => {
                    write!(values, "Arg::Local({value} * size_of::<{}>()), ", scalar(first.kind, has_scalars))
                }
                Space::Read | Space::Write if count.is_some() => write!(values, "{value}.arg(), "),
                Space::Read => {
                    write!(values, "Into::<In<'a, {}>>::into({value}).arg(), ", element(first.kind, has_scalars))
                }
                Space::Write => {
                    write!(values, "Into::<Out<'a, {}>>::into({value}).arg(), ", element(first.kind, has_scalars))
                }
            };
        }
    }
    let types: Vec<String> = kernel.arguments.iter().map(c_text).collect();
    line(out, 2, &format!("/// Enqueues `{}({})`.", kernel.name, types.join(", ")));
    let call = format!("(&self.base.kernel({}), range, &[", kernel.name.to_uppercase());
    let (prefix, open, close) = if target.is_unsafe {
        line(out, 2, "///");
        line(out, 2, "/// # Safety");
        line(
            out,
            2,
            "/// The buffers are of `context` and as long as the kernel takes them to be for every item of `range`.",
        );
        ("unsafe ", format!("// SAFETY: the caller's.\n            unsafe {{ context.launch_kernel{call}"), "]) }")
    } else {
        ("", format!("context.run{call}"), "])")
    };
    line(
        out,
        2,
        &format!(
            "pub(crate) {prefix}fn {name}<'a>(&self, context: &Context, range: Range{parameters}) -> Result<()> {{"
        ),
    );
    line(out, 3, &format!("{open}{values}{close}"));
    line(out, 2, "}");
}

/// Arguments of one type whose names count from 0, four or more, are one array.
fn groups(arguments: &[Argument]) -> Vec<Vec<&Argument>> {
    let mut all: Vec<Vec<&Argument>> = Vec::new();
    let mut at = 0;
    while at < arguments.len() {
        let first = &arguments[at];
        let stem = first.name.strip_suffix('0').filter(|_| first.space != Space::Value);
        let follows = |k: usize| {
            arguments.get(at + k).is_some_and(|a| {
                stem.is_some_and(|stem| a.name == format!("{stem}{k}"))
                    && (a.kind, a.space) == (first.kind, first.space)
            })
        };
        let count = (1..).take_while(|&k| follows(k)).count() + 1;
        let count = if count >= 4 { count } else { 1 };
        all.push(arguments[at..at + count].iter().collect());
        at += count;
    }
    all
}

fn identifier(name: &str) -> String {
    if KEYWORDS.contains(&name) { format!("r#{name}") } else { name.to_owned() }
}

fn scalar(kind: Kind, has_scalars: bool) -> &'static str {
    match kind {
        Kind::Scalar => "T",
        Kind::Real if has_scalars => "T::Real",
        Kind::Real => "T",
        Kind::Float => "f32",
        Kind::Double => "f64",
        Kind::Uchar => "u8",
        Kind::Ushort => "u16",
        Kind::Uint | Kind::Int => "u32",
        Kind::Ulong => "usize",
    }
}

fn element(kind: Kind, has_scalars: bool) -> &'static str {
    match kind {
        Kind::Ulong => "u64",
        other => scalar(other, has_scalars),
    }
}

fn view_type(argument: &Argument, has_scalars: bool) -> String {
    let view = if argument.space == Space::Read { "In" } else { "Out" };
    format!("{view}<'a, {}>", element(argument.kind, has_scalars))
}

fn argument_type(argument: &Argument, has_scalars: bool) -> String {
    match (argument.space, argument.kind) {
        (Space::Value, kind) => scalar(kind, has_scalars).to_owned(),
        (Space::Local, _) => "usize".to_owned(),
        _ => format!("impl Into<{}>", view_type(argument, has_scalars)),
    }
}

fn c_text(argument: &Argument) -> String {
    let kind = match argument.kind {
        Kind::Scalar => "SCALAR",
        Kind::Real => "REAL",
        Kind::Float => "float",
        Kind::Double => "double",
        Kind::Uchar => "uchar",
        Kind::Ushort => "ushort",
        Kind::Uint => "uint",
        Kind::Int => "int",
        Kind::Ulong => "ulong",
    };
    match argument.space {
        Space::Value => format!("{kind} {}", argument.name),
        Space::Read => format!("const {kind} *{}", argument.name),
        Space::Write => format!("{kind} *{}", argument.name),
        Space::Local => format!("__local {kind} *{}", argument.name),
    }
}

/// For the build script of the crate `owner`: reads its kernel files in `folder` and writes `kernels.rs` with a module for each to
/// `$OUT_DIR`, beside it their texts and that of `common.clh`.
///
/// # Errors
/// Those of [`KernelFile::read`]; a file cannot be written.
pub fn build(folder: &Path, owner: &str, target: Target<'_>) -> Result<()> {
    let out =
        std::env::var_os("OUT_DIR").ok_or_else(|| Error::new("OUT_DIR is not set; only a build script has it"))?;
    let failed = |path: &Path| {
        let path = path.display().to_string();
        move |error: std::io::Error| Error::new(format!("{path}: {error}"))
    };
    let write = |name: String, text: &str| {
        let path = Path::new(&out).join(name);
        std::fs::write(&path, text).map_err(failed(&path))
    };
    println!("cargo::rerun-if-changed={}", folder.display());
    let entries = std::fs::read_dir(folder).map_err(failed(folder))?;
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "cl"));
    paths.sort();
    let mut modules = String::new();
    for path in paths {
        let file = KernelFile::read(&path)?;
        if file.owner == owner {
            modules.push_str(&generate(&file, target));
            write(format!("{}.cl", file.name), &file.text)?;
        }
    }
    write(COMMON.to_owned(), &include::resolve(folder, COMMON)?)?;
    write("kernels.rs".to_owned(), &modules)
}

/// What stands before kernels that are made at run time.
const COMMON: &str = "common.clh";
