//! Teams of devices.

use super::{Argument, Function, Kind, LIBRARY, Offer};

/// Why the program has no command for teams.
const OPTION: &str = "an option of the commands, --devices";

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "team",
        title: "A team of devices that share the work of a problem.",
        arguments: &[
            Argument::new("devices", Kind::Counts),
            Argument::new("count", Kind::Count),
            Argument::new("team", Kind::Output),
        ],
        c: Offer::Names(&["clinalg_team_create"]),
        matlab: Offer::Names(&["MexTeam", "MexSetGPU"]),
        program: Offer::Missing(OPTION),
    },
    Function {
        name: "team_info",
        title: "The devices of a team.",
        arguments: &[
            Argument::new("team", Kind::Handle),
            Argument::new("count", Kind::CountResult),
            Argument::new("devices", Kind::CountResult),
            Argument::new("capacity", Kind::Count),
        ],
        c: Offer::Names(&["clinalg_team_info"]),
        matlab: Offer::Names(&["MexTeamInfo"]),
        program: Offer::Missing(LIBRARY),
    },
    Function {
        name: "team_matrix",
        title: "A sparse matrix with its rows distributed over the devices of a team.",
        arguments: &[
            Argument::new("team", Kind::Handle),
            Argument::new("a", Kind::Handle),
            Argument::new("handle", Kind::Output),
        ],
        c: Offer::Names(&["clinalg_team_matrix_create"]),
        matlab: Offer::Names(&["MexTeamMatrix"]),
        program: Offer::Missing(OPTION),
    },
    Function {
        name: "team_amg",
        title: "Algebraic multigrid for a matrix on a team.",
        arguments: &[
            Argument::new("options", Kind::Options("clinalg_amg_options")),
            Argument::new("matrix", Kind::Handle),
            Argument::new("a", Kind::Handle),
            Argument::new("handle", Kind::Output),
        ],
        c: Offer::Names(&["clinalg_team_amg_create"]),
        matlab: Offer::Names(&["MexTeamAmg"]),
        program: Offer::Missing(OPTION),
    },
    Function {
        name: "team_poisson",
        title: "Solves -Laplace u + shift u = f by multigrid on a team.",
        arguments: &[
            Argument::new("options", Kind::Options("clinalg_poisson_options")),
            Argument::new("team", Kind::Handle),
            Argument::new("f", Kind::Handle),
            Argument::new("u", Kind::Output),
            Argument::new("progress", Kind::Callback("clinalg_progress")),
            Argument::new("progress_data", Kind::Data),
            Argument::new("report", Kind::Report("clinalg_poisson_report")),
            Argument::new("history", Kind::RealResult),
            Argument::new("capacity", Kind::Count),
        ],
        c: Offer::Names(&["clinalg_team_solve_poisson"]),
        matlab: Offer::Names(&["MexTeamPoisson"]),
        program: Offer::Missing(OPTION),
    },
    Function {
        name: "team_wave",
        title: "A membrane for the wave equation on a team.",
        arguments: &[
            Argument::new("options", Kind::Options("clinalg_wave_options")),
            Argument::new("team", Kind::Handle),
            Argument::new("wave", Kind::Output),
        ],
        c: Offer::Names(&["clinalg_team_wave_create"]),
        matlab: Offer::Names(&["MexTeamWave"]),
        program: Offer::Missing(OPTION),
    },
];
