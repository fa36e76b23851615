//! Every allocation, mapping, file write and thread start of a call fails once, one after the other: the call ends in an
//! error or does without, and the next one works.

use std::cell::RefCell;

use crate::matrix::Values;
use crate::multigrid::{Grid, PoissonParams};
use crate::runtime::host::injection::with_failure;
use crate::runtime::{Staging, devices};
use crate::solve::{Cg, Gmres, GmresParams, Solver};
use crate::team::{Exchange, Message, Partition, Poisson, Team};
use crate::{Band, Buffer, Context, ContextOptions, Csr, CsrParts, Dense, Error, KernelFamily, Result, Vector, ops};

/// More calls that can fail than any operation here has.
const MOST: usize = 300;

/// Runs `call` with each of its calls that can fail failing, and without a failure after each.
fn each_fails(name: &str, call: impl Fn() -> Result<Vec<f32>>) {
    let want = call().unwrap();
    let mut errors = 0;
    for k in 0..MOST {
        let (result, failed) = with_failure(k, &call);
        match result {
            // A hint, a file or a thread that the call does without.
            Ok(got) => assert_eq!(got, want, "{name}, {k}"),
            Err(error) => {
                assert!(failed, "{name}, {k}: {error}");
                assert_eq!(error.id(), "clinalg:device:memory", "{name}, {k}: {error}");
                errors += 1;
            }
        }
        assert_eq!(call().unwrap(), want, "{name} after failure {k}");
        if !failed {
            assert!(errors > 0, "{name} has no call that fails");
            return;
        }
    }
    panic!("{name} has more than {MOST} calls that can fail");
}

/// The 5-point stencil on `side` x `side` points, some of its values changed so that it is no constant one.
fn stencil(side: usize) -> CsrParts<f32> {
    let mut entries = Vec::new();
    let at = |i: usize, j: usize| i * side + j;
    for i in 0..side {
        for j in 0..side {
            entries.push((at(i, j), at(i, j), 4.0 + (j % 2) as f32));
            let neighbours = [(i.wrapping_sub(1), j), (i + 1, j), (i, j.wrapping_sub(1)), (i, j + 1)];
            let inside = neighbours.into_iter().filter(|&(i, j)| i < side && j < side);
            entries.extend(inside.map(|(k, l)| (at(i, j), at(k, l), -1.0)));
        }
    }
    CsrParts::from_triplets(side * side, side * side, &entries).unwrap()
}

fn matrices(context: &Context) {
    let parts = stencil(40);
    let n = parts.rows;
    let x: Vec<f32> = (0..n).map(|i| (i % 5) as f32).collect();
    let product = |a: &Csr<f32>| {
        let x = Vector::from_slice(context, &x)?;
        let mut y = Vector::zeros(context, n)?;
        ops::mv(1.0, a, &x, 0.0, &mut y)?;
        y.to_vec()
    };
    each_fails("rows", || product(&Csr::from_parts(context, &parts)?));
    each_fails("columns", || product(&Csr::from_csc(context, n, n, &parts.offsets, &parts.indices, &parts.values)?));
    let a = Csr::from_parts(context, &parts).unwrap();
    each_fails("transpose", || product(&a.transpose()?));
    each_fails("clone", || product(&a.try_clone()?));
    each_fails("download", || Ok(a.to_parts()?.values));
    each_fails("format", || {
        let mut a = a.try_clone()?;
        a.set_format(None)?;
        product(&a)
    });
    each_fails("band", || {
        let a = Band::from_csr(context, &parts, 40, 40)?;
        let x = Vector::from_slice(context, &x)?;
        let mut y = Vector::zeros(context, n)?;
        ops::mv(1.0, &a, &x, 0.0, &mut y)?;
        y.to_vec()
    });
    each_fails("dense", || {
        let a = Dense::from_column_major(context, 20, 80, &x)?;
        let b = Dense::from_column_major(context, 80, 3, &x[..240])?;
        let mut c = Dense::zeros(context, 20, 3)?;
        ops::mm(1.0, &a, &b, 0.0, &mut c)?;
        c.to_column_major()
    });
}

fn solvers(context: &Context) {
    let a = Csr::from_parts(context, &stencil(16)).unwrap();
    let b = Vector::filled(context, a.rows(), 1.0).unwrap();
    let run = |solver: &mut dyn Solver<f32>| {
        let mut x = Vector::zeros(context, a.rows())?;
        solver.solve(&a, None, &b, &mut x)?;
        x.to_vec()
    };
    each_fails("cg", || run(&mut Cg::new(context, a.rows(), Default::default())?));
    each_fails("gmres", || run(&mut Gmres::new(context, a.rows(), GmresParams::default().restart(10))?));
}

fn transfers(context: &Context) {
    let x = Vector::filled(context, 1000, 3.0_f32).unwrap();
    each_fails("staging", || {
        let mut staging = Staging::new(context);
        x.slice(0..1000)?.read_async(&mut staging)?.finish()?;
        Ok(staging.values()?.to_vec())
    });
    each_fails("sum", || Ok(vec![ops::sum(&x)?]));
    // Large enough for large pages.
    each_fails("large", || Vector::filled(context, 2 << 20, 1.0_f32)?.copy_range(0..10)?.to_vec());
}

/// A device that fails in mid-solve: the error names its rank, and the next solve works.
#[test]
fn teams_end_in_errors_and_the_next_solves_work() {
    let Some(devices) = clinalg_testing::found(devices()) else { return };
    let context = || Context::new(&devices[0], &ContextOptions::default()).unwrap();
    let team = Team::of_contexts(vec![context(), context()]).unwrap();
    let n = 17;
    let params = PoissonParams { max_cycles: 1, tolerance: 0.0, ..PoissonParams::default() };
    let f = vec![1.0; n * n];
    let poisson =
        RefCell::new(Poisson::<f32>::with_gather_side(&team, &Grid::square(n), &params, &[1.0; 2], 5).unwrap());
    each_fails("poisson", || {
        let mut u = vec![0.0; n * n];
        let result = poisson.borrow_mut().solve(&f, &mut u);
        if let Err(error) = result {
            assert!(matches!(error, Error::Rank { .. }) && u == vec![0.0; n * n], "{error}");
            return Err(error);
        }
        Ok(u)
    });
    // With the pinned memory of the exchanges made anew each time.
    each_fails("exchange", || {
        let messages = Message::halos(&Partition::even(6, 2)?, &[0..4, 2..6], 1)?;
        let mut parts =
            [Buffer::from_slice(&team.contexts()[0], &[1.0_f32; 4])?, Buffer::zeroed(&team.contexts()[1], 4)?];
        Exchange::new(&team, &messages)?.run(&mut parts)?;
        parts[1].to_vec()
    });
}

#[test]
fn calls_end_in_errors_and_the_next_ones_work() {
    let Some(devices) = clinalg_testing::found(devices()) else { return };
    for family in clinalg_testing::families([KernelFamily::Cpu, KernelFamily::Gpu]) {
        let options = ContextOptions { family, ..ContextOptions::default() };
        let context = Context::new(&devices[0], &options).unwrap();
        let before = {
            matrices(&context);
            solvers(&context);
            transfers(&context);
            context.memory()
        };
        matrices(&context);
        let after = context.memory();
        // What failed left nothing behind.
        assert_eq!((after.live_bytes, after.live_buffers), (before.live_bytes, before.live_buffers));
    }
}
