//! Right-hand sides in OpenCL C.

use clinalg::KernelFamily;

use crate::model::system::{Snippet, System};

/// The function `name(I, T, par, state)` of a snippet; `state` is the type of what components are read from, `access` what
/// stands for one.
pub(crate) fn function(
    system: &System,
    snippet: &Snippet,
    name: &str,
    (state, extra): (&str, &str),
    access: &str,
) -> String {
    let parameters: String = (system.parameters.iter().enumerate())
        .map(|(k, name)| format!("    const REAL {name} = PARAMETERS[{k}];\n"))
        .collect();
    format!(
        "#define N POINTS\n#define Y(j) {access}\n\
         REAL {name}(const idx I, const REAL T, __global const REAL *PARAMETERS, {state} *STATE{extra})\n\
         {{\n{parameters}{}\n}}\n#undef Y\n#undef N\n",
        snippet.body
    )
}

/// What kernels need of a snippet: its functions, and `derivative`, which reads components from memory.
pub(crate) fn functions(system: &System, snippet: &Snippet) -> String {
    format!("{}\n{}", snippet.functions, function(system, snippet, "derivative", (GLOBAL, ""), "(STATE[(j)])"))
}

/// The function `near` of a snippet, which reads components from a tile that begins with component `FIRST`: on GPUs in local memory, on CPUs in an array of the item.
pub(crate) fn near(system: &System, snippet: &Snippet, family: KernelFamily) -> String {
    let state = match family {
        KernelFamily::Gpu => "__local const REAL",
        KernelFamily::Cpu => "const REAL",
    };
    function(system, snippet, "near", (state, ", const idx FIRST"), "(STATE[(j) - FIRST])")
}

/// The function `name` of a snippet that reads components by `access`, with further arguments.
pub(crate) fn reading(system: &System, snippet: &Snippet, name: &str, arguments: &str, access: &str) -> String {
    function(system, snippet, name, (GLOBAL, &format!(", {arguments}")), access)
}

pub(crate) const GLOBAL: &str = "__global const REAL";
