//! Safe programs that once read or wrote outside memory: each does not compile or ends in a typed error.

#![forbid(unsafe_code)]

mod common;

use std::cell::Cell;

use clinalg::matrix::Values;
use clinalg::ops::{self, DotParts, Operator};
use clinalg::precond::Identity;
use clinalg::runtime::devices;
use clinalg::solve::{BiCgStab, Cg, Gmres, GmresParams, JacobiIteration, Preconditioner, Report, Solver};
use clinalg::{Context, ContextOptions, Csr, Dense, KernelFamily, Result, Vector};
use common::{assert_error, contexts};

const CONTEXT: &str = "clinalg:argument:context";
const LENGTH: &str = "clinalg:argument:length";
const SHAPE: &str = "clinalg:argument:shape";
const VALUE: &str = "clinalg:argument:value";

/// Builds the library once more, so that only the long tests take it. Other compilers word their messages otherwise:
/// `TRYBUILD=overwrite` takes them over, for a look at the difference.
#[test]
fn unsound_programs_do_not_compile() {
    if !clinalg_testing::long() {
        return clinalg_testing::skip("a minute of compiling is for CLINALG_TEST_LONG");
    }
    trybuild::TestCases::new().compile_fail("core/unsound/*.rs");
}

/// Another context on the same device.
fn other(context: &Context) -> Context {
    let device = &devices().unwrap()[context.device().index];
    Context::new(device, &ContextOptions::default()).unwrap()
}

