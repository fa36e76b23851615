//! The wave equation.

use super::{Argument, DEFAULTS, Function, Kind, Offer};

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "wave_options_defaults",
        title: "The default options of waves.",
        arguments: &[
            Argument::new("options", Kind::Report("clinalg_wave_options")),
            Argument::new("struct_size", Kind::Count),
        ],
        c: Offer::Names(&["clinalg_wave_options_default"]),
        matlab: Offer::Missing(DEFAULTS),
        program: Offer::Missing(DEFAULTS),
    },
    Function {
        name: "wave_limit",
        title: "The largest stable time step of a wave.",
        arguments: &[
            Argument::new("options", Kind::Options("clinalg_wave_options")),
            Argument::new("result", Kind::RealResult),
        ],
        c: Offer::Names(&["clinalg_wave_limit"]),
        matlab: Offer::Names(&["MexWaveLimit"]),
        program: Offer::Names(&["wave"]),
    },
    Function {
        name: "wave_create",
        title: "Creates a wave at rest, on a box of two or three dimensions.",
        arguments: &[
            Argument::new("options", Kind::Options("clinalg_wave_options")),
            Argument::new("wave", Kind::Output),
        ],
        c: Offer::Names(&["clinalg_wave_create"]),
        matlab: Offer::Names(&["MexWave"]),
        program: Offer::Names(&["wave"]),
    },
    Function {
        name: "wave_start",
        title: "Sets displacement and velocity at time 0.",
        arguments: &[
            Argument::new("wave", Kind::Handle),
            Argument::new("u", Kind::Handle),
            Argument::new("v", Kind::Handle),
            Argument::new("report", Kind::Report("clinalg_wave_report")),
        ],
        c: Offer::Names(&["clinalg_wave_start"]),
        matlab: Offer::Names(&["MexWaveStart"]),
        program: Offer::Names(&["wave"]),
    },
    Function {
        name: "wave_step",
        title: "Makes time steps.",
        arguments: &[
            Argument::new("wave", Kind::Handle),
            Argument::new("steps", Kind::Count),
            Argument::new("report", Kind::Report("clinalg_wave_report")),
        ],
        c: Offer::Names(&["clinalg_wave_step"]),
        matlab: Offer::Names(&["MexWaveStep"]),
        program: Offer::Names(&["wave"]),
    },
    Function {
        name: "wave_step_with",
        title: "Makes time steps, with a progress callback that can end the call.",
        arguments: &[
            Argument::new("wave", Kind::Handle),
            Argument::new("steps", Kind::Count),
            Argument::new("progress", Kind::Callback("clinalg_progress")),
            Argument::new("progress_data", Kind::Data),
            Argument::new("report", Kind::Report("clinalg_wave_report")),
        ],
        c: Offer::Names(&["clinalg_wave_step_with"]),
        matlab: Offer::Names(&["MexWaveStep"]),
        program: Offer::Names(&["wave"]),
    },
    Function {
        name: "wave_displacement",
        title: "The displacement.",
        arguments: &[Argument::new("wave", Kind::Handle), Argument::new("u", Kind::Output)],
        c: Offer::Names(&["clinalg_wave_displacement"]),
        matlab: Offer::Names(&["MexWaveDisplacement"]),
        program: Offer::Names(&["wave"]),
    },
    Function {
        name: "wave_velocity",
        title: "The velocity.",
        arguments: &[Argument::new("wave", Kind::Handle), Argument::new("v", Kind::Output)],
        c: Offer::Names(&["clinalg_wave_velocity"]),
        matlab: Offer::Names(&["MexWaveVelocity"]),
        program: Offer::Missing("pictures show the displacement"),
    },
    Function {
        name: "wave_energy",
        title: "The discrete energy.",
        arguments: &[
            Argument::new("wave", Kind::Handle),
            Argument::new("kinetic", Kind::RealResult),
            Argument::new("potential", Kind::RealResult),
        ],
        c: Offer::Names(&["clinalg_wave_energy"]),
        matlab: Offer::Names(&["MexWaveEnergy"]),
        program: Offer::Names(&["wave"]),
    },
];
