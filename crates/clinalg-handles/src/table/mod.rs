//! What the language bindings offer: one description per function, with the reason where a binding lacks it.
//!
//! The C header's declarations, the C++ headers, the functions of the MEX gateway and the commands of the program are compared with
//! this table by tests of their crates; `docs/reference/functions.md` is made from it.

mod algebra;
mod array;
mod complex;
mod cpp;
mod dense;
mod devices;
mod elastodynamics;
mod heat;
mod objects;
mod ode;
mod opencl;
mod poisson;
mod preconditioners;
mod solvers;
mod sparse;
mod team;
mod wave;

pub use cpp::{cpp, cpp_functions};

/// What an argument of a C function is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// An object.
    Handle,
    /// An object that is written or made.
    Output,
    /// A real number.
    Real,
    /// A real number, or several, that the call gives.
    RealResult,
    /// A complex number.
    Complex,
    /// A complex number that the call gives.
    ComplexResult,
    /// Real numbers of the host.
    Reals,
    /// A number of things, from 0 on.
    Count,
    /// A number of things, or several, that the call gives.
    CountResult,
    /// Offsets or indices of the host.
    Counts,
    /// A value of an enumeration.
    Code,
    /// Indices of 32 bits.
    Indices,
    /// Indices of 32 bits that the call gives.
    IndicesResult,
    /// Offsets or indices of 32 bits with a sign.
    SignedIndices,
    /// A pointer of the caller that its functions are given.
    Data,
    /// 0 or another number.
    Flag,
    /// A number of 64 bits that the call gives.
    NumberResult,
    /// Text or a path.
    Text,
    /// Text that the call gives.
    TextResult,
    /// Values in the precision that another argument says.
    Values,
    /// Values in the precision that another argument says, or data of the caller, to be written.
    ValuesResult,
    /// Parameters in a structure of this name.
    Options(&'static str),
    /// A structure of this name that the call fills.
    Report(&'static str),
    /// A function of this type.
    Callback(&'static str),
    /// An object of OpenCL.
    Foreign,
    /// An object of OpenCL that the call gives.
    ForeignResult,
}

/// An argument of a C function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Argument {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub kind: Kind,
}

impl Argument {
    const fn new(name: &'static str, kind: Kind) -> Argument {
        Argument { name, kind }
    }

    /// The declaration in C.
    pub fn declaration(&self) -> String {
        let name = self.name;
        let plain = match self.kind {
            Kind::Handle => "clinalg_handle ",
            Kind::Output => "clinalg_handle *",
            Kind::Real => "double ",
            Kind::RealResult => "double *",
            Kind::Complex => "clinalg_complex ",
            Kind::ComplexResult => "clinalg_complex *",
            Kind::Reals => "const double *",
            Kind::Count => "size_t ",
            Kind::CountResult => "size_t *",
            Kind::Counts => "const size_t *",
            Kind::Code => "uint32_t ",
            Kind::Indices => "const uint32_t *",
            Kind::IndicesResult => "uint32_t *",
            Kind::SignedIndices => "const int32_t *",
            Kind::Data | Kind::Foreign => "void *",
            Kind::ForeignResult => "void **",
            Kind::Flag => "int32_t ",
            Kind::NumberResult => "uint64_t *",
            Kind::Text => "const char *",
            Kind::TextResult => "char *",
            Kind::Values => "const void *",
            Kind::ValuesResult => "void *",
            Kind::Options(structure) => return format!("const {structure} *{name}"),
            Kind::Report(structure) => return format!("{structure} *{name}"),
            Kind::Callback(function) => return format!("{function} {name}"),
        };
        format!("{plain}{name}")
    }
}

/// What a binding offers for a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offer {
    /// Its names there.
    Names(&'static [&'static str]),
    /// Nothing, for this reason.
    Missing(&'static str),
}

impl Offer {
    /// The names; none where the function is missing.
    pub fn names(&self) -> &'static [&'static str] {
        match self {
            Offer::Names(names) => names,
            Offer::Missing(_) => &[],
        }
    }
}

/// A function.
#[derive(Debug, Clone, Copy)]
pub struct Function {
    /// Its name in this table.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub title: &'static str,
    /// The arguments of the C function, in order.
    pub arguments: &'static [Argument],
    /// The C interface.
    pub c: Offer,
    /// MATLAB and GNU Octave.
    pub matlab: Offer,
    /// The commands of the program `clinalg`.
    pub program: Offer,
}

impl Function {
    /// The declaration of the C function on one line, if there is one.
    pub fn declaration(&self) -> Option<String> {
        let name = self.c.names().first()?;
        // Texts that stay valid; all else gives a status.
        let result = if matches!(self.name, "version" | "last_error_message" | "last_error_id") {
            "const char *"
        } else {
            "clinalg_status "
        };
        let arguments: Vec<_> = self.arguments.iter().map(Argument::declaration).collect();
        let arguments = if arguments.is_empty() { "void".into() } else { arguments.join(", ") };
        Some(format!("{result}{name}({arguments});"))
    }
}

/// Functions of one topic.
#[derive(Debug, Clone, Copy)]
pub struct Group {
    /// The topic.
    pub title: &'static str,
    /// Its functions.
    pub functions: &'static [Function],
}

/// Why the program has no command for an operation on objects.
const LIBRARY: &str = "the program keeps no objects between commands";
/// Why MATLAB and the program have no function for defaults.
const DEFAULTS: &str = "arguments that are left out take the defaults";
/// Why the program has no command for a component of a solver.
const STEP: &str = "a component of `clinalg poisson`";

/// What only Rust offers, and why no other binding does.
pub const RUST_ONLY: &[(&str, &str)] = &[(
    "Views: a part of a vector or a column of a dense matrix without a copy.",
    "an object that shared the memory of another one would break what operations on handles rest on: inputs and outputs are told apart by their memory, and \
     each object has a lock of its own; clinalg_vector_slice copies on the device, and an OpenCL sub-buffer that a program imports is a view that it answers for",
)];

/// Every function by topic.
pub const GROUPS: &[Group] = &[
    Group { title: "Devices and sessions", functions: devices::FUNCTIONS },
    Group { title: "Programs with OpenCL objects of their own", functions: opencl::FUNCTIONS },
    Group { title: "Objects on the device", functions: objects::FUNCTIONS },
    Group { title: "Linear algebra", functions: algebra::FUNCTIONS },
    Group { title: "Arrays", functions: array::FUNCTIONS },
    Group { title: "Sparse algebra", functions: sparse::FUNCTIONS },
    Group { title: "Complex numbers", functions: complex::FUNCTIONS },
    Group { title: "Factorisations of dense matrices", functions: dense::FUNCTIONS },
    Group { title: "Systems of equations and multigrid", functions: solvers::FUNCTIONS },
    Group { title: "The Poisson problem", functions: poisson::FUNCTIONS },
    Group { title: "Preconditioners", functions: preconditioners::FUNCTIONS },
    Group { title: "The wave equation", functions: wave::FUNCTIONS },
    Group { title: "Several devices", functions: team::FUNCTIONS },
    Group { title: "Ordinary differential equations", functions: ode::FUNCTIONS },
    Group { title: "Boundary elements for the heat equation", functions: heat::FUNCTIONS },
    Group { title: "Boundary elements for elastodynamics", functions: elastodynamics::FUNCTIONS },
];

/// Every function.
pub fn functions() -> impl Iterator<Item = &'static Function> {
    GROUPS.iter().flat_map(|group| group.functions)
}