#[test]
fn a_dense_matrix_follows_the_vector_that_was_put_into_it() {
    for context in contexts() {
        let a = Dense::from_column_major(context, 3, 2, &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        let x = Dense::from_column_major(context, 2, 2, &[1.0_f32, 0.0, 0.0, 1.0]).unwrap();
        // With and without launch parameters that were made before.
        for warm in [false, true] {
            let mut y = Dense::<f32>::zeros(context, 3, 2).unwrap();
            if warm {
                ops::mm(1.0, &a, &x, 0.0, &mut y).unwrap();
                ops::mv(1.0, &y, &Vector::zeros(context, 2).unwrap(), 0.0, &mut Vector::zeros(context, 3).unwrap())
                    .unwrap();
            }
            *y.as_vector_mut() = Vector::zeros(context, 1).unwrap();
            assert_eq!((y.rows(), y.cols()), (0, 2));
            assert_error(ops::mm(1.0, &a, &x, 0.0, &mut y), SHAPE, "y");
            let (two, mut three) = (Vector::zeros(context, 2).unwrap(), Vector::zeros(context, 3).unwrap());
            assert_error(ops::mv(1.0, &y, &two, 0.0, &mut three), LENGTH, "y");
            // A longer one makes more rows, which products with the matrix have then.
            *y.as_vector_mut() = Vector::from_slice(context, &[1.0; 201]).unwrap();
            assert_eq!((y.rows(), y.cols()), (100, 2));
            let mut many = Vector::zeros(context, 100).unwrap();
            let ones = Vector::from_slice(context, &[1.0; 2]).unwrap();
            ops::mv(1.0, &y, &ones, 0.0, &mut many).unwrap();
            assert_eq!(many.to_vec().unwrap(), [2.0; 100]);
            let mut like = Dense::<f32>::zeros(context, 100, 2).unwrap();
            let argument = if context.family() == KernelFamily::Cpu { "x" } else { "source" };
            assert_error(ops::copy(&y, &mut like), LENGTH, argument);
            // The old rows again: what was kept for them serves.
            *y.as_vector_mut() = Vector::zeros(context, 6).unwrap();
            ops::mm(1.0, &a, &x, 0.0, &mut y).unwrap();
            assert_eq!(y.to_column_major().unwrap(), a.to_column_major().unwrap());
            *y.as_vector_mut() = Vector::zeros(&other(context), 6).unwrap();
            assert_error(ops::mm(1.0, &a, &x, 0.0, &mut y), CONTEXT, "y");
            assert_error(ops::mv(1.0, &y, &two, 0.0, &mut three), CONTEXT, "x");
        }
    }
}

#[test]
fn values_of_another_context_stay_there() {
    for context in contexts() {
        let mut a = Csr::from_triplets(context, 2, 2, &[(0, 0, 2.0_f32), (1, 1, 3.0)]).unwrap();
        let elsewhere = Vector::from_slice(&other(context), &[1.0_f32, 1.0]).unwrap();
        assert_error(a.values_mut().copy_from(elsewhere.buffer()), CONTEXT, "source");
        assert_error(a.values_mut().copy_from(elsewhere.slice(0..1).unwrap()), LENGTH, "source");
        assert_eq!(a.to_parts().unwrap().values, [2.0, 3.0]);
    }
}

#[test]
fn new_memory_is_zero() {
    for context in contexts() {
        // What is freed here is what the allocator gives next.
        drop(Vector::filled(context, 100_000, 7.0_f32).unwrap());
        let x = Vector::<f32>::zeros(context, 100_000).unwrap();
        assert_eq!(x.to_vec().unwrap(), vec![0.0; 100_000]);
        drop(Vector::filled(context, 100_000, 7.0_f32).unwrap());
        assert_eq!(x.like().unwrap().to_vec().unwrap(), vec![0.0; 100_000]);
        drop(Vector::filled(context, 8192, 7.0_f32).unwrap());
        assert_eq!(DotParts::<f32>::new(context).unwrap().values().unwrap(), (0.0, 0.0));
    }
}

/// A = 4 I that puts another vector into its output from the call `when` on.
struct Replacing {
    context: Context,
    n: usize,
    by: Replacement,
    when: usize,
    calls: Cell<usize>,
}

#[derive(Clone, Copy, Debug)]
enum Replacement {
    Shorter,
    Longer,
    Elsewhere,
    Dots,
}

const REPLACEMENTS: [Replacement; 4] =
    [Replacement::Shorter, Replacement::Longer, Replacement::Elsewhere, Replacement::Dots];

impl Replacing {
    fn new(context: &Context, n: usize, by: Replacement, when: usize) -> Replacing {
        Replacing { context: context.clone(), n, by, when, calls: Cell::new(0) }
    }

    fn replace(&self, y: &mut Vector<f32>, dots: Option<&mut DotParts<f32>>) -> Result<()> {
        self.calls.set(self.calls.get() + 1);
        if self.calls.get() <= self.when {
            return Ok(());
        }
        match self.by {
            Replacement::Shorter => *y = Vector::zeros(&self.context, 1)?,
            Replacement::Longer => *y = Vector::zeros(&self.context, 2 * self.n)?,
            Replacement::Elsewhere => *y = Vector::zeros(&other(&self.context), self.n)?,
            Replacement::Dots => {
                if let Some(dots) = dots {
                    *dots = DotParts::new(&other(&self.context))?;
                }
            }
        }
        Ok(())
    }
}

impl Operator<f32> for Replacing {
    fn rows(&self) -> usize {
        self.n
    }

    fn cols(&self) -> usize {
        self.n
    }

    fn context(&self) -> &Context {
        &self.context
    }

    fn apply(&self, alpha: f32, x: &Vector<f32>, beta: f32, y: &mut Vector<f32>) -> Result<()> {
        ops::update(4.0 * alpha, x, beta, y)?;
        self.replace(y, None)
    }

    fn apply_dot(&self, x: &Vector<f32>, y: &mut Vector<f32>, dot: &mut DotParts<f32>) -> Result<()> {
        ops::scale(4.0, x, y)?;
        dot.set(x, y)?;
        self.replace(y, Some(dot))
    }

    fn apply_dots(
        &self,
        alpha: f32,
        x: &Vector<f32>,
        plus: Option<(f32, &Vector<f32>)>,
        w: &Vector<f32>,
        y: &mut Vector<f32>,
        dots: &mut DotParts<f32>,
    ) -> Result<()> {
        match plus {
            Some((beta, u)) => ops::axpby(4.0 * alpha, x, beta, u, y)?,
            None => ops::scale(4.0 * alpha, x, y)?,
        }
        dots.set_pair(y, w)?;
        self.replace(y, Some(dots))
    }
}

impl Preconditioner<f32> for Replacing {
    fn size(&self) -> usize {
        self.n
    }

    fn context(&self) -> &Context {
        &self.context
    }

    fn apply(&mut self, r: &Vector<f32>, z: &mut Vector<f32>) -> Result<()> {
        ops::scale(0.25, r, z)?;
        self.replace(z, None)
    }
}

/// The solvers by name, each with `a`, and with `m` where it takes one.
fn solve(
    name: &str,
    context: &Context,
    a: &dyn Operator<f32>,
    m: Option<&mut dyn Preconditioner<f32>>,
) -> Result<Report> {
    let n = a.rows();
    // Not a multiple of a vector of ones, so that the iterations do not end at once.
    let b: Vec<f32> = (0..n).map(|i| 1.0 + (i % 7) as f32).collect();
    let b = Vector::from_slice(context, &b)?;
    let mut x = Vector::zeros(context, n)?;
    let mut solver: Box<dyn Solver<f32>> = match name {
        "cg" => Box::new(Cg::new(context, n, Default::default())?),
        "bicgstab" => Box::new(BiCgStab::new(context, n, Default::default())?),
        "gmres" => Box::new(Gmres::new(context, n, GmresParams::default().restart(5))?),
        "jacobi" => Box::new(JacobiIteration::new(&Vector::filled(context, n, 4.0)?, Default::default())?),
        other => panic!("no solver {other}"),
    };
    solver.stopping_mut().tolerance = Some(1e-30);
    solver.stopping_mut().max_iterations = 20;
    let first = solver.solve(a, m, &b, &mut x);
    // The solver itself may be of no use any more, which it says.
    let good = Replacing::new(context, n, Replacement::Shorter, usize::MAX);
    if let (Err(_), Err(error)) = (&first, solver.solve(&good, None, &b, &mut x)) {
        assert!([VALUE, LENGTH, SHAPE, CONTEXT].contains(&error.id()), "{name}: {error}");
    }
    first
}

#[test]
fn operators_that_replace_their_output_end_a_solve() {
    for context in contexts() {
        for name in ["cg", "bicgstab", "gmres", "jacobi"] {
            for by in REPLACEMENTS {
                for when in 0..3 {
                    let a = Replacing::new(context, 1000, by, when);
                    let result = solve(name, context, &a, None);
                    if a.calls.get() <= when || (matches!(by, Replacement::Dots) && result.is_ok()) {
                        // It converged before, or the call in question has no dot products to replace.
                        continue;
                    }
                    let expected = if matches!(by, Replacement::Dots) { CONTEXT } else { VALUE };
                    let error = result.expect_err("the output was replaced");
                    assert_eq!(error.id(), expected, "{name} {by:?} {when}: {error}");
                }
            }
        }
    }
}

#[test]
fn preconditioners_that_replace_their_output_end_a_solve() {
    for context in contexts() {
        for name in ["cg", "bicgstab", "gmres"] {
            for by in &REPLACEMENTS[..3] {
                let a = Csr::from_triplets(context, 1000, 1000, &tridiagonal(1000)).unwrap();
                let mut m = Replacing::new(context, 1000, *by, 0);
                let error = solve(name, context, &a, Some(&mut m)).expect_err("the output was replaced");
                assert_eq!(error.id(), VALUE, "{name} {by:?}: {error}");
                assert!(error.to_string().contains("`m`"), "{error}");
                solve(name, context, &a, Some(&mut Identity::new(context, 1000))).unwrap();
            }
        }
    }
}

fn tridiagonal(n: usize) -> Vec<(usize, usize, f32)> {
    let mut entries = Vec::new();
    for i in 0..n {
        entries.push((i, i, 4.0));
        if i > 0 {
            entries.extend([(i, i - 1, -1.0), (i - 1, i, -1.0)]);
        }
    }
    entries
}
