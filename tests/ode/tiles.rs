//! Tiled variants against the basic one, to the last bit, in both kernel families.

use crate::common::contexts;
use clinalg::{Context, KernelFamily};
use clinalg_ode::integrate::{Norm, Options, Stepper, Tolerance, integrate};
use clinalg_ode::problems::{PROBLEMS, problem};
use clinalg_ode::{
    Boundary, DeviceOptions, DeviceStepper, Error, Grid, Layout, METHODS, Method, Side, System, Tile, Variant,
};
use clinalg_testing::{long, thorough};

/// Two fields that depend on each other and on their neighbours, with boundary values that depend on time on one side where
/// nothing is periodic. Short formulas: PoCL takes long to compile long ones.
fn system(n: &[usize], boundary: Boundary, layout: Layout) -> System {
    let lap = |f: &str| match n.len() {
        1 => format!("{f}[-1] - 2*{f} + {f}[2]"),
        2 => format!("{f}[-1,0] + {f}[0,1] + 0.1*{f}[1,-1] - 2*{f}"),
        _ => format!("{f}[-1,0,0] + {f}[0,1,0] + {f}[0,0,-1] + {f}[0,0,1] - 4*{f}"),
    };
    let mut b = System::builder(Grid::unit(n))
        .parameter("a", 0.3)
        .field("u", format!("a*({}) - u*v", lap("u")))
        .field("v", format!("u + a*({}) + i/10", lap("v")))
        .boundary(boundary.clone());
    if boundary != Boundary::Periodic {
        b = b.side(0, Side::High, Boundary::Value(vec!["1 + t*x".into(), "a".into()]));
    }
    b.layout(layout).build().unwrap()
}

/// Where steps begin, and their size.
struct Trajectory {
    y0: Vec<f64>,
    t0: f64,
    h: f64,
}

impl Trajectory {
    fn of(system: &System) -> Trajectory {
        let value = |f: usize, [x, y, z]: [f64; 3]| 1.0 + 0.3 * f as f64 + (3.0 * x + 2.0 * y + z).sin() / 3.0;
        Trajectory { y0: system.sample(value), t0: 0.0, h: 0.02 }
    }
}

/// Solution after steps of two kinds, and the largest norm of their errors.
fn run(
    context: &Context,
    method: &Method,
    system: &System,
    course: &Trajectory,
    options: &DeviceOptions,
) -> Result<(Vec<u64>, f64), Error> {
    let Trajectory { y0, t0, h } = course;
    let mut stepper = DeviceStepper::<f64>::with(context, method, system, options)?;
    let start = |k: usize| y0.iter().map(|v| v + 0.01 * k as f64).collect();
    stepper.set(&(0..method.inputs().len()).map(start).collect::<Vec<_>>())?;
    let mut largest = 0.0_f64;
    let mut norm = |got: Option<f64>| largest = largest.max(got.unwrap_or(0.0));
    for k in 0..2 {
        // A step that is thrown away, then one that is taken.
        let t = t0 + h * f64::from(k);
        stepper.trial(t, 1.5 * h, &TOLERANCE)?;
        norm(stepper.trial(t, *h, &TOLERANCE)?);
        stepper.accept()?;
    }
    let times: Vec<f64> = (4..9).map(|k| t0 + h / 2.0 * f64::from(k)).collect();
    stepper.advance(&times, h / 2.0)?;
    Ok((stepper.solution()?.iter().map(|v| v.to_bits()).collect(), largest))
}

const TOLERANCE: Tolerance = Tolerance { relative: 1e-3, absolute: 1e-4, norm: Norm::Max };

fn compare(context: &Context, method: &Method, system: &System, options: &[DeviceOptions]) {
    compare_on(&Trajectory::of(system), context, method, system, options);
}

fn compare_on(course: &Trajectory, context: &Context, method: &Method, system: &System, options: &[DeviceOptions]) {
    let basic = DeviceOptions { variant: Variant::Basic, ..DeviceOptions::default() };
    let expected = run(context, method, system, course, &basic).unwrap();
    for option in options {
        let got = run(context, method, system, course, option).unwrap();
        let what = format!("{} {:?} {:?} {option:?}", method.name(), system.grid().shape(), context.family());
        let wrong = got.0.iter().zip(&expected.0).filter(|(a, b)| a != b).count();
        assert_eq!(wrong, 0, "{what}: wrong components of {}", expected.0.len());
        assert_eq!(got.1.to_bits(), expected.1.to_bits(), "{what}: norms {} and {}", got.1, expected.1);
    }
}

