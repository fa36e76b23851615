//! The operators on every device and in both shapes against the plain Rust ones.

use clinalg::runtime::{Buffer, devices};
use clinalg::solve::Operator;
use clinalg::team::Team;
use clinalg::{Context, ContextOptions, KernelFamily, Precision, Real, Vector};
use clinalg_bem::Mesh;
use clinalg_bem::heat::reference::Reference;
use clinalg_bem::heat::{
    Algorithm, BoundaryProblem, Form, HeatOperator, HeatParams, HeatSpace, Kind, OperatorOptions, Problem,
    multiply_add_rate,
};

fn contexts() -> Vec<Context> {
    let Some(devices) = clinalg_testing::found(devices()) else { return Vec::new() };
    let shapes = |device| {
        let make = move |family| Context::new(device, &ContextOptions { family, ..ContextOptions::default() }).unwrap();
        clinalg_testing::families([KernelFamily::Cpu, KernelFamily::Gpu]).into_iter().map(make)
    };
    devices.iter().flat_map(shapes).collect()
}

/// Of several families, that for GPUs, as each is a program to compile.
fn in_one_family() -> impl Iterator<Item = Context> {
    let all = contexts();
    let several = all.iter().any(|context| context.family() != all[0].family());
    all.into_iter().filter(move |context| !several || context.family() == KernelFamily::Gpu)
}

fn scattered(n: usize) -> Vec<f64> {
    (0..n).map(|k| ((k * 7919 + 13) % 1009) as f64 / 504.5 - 1.0).collect()
}

fn distance(got: &[f64], want: &[f64]) -> f64 {
    let norm = |v: &mut dyn Iterator<Item = f64>| v.map(|v| v * v).sum::<f64>().sqrt();
    norm(&mut got.iter().zip(want).map(|(a, b)| a - b)) / norm(&mut want.iter().copied())
}

/// How much larger relative errors of the product may be than those of the entries: |A| |x| against A x.
fn condition(reference: &Reference, kind: Kind, x: &[f64]) -> f64 {
    let mut blocks = reference.blocks(kind);
    let plain = blocks.apply(x).unwrap();
    blocks.values.iter_mut().for_each(|v| *v = v.abs());
    let sizes: Vec<f64> = x.iter().map(|v| v.abs()).collect();
    let norm = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
    norm(&blocks.apply(&sizes).unwrap()) / norm(&plain)
}

/// Single precision has to keep `tolerance` in the entries, double precision in the product, whatever cancels there.
fn agree<T: Real>(mesh: &Mesh, params: &HeatParams, tolerance: f64) {
    let reference = Reference::new(mesh, params).unwrap();
    for kind in Kind::ALL {
        let n = kind.cols(mesh) * params.steps;
        let x = scattered(n);
        let want = reference.apply(kind, &x).unwrap();
        let single = T::PRECISION == Precision::F32;
        let tolerance = if single { tolerance * condition(&reference, kind, &x) } else { tolerance };
        for context in contexts() {
            let space = HeatSpace::<T>::new(&context, mesh, params).unwrap();
            let xs: Vec<T> = x.iter().map(|&v| T::from_f64(v)).collect();
            let x = Vector::from_slice(&context, &xs).unwrap();
            for form in [Form::Assembled, Form::Otf] {
                // A few rows at a time.
                let options = OperatorOptions { form, scratch_bytes: Some(200_000), ..OperatorOptions::default() };
                let a = space.operator(kind, &options).unwrap();
                let mut y = Vector::filled(&context, a.rows(), T::from_f64(f64::NAN)).unwrap();
                a.apply(T::one(), &x, T::zero(), &mut y).unwrap();
                let got: Vec<f64> = y.to_vec().unwrap().into_iter().map(T::into_f64).collect();
                let error = distance(&got, &want);
                println!(
                    "{kind:?} {form:?} {:?} {}: {error:.2e}, {}",
                    context.family(),
                    T::PRECISION,
                    a.plan_description()
                );
                assert!(error <= tolerance, "{kind:?} {form:?} {:?}: {error:e}", context.family());
                // y = 2 A x - y = A x.
                a.apply(T::from_f64(2.0), &x, -T::one(), &mut y).unwrap();
                let again: Vec<f64> = y.to_vec().unwrap().into_iter().map(T::into_f64).collect();
                assert!(distance(&again, &got) <= 8.0 * T::epsilon().into_f64(), "{kind:?} {form:?}");
            }
        }
    }
}

