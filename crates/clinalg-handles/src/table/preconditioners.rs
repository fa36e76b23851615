//! Preconditioners made of sparse matrices, and algebraic multigrid.

use super::{Argument, DEFAULTS, Function, Kind, LIBRARY, Offer};

/// Why C has no factors as matrices.
const FACTORS: &str = "a preconditioner holds its factors, as MATLAB's solvers take them by themselves";

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "preconditioner_options_defaults",
        title: "The default options of preconditioners (extensible structure).",
        arguments: &[
            Argument::new("options", Kind::Report("clinalg_preconditioner_options")),
            Argument::new("struct_size", Kind::Count),
        ],
        c: Offer::Names(&["clinalg_preconditioner_options_default"]),
        matlab: Offer::Missing(DEFAULTS),
        program: Offer::Missing(DEFAULTS),
    },
    Function {
        name: "preconditioner",
        title: "An incomplete factorisation, SSOR or an approximate inverse of a sparse matrix.",
        arguments: &[
            Argument::new("options", Kind::Options("clinalg_preconditioner_options")),
            Argument::new("a", Kind::Handle),
            Argument::new("handle", Kind::Output),
        ],
        c: Offer::Names(&["clinalg_preconditioner_create"]),
        matlab: Offer::Names(&["MexPreconditioner"]),
        program: Offer::Missing("`clinalg solve --precond` makes it"),
    },
    Function {
        name: "preconditioner_info",
        title: "Kind, entries and levels of a preconditioner.",
        arguments: &[
            Argument::new("preconditioner", Kind::Handle),
            Argument::new("report", Kind::Report("clinalg_preconditioner_report")),
        ],
        c: Offer::Names(&["clinalg_preconditioner_info"]),
        matlab: Offer::Names(&["MexPreconditionerInfo"]),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "incomplete_lu",
        title: "The factors of ILU(0) as matrices.",
        arguments: &[],
        c: Offer::Missing(FACTORS),
        matlab: Offer::Names(&["MexIncompleteLU"]),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "incomplete_cholesky",
        title: "The factor of IC(0) as a matrix.",
        arguments: &[],
        c: Offer::Missing(FACTORS),
        matlab: Offer::Names(&["MexIncompleteCholesky"]),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "triangular_factors",
        title: "A preconditioner of triangular matrices.",
        arguments: &[],
        c: Offer::Missing(FACTORS),
        matlab: Offer::Names(&["MexTriangular"]),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "amg_options_defaults",
        title: "The default options of algebraic multigrid (extensible structure).",
        arguments: &[
            Argument::new("options", Kind::Report("clinalg_amg_options")),
            Argument::new("struct_size", Kind::Count),
        ],
        c: Offer::Names(&["clinalg_amg_options_default"]),
        matlab: Offer::Missing(DEFAULTS),
        program: Offer::Missing(DEFAULTS),
    },
    Function {
        name: "amg",
        title: "Algebraic multigrid for a sparse matrix.",
        arguments: &[
            Argument::new("options", Kind::Options("clinalg_amg_options")),
            Argument::new("a", Kind::Handle),
            Argument::new("near_null", Kind::Handle),
            Argument::new("handle", Kind::Output),
        ],
        c: Offer::Names(&["clinalg_amg_create"]),
        matlab: Offer::Names(&["MexAmg"]),
        program: Offer::Missing("`clinalg solve --precond amg` makes it"),
    },
    Function {
        name: "amg_with_coordinates",
        title: "Algebraic multigrid for elasticity, with rigid body modes.",
        arguments: &[
            Argument::new("options", Kind::Options("clinalg_amg_options")),
            Argument::new("a", Kind::Handle),
            Argument::new("coordinates", Kind::Reals),
            Argument::new("nodes", Kind::Count),
            Argument::new("dim", Kind::Count),
            Argument::new("handle", Kind::Output),
        ],
        c: Offer::Names(&["clinalg_amg_create_with_coordinates"]),
        matlab: Offer::Names(&["MexAmg"]),
        program: Offer::Missing("`clinalg solve --coordinates` makes it"),
    },
    Function {
        name: "amg_refill",
        title: "Updates a hierarchy for new matrix values.",
        arguments: &[Argument::new("amg", Kind::Handle), Argument::new("a", Kind::Handle)],
        c: Offer::Names(&["clinalg_amg_refill"]),
        matlab: Offer::Names(&["MexAmgRefill"]),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "amg_info",
        title: "Levels, sizes and complexities of a hierarchy.",
        arguments: &[
            Argument::new("amg", Kind::Handle),
            Argument::new("report", Kind::Report("clinalg_amg_report")),
            Argument::new("levels", Kind::Report("clinalg_amg_level")),
            Argument::new("capacity", Kind::Count),
        ],
        c: Offer::Names(&["clinalg_amg_info"]),
        matlab: Offer::Names(&["MexAmgInfo"]),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "amg_convergence_factor",
        title: "How much a cycle of algebraic multigrid reduces the error.",
        arguments: &[
            Argument::new("amg", Kind::Handle),
            Argument::new("a", Kind::Handle),
            Argument::new("result", Kind::RealResult),
        ],
        c: Offer::Names(&["clinalg_amg_convergence_factor"]),
        matlab: Offer::Names(&["MexAmgFactor"]),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "saddle_options_defaults",
        title: "The default options of preconditioners for saddle points.",
        arguments: &[
            Argument::new("options", Kind::Report("clinalg_saddle_options")),
            Argument::new("struct_size", Kind::Count),
        ],
        c: Offer::Names(&["clinalg_saddle_options_default"]),
        matlab: Offer::Missing(DEFAULTS),
        program: Offer::Missing(DEFAULTS),
    },
    Function {
        name: "saddle",
        title: "A block preconditioner for a saddle point.",
        arguments: &[
            Argument::new("options", Kind::Options("clinalg_saddle_options")),
            Argument::new("a", Kind::Handle),
            Argument::new("handle", Kind::Output),
        ],
        c: Offer::Names(&["clinalg_saddle_create"]),
        matlab: Offer::Names(&["MexSaddle"]),
        program: Offer::Missing("`clinalg solve --precond saddle` makes it"),
    },
    Function {
        name: "saddle_info",
        title: "Blocks and parts of a preconditioner for a saddle point.",
        arguments: &[
            Argument::new("preconditioner", Kind::Handle),
            Argument::new("report", Kind::Report("clinalg_saddle_report")),
        ],
        c: Offer::Names(&["clinalg_saddle_info"]),
        matlab: Offer::Names(&["MexSaddleInfo"]),
        program: Offer::Missing("printed by `clinalg solve`"),
    },
    Function {
        name: "operator_create",
        title: "An operator or preconditioner whose product the caller computes.",
        arguments: &[
            Argument::new("precision", Kind::Code),
            Argument::new("rows", Kind::Count),
            Argument::new("cols", Kind::Count),
            Argument::new("apply", Kind::Callback("clinalg_apply")),
            Argument::new("data", Kind::Data),
            Argument::new("free_data", Kind::Callback("clinalg_free")),
            Argument::new("handle", Kind::Output),
        ],
        c: Offer::Names(&["clinalg_operator_create"]),
        matlab: Offer::Names(&["MexSolveBegin", "MexSolveNext", "MexSolveEnd"]),
        program: Offer::Missing(LIBRARY),
    },
];
