//! Boundary elements for elastodynamics.

use super::{Argument, DEFAULTS, Function, Kind, Offer};

/// The command that has it all.
const PROGRAM: Offer = Offer::Names(&["elastodynamics"]);

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "elastodynamics_options_defaults",
        title: "The default options of problems of elastodynamics.",
        arguments: &[
            Argument::new("options", Kind::Report("clinalg_elastodynamics_options")),
            Argument::new("struct_size", Kind::Count),
        ],
        c: Offer::Names(&["clinalg_elastodynamics_options_default"]),
        matlab: Offer::Missing(DEFAULTS),
        program: Offer::Missing(DEFAULTS),
    },
    Function {
        name: "elastodynamics_create",
        title: "Creates a problem of elastodynamics.",
        arguments: &[
            Argument::new("options", Kind::Options("clinalg_elastodynamics_options")),
            Argument::new("nodes", Kind::Reals),
            Argument::new("node_count", Kind::Count),
            Argument::new("elements", Kind::Indices),
            Argument::new("element_count", Kind::Count),
            Argument::new("boundary", Kind::Count),
            Argument::new("out", Kind::Output),
        ],
        c: Offer::Names(&["clinalg_elastodynamics_create"]),
        matlab: Offer::Names(&["MexElasto"]),
        program: PROGRAM,
    },
    Function {
        name: "elastodynamics_surface",
        title: "Centres and normals of the boundary elements.",
        arguments: &[
            Argument::new("problem", Kind::Handle),
            Argument::new("centres", Kind::RealResult),
            Argument::new("normals", Kind::RealResult),
        ],
        c: Offer::Names(&["clinalg_elastodynamics_surface"]),
        matlab: Offer::Names(&["MexElastoSurface"]),
        program: PROGRAM,
    },
    Function {
        name: "elastodynamics_assemble",
        title: "The matrices H and G at a frequency.",
        arguments: &[
            Argument::new("problem", Kind::Handle),
            Argument::new("frequency", Kind::Real),
            Argument::new("h", Kind::Output),
            Argument::new("g", Kind::Output),
        ],
        c: Offer::Names(&["clinalg_elastodynamics_assemble"]),
        matlab: Offer::Names(&["MexElastoAssemble", "MexElastoMatrices"]),
        program: PROGRAM,
    },
    Function {
        name: "elastodynamics_solve",
        title: "Displacements and tractions for given boundary values.",
        arguments: &[
            Argument::new("problem", Kind::Handle),
            Argument::new("frequency", Kind::Real),
            Argument::new("method", Kind::Code),
            Argument::new("known", Kind::Indices),
            Argument::new("given", Kind::Reals),
            Argument::new("count", Kind::Count),
            Argument::new("displacements", Kind::RealResult),
            Argument::new("tractions", Kind::RealResult),
        ],
        c: Offer::Names(&["clinalg_elastodynamics_solve"]),
        matlab: Offer::Names(&["MexElastoSolve"]),
        program: PROGRAM,
    },
    Function {
        name: "elastodynamics_solve_with",
        title: "Displacements and tractions for given boundary values, with a progress callback that can end the call.",
        arguments: &[
            Argument::new("problem", Kind::Handle),
            Argument::new("frequency", Kind::Real),
            Argument::new("method", Kind::Code),
            Argument::new("known", Kind::Indices),
            Argument::new("given", Kind::Reals),
            Argument::new("count", Kind::Count),
            Argument::new("progress", Kind::Callback("clinalg_progress")),
            Argument::new("progress_data", Kind::Data),
            Argument::new("displacements", Kind::RealResult),
            Argument::new("tractions", Kind::RealResult),
        ],
        c: Offer::Names(&["clinalg_elastodynamics_solve_with"]),
        matlab: Offer::Names(&["MexElastoSolve"]),
        program: PROGRAM,
    },
    Function {
        name: "elastodynamics_evaluate",
        title: "Displacements and stresses at points in the material.",
        arguments: &[
            Argument::new("problem", Kind::Handle),
            Argument::new("frequency", Kind::Real),
            Argument::new("displacements", Kind::Reals),
            Argument::new("tractions", Kind::Reals),
            Argument::new("points", Kind::Reals),
            Argument::new("point_count", Kind::Count),
            Argument::new("fields", Kind::RealResult),
            Argument::new("stresses", Kind::RealResult),
        ],
        c: Offer::Names(&["clinalg_elastodynamics_evaluate"]),
        matlab: Offer::Names(&["MexElastoEvaluate"]),
        program: PROGRAM,
    },
];