#[test]
fn double_precision_agrees_on_a_cube() {
    // Time steps that are not a multiple of anything.
    agree::<f64>(&Mesh::cube24().refined().unwrap(), &HeatParams::new(0.5, 1.0, 19), 1e-10);
}

#[test]
fn double_precision_agrees_on_a_sphere_with_long_steps() {
    agree::<f64>(&Mesh::icosphere(1).unwrap(), &HeatParams::new(2.0, 10.0, 35), 1e-10);
}

#[test]
fn double_precision_agrees_where_steps_are_short() {
    // Heat hardly reaches the next triangle in a step.
    agree::<f64>(&Mesh::cube12().refined().unwrap(), &HeatParams::new(0.5, 0.05, 5), 1e-10);
}

#[test]
fn single_precision_agrees() {
    // The accuracy asked of entries by default, ten times what rounding leaves. The product cancels: seven times as much for V.
    agree::<f32>(&Mesh::cube12().refined().unwrap(), &HeatParams::new(0.5, 4.0, 20), 1e-6);
}

#[test]
fn few_steps_agree() {
    for steps in [1, 2, 3] {
        agree::<f64>(&Mesh::cube12(), &HeatParams::new(0.5, 1.0, steps), 1e-10);
    }
}

/// The first time steps only; more than there are blocks of one kind.
#[test]
fn products_over_the_first_steps_are_those_of_fewer_steps() {
    let mesh = Mesh::cube12();
    let long = HeatParams::new(0.5, 1.7, 17);
    for context in contexts() {
        let space = HeatSpace::<f64>::new(&context, &mesh, &long).unwrap();
        for form in [Form::Assembled, Form::Otf] {
            let a = space.operator(Kind::K, &OperatorOptions { form, ..OperatorOptions::default() }).unwrap();
            for steps in [1, 2, 3, 8, 17] {
                let x = scattered(Kind::K.cols(&mesh) * steps);
                let short = HeatParams::new(0.5, 0.1 * steps as f64, steps);
                let want = Reference::new(&mesh, &short).unwrap().apply(Kind::K, &x).unwrap();
                let xs = Vector::from_slice(&context, &x).unwrap();
                let mut y = Vector::zeros(&context, Kind::K.rows(&mesh) * steps).unwrap();
                a.apply_first(steps, 1.0, &xs, 0.0, &mut y).unwrap();
                let error = distance(&y.to_vec().unwrap(), &want);
                assert!(error <= 1e-10, "{form:?}, {steps} steps: {error:e}");
            }
        }
    }
}

#[test]
fn products_by_instructions_for_small_matrices_are_the_direct_ones() {
    // 24 triangles and 14 nodes: neither rows nor columns fill the last tile.
    let mesh = Mesh::cube24();
    for context in contexts() {
        let info = context.device();
        if context.family() == KernelFamily::Cpu || info.tensor_f64 == 0 {
            clinalg_testing::skip_part(format_args!("{} as {:?} has no tensor cores", info.name, context.family()));
            continue;
        }
        // Each number of tiles of steps, and more steps than a work-group has.
        for (kind, steps) in [(Kind::V, 1), (Kind::Ks, 9), (Kind::V, 64), (Kind::Ks, 128), (Kind::V, 300)] {
            let space = HeatSpace::<f64>::new(&context, &mesh, &HeatParams::new(0.5, 1.0, steps)).unwrap();
            for form in [Form::Assembled, Form::Otf] {
                // A few rows at a time.
                let options = |tensor| OperatorOptions {
                    form,
                    scratch_bytes: Some(400_000),
                    tensor,
                    ..OperatorOptions::default()
                };
                let [a, direct] = [true, false].map(|tensor| space.operator(kind, &options(tensor)).unwrap());
                for d in [0, steps / 2, steps - 1] {
                    let [got, want] = [&a, &direct].map(|a| a.block(d).unwrap().to_column_major().unwrap());
                    assert_eq!(got, want, "{kind:?} {form:?} block {d} of {steps}");
                }
                for first in [steps, steps.div_ceil(3)] {
                    let (rows, cols, _) = a.block_shape();
                    let x = Vector::from_slice(&context, &scattered(cols * first)).unwrap();
                    let product = |a: &HeatOperator<f64>| {
                        let mut y = Vector::filled(&context, rows * first, f64::NAN).unwrap();
                        a.apply_first(first, 1.5, &x, 0.0, &mut y).unwrap();
                        a.apply_first(first, 0.5, &x, 1.0, &mut y).unwrap();
                        y.to_vec().unwrap()
                    };
                    let got = product(&a);
                    let error = distance(&got, &product(&direct));
                    println!("{kind:?} {form:?} {first} of {steps} steps: {error:.1e}");
                    assert!(error <= 1e-14, "{kind:?} {form:?} {first} of {steps} steps: {error:e}");
                    assert_eq!(product(&a), got, "the same bits each time");
                }
            }
        }
    }
}

