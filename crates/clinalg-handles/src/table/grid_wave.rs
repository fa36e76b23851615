//! The wave equation on boxes.

use super::{Argument, DEFAULTS, Function, Kind, Offer};

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "grid_wave_options_defaults",
        title: "The default options of waves on boxes.",
        arguments: &[
            Argument::new("options", Kind::Report("clinalg_grid_wave_options")),
            Argument::new("struct_size", Kind::Count),
        ],
        c: Offer::Names(&["clinalg_grid_wave_options_default"]),
        matlab: Offer::Missing(DEFAULTS),
        program: Offer::Missing(DEFAULTS),
    },
    Function {
        name: "grid_wave_limit",
        title: "The largest stable time step of a wave on a box.",
        arguments: &[
            Argument::new("options", Kind::Options("clinalg_grid_wave_options")),
            Argument::new("result", Kind::RealResult),
        ],
        c: Offer::Names(&["clinalg_grid_wave_limit"]),
        matlab: Offer::Names(&["MexGridWaveLimit"]),
        program: Offer::Names(&["wave"]),
    },
    Function {
        name: "grid_wave",
        title: "Creates a wave on a box, at rest.",
        arguments: &[
            Argument::new("options", Kind::Options("clinalg_grid_wave_options")),
            Argument::new("wave", Kind::Output),
        ],
        c: Offer::Names(&["clinalg_grid_wave_create"]),
        matlab: Offer::Names(&["MexGridWave"]),
        program: Offer::Names(&["wave"]),
    },
    Function {
        name: "grid_wave_start",
        title: "Sets displacement and velocity on a box at time 0.",
        arguments: &[
            Argument::new("wave", Kind::Handle),
            Argument::new("u", Kind::Handle),
            Argument::new("v", Kind::Handle),
        ],
        c: Offer::Names(&["clinalg_grid_wave_start"]),
        matlab: Offer::Names(&["MexGridWaveStart"]),
        program: Offer::Names(&["wave"]),
    },
    Function {
        name: "grid_wave_step",
        title: "Makes time steps on a box, with a progress callback that can end the call.",
        arguments: &[
            Argument::new("wave", Kind::Handle),
            Argument::new("steps", Kind::Count),
            Argument::new("progress", Kind::Callback("clinalg_progress")),
            Argument::new("progress_data", Kind::Data),
            Argument::new("report", Kind::Report("clinalg_wave_report")),
        ],
        c: Offer::Names(&["clinalg_grid_wave_step"]),
        matlab: Offer::Names(&["MexGridWaveStep"]),
        program: Offer::Names(&["wave"]),
    },
    Function {
        name: "grid_wave_displacement",
        title: "The displacement on a box.",
        arguments: &[Argument::new("wave", Kind::Handle), Argument::new("out", Kind::Output)],
        c: Offer::Names(&["clinalg_grid_wave_displacement"]),
        matlab: Offer::Names(&["MexGridWaveDisplacement"]),
        program: Offer::Names(&["wave"]),
    },
    Function {
        name: "grid_wave_velocity",
        title: "The velocity on a box.",
        arguments: &[Argument::new("wave", Kind::Handle), Argument::new("out", Kind::Output)],
        c: Offer::Names(&["clinalg_grid_wave_velocity"]),
        matlab: Offer::Names(&["MexGridWaveVelocity"]),
        program: Offer::Missing("pictures show the displacement"),
    },
    Function {
        name: "grid_wave_energy",
        title: "The discrete energy on a box.",
        arguments: &[
            Argument::new("wave", Kind::Handle),
            Argument::new("kinetic", Kind::RealResult),
            Argument::new("potential", Kind::RealResult),
        ],
        c: Offer::Names(&["clinalg_grid_wave_energy"]),
        matlab: Offer::Names(&["MexGridWaveEnergy"]),
        program: Offer::Names(&["wave"]),
    },
];