/// Small tiles: several in each direction, with ends that do not fit.
fn small(context: &Context, variant: Variant, stage_groups: usize) -> Tile {
    match (context.family(), variant) {
        (_, Variant::Wavefront) => Tile { stage_groups, items: 1, points: 77, rows: 0 },
        (_, Variant::Cooperative) => Tile { stage_groups, items: 32, points: stage_groups, rows: 1 },
        (KernelFamily::Gpu, Variant::Grid) => Tile { stage_groups, items: 16, points: 1, rows: 11 },
        (KernelFamily::Gpu, _) => Tile { stage_groups, items: 32, points: stage_groups, rows: 0 },
        (KernelFamily::Cpu, _) => Tile {
            stage_groups,
            items: 1,
            points: if variant == Variant::Grid { 16 } else { 32 * stage_groups },
            rows: 11,
        },
    }
}

const TILED: [Variant; 5] =
    [Variant::Overlapped, Variant::Trapezoidal, Variant::Hexagonal, Variant::Grid, Variant::Wavefront];

#[test]
fn tiles_give_the_bits_of_the_basic_kernels() {
    // With an error estimate; two stage groups per kernel, then the chosen number.
    let method = Method::named("bs32").unwrap();
    let system = system(&[5, 61], Boundary::Mirror, Layout::Interleaved);
    for context in contexts() {
        let small = |variant| DeviceOptions { variant, steps: 1, tile: Some(small(&context, variant, 2)) };
        compare(&context, &method, &system, &TILED.map(small));
        let chosen = |variant| DeviceOptions { variant, ..DeviceOptions::default() };
        if long() || context.family() == KernelFamily::Gpu {
            compare(&context, &method, &system, &[Variant::Grid, Variant::Wavefront].map(chosen));
        }
    }
}

/// Two stage groups per kernel, the first computed again at neighbours: any distance and boundary, one step and two.
#[test]
fn links_that_are_computed_again() {
    let method = Method::named("bs32").unwrap();
    for context in contexts() {
        let options = [1, 2].map(|steps| DeviceOptions { variant: Variant::Recomputed, steps, tile: None });
        let cases = [
            (&[5, 61][..], Boundary::Mirror, Layout::Interleaved),
            (&[19, 30], Boundary::Periodic, Layout::FieldWise),
            (&[40], Boundary::Copy, Layout::Interleaved),
        ];
        for (_, (shape, boundary, layout)) in cases.into_iter().enumerate().filter(|(k, _)| here(*k, &context)) {
            compare(&context, &method, &system(shape, boundary, layout), &options);
        }
        if long() || context.family() == KernelFamily::Gpu {
            compare(&context, &method, &snippet(301, 160), &options);
        }
    }
}

/// Kernels whose work-groups wait for each other.
#[test]
fn work_groups_that_wait_for_each_other() {
    let method = Method::named("bs32").unwrap();
    let contexts = contexts();
    if !thorough() && contexts.iter().all(|c| c.family() == KernelFamily::Cpu) {
        return clinalg_testing::skip(
            "kernels for CPUs have no such work-groups; what they do instead is for CLINALG_TEST_THOROUGH",
        );
    }
    for context in contexts {
        let options = |stage_groups, items, points| DeviceOptions {
            variant: Variant::Cooperative,
            steps: 1,
            tile: Some(Tile { stage_groups, items, points, rows: 1 }),
        };
        // Of the kernels for CPUs no group waits: they are those of wavefronts.
        let few = if long() || context.family() == KernelFamily::Gpu { 3 } else { 1 };
        let cases = [
            ([5, 61], Boundary::Mirror, Layout::Interleaved),
            ([19, 30], Boundary::Copy, Layout::FieldWise),
            ([3, 2], Boundary::Mirror, Layout::FieldWise),
        ];
        for (shape, boundary, layout) in cases.into_iter().take(few) {
            let system = system(&shape, boundary, layout);
            // Two stage groups per kernel in several turns, and all of them in two blocks or one.
            compare(&context, &method, &system, &[options(2, 16, 2), options(3, 64, 5), options(3, 64, 11)][..few]);
        }
        // Two steps a launch, with the kernels of one beside them.
        let two = DeviceOptions { steps: 2, ..options(2, 16, 2) };
        compare(&context, &method, &snippet(301, 5), &[two]);
        compare(&context, &method, &snippet(301, 160), &[options(3, 32, 5)]);
        // With more than the groups have together, stage groups follow each other by launches.
        let far = DeviceStepper::<f64>::with(&context, &method, &snippet(50000, 20000), &options(3, 16, 1)).unwrap();
        assert_eq!(far.variant(), Variant::Wavefront);
        // Without such work-groups stage groups follow each other by launches.
        let made = DeviceStepper::<f64>::with(&context, &method, &snippet(301, 5), &options(2, 16, 2)).unwrap();
        match context.family() {
            KernelFamily::Cpu => assert_eq!(made.variant(), Variant::Wavefront),
            KernelFamily::Gpu if context.device().compute_units > 1 => {
                assert_eq!(made.variant(), Variant::Cooperative, "{}", made.explain());
            }
            KernelFamily::Gpu => {}
        }
    }
}

