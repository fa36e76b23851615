//! Right-hand sides of every kind on devices, against plain Rust, in both kernel families.

use crate::common::contexts;
use clinalg::{Context, Real};
use clinalg_ode::check_access;
use clinalg_ode::integrate::{Norm, Stepper, Tolerance};
use clinalg_ode::model::SnippetBuilder;
use clinalg_ode::problems::{NBody, problem};
use clinalg_ode::reference::Reference;
use clinalg_ode::{Boundary, DeviceStepper, Grid, Layout, Method, Rhs, Side, System, Variant};

const TOLERANCE: Tolerance = Tolerance { relative: 1e-3, absolute: 1e-4, norm: Norm::Rms };

/// Two steps from `y`.
fn steps<T: Real>(stepper: &mut dyn Stepper<T>, y: &[f64]) -> Vec<T> {
    stepper.set(&[y.iter().map(|v| T::from_f64(*v)).collect()]).unwrap();
    for k in 0..2 {
        stepper.trial(0.3 + 0.01 * f64::from(k), 0.01, &TOLERANCE).unwrap();
        stepper.accept().unwrap();
    }
    stepper.solution().unwrap()
}

/// Both variants against `rhs` in plain Rust, and against each other to the last bit.
fn compare<T: Real>(context: &Context, system: &System, rhs: &dyn Rhs<T>, y: &[f64], rounding: f64) {
    compare_method(context, &Method::named("euler").unwrap(), system, rhs, y, rounding);
}

fn compare_method<T: Real>(
    context: &Context,
    method: &Method,
    system: &System,
    rhs: &dyn Rhs<T>,
    y: &[f64],
    rounding: f64,
) {
    let expected = steps(&mut Reference::new(method, rhs), y);
    let run = |variant| steps(&mut DeviceStepper::<T>::new(context, method, system, variant).unwrap(), y);
    let (basic, fused) = (run(Variant::Basic), run(Variant::Fused));
    let bits = |v: &[T]| v.iter().map(|v| v.into_f64().to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&basic), bits(&fused), "{:?}", context.family());
    for (k, (got, want)) in basic.iter().zip(&expected).enumerate() {
        let (got, want) = (got.into_f64(), want.into_f64());
        let close = (got - want).abs() <= rounding * want.abs().max(1.0);
        assert!(close, "{:?}, component {k} of {}: {got} instead of {want}", context.family(), y.len());
    }
}

#[test]
fn bodies_attract_each_other_as_in_plain_rust() {
    for context in contexts() {
        let local = context.local();
        for n in [31, 2 * local + 3] {
            let p = problem("nbody", n).unwrap();
            let (bodies, y0) = NBody::ring(n);
            assert_eq!((p.system.access_distance(), p.system.is_dense()), (6 * n - 1, true));
            assert_eq!(p.y0().unwrap(), y0);
            compare_method::<f64>(&context, &Method::named("bs32").unwrap(), &p.system, &bodies, &y0, 1e-13);
            compare::<f32>(&context, &p.system, &bodies, &y0, 1e-6);
            if n < 100 {
                compare::<f64>(&context, &p.system, &p.system, &y0, 1e-13);
            }
        }
    }
}

/// Sums in several dimensions beside neighbours, of several right-hand sides in a kernel, of leaves of every kind.
#[test]
fn sums_beside_neighbours() {
    for layout in [Layout::Interleaved, Layout::FieldWise] {
        let system = System::builder(Grid::unit(&[23, 3]))
            .parameter("a", 0.5)
            .data("w", (0..69).map(|k| 1.0 + f64::from(k % 7)).collect::<Vec<_>>())
            .define("kernel", "exp(-a*((x' - x)^2 + (y' - y)^2)) / (1 + abs(i' - i) + j'*j)")
            .field("u", "u[-1,0] - 2*u + u[1,0] + 0.01*sum(w'*kernel*(v' - u)) - w*u + t")
            .field("v", "v[0,1] - v + 0.01*sum(if(x' < x, 1, u' - 2*v*w)) - 0.01*sum(w'*kernel*(v' - u))")
            .side(0, Side::Low, Boundary::Value(vec!["t - u[1,0]".into(), "v[2,0]".into()]))
            .layout(layout)
            .build()
            .unwrap();
        let y = system.sample(|f, [x, y, _]| 1.0 + 0.2 * f as f64 + (4.0 * x + y).sin());
        for context in contexts() {
            compare::<f64>(&context, &system, &system, &y, 1e-13);
        }
        let method = Method::named("pirk-radau-iia-5").unwrap();
        for context in contexts().into_iter().filter(|_| layout == Layout::FieldWise) {
            let expected = steps::<f64>(&mut Reference::new(&method, &system), &y);
            let mut stepper = DeviceStepper::<f64>::new(&context, &method, &system, Variant::Fused).unwrap();
            let got = steps(&mut stepper, &y);
            assert!(got.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12));
        }
    }
}

