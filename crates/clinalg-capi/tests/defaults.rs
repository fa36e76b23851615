//! The defaults of the option structures are those of the library, and those that the help of MATLAB's functions states; where MATLAB's own function
//! of that name has another default, that one is taken there. The program takes its defaults from the library's structures.

use std::mem::MaybeUninit;
use std::path::Path;

use clinalg::amg::{self, AmgParams, Smoother};
use clinalg::eigen::{EigenParams, Which};
use clinalg::multigrid::{self, PoissonParams};
use clinalg::precond::{IluKind, SsorParams};
use clinalg::solve::{GmresParams, Stopping};
use clinalg::wave::{Scheme, WaveParams};
use clinalg_capi::*;
use clinalg_ode::integrate::Options as OdeParams;

/// What the function of defaults fills in.
fn filled<O>(fill: unsafe extern "C" fn(*mut O, usize) -> ClinalgStatus) -> O {
    let mut options = MaybeUninit::uninit();
    // SAFETY: there is room for as many bytes, and a call that succeeds writes all of them.
    unsafe {
        assert_eq!(fill(options.as_mut_ptr(), size_of::<O>()), ClinalgStatus::Ok);
        options.assume_init()
    }
}

#[test]
fn options_of_c_default_to_those_of_the_library() {
    let (of, want) = (filled(clinalg_solver_options_default), GmresParams::default());
    assert_eq!((of.max_iterations, of.restart), (want.stopping.max_iterations, want.restart));
    assert_eq!(of.tolerance, want.stopping.tolerance_of::<f64>());

    let (of, want) = (filled(clinalg_system_options_default), Stopping::default());
    assert_eq!((of.tolerance, of.max_iterations), (0.0, want.max_iterations));
    assert!(want.tolerance.is_none());

    let (of, want) = (filled(clinalg_poisson_options_default), PoissonParams::default());
    assert_eq!((of.dim, of.points, of.lengths), (2, [0; 3], [1.0; 3]));
    assert_eq!((of.pre, of.post, of.max_cycles, of.order), (want.pre, want.post, want.max_cycles, want.order));
    assert_eq!((of.diffusion, of.mixed_derivatives), (want.diffusion, want.mixed_derivatives));
    assert_eq!((of.omega, of.tolerance, of.shift), (want.omega, want.tolerance, want.shift));
    assert_eq!((of.max_imbalance, of.mixed_precision != 0), (want.max_imbalance, want.mixed_precision));
    assert_eq!((want.cycle, of.cycle), (multigrid::Cycle::V, ClinalgCycle::V as u32));
    assert_eq!((want.smoother, of.smoother), (multigrid::Smoother::RedBlack, ClinalgSmoother::RedBlack as u32));
    assert_eq!((want.backend, of.backend), (multigrid::Backend::Kernels, ClinalgBackend::Kernels as u32));

    let (of, want) = (filled(clinalg_amg_options_default), AmgParams::default());
    assert_eq!((of.coarse_size, of.max_levels, of.block), (want.coarse_size, want.max_levels, want.block));
    assert_eq!((of.single != 0, of.reusable != 0, of.aggressive != 0), (want.single, want.reusable, want.aggressive));
    assert_eq!(Smoother::default(), Smoother::Chebyshev(of.smoother_steps));
    assert_eq!((want.cycle, of.cycle), (amg::Cycle::V, ClinalgAmgCycle::V as u32));
    assert_eq!((want.coarsening, of.coarsening), (amg::Coarsening::Auto, ClinalgAmgCoarsening::Auto as u32));
    assert!(want.theta.is_none() && of.theta < 0.0);

    let of = filled(clinalg_preconditioner_options_default);
    assert_eq!(IluKind::threshold(), IluKind::Threshold { drop: of.drop, fill: of.fill });
    assert_eq!(of.omega, SsorParams::default().omega);

    let (of, want) = (filled(clinalg_eigen_options_default), EigenParams::default());
    assert_eq!((of.count, of.max_iterations), (want.count, want.max_iterations));
    assert!(want.tolerance.is_none() && of.tolerance == 0.0);
    assert_eq!((want.which, of.which), (Which::Smallest, ClinalgSpectrumEnd::Smallest as u32));

    let (of, want) = (filled(clinalg_wave_options_default), WaveParams::default());
    assert_eq!((of.steps_per_pass, of.max_cycles), (want.steps_per_pass, want.max_cycles));
    assert_eq!((&of.points[..of.dim], &of.lengths[..of.dim]), (&want.points[..], &want.size[..]));
    assert_eq!((of.sides, of.sponge), ([[ClinalgWaveSide::Fixed as u32; 2]; 3], 0.0));
    assert_eq!((of.c, of.dt, of.tolerance), (want.c, want.dt, want.tolerance));
    assert_eq!((want.scheme, of.scheme), (Scheme::Explicit, ClinalgScheme::Explicit as u32));

    let (of, want) = (filled(clinalg_ode_options_default), OdeParams::default());
    assert_eq!((of.relative, of.absolute), (want.relative, want.absolute));
    assert_eq!((of.largest_step, of.step_limit), (want.largest_step, want.step_limit));
    assert!(want.fixed_step.is_none() && want.first_step.is_none());
    assert_eq!((of.fixed_step, of.first_step), (0.0, 0.0));
}