/// The mean square of the error counts every point once, also where tiles on a ring overlap their beginning.
#[test]
fn norms_by_mean_squares_agree() {
    let method = Method::named("bs32").unwrap();
    let rms = Tolerance { norm: Norm::Rms, ..TOLERANCE };
    let cases = [(&[5, 61][..], Boundary::Mirror), (&[300], Boundary::Periodic)];
    for (k, (shape, boundary)) in cases.into_iter().enumerate() {
        let system = system(shape, boundary, Layout::Interleaved);
        let y = system.sample(|f, [x, y, _]| 1.0 + 0.3 * f as f64 + (3.0 * x + 2.0 * y).sin() / 3.0);
        for context in contexts().into_iter().filter(|context| here(k, context)) {
            let norm = |variant, tile| {
                let options = DeviceOptions { variant, steps: 1, tile };
                let mut stepper = DeviceStepper::<f64>::with(&context, &method, &system, &options).unwrap();
                stepper.set(std::slice::from_ref(&y)).unwrap();
                stepper.trial(0.0, 0.02, &rms).unwrap().unwrap()
            };
            let expected = norm(Variant::Basic, None);
            assert_eq!(norm(Variant::Fused, None).to_bits(), expected.to_bits());
            let got = norm(Variant::Overlapped, Some(small(&context, Variant::Overlapped, 2)));
            assert!((got - expected).abs() < 1e-13 * expected, "{shape:?} {got} {expected} {:?}", context.family());
        }
    }
}

#[test]
fn several_steps_and_vectors_of_earlier_ones() {
    for (name, variant, steps, family) in [
        ("heun2", Variant::Overlapped, 3, KernelFamily::Gpu),
        ("heun2", Variant::Trapezoidal, 2, KernelFamily::Cpu),
        ("ab3", Variant::Grid, 3, KernelFamily::Gpu),
        ("peer4", Variant::Hexagonal, 2, KernelFamily::Cpu),
        ("ab3", Variant::Wavefront, 3, KernelFamily::Gpu),
    ] {
        let method = Method::named(name).unwrap();
        let system = system(&[7, 40], Boundary::Copy, Layout::FieldWise);
        for context in contexts().iter().filter(|c| long() || c.family() == family) {
            let tile = Some(small(context, variant, 4));
            compare(context, &method, &system, &[DeviceOptions { variant, steps, tile }]);
        }
    }
}