/// Formulas outside the grid that lead inside: sloped boundaries, two layers deep, on both sides and at corners.
#[test]
fn boundaries_that_read_the_inside() {
    // Antisymmetric about the wall: -u[1] of the first neighbour outside, and the second one through the first.
    let wall = System::builder(Grid::unit(&[5]))
        .field("u", "u[-2] + 10*u[-1]")
        .side(0, Side::Low, Boundary::Value(vec!["2*u[1] - u[2]".into()]))
        .build()
        .unwrap();
    let mut f = [0.0_f64; 5];
    wall.eval(0.0, &[1.0, 3.0, 4.0, 5.0, 6.0], &mut f);
    // Outside: -1 at -1, -3 at -2.
    assert_eq!(f, [-3.0 - 10.0, -1.0 + 10.0, 1.0 + 30.0, 3.0 + 40.0, 4.0 + 50.0]);
    let build = |n: &[usize]| {
        let line = |axis: &str, other: &str| {
            format!("u[-2{other}] - 4*u[-1{other}] + 6*u - 4*u[1{other}] + u[2{other}] + {axis}")
        };
        match n.len() {
            1 => System::builder(Grid::unit(n))
                .field("u", line("t", ""))
                .field("v", "v[-1] - 2*v + u[1]")
                .side(0, Side::Low, Boundary::Value(vec!["2*t - u[1] + 0.1*v[2]".into(), "v[1] + x".into()]))
                .side(0, Side::High, Boundary::Value(vec!["u[-1] + 0.2*(u[-1] - u[-2])".into(), "-v[-2]".into()])),
            _ => System::builder(Grid::unit(n))
                .field("u", format!("{} + u[1,-1] - u[-1,2]", line("u[0,-1] - 2*u + u[0,1]", ",0")))
                .boundary(Boundary::Value(vec!["t".into()]))
                .side(0, Side::Low, Boundary::Value(vec!["y - u[1,0]".into()]))
                .side(1, Side::Low, Boundary::Value(vec!["0.5*u[0,1] + 0.5*u[0,2]".into()])),
        }
        .build()
        .unwrap()
    };
    assert_eq!(build(&[40]).radius(), [2, 0, 0]);
    for context in contexts() {
        for n in [&[3][..], &[300], &[2, 2], &[35, 9]] {
            let system = build(n);
            let y = system.sample(|f, [x, y, _]| 1.0 + 0.3 * f as f64 + (3.0 * x + 2.0 * y).sin());
            compare::<f64>(&context, &system, &system, &y, 1e-13);
        }
    }
}

/// The same equations as formulas and as OpenCL C.
/// A system of OpenCL C. The snippets of these tests that read what they must not run under `check_access` alone, which
/// reads nothing outside.
fn snippet(components: usize, body: &str, distance: usize) -> SnippetBuilder {
    // SAFETY: see above; nothing else in them goes beyond their own variables.
    unsafe { System::snippet(components, body, distance) }
}

#[test]
fn snippets_do_what_formulas_do() {
    let n = 777;
    let formulas = System::builder(Grid::new(&[n], &[0.0], &[1.0]))
        .parameter("a", 0.75)
        .parameter("b", 2.0)
        .field("u", "a*(u[-1] - 2*u + u[2]) + b*sin(t)*u*u")
        .boundary(Boundary::Value(vec!["0".into()]))
        .build()
        .unwrap();
    let mut own = snippet(
        n,
        "return a*(at(I > 0, Y(I - 1)) - 2*Y(I) + (I + 2 < N ? Y(I + 2) : ZERO)) + b*sin(T)*square(Y(I));",
        2,
    )
    .functions("#define at(c, v) ((c) ? (v) : ZERO)\nREAL square(const REAL v)\n{\n    return v * v;\n}")
    .parameter("a", 0.25)
    .parameter("b", 2.0)
    .build()
    .unwrap();
    own.set_parameter("a", 0.75).unwrap();
    assert_eq!((own.access_distance(), own.is_dense(), own.components()), (2, false, n));
    let y: Vec<f64> = (0..n).map(|k| (k as f64 / 50.0).sin()).collect();
    for context in contexts() {
        compare::<f64>(&context, &own, &formulas, &y, 1e-14);
        check_access::<f64>(&context, &own, 0.0, &y).unwrap();
        check_access::<f32>(&context, &own, 0.0, &y.iter().map(|v| *v as f32).collect::<Vec<_>>()).unwrap();
        check_access::<f64>(&context, &formulas, 0.0, &y).unwrap();
    }
}

