//! Boundary elements for the heat equation.

use super::{Argument, DEFAULTS, Function, Kind, Offer};

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
];