#[test]
fn grids_of_every_shape_and_boundary() {
    use Boundary::{Copy, Mirror, Periodic};
    use Layout::{FieldWise, Interleaved};
    use Variant::{Grid, Hexagonal, Overlapped, Trapezoidal, Wavefront};
    let method = Method::named("heun2").unwrap();
    let cases: [(&[usize], Boundary, Layout, &[Variant]); 8] = [
        (&[3], Copy, FieldWise, &[Trapezoidal]),
        (&[2, 3], Mirror, Interleaved, &[Grid, Hexagonal, Wavefront]),
        (&[300], Mirror, Interleaved, &[Hexagonal]),
        (&[300], Periodic, FieldWise, &[Overlapped]),
        (&[5, 4, 40], Copy, FieldWise, &[Wavefront]),
        (&[20, 33], Periodic, Interleaved, &[Grid]),
        (&[33, 20], Copy, FieldWise, &[Grid]),
        (&[3, 2, 9], Mirror, Interleaved, &[Overlapped, Wavefront]),
    ];
    for context in contexts() {
        for (_, (shape, boundary, layout, variants)) in cases.iter().enumerate().filter(|(k, _)| here(*k, &context)) {
            let system = system(shape, boundary.clone(), *layout);
            let small = |v: &Variant| DeviceOptions { variant: *v, steps: 1, tile: Some(small(&context, *v, 2)) };
            compare(&context, &method, &system, &variants.iter().map(small).collect::<Vec<_>>());
        }
        // CPUs go along rows as long as these.
        if context.family() == KernelFamily::Cpu {
            let options = DeviceOptions { variant: Overlapped, ..DeviceOptions::default() };
            compare(&context, &method, &system(&[260, 40], Mirror, Interleaved), &[options]);
        }
    }
}

#[test]
fn tiles_that_cannot_be_had_are_errors() {
    for context in contexts() {
        let method = Method::named("rk4").unwrap();
        let refused = |system: &System, variant| {
            let error = DeviceStepper::<f64>::new(&context, &method, system, variant).err().expect("no such kernels");
            assert_eq!(error.id(), "clinalg:ode:variant", "{error}");
        };
        // Rows of more points than a work-group holds; a ring has no place where triangles could begin; no plane.
        let wide = system(&[100_000, 3], Boundary::Mirror, Layout::Interleaved);
        if context.family() == KernelFamily::Gpu {
            refused(&wide, Variant::Overlapped);
        }
        refused(&system(&[8, 8], Boundary::Periodic, Layout::Interleaved), Variant::Hexagonal);
        refused(&system(&[8, 8], Boundary::Periodic, Layout::Interleaved), Variant::Wavefront);
        refused(&system(&[80], Boundary::Mirror, Layout::Interleaved), Variant::Grid);
    }
}

#[test]
fn systems_without_neighbours() {
    let method = Method::named("euler").unwrap();
    let system = System::builder(Grid::unit(&[700])).field("a", "a*(1 - b)").field("b", "b*(a - 1)").build().unwrap();
    for context in contexts() {
        let options = |variant| DeviceOptions { variant, steps: 3, tile: None };
        compare(
            &context,
            &method,
            &system,
            &[Variant::Overlapped, Variant::Trapezoidal, Variant::Hexagonal].map(options),
        );
    }
}

/// A chain whose parts depend on the one before and on one a distance after, in OpenCL C.
fn snippet(components: usize, distance: usize) -> System {
    let body = format!(
        "const REAL before = I > 0 ? Y(I - 1) : cos(T);\n\
         const REAL after = I + {distance} < N ? Y(I + {distance}) : ONE;\n\
         return rate * (before * after - Y(I)) + T;"
    );
    // SAFETY: the body reads what exists, within the distance.
    unsafe { System::snippet(components, body, distance.max(1)) }.parameter("rate", 0.7).build().unwrap()
}

#[test]
fn tiles_of_opencl_c() {
    use Variant::{Hexagonal, Overlapped, Trapezoidal, Wavefront};
    let method = Method::named("bs32").unwrap();
    for context in contexts() {
        let options = |variant, steps| DeviceOptions { variant, steps, tile: Some(small(&context, variant, 2)) };
        // Several tiles; a distance above the blocks of a wavefront; fewer components than a tile.
        let all = [options(Overlapped, 1), options(Trapezoidal, 1), options(Hexagonal, 1), options(Wavefront, 2)];
        let some = match context.family() {
            _ if long() => &all[..],
            KernelFamily::Gpu => &all[..2],
            KernelFamily::Cpu => &all[2..],
        };
        compare(&context, &method, &snippet(301, 5), some);
        let short = Method::named("heun2").unwrap();
        compare(&context, &short, &snippet(500, 130), &[options(Wavefront, 1)]);
        compare(&context, &short, &snippet(7, 3), &[options(Overlapped, 2), options(Wavefront, 1)]);
        let error = DeviceStepper::<f64>::new(&context, &method, &snippet(90, 1), Variant::Grid).err().unwrap();
        assert_eq!(error.id(), "clinalg:ode:variant");
    }
}

