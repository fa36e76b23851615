//! Boundary elements for the heat equation.

use super::{Argument, DEFAULTS, Function, Kind, Offer};

/// Why MATLAB has no boundary value problems.
const PROBLEM: &str = "not in MATLAB yet, which has the operators";

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "heat_defaults",
        title: "The default parameters of heat operators.",
        arguments: &[Argument::new("params", Kind::Report("clinalg_heat_params"))],
        c: Offer::Names(&["clinalg_heat_params_default"]),
        matlab: Offer::Missing(DEFAULTS),
        program: Offer::Missing(DEFAULTS),
    },
    Function {
        name: "heat_operator",
        title: "Makes a boundary integral operator of the heat equation.",
        arguments: &[
            Argument::new("params", Kind::Options("clinalg_heat_params")),
            Argument::new("kind", Kind::Code),
            Argument::new("precision", Kind::Code),
            Argument::new("nodes", Kind::Reals),
            Argument::new("node_count", Kind::Count),
            Argument::new("triangles", Kind::Indices),
            Argument::new("triangle_count", Kind::Count),
            Argument::new("out", Kind::Output),
        ],
        c: Offer::Names(&["clinalg_heat_operator_create"]),
        matlab: Offer::Names(&["MexHeatOperator"]),
        program: Offer::Names(&["heat-bem"]),
    },
    Function {
        name: "heat_options_defaults",
        title: "The default options of heat operators, in a structure that can grow.",
        arguments: &[
            Argument::new("options", Kind::Report("clinalg_heat_options")),
            Argument::new("struct_size", Kind::Count),
        ],
        c: Offer::Names(&["clinalg_heat_options_default"]),
        matlab: Offer::Missing(DEFAULTS),
        program: Offer::Missing(DEFAULTS),
    },
    Function {
        name: "heat_operator_make",
        title: "Makes a boundary integral operator of the heat equation, with options that can grow.",
        arguments: &[
            Argument::new("options", Kind::Options("clinalg_heat_options")),
            Argument::new("kind", Kind::Code),
            Argument::new("nodes", Kind::Reals),
            Argument::new("node_count", Kind::Count),
            Argument::new("triangles", Kind::Indices),
            Argument::new("triangle_count", Kind::Count),
            Argument::new("out", Kind::Output),
        ],
        c: Offer::Names(&["clinalg_heat_operator_make"]),
        matlab: Offer::Names(&["MexHeatOperator"]),
        program: Offer::Names(&["heat-bem"]),
    },
    Function {
        name: "heat_forward",
        title: "The inverse by block forward elimination.",
        arguments: &[Argument::new("matrix", Kind::Handle), Argument::new("out", Kind::Output)],
        c: Offer::Names(&["clinalg_heat_forward_create"]),
        matlab: Offer::Names(&["MexHeatForward"]),
        program: Offer::Names(&["heat-bem"]),
    },
    Function {
        name: "heat_opposite",
        title: "An operator (Calderon-type) preconditioner.",
        arguments: &[
            Argument::new("matrix", Kind::Handle),
            Argument::new("storage", Kind::Code),
            Argument::new("out", Kind::Output),
        ],
        c: Offer::Names(&["clinalg_heat_opposite_create"]),
        matlab: Offer::Names(&["MexHeatOpposite"]),
        program: Offer::Names(&["heat-bem"]),
    },
    Function {
        name: "heat_mesh_read",
        title: "Reads a closed surface of triangles from a file.",
        arguments: &[
            Argument::new("file", Kind::Text),
            Argument::new("nodes", Kind::RealResult),
            Argument::new("node_capacity", Kind::Count),
            Argument::new("node_count", Kind::CountResult),
            Argument::new("triangles", Kind::IndicesResult),
            Argument::new("triangle_capacity", Kind::Count),
            Argument::new("triangle_count", Kind::CountResult),
        ],
        c: Offer::Names(&["clinalg_heat_mesh_read"]),
        matlab: Offer::Missing(PROBLEM),
        program: Offer::Names(&["heat-bem"]),
    },
    Function {
        name: "heat_project",
        title: "Projects boundary values of a function onto the vectors of an operator.",
        arguments: &[
            Argument::new("matrix", Kind::Handle),
            Argument::new("function", Kind::Callback("clinalg_boundary_function")),
            Argument::new("data", Kind::Data),
            Argument::new("out", Kind::Output),
        ],
        c: Offer::Names(&["clinalg_heat_project"]),
        matlab: Offer::Missing("a call of the gateway cannot call back into the interpreter"),
        program: Offer::Names(&["heat-bem"]),
    },
    Function {
        name: "heat_right_side",
        title: "The right-hand side of a boundary value problem.",
        arguments: &[
            Argument::new("other", Kind::Handle),
            Argument::new("given", Kind::Handle),
            Argument::new("out", Kind::Output),
        ],
        c: Offer::Names(&["clinalg_heat_right_side"]),
        matlab: Offer::Missing(PROBLEM),
        program: Offer::Names(&["heat-bem"]),
    },
    Function {
        name: "heat_interior",
        title: "The temperature at points inside, from both boundary values.",
        arguments: &[
            Argument::new("matrix", Kind::Handle),
            Argument::new("w", Kind::Handle),
            Argument::new("u", Kind::Handle),
            Argument::new("points", Kind::Reals),
            Argument::new("point_count", Kind::Count),
            Argument::new("values", Kind::RealResult),
            Argument::new("count", Kind::Count),
        ],
        c: Offer::Names(&["clinalg_heat_interior"]),
        matlab: Offer::Missing(PROBLEM),
        program: Offer::Names(&["heat-bem"]),
    },
];
