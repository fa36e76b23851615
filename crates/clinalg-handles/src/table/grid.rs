//! The Poisson problem on boxes of any size.

use super::{Argument, DEFAULTS, Function, Kind, LIBRARY, Offer};

/// The command that has it all.
const PROGRAM: Offer = Offer::Names(&["poisson"]);
pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "grid_poisson_options_defaults",
        title: "The default options of Poisson solvers on boxes.",
        arguments: &[
            Argument::new("options", Kind::Report("clinalg_grid_poisson_options")),
            Argument::new("struct_size", Kind::Count),
        ],
        c: Offer::Names(&["clinalg_grid_poisson_options_default"]),
        matlab: Offer::Missing(DEFAULTS),
        program: Offer::Missing(DEFAULTS),
    },
    Function {
        name: "grid_poisson",
        title: "Creates a solver of -div(k D grad u) + c u = f on a box.",
        arguments: &[
            Argument::new("options", Kind::Options("clinalg_grid_poisson_options")),
            Argument::new("handle", Kind::Output),
        ],
        c: Offer::Names(&["clinalg_grid_poisson_create"]),
        matlab: Offer::Names(&["MexGridPoisson"]),
        program: PROGRAM,
    },
    Function {
        name: "grid_poisson_set_side",
        title: "Sets the values of a side of a box.",
        arguments: &[
            Argument::new("poisson", Kind::Handle),
            Argument::new("axis", Kind::Count),
            Argument::new("high", Kind::Flag),
            Argument::new("values", Kind::Reals),
            Argument::new("count", Kind::Count),
        ],
        c: Offer::Names(&["clinalg_grid_poisson_set_side"]),
        matlab: Offer::Names(&["MexGridPoissonSide"]),
        program: PROGRAM,
    },
    Function {
        name: "grid_poisson_solve",
        title: "Solves the Poisson problem on a box for host arrays.",
        arguments: &[
            Argument::new("poisson", Kind::Handle),
            Argument::new("f", Kind::Reals),
            Argument::new("u", Kind::RealResult),
            Argument::new("count", Kind::Count),
            Argument::new("progress", Kind::Callback("clinalg_progress")),
            Argument::new("progress_data", Kind::Data),
            Argument::new("report", Kind::Report("clinalg_grid_report")),
            Argument::new("history", Kind::RealResult),
            Argument::new("capacity", Kind::Count),
        ],
        c: Offer::Names(&["clinalg_grid_poisson_solve"]),
        matlab: Offer::Names(&["MexGridPoissonSolve"]),
        program: PROGRAM,
    },
    Function {
        name: "grid_poisson_solve_vector",
        title: "Solves the Poisson problem on a box for vectors or dense matrices.",
        arguments: &[
            Argument::new("poisson", Kind::Handle),
            Argument::new("f", Kind::Handle),
            Argument::new("u", Kind::Output),
            Argument::new("progress", Kind::Callback("clinalg_progress")),
            Argument::new("progress_data", Kind::Data),
            Argument::new("report", Kind::Report("clinalg_grid_report")),
            Argument::new("history", Kind::RealResult),
            Argument::new("capacity", Kind::Count),
        ],
        c: Offer::Names(&["clinalg_grid_poisson_solve_vector"]),
        matlab: Offer::Missing("`MexGridPoissonSolve` takes host arrays"),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "grid_poisson_operator",
        title: "The matrix of a Poisson problem on a box, as an operator.",
        arguments: &[Argument::new("poisson", Kind::Handle), Argument::new("handle", Kind::Output)],
        c: Offer::Names(&["clinalg_grid_poisson_operator_create"]),
        matlab: Offer::Names(&["MexGridPoissonOperator"]),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "grid_poisson_preconditioner",
        title: "A multigrid cycle on a box as a preconditioner.",
        arguments: &[Argument::new("poisson", Kind::Handle), Argument::new("handle", Kind::Output)],
        c: Offer::Names(&["clinalg_grid_poisson_preconditioner_create"]),
        matlab: Offer::Names(&["MexGridPoissonPreconditioner"]),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "grid_poisson_right_side",
        title: "The right-hand side for the operator on a box.",
        arguments: &[
            Argument::new("poisson", Kind::Handle),
            Argument::new("f", Kind::Handle),
            Argument::new("b", Kind::Output),
        ],
        c: Offer::Names(&["clinalg_grid_poisson_right_side"]),
        matlab: Offer::Names(&["MexGridPoissonRightSide"]),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "grid_poisson_points",
        title: "The values at all points of a box, from the unknowns.",
        arguments: &[
            Argument::new("poisson", Kind::Handle),
            Argument::new("x", Kind::Handle),
            Argument::new("u", Kind::Output),
        ],
        c: Offer::Names(&["clinalg_grid_poisson_points"]),
        matlab: Offer::Names(&["MexGridPoissonPoints"]),
        program: Offer::Missing(LIBRARY),
    },
];