#[test]
fn all_algorithms_agree_whatever_the_work_group() {
    // Triangles and nodes that fill no work-group.
    let (mesh, params) = (Mesh::cube24(), HeatParams::new(0.5, 1.0, 6));
    let reference = Reference::new(&mesh, &params).unwrap();
    for kind in Kind::ALL {
        let x = scattered(kind.cols(&mesh) * params.steps);
        let want = reference.apply(kind, &x).unwrap();
        for context in contexts() {
            let space = HeatSpace::<f64>::new(&context, &mesh, &params).unwrap();
            let xs = Vector::from_slice(&context, &x).unwrap();
            for algorithm in Algorithm::ALL {
                // One code of the published ones for all shapes.
                if context.family() == KernelFamily::Cpu && algorithm != Algorithm::Moments {
                    continue;
                }
                // The default and another one; each is a program to compile.
                let groups: &[Option<[usize; 2]>] = match algorithm {
                    Algorithm::Moments => &[None],
                    Algorithm::TriangleReduction | Algorithm::TriangleLoop if kind == Kind::V => &[None, Some([1, 8])],
                    Algorithm::TriangleReduction | Algorithm::TriangleLoop => &[Some([1, 16])],
                    _ if kind == Kind::D => &[None, Some([3, 4])],
                    _ => &[Some([5, 4])],
                };
                for &group in groups {
                    let options = OperatorOptions { form: Form::Otf, algorithm, group, ..OperatorOptions::default() };
                    let a = space.operator(kind, &options).unwrap();
                    let mut y = Vector::filled(&context, a.rows(), f64::NAN).unwrap();
                    a.apply(1.0, &xs, 0.0, &mut y).unwrap();
                    let error = distance(&y.to_vec().unwrap(), &want);
                    assert!(error <= 1e-10, "{kind:?}, algorithm {algorithm}, {group:?}: {error:e}");
                }
            }
        }
    }
}

#[test]
fn published_algorithms_agree_in_single_precision() {
    // As above; the last second differences in single precision would be off by a thousandth.
    let (mesh, params) = (Mesh::cube12().refined().unwrap(), HeatParams::new(0.5, 4.0, 20));
    let reference = Reference::new(&mesh, &params).unwrap();
    let cases = [
        (Algorithm::TriangleReduction, Kind::Ks, [1, 16]),
        (Algorithm::TriangleLoop, Kind::V, [1, 8]),
        (Algorithm::TileReduction, Kind::D, [3, 4]),
        (Algorithm::TileLoop, Kind::K, [5, 4]),
    ];
    // Each operator of each algorithm is a program to compile: all of them in long runs.
    let long = clinalg_testing::long();
    let all = cases.into_iter().flat_map(|(algorithm, one, group)| {
        Kind::ALL.into_iter().filter(move |&kind| long || kind == one).map(move |kind| (kind, algorithm, group))
    });
    for (kind, algorithm, group) in all {
        let x = scattered(kind.cols(&mesh) * params.steps);
        let want = reference.apply(kind, &x).unwrap();
        let tolerance = 1e-6 * condition(&reference, kind, &x);
        for context in in_one_family() {
            let space = HeatSpace::<f32>::new(&context, &mesh, &params).unwrap();
            let xs: Vec<f32> = x.iter().map(|&v| v as f32).collect();
            let xs = Vector::from_slice(&context, &xs).unwrap();
            let group = Some(group);
            let options = OperatorOptions { form: Form::Otf, algorithm, group, ..OperatorOptions::default() };
            let a = space.operator(kind, &options).unwrap();
            let mut y = Vector::filled(&context, a.rows(), f32::NAN).unwrap();
            a.apply(1.0, &xs, 0.0, &mut y).unwrap();
            let got: Vec<f64> = y.to_vec().unwrap().into_iter().map(f64::from).collect();
            let error = distance(&got, &want);
            println!("{kind:?}, algorithm {algorithm}: {error:.2e}, asked {tolerance:.2e}");
            assert!(error <= tolerance, "{kind:?}, algorithm {algorithm}: {error:e}");
        }
    }
}

