//! Tiled variants against the basic one, to the last bit, in both kernel shapes.

mod common;

use clinalg::{Context, Shape};
use clinalg_ode::integrate::{Norm, Stepper, Tolerance};
use clinalg_ode::{Boundary, DeviceOptions, DeviceStepper, Error, Grid, Layout, Method, Side, System, Tile, Variant};
use common::contexts;

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

/// Solution after steps of two kinds, and the largest norm of their errors.
fn run(context: &Context, method: &Method, system: &System, options: &DeviceOptions) -> Result<(Vec<u64>, f64), Error> {
    let mut stepper = DeviceStepper::<f64>::with(context, method, system, options)?;
    let start = |k: usize| {
        system.sample(|f, [x, y, z]| 1.0 + 0.01 * k as f64 + 0.3 * f as f64 + (3.0 * x + 2.0 * y + z).sin() / 3.0)
    };
    stepper.set(&(0..method.inputs().len()).map(start).collect::<Vec<_>>())?;
    let mut largest = 0.0_f64;
    let mut norm = |got: Option<f64>| largest = largest.max(got.unwrap_or(0.0));
    for k in 0..2 {
        // A step that is thrown away, then one that is taken.
        stepper.trial(0.02 * f64::from(k), 0.03, &TOLERANCE)?;
        norm(stepper.trial(0.02 * f64::from(k), 0.02, &TOLERANCE)?);
        stepper.accept()?;
    }
    stepper.advance(&[0.04, 0.05, 0.06, 0.07, 0.08], 0.01)?;
    Ok((stepper.solution()?.iter().map(|v| v.to_bits()).collect(), largest))
}

const TOLERANCE: Tolerance = Tolerance { relative: 1e-3, absolute: 1e-4, norm: Norm::Max };

fn compare(context: &Context, method: &Method, system: &System, options: &[DeviceOptions]) {
    let basic = DeviceOptions { variant: Variant::Basic, ..DeviceOptions::default() };
    let expected = run(context, method, system, &basic).unwrap();
    for option in options {
        let got = run(context, method, system, option).unwrap();
        let what = format!("{} {:?} {:?} {option:?}", method.name(), system.grid().shape(), context.shape());
        let wrong = got.0.iter().zip(&expected.0).filter(|(a, b)| a != b).count();
        assert_eq!(wrong, 0, "{what}: wrong components of {}", expected.0.len());
        assert_eq!(got.1.to_bits(), expected.1.to_bits(), "{what}: norms {} and {}", got.1, expected.1);
    }
}

/// Small tiles: several in each direction, with ends that do not fit.
fn small(context: &Context, variant: Variant, links: usize) -> Tile {
    match (context.shape(), variant) {
        (_, Variant::Wavefront) => Tile { links, items: 1, points: 77, rows: 0 },
        (Shape::Gpu, Variant::Grid) => Tile { links, items: 16, points: 1, rows: 11 },
        (Shape::Gpu, _) => Tile { links, items: 32, points: links, rows: 0 },
        (Shape::Cpu, _) => {
            Tile { links, items: 1, points: if variant == Variant::Grid { 16 } else { 32 * links }, rows: 11 }
        }
    }
}

const TILED: [Variant; 5] =
    [Variant::Overlapped, Variant::Trapezoidal, Variant::Hexagonal, Variant::Grid, Variant::Wavefront];

#[test]
fn tiles_give_the_bits_of_the_basic_kernels() {
    // With an error estimate; two links a kernel, then the chosen number.
    let method = Method::named("bs32").unwrap();
    let system = system(&[5, 61], Boundary::Mirror, Layout::Interleaved);
    for context in contexts() {
        let small = |variant| DeviceOptions { variant, steps: 1, tile: Some(small(&context, variant, 2)) };
        compare(&context, &method, &system, &TILED.map(small));
        let chosen = |variant| DeviceOptions { variant, ..DeviceOptions::default() };
        compare(&context, &method, &system, &[Variant::Grid, Variant::Wavefront].map(chosen));
    }
}