/// Whether case `k` is run with the kernels of `context`: without the long cases each case in one family of the kernels, as
/// every variant is compared in both by `tiles_give_the_bits_of_the_basic_kernels`.
fn here(k: usize, context: &Context) -> bool {
    long() || k.is_multiple_of(2) == (context.family() == KernelFamily::Gpu)
}

#[test]
fn strips_of_three_dimensional_grids() {
    use Boundary::{Copy, Mirror, Periodic};
    let method = Method::named("heun2").unwrap();
    for context in contexts() {
        // 8 by 8 columns, with those of one or two stage groups on either side, and 6 planes.
        let tile = |stage_groups| match context.family() {
            KernelFamily::Gpu => Tile { stage_groups, items: 64, points: 8, rows: 6 },
            KernelFamily::Cpu => Tile { stage_groups, items: 8, points: 9, rows: 6 },
        };
        let options =
            |stage_groups, steps| DeviceOptions { variant: Variant::Grid, steps, tile: Some(tile(stage_groups)) };
        // Smaller than a tile, several tiles in each direction with ends that do not fit, and every boundary.
        for (shape, boundary, layout) in [
            ([3, 2, 4], Copy, Layout::FieldWise),
            ([13, 9, 15], Mirror, Layout::Interleaved),
            ([7, 10, 5], Periodic, Layout::Interleaved),
        ] {
            let chosen = [options(2, 1), options(1, 2)];
            let chosen = if long() { &chosen[..] } else { &chosen[usize::from(shape[0] == 7)..][..1] };
            compare(&context, &method, &system(&shape, boundary, layout), chosen);
        }
        // Offsets that leave the column in other planes, with error estimates and the sizes of the model.
        let corners = "u[-1,-1,0] + u[1,0,1] + u[0,1,-1] - 3*u + 0.1*u[0,0,2] + z*t";
        let system = System::builder(Grid::unit(&[11, 6, 8])).field("u", corners).build().unwrap();
        let chosen = DeviceOptions { variant: Variant::Grid, ..DeviceOptions::default() };
        compare(&context, &Method::named("bs32").unwrap(), &system, &[chosen]);
    }
}

#[test]
fn of_steps_on_tiles_the_errors_are_those_of_single_steps_and_a_part_can_be_kept() {
    let method = Method::named("bs32").unwrap();
    let lap = "u[-1,0] + u[0,1] + 0.1*u[1,-1] - 2*u";
    let system = System::builder(Grid::unit(&[6, 50])).field("u", format!("{lap} + t*u^2")).build().unwrap();
    let y0 = Trajectory::of(&system).y0;
    let (h, steps) = (0.02, 3);
    let bits = |y: Vec<f64>| y.into_iter().map(f64::to_bits).collect::<Vec<_>>();
    for context in contexts() {
        let mut one = DeviceStepper::<f64>::new(&context, &method, &system, Variant::Basic).unwrap();
        assert_eq!(one.steps_at_once(), 1);
        one.set(std::slice::from_ref(&y0)).unwrap();
        let (mut errors, mut solutions) = (Vec::new(), vec![bits(y0.clone())]);
        for k in 0..2 * steps {
            errors.push(one.trial(k as f64 * h, h, &TOLERANCE).unwrap().unwrap());
            one.accept().unwrap();
            solutions.push(bits(one.solution().unwrap()));
        }
        let variants = match context.family() {
            _ if long() => TILED.to_vec(),
            KernelFamily::Gpu if !thorough() => vec![Variant::Overlapped],
            KernelFamily::Cpu if !thorough() => vec![Variant::Wavefront],
            KernelFamily::Gpu => vec![Variant::Overlapped, Variant::Trapezoidal],
            KernelFamily::Cpu => vec![Variant::Hexagonal, Variant::Grid, Variant::Wavefront],
        };
        for variant in variants {
            let options = DeviceOptions { variant, steps, tile: Some(small(&context, variant, 3)) };
            let mut many = DeviceStepper::<f64>::with(&context, &method, &system, &options).unwrap();
            assert_eq!(many.steps_at_once(), steps);
            many.set(std::slice::from_ref(&y0)).unwrap();
            // Steps that are all too large; then two of three are kept, one alone, all three.
            let wild = many.trial_steps(0.0, 0.9, steps, &TOLERANCE).unwrap();
            assert!(wild.len() == steps && wild[0] > 1.0, "{wild:?}");
            for (first, asked, kept) in [(0, 3, 2), (2, 2, 1), (3, 3, 3)] {
                let got = many.trial_steps(first as f64 * h, h, asked, &TOLERANCE).unwrap();
                let computed = if asked == steps { steps } else { 1 };
                assert_eq!(got, errors[first..first + computed], "{variant:?} {:?} from {first}", context.family());
                assert_eq!(bits(many.solution().unwrap()), solutions[first]);
                many.accept_steps(kept).unwrap();
                assert_eq!(bits(many.solution().unwrap()), solutions[first + kept], "{variant:?} {first} {kept}");
            }
        }
    }
}

