//! The Poisson problem.

use super::{Argument, DEFAULTS, Function, Kind, LIBRARY, Offer};

/// The command that has it all.
const PROGRAM: Offer = Offer::Names(&["poisson"]);
pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "poisson_options_defaults",
        title: "The default options of Poisson solvers.",
        arguments: &[
            Argument::new("options", Kind::Report("clinalg_poisson_options")),
            Argument::new("struct_size", Kind::Count),
        ],
        c: Offer::Names(&["clinalg_poisson_options_default"]),
        matlab: Offer::Missing(DEFAULTS),
        program: Offer::Missing(DEFAULTS),
    },
    Function {
        name: "poisson",
        title: "Creates a solver of -div(k D grad u) + c u = f on a box.",
        arguments: &[
            Argument::new("options", Kind::Options("clinalg_poisson_options")),
            Argument::new("handle", Kind::Output),
        ],
        c: Offer::Names(&["clinalg_poisson_create"]),
        matlab: Offer::Names(&["MexPoisson"]),
        program: PROGRAM,
    },
    Function {
        name: "poisson_set_side",
        title: "Sets the values of a side of a box.",
        arguments: &[
            Argument::new("poisson", Kind::Handle),
            Argument::new("axis", Kind::Count),
            Argument::new("high", Kind::Flag),
            Argument::new("values", Kind::Reals),
            Argument::new("count", Kind::Count),
        ],
        c: Offer::Names(&["clinalg_poisson_set_side"]),
        matlab: Offer::Names(&["MexPoissonSide"]),
        program: PROGRAM,
    },
    Function {
        name: "poisson_solve",
        title: "Solves the Poisson problem for host arrays.",
        arguments: &[
            Argument::new("poisson", Kind::Handle),
            Argument::new("f", Kind::Reals),
            Argument::new("u", Kind::RealResult),
            Argument::new("count", Kind::Count),
            Argument::new("progress", Kind::Callback("clinalg_progress")),
            Argument::new("progress_data", Kind::Data),
            Argument::new("report", Kind::Report("clinalg_poisson_report")),
            Argument::new("history", Kind::RealResult),
            Argument::new("capacity", Kind::Count),
        ],
        c: Offer::Names(&["clinalg_poisson_solve"]),
        matlab: Offer::Missing("`MexPoissonSolve` takes arrays on the device"),
        program: PROGRAM,
    },
    Function {
        name: "poisson_solve_vector",
        title: "Solves the Poisson problem for vectors or dense matrices.",
        arguments: &[
            Argument::new("poisson", Kind::Handle),
            Argument::new("f", Kind::Handle),
            Argument::new("u", Kind::Output),
            Argument::new("progress", Kind::Callback("clinalg_progress")),
            Argument::new("progress_data", Kind::Data),
            Argument::new("report", Kind::Report("clinalg_poisson_report")),
            Argument::new("history", Kind::RealResult),
            Argument::new("capacity", Kind::Count),
        ],
        c: Offer::Names(&["clinalg_poisson_solve_vector"]),
        matlab: Offer::Names(&["MexPoissonSolve"]),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "poisson_operator",
        title: "The matrix of a Poisson problem, as an operator.",
        arguments: &[Argument::new("poisson", Kind::Handle), Argument::new("handle", Kind::Output)],
        c: Offer::Names(&["clinalg_poisson_operator_create"]),
        matlab: Offer::Names(&["MexPoissonOperator"]),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "poisson_preconditioner",
        title: "A multigrid cycle as a preconditioner.",
        arguments: &[Argument::new("poisson", Kind::Handle), Argument::new("handle", Kind::Output)],
        c: Offer::Names(&["clinalg_poisson_preconditioner_create"]),
        matlab: Offer::Names(&["MexPoissonPreconditioner"]),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "poisson_right_side",
        title: "The right-hand side for the operator of a Poisson problem.",
        arguments: &[
            Argument::new("poisson", Kind::Handle),
            Argument::new("f", Kind::Handle),
            Argument::new("b", Kind::Output),
        ],
        c: Offer::Names(&["clinalg_poisson_right_side"]),
        matlab: Offer::Names(&["MexPoissonRightSide"]),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "poisson_points",
        title: "The values at all points, from the unknowns.",
        arguments: &[
            Argument::new("poisson", Kind::Handle),
            Argument::new("x", Kind::Handle),
            Argument::new("u", Kind::Output),
        ],
        c: Offer::Names(&["clinalg_poisson_points"]),
        matlab: Offer::Names(&["MexPoissonPoints"]),
        program: Offer::Missing(LIBRARY),
    },
];