#[test]
fn a_wrong_access_distance_is_caught() {
    let y = vec![1.0; 64];
    let cases = [
        ("return Y(I);", 0, None),
        ("return I + 5 < N ? Y(I + 5) : ZERO;", 5, None),
        ("return I + 5 < N ? Y(I + 5) : ZERO;", 4, Some("reads one 5 away")),
        // NaN alone would not show these.
        ("return I + 5 < N ? fmin(Y(I + 5), Y(I)) : ZERO;", 4, Some("reads one 5 away")),
        ("return I > 2 && Y(I - 3) < 0 ? ONE : ZERO;", 2, Some("reads one 3 away")),
        ("return I == 40 ? Y(0) : ZERO;", 39, Some("component 41 (counted from 1) reads one 40 away")),
        ("return Y(I - 1);", 1, Some("component 1 (counted from 1) reads one that does not exist")),
        ("return Y(I + 1);", 3, Some("component 64 (counted from 1) reads one that does not exist")),
        ("return Y(N - 1 - I);", 62, Some("reads one 63 away")),
    ];
    for context in contexts() {
        for (body, distance, expected) in cases {
            let system = snippet(64, body, distance).build().unwrap();
            match (check_access::<f64>(&context, &system, 0.0, &y), expected) {
                (Ok(()), None) => {}
                (Err(error), Some(words)) => {
                    assert!(error.to_string().contains(words), "{error}");
                    assert_eq!(error.id(), "clinalg:ode:access");
                }
                (got, expected) => panic!("{body}: {got:?} instead of {expected:?}"),
            }
        }
        let short = snippet(64, "return Y(I);", 0).build().unwrap();
        assert_eq!(check_access(&context, &short, 0.0, &[1.0]).unwrap_err().id(), "clinalg:argument:value");
        let broken = snippet(64, "return what;", 0).build().unwrap();
        assert_eq!(check_access(&context, &broken, 0.0, &y).unwrap_err().id(), "clinalg:device:build");
    }
}

#[test]
fn data_are_read_at_their_points() {
    let n = 100;
    let system = System::builder(Grid::unit(&[10, 10]))
        .data("a", (0..n).map(f64::from).collect::<Vec<_>>())
        .data("b", (0..n).map(|v| 0.5 * f64::from(v)).collect::<Vec<_>>())
        .field("u", "a - b + 0*u[1,0]")
        .build()
        .unwrap();
    let mut f = [0.0_f64; 100];
    system.eval(0.0, &[0.0; 100], &mut f);
    assert!(f.iter().enumerate().all(|(p, v)| *v == p as f64 / 2.0));
    for context in contexts() {
        compare::<f64>(&context, &system, &system, &[0.0; 100], 1e-14);
    }
}

/// Fields that read each other in a chain: next to each other in memory they are closest.
#[test]
fn fields_are_reordered_where_that_brings_them_closer() {
    let build = |layout: Option<Layout>| {
        let b = System::builder(Grid::unit(&[30]))
            .field("a", "c + 1")
            .field("b", "d - b")
            .field("c", "a*d[1]")
            .field("d", "b[-1] + c");
        match layout {
            Some(layout) => b.layout(layout),
            None => b,
        }
        .build()
        .unwrap()
    };
    let (given, free) = (build(Some(Layout::Interleaved)), build(None));
    // c reads d at the next point: 4 + 1. In the order b d c a it is 4 - 1, and b at the point before is 4 + 1 - 2.
    assert_eq!(given.access_distance(), 6);
    assert!(free.access_distance() < 6, "{}", free.access_distance());
    assert_eq!(free.fields(), ["a", "b", "c", "d"]);
    let value = |f: usize, [x, ..]: [f64; 3]| (f as f64 + 1.0) * (1.0 + x);
    let (y, z) = (given.sample(value), free.sample(value));
    let (mut f, mut g) = (vec![0.0_f64; 120], vec![0.0_f64; 120]);
    given.eval(0.0, &y, &mut f);
    free.eval(0.0, &z, &mut g);
    assert_ne!(y, z);
    for field in 0..4 {
        for p in 0..30 {
            assert_eq!(f[given.component(field, p)], g[free.component(field, p)]);
        }
    }
    for context in contexts() {
        compare::<f64>(&context, &free, &free, &z, 1e-13);
    }
}