#[test]
fn several_steps_and_vectors_of_earlier_ones() {
    for (name, variant, steps) in [
        ("heun2", Variant::Overlapped, 3),
        ("heun2", Variant::Trapezoidal, 2),
        ("ab3", Variant::Grid, 3),
        ("peer4", Variant::Hexagonal, 2),
        ("ab3", Variant::Wavefront, 3),
    ] {
        let method = Method::named(name).unwrap();
        let system = system(&[7, 40], Boundary::Copy, Layout::FieldWise);
        for context in contexts() {
            let tile = Some(small(&context, variant, 4));
            compare(&context, &method, &system, &[DeviceOptions { variant, steps, tile }]);
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
        for (shape, boundary, layout, variants) in &cases {
            let system = system(shape, boundary.clone(), *layout);
            let small = |v: &Variant| DeviceOptions { variant: *v, steps: 1, tile: Some(small(&context, *v, 2)) };
            compare(&context, &method, &system, &variants.iter().map(small).collect::<Vec<_>>());
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
        if context.shape() == Shape::Gpu {
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
    System::snippet(components, body, distance.max(1)).parameter("rate", 0.7).build().unwrap()
}

#[test]
fn tiles_of_opencl_c() {
    use Variant::{Hexagonal, Overlapped, Trapezoidal, Wavefront};
    let method = Method::named("bs32").unwrap();
    for context in contexts() {
        let options = |variant, steps| DeviceOptions { variant, steps, tile: Some(small(&context, variant, 2)) };
        // Several tiles; a distance above the blocks of a wavefront; fewer components than a tile.
        compare(
            &context,
            &method,
            &snippet(301, 5),
            &[options(Overlapped, 1), options(Trapezoidal, 1), options(Hexagonal, 1), options(Wavefront, 2)],
        );
        compare(&context, &method, &snippet(500, 130), &[options(Wavefront, 1)]);
        compare(&context, &method, &snippet(7, 3), &[options(Overlapped, 2), options(Wavefront, 1)]);
        let error = DeviceStepper::<f64>::new(&context, &method, &snippet(90, 1), Variant::Grid).err().unwrap();
        assert_eq!(error.id(), "clinalg:ode:variant");
    }
}

#[test]
fn of_steps_on_tiles_the_errors_are_those_of_single_steps_and_a_part_can_be_kept() {
    let method = Method::named("bs32").unwrap();
    let system = system(&[6, 50], Boundary::Mirror, Layout::Interleaved);
    let y0 = system.sample(|f, [x, y, _]| 1.0 + 0.3 * f as f64 + (3.0 * x + 2.0 * y).sin() / 3.0);
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
        for variant in TILED {
            let tile = Some(small(&context, variant, 3));
            let options = DeviceOptions { variant, steps, tile };
            let mut many = DeviceStepper::<f64>::with(&context, &method, &system, &options).unwrap();
            assert_eq!(many.steps_at_once(), steps);
            many.set(std::slice::from_ref(&y0)).unwrap();
            // A band of steps that are too large, two of three steps kept, one alone, all three, in this order.
            let wild = many.trial_steps(0.0, 0.9, steps, &TOLERANCE).unwrap();
            assert!(wild.len() == steps && wild[0] > 1.0, "{wild:?}");
            for (first, asked, kept) in [(0, 3, 2), (2, 2, 1), (3, 3, 3)] {
                let got = many.trial_steps(first as f64 * h, h, asked, &TOLERANCE).unwrap();
                let computed = if asked == steps { steps } else { 1 };
                assert_eq!(got, errors[first..first + computed], "{variant:?} {:?} from {first}", context.shape());
                assert_eq!(bits(many.solution().unwrap()), solutions[first]);
                many.accept_steps(kept).unwrap();
                assert_eq!(bits(many.solution().unwrap()), solutions[first + kept], "{variant:?} {first} {kept}");
            }
        }
    }
}