#[test]
fn fields_that_read_the_same_neighbours_of_short_rows() {
    let method = Method::named("heun2").unwrap();
    let grid = Grid::unit(&[6, 50]);
    let builder = System::builder(grid).field("u", "u[-1,0] - 2*u + u[1,0] + v").field("v", "u[1,0]*v[0,1] - u[-1,0]");
    let system = builder.build().unwrap();
    let y0 = Trajectory::of(&system).y0;
    for context in contexts() {
        let mut solutions = Vec::new();
        for variant in [Variant::Basic, Variant::Fused, Variant::Overlapped] {
            let tile = variant.tiled().then(|| small(&context, variant, 2));
            let options = DeviceOptions { variant, steps: 1, tile };
            let mut stepper = DeviceStepper::<f64>::with(&context, &method, &system, &options).unwrap();
            stepper.set(std::slice::from_ref(&y0)).unwrap();
            stepper.advance(&[0.0, 0.01], 0.01).unwrap();
            solutions.push(stepper.solution().unwrap());
        }
        assert!(
            solutions[0] != y0 && solutions[0] == solutions[1] && solutions[0] == solutions[2],
            "{:?}",
            context.family()
        );
    }
}

#[test]
fn a_step_rejected_in_the_middle_of_a_tile_leaves_those_before_it() {
    // The error rises suddenly in the second of three steps.
    let method = Method::named("bs32").unwrap();
    let formula = "u[-1] - 2*u + u[1] + if(t > 0.5, 40*cos(60*t), 0)";
    let system = System::builder(Grid::unit(&[90])).field("u", formula).build().unwrap();
    let Trajectory { y0, .. } = Trajectory::of(&system);
    let (t, h) = (0.48, 0.0125);
    for context in contexts() {
        let variant = if context.family() == KernelFamily::Gpu { Variant::Overlapped } else { Variant::Wavefront };
        let options = DeviceOptions { variant, steps: 3, tile: Some(small(&context, variant, 3)) };
        let mut many = DeviceStepper::<f64>::with(&context, &method, &system, &options).unwrap();
        many.set(std::slice::from_ref(&y0)).unwrap();
        let errors = many.trial_steps(t, h, 3, &TOLERANCE).unwrap();
        assert!(errors[0] <= 1.0 && errors[1] > 1.0, "{errors:?}");
        many.accept_steps(1).unwrap();
        // Half the size from there on.
        let smaller = many.trial_steps(t + h, h / 2.0, 3, &TOLERANCE).unwrap();
        many.accept_steps(3).unwrap();
        let mut one = DeviceStepper::<f64>::new(&context, &method, &system, Variant::Basic).unwrap();
        one.set(std::slice::from_ref(&y0)).unwrap();
        let mut single = vec![one.trial(t, h, &TOLERANCE).unwrap().unwrap()];
        one.accept().unwrap();
        for k in 0..3 {
            let from = t + h + f64::from(k) * (h / 2.0);
            single.push(one.trial(from, h / 2.0, &TOLERANCE).unwrap().unwrap());
            one.accept().unwrap();
        }
        assert_eq!((errors[0], &smaller[..]), (single[0], &single[1..]));
        let bits = |s: &DeviceStepper<f64>| s.solution().unwrap().into_iter().map(f64::to_bits).collect::<Vec<_>>();
        assert_eq!(bits(&many), bits(&one), "{variant:?}");
        // The integrator halves steps, keeps the good ones of a band, and ends where single steps do.
        let options = Options { relative: 1e-5, absolute: 1e-7, ..Options::default() };
        let (y, report) = integrate(&mut many, 0.0, 1.0, &y0, &options, &mut |_, _| ()).unwrap();
        let (expected, other) = integrate(&mut one, 0.0, 1.0, &y0, &options, &mut |_, _| ()).unwrap();
        println!(
            "{} + {} steps together, {} + {} one by one",
            report.accepted, report.rejected, other.accepted, other.rejected
        );
        assert!(report.rejected > 0 && report.accepted < 2 * other.accepted, "{report:?}");
        assert!(y.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-4));
    }
}