#[test]
fn bad_right_hand_sides_are_errors() {
    // A name of one's own hides a coordinate.
    let hidden = System::builder(Grid::unit(&[1])).field("x", "-x").field("k", "x").build().unwrap();
    let mut f = [0.0_f64; 2];
    hidden.eval(0.0, &[3.0, 4.0], &mut f);
    assert_eq!(f, [-3.0, 3.0]);
    let base = || System::builder(Grid::unit(&[4])).field("u", "u[-1]");
    let id = |b: clinalg_ode::model::Builder| b.build().unwrap_err().id();
    let value = "clinalg:argument:value";
    assert_eq!(id(base().data("m", vec![1.0; 3])), value);
    assert_eq!(id(base().data("m", vec![1.0, 2.0, f64::NAN, 1.0])), value);
    assert_eq!(id(base().data("u", vec![1.0; 4])), value);
    assert_eq!(id(base().field("sum", "1")), value);
    assert_eq!(id(base().field("v", "v'")), "clinalg:ode:formula");
    let side = |text: &str| base().side(0, Side::Low, Boundary::Value(vec![text.into()]));
    for text in ["u", "u[-1]", "u[5]", "sum(u')", "u[", "w"] {
        assert_eq!(id(side(text)), "clinalg:ode:formula", "{text}");
    }
    side("u[4]").build().unwrap();
    let two = |text: &str| {
        System::builder(Grid::unit(&[4, 4])).field("u", "u[-1,0]").boundary(Boundary::Value(vec![text.into()]))
    };
    assert_eq!(id(two("u[1,1]")), "clinalg:ode:formula");
    let many: String = (0..13).map(|k| format!("+ c{k}'")).collect();
    let mut b = base();
    for k in 0..13 {
        b = b.data(format!("c{k}"), vec![1.0; 4]);
    }
    assert_eq!(id(b.field("v", format!("sum(0 {many})"))), value);
    for bad in [
        snippet(0, "return ZERO;", 0).build(),
        snippet(usize::MAX, "return ZERO;", usize::MAX).build(),
        snippet(4, " ", 0).build(),
        snippet(4, "return ZERO;", 0).parameter("N", 1.0).build(),
        snippet(4, "return ZERO;", 0).parameter("a b", 1.0).build(),
        snippet(4, "return ZERO;", 0).parameter("a", f64::NAN).build(),
    ] {
        assert_eq!(bad.unwrap_err().id(), value);
    }
}

#[test]
fn functions_of_formulas_have_their_values_on_devices() {
    let functions = [
        "floor(u) + 10*ceil(u) + 100*round(u) + 1000*fix(u)",
        "sign(u) + 3*sign(0*u) + 10*sign(u - 2.5)",
        "mod(u, 3) + 10*mod(u, -0.7) + 100*mod(u, 0)",
        "rem(u, 3) + 10*rem(u, -0.7)",
        "atan2(u, v) + 10*hypot(u, v) + 100*atan2(0*u, -1)",
        "log10(abs(u) + 0.1) + 2*log2(abs(u) + 0.1) + 3*log1p(abs(u)) + 4*expm1(u/9)",
        "asinh(u) + 2*acosh(1 + abs(u)) + 3*atanh(u/99)",
        "u.*v ./ (1 + u.^2) + (u ~= 2.5)",
        // Kernels of sums are others.
        "sum(0.001*mod(u' - u, 3) + sign(u') + atan2(u', 2))",
    ];
    // Halves, negative ones among them, and zero.
    let values: Vec<f64> = (0..41).map(|k| 0.25 * f64::from(k) - 5.0).collect();
    let y: Vec<f64> = values.iter().flat_map(|u| [*u, 1.5 - 0.3 * u]).collect();
    for formula in functions {
        let system = System::builder(Grid::unit(&[values.len()]))
            .field("u", formula)
            .field("v", "sign(v)")
            .layout(Layout::Interleaved)
            .build()
            .unwrap();
        for context in contexts() {
            let evaluated = |stepper: &mut dyn Stepper<f64>| {
                stepper.set(std::slice::from_ref(&y)).unwrap();
                stepper.advance(&[0.0], 1.0).unwrap();
                stepper.solution().unwrap()
            };
            let method = Method::named("euler").unwrap();
            let expected = evaluated(&mut Reference::new(&method, &system));
            let mut stepper = DeviceStepper::<f64>::new(&context, &method, &system, Variant::Fused).unwrap();
            for (k, (got, want)) in evaluated(&mut stepper).iter().zip(&expected).enumerate() {
                assert!((got - want).abs() <= 1e-12 * want.abs().max(1.0), "{formula} at {k}: {got}, not {want}");
            }
        }
    }
}