#[test]
fn blocks_are_those_of_the_reference() {
    let (mesh, params) = (Mesh::cube12(), HeatParams::new(0.5, 1.0, 5));
    let reference = Reference::new(&mesh, &params).unwrap();
    for kind in Kind::ALL {
        let want = reference.blocks(kind);
        for context in contexts() {
            let space = HeatSpace::<f64>::new(&context, &mesh, &params).unwrap();
            for form in [Form::Assembled, Form::Otf] {
                // A few rows at a time.
                let options = OperatorOptions { form, scratch_bytes: Some(1000), ..OperatorOptions::default() };
                let a = space.operator(kind, &options).unwrap();
                for d in 0..params.steps {
                    let got = a.block(d).unwrap().to_array().unwrap();
                    let got: Vec<f64> = got.iter().copied().collect();
                    let error = distance(&got, want.block(d));
                    assert!(error <= 1e-9, "{kind:?} {form:?}, block {d}: {error:e}");
                }
                assert!(a.block(params.steps).is_err());
            }
        }
    }
}

/// Rows shared out among the contexts of a team: the blocks of one device, and its products to rounding.
#[test]
fn a_team_has_the_blocks_of_one_device() {
    let (mesh, params) = (Mesh::cube24(), HeatParams::new(0.5, 1.0, 5));
    for context in contexts() {
        let device = &devices().unwrap()[context.device().index];
        let options = ContextOptions { family: Some(context.family()), ..ContextOptions::default() };
        let others = (0..2).map(|_| Context::new(device, &options).unwrap());
        let team = Team::of_contexts([context.clone()].into_iter().chain(others).collect()).unwrap();
        let one = HeatSpace::<f64>::new(&context, &mesh, &params).unwrap();
        let many = HeatSpace::<f64>::on_team(&team, &mesh, &params, &[1.0, 3.0, 2.0]).unwrap();
        for (kind, form) in Kind::ALL.into_iter().zip([Form::Otf, Form::Assembled, Form::Otf, Form::Otf]) {
            let options = OperatorOptions { form, scratch_bytes: Some(10_000), ..OperatorOptions::default() };
            let [a, b] = [&one, &many].map(|space| space.operator(kind, &options).unwrap());
            assert_eq!((a.rows(), a.cols(), a.stored_bytes()), (b.rows(), b.cols(), b.stored_bytes()));
            for d in [0, 1, 4] {
                let [want, got] = [&a, &b].map(|operator| operator.block(d).unwrap().to_column_major().unwrap());
                assert_eq!(got, want, "{kind:?}, block {d}");
            }
            // All steps with what is in y, then three of them without.
            for (steps, beta) in [(params.steps, 0.5), (3, 0.0)] {
                let [x, y] = [a.cols(), a.rows()].map(|n| scattered(n / params.steps * steps));
                let x = Vector::from_slice(&context, &x).unwrap();
                let [want, got] = [&a, &b].map(|operator| {
                    let mut y = Vector::from_slice(&context, &y).unwrap();
                    operator.apply_first(steps, -2.0, &x, beta, &mut y).unwrap();
                    y.to_vec().unwrap()
                });
                assert!(distance(&got, &want) <= 1e-14, "{kind:?} {form:?}: {:e}", distance(&got, &want));
            }
        }
        let given: Vec<f64> = scattered(mesh.nodes().len() * params.steps);
        let [want, got] = [&one, &many].map(|space| {
            let problem = BoundaryProblem::new(space, Problem::Dirichlet, &OperatorOptions::default()).unwrap();
            let right = space.operator(Kind::K, &OperatorOptions::default()).unwrap();
            let b = problem.right_side(&right, &given).unwrap();
            let (x, _) = problem.forward().unwrap().solve(&b, 1e-12, &mut |_| {}).unwrap();
            x.to_vec().unwrap()
        });
        assert!(distance(&got, &want) <= 1e-10, "{:e}", distance(&got, &want));
        let wrong = |weights: &[f64]| HeatSpace::<f64>::on_team(&team, &mesh, &params, weights).map(drop).unwrap_err();
        assert!([&[1.0, 1.0][..], &[1.0, -1.0, 1.0]].iter().all(|w| wrong(w).id() == "clinalg:argument:value"));
        let published = OperatorOptions { algorithm: Algorithm::ALL[1], ..OperatorOptions::default() };
        let error = many.operator(Kind::V, &published).map(drop).unwrap_err();
        assert!(error.to_string().contains("5 on several devices"), "{error}");
    }
}