#[test]
fn whole_integrations_across_a_stop_have_the_bits_of_the_basic_kernels() {
    let method = Method::named("bs32").unwrap();
    let system =
        System::builder(Grid::unit(&[150])).field("u", "u[-1] - 2*u + u[1] + if(t >= 0.3, x*u, 0)").build().unwrap();
    let y0 = Trajectory::of(&system).y0;
    for context in contexts() {
        for fixed_step in [None, Some(0.07)] {
            let options = Options { fixed_step, stops: vec![0.3], norm: Norm::Max, ..Options::default() };
            let run = |variant, steps| {
                let tile = Some(small(&context, variant, 2)).filter(|_| variant.tiled());
                let device = DeviceOptions { variant, steps, tile };
                let mut stepper = DeviceStepper::<f64>::with(&context, &method, &system, &device).unwrap();
                let (y, report) = integrate(&mut stepper, 0.0, 0.9, &y0, &options, &mut |_, _| ()).unwrap();
                (y.into_iter().map(f64::to_bits).collect::<Vec<_>>(), report.accepted, report.rejected)
            };
            let expected = run(Variant::Basic, 1);
            // Adaptive steps are the same one by one, fixed steps are the same in batches.
            let steps = if fixed_step.is_some() { 3 } else { 1 };
            let one = if context.family() == KernelFamily::Gpu { Variant::Overlapped } else { Variant::Wavefront };
            let both = [Variant::Overlapped, Variant::Wavefront];
            for variant in both.into_iter().filter(|v| long() || *v == one) {
                assert_eq!(run(variant, steps), expected, "{variant:?} {:?} {fixed_step:?}", context.family());
            }
        }
    }
}

/// Every problem with every method in every variant; without the long cases each problem with one method and two variants,
/// in one family of the kernels.
#[test]
fn problems_and_methods_in_every_variant() {
    let mut ran: Vec<(Variant, usize)> = TILED.iter().map(|v| (*v, 0)).collect();
    for (k, name) in PROBLEMS.iter().enumerate() {
        // Odd numbers of points: no multiples of tiles.
        let problem = problem(name, if *name == "wave1d" { 101 } else { 9 }).unwrap();
        let system = &problem.system;
        // The steps go over the first jump of the right-hand side where there is one.
        let h = 1e-4 * (problem.t_end - problem.t0);
        let t0 = problem.stops.first().map_or(problem.t0, |t| t - 1.5 * h);
        let course = Trajectory { y0: problem.y0().unwrap(), t0, h };
        let contexts = contexts();
        for (c, context) in contexts.iter().enumerate() {
            if !long() && c % contexts.len() != k % contexts.len() {
                continue;
            }
            let (methods, count): (&[&str], usize) = match (long(), thorough()) {
                (true, _) => (&METHODS, TILED.len()),
                (false, true) => (&["heun2"], 2),
                (false, false) => (&["heun2"], 1),
            };
            for method in methods.iter().map(|m| Method::named(m).unwrap()) {
                let mut options = vec![DeviceOptions { variant: Variant::Fused, steps: 1, tile: None }];
                // First those that have run least.
                ran.sort_by_key(|(_, times)| *times);
                for (variant, times) in &mut ran {
                    if options.len() > count {
                        break;
                    }
                    let tiles = [Some(small(context, *variant, 2)), None];
                    let mut all = tiles.iter().map(|tile| DeviceOptions { variant: *variant, steps: 2, tile: *tile });
                    let fits = |o: &DeviceOptions| DeviceStepper::<f64>::with(context, &method, system, o).is_ok();
                    if let Some(one) = all.find(fits) {
                        options.push(one);
                        *times += 1;
                    }
                }
                compare_on(&course, context, &method, system, &options);
            }
        }
    }
    if !contexts().is_empty() {
        println!("{ran:?}");
        assert!(ran.iter().all(|(_, count)| *count > 0), "{ran:?}");
    }
}