/// The default that the help of a function of MATLAB states for an option.
fn stated(function: &str, option: &str) -> f64 {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../matlab/+clinalg/{function}.m"));
    let help = std::fs::read_to_string(&file).unwrap();
    let mut lines =
        help.lines().map_while(|line| line.strip_prefix('%').or(line.starts_with(['f', 'c']).then_some("")));
    let first = lines.find(|line| line.starts_with("     ") && line.split_whitespace().next() == Some(option));
    let first = first.unwrap_or_else(|| panic!("the help of clinalg.{function} has no line for {option}"));
    // What belongs to the option is indented further.
    let rest = lines.take_while(|line| line.starts_with("      "));
    let text = std::iter::once(first).chain(rest).collect::<Vec<_>>().join(" ");
    let (_, after) =
        text.split_once("default ").unwrap_or_else(|| panic!("clinalg.{function}: no default of {option}"));
    let word = after.split([' ', ',', ')']).next().unwrap_or_default();
    word.parse().unwrap_or_else(|_| panic!("clinalg.{function}: the default of {option} is `{word}`"))
}

#[test]
fn the_help_of_matlab_states_the_defaults_of_c() {
    let poisson = filled(clinalg_poisson_options_default);
    let amg = filled(clinalg_amg_options_default);
    let eigen = filled(clinalg_eigen_options_default);
    let system = filled(clinalg_system_options_default);
    let ode = filled(clinalg_ode_options_default);
    let waveform = filled(clinalg_waveform_options_default);
    let elastodynamics = filled(clinalg_elastodynamics_options_default);
    let wave = filled(clinalg_wave_options_default);
    let same = [
        ("poisson", "Tolerance", poisson.tolerance),
        ("poisson", "MaxCycles", poisson.max_cycles as f64),
        ("poisson", "Shift", poisson.shift),
        ("poisson", "Lengths", poisson.lengths[0]),
        ("poisson", "Diffusion", poisson.diffusion[0]),
        ("amg", "Steps", amg.smoother_steps as f64),
        ("amg", "CoarseSize", amg.coarse_size as f64),
        ("amg", "Block", amg.block as f64),
        ("solve", "MaxIterations", system.max_iterations as f64),
        ("eigs", "MaxIterations", eigen.max_iterations as f64),
        ("ode", "MaxSteps", ode.step_limit as f64),
        ("waveform", "Steps", waveform.steps as f64),
        ("waveform", "Windows", waveform.windows as f64),
        ("waveform", "Eps", waveform.eps),
        ("elastodynamics", "rule", elastodynamics.rule as f64),
        ("wave", "Speed", wave.c),
        ("wave", "Lengths", wave.lengths[0]),
    ];
    for (function, option, value) in same {
        assert_eq!(stated(function, option), value, "clinalg.{function}: {option}");
    }
}