/// Buffers that nothing reads, until `left` bytes are free.
fn hold(context: &Context, left: u64) -> Vec<Buffer<u32>> {
    let info = context.device();
    let mut held = Vec::new();
    loop {
        let more = info.global_mem.saturating_sub(context.memory().live_bytes + left).min(info.max_alloc) / 4;
        if more == 0 {
            return held;
        }
        // SAFETY: nobody reads it.
        held.push(unsafe { Buffer::uninit_unchecked(context, more as usize) }.unwrap());
    }
}

#[test]
fn blocks_that_do_not_fit_are_computed_or_refused() {
    let (mesh, params) = (Mesh::cube24().refined().unwrap(), HeatParams::new(0.5, 1.0, 16));
    // Those of V from 2 on.
    let bytes = 96 * 96 * 14 * 8;
    // On other devices the memory held would be taken from those who use them.
    for context in contexts().into_iter().filter(|context| context.device().unified_memory) {
        let space = HeatSpace::<f64>::new(&context, &mesh, &params).unwrap();
        let make = |form| space.operator(Kind::V, &OperatorOptions { form, ..OperatorOptions::default() });
        assert!(make(Form::Auto).unwrap().is_assembled());
        // Half of what is free is not quite enough.
        let held = hold(&context, bytes / 20 * 39);
        assert!(make(Form::Auto).is_ok_and(|auto| !auto.is_assembled() && auto.stored_bytes() > bytes));
        assert!(make(Form::Assembled).unwrap().is_assembled());
        drop(held);
        let _held = hold(&context, bytes / 2);
        let message = make(Form::Assembled).unwrap_err().to_string();
        assert!(message.contains(&bytes.to_string()) && message.contains("bytes are free"), "{message}");
    }
}

#[test]
fn operations_are_counted() {
    let (mesh, params) = (Mesh::cube24(), HeatParams::new(0.5, 1.0, 24));
    for context in in_one_family() {
        let space = HeatSpace::<f64>::new(&context, &mesh, &params).unwrap();
        let count = |kind: Kind, form, algorithm| {
            let options = OperatorOptions { form, algorithm, ..OperatorOptions::default() };
            space.operator(kind, &options).unwrap().flops().unwrap()
        };
        // Of 24 steps, block d meets 24 - d: 300 multiplications with additions per entry.
        let stored = count(Kind::V, Form::Assembled, Algorithm::Moments);
        assert_eq!(stored, 600.0 * 24.0 * 24.0);
        // The same product, and entries; by closed forms in every pair of points it is 105 operations and what these are for.
        let moments = count(Kind::V, Form::Otf, Algorithm::Moments);
        let published = count(Kind::V, Form::Otf, Algorithm::TriangleLoop);
        let evaluations = (24 * 24 * 36 * 24) as f64;
        assert!(stored < moments && moments < published, "{stored:e}, {moments:e}, {published:e}");
        assert!((100.0..115.0).contains(&((published - stored) / evaluations)), "{published:e}");
        let rate = multiply_add_rate::<f64>(&context).unwrap();
        assert!(rate.is_finite() && rate > 0.0);
    }
}

#[test]
fn algorithms_that_do_not_suit_are_refused() {
    let (mesh, params) = (Mesh::cube12(), HeatParams::new(0.5, 1.0, 4));
    for context in contexts() {
        let double = HeatSpace::<f64>::new(&context, &mesh, &params).unwrap();
        let with = |algorithm, form, group| OperatorOptions { form, algorithm, group, ..OperatorOptions::default() };
        let words = |error: clinalg::Error| error.to_string();
        let loops = Algorithm::TileLoop;
        let refused = words(double.operator(Kind::V, &with(loops, Form::Assembled, None)).unwrap_err());
        assert!(refused.contains("Otf"), "{refused}");
        for group in [[1, 16], [2, 3], [0, 4], [8, 1 << 20]] {
            let refused = words(double.operator(Kind::V, &with(loops, Form::Auto, Some(group))).unwrap_err());
            assert!(refused.contains("power of two"), "{refused}");
        }
        let a = double.operator(Kind::D, &with(loops, Form::Auto, None)).unwrap();
        assert!(!a.is_assembled() && a.block(1).is_ok() && a.block(2).is_err());
    }
    assert!("6".parse::<Algorithm>().is_err() && "4".parse::<Algorithm>().unwrap() == Algorithm::TileLoop);
}
