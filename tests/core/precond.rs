//! Preconditioners. Multigrid cycles with Krylov methods in two and three dimensions and with coefficients, on every device
//! and with both families of kernels: the matrix against its stencil, symmetry, and solutions that are known.

#[path = "precond/incomplete.rs"]
mod incomplete;
#[path = "precond/saddle.rs"]
mod saddle;

use clinalg::multigrid::{Coefficient, Smoother, assemble};
use clinalg::precond::{MultigridParams, MultigridPreconditioner};
use clinalg::solve::{BiCgStab, Cg, Gmres, GmresParams, Operator, Preconditioner, Solver, Stop, Stopping};
use clinalg::{Context, Csr, Error, Real, Vector, ops};

use crate::common::{capable, contexts, eps, noise};

/// A problem with the coefficients of its faces.
struct Problem {
    n: usize,
    dim: usize,
    shift: f64,
    /// In cells of a square; none where it is 1.
    cells: Option<Vec<f64>>,
}

impl Problem {
    fn all() -> Vec<Problem> {
        // Four by four squares like a chess board, 1 : 1000, and a jump along lines of the grid with a smooth part.
        let board =
            |n: usize| move |i: usize, j: usize| if (4 * i / n + 4 * j / n).is_multiple_of(2) { 1.0 } else { 1000.0 };
        let jump = |i: usize, j: usize| if i < 16 { 1.0 + j as f64 / 64.0 } else { 1e4 };
        let cells = |n: usize, a: &dyn Fn(usize, usize) -> f64| {
            Some((0..(n - 1) * (n - 1)).map(|c| a(c % (n - 1), c / (n - 1))).collect())
        };
        let problem = |n, dim, shift, cells| Problem { n, dim, shift, cells };
        vec![
            problem(3, 2, 0.0, None),
            problem(129, 2, 0.0, None),
            problem(65, 2, 300.0, None),
            problem(3, 3, 0.0, None),
            problem(5, 3, 10.0, None),
            problem(33, 3, 0.0, None),
            problem(17, 3, 500.0, None),
            problem(65, 2, 0.0, cells(65, &board(64))),
            problem(33, 2, 20.0, cells(33, &jump)),
        ]
    }

    fn points(&self) -> usize {
        self.n.pow(self.dim as u32)
    }

    fn what(&self) -> String {
        let a = if self.cells.is_some() { "varying" } else { "constant" };
        format!("{} points per side in {} dimensions, shift {}, coefficient {a}", self.n, self.dim, self.shift)
    }

    fn inside(&self, p: usize) -> bool {
        (0..self.dim as u32).all(|d| (1..self.n - 1).contains(&(p / self.n.pow(d) % self.n)))
    }

    /// The coefficient between the interior point `p` and its neighbour one step up or down in direction `d`.
    fn face(&self, p: usize, d: usize, up: bool) -> f64 {
        let Some(cells) = &self.cells else { return 1.0 };
        let (i, j) = (p % self.n, p / self.n);
        let cell = |i: usize, j: usize| cells[j * (self.n - 1) + i];
        let along = |k: usize| if up { k } else { k - 1 };
        match d {
            0 => (cell(along(i), j - 1) + cell(along(i), j)) / 2.0,
            _ => (cell(i - 1, along(j)) + cell(i, along(j))) / 2.0,
        }
    }

    /// A x from the stencil.
    fn product(&self, x: &[f64]) -> Vec<f64> {
        let inverse_h2 = ((self.n - 1) * (self.n - 1)) as f64;
        let row = |p: usize| {
            if !self.inside(p) {
                return x[p];
            }
            let mut sum = self.shift * x[p];
            for d in 0..self.dim {
                let step = self.n.pow(d as u32);
                for (q, up) in [(p - step, false), (p + step, true)] {
                    let other = if self.inside(q) { x[q] } else { 0.0 };
                    sum += inverse_h2 * self.face(p, d, up) * (x[p] - other);
                }
            }
            sum
        };
        (0..x.len()).map(row).collect()
    }

    fn with<T: Real, R>(&self, run: impl FnOnce(Option<Coefficient<'_, T>>) -> R) -> R {
        let cells: Option<Vec<T>> = self.cells.as_ref().map(|a| a.iter().map(|&a| T::from_f64(a)).collect());
        run(cells.as_deref().map(Coefficient::Cells))
    }

    fn matrix<T: Real>(&self, context: &Context) -> Csr<T> {
        self.with(|a| assemble(context, self.n, self.dim, self.shift, a)).unwrap()
    }

    fn preconditioner<T: Real>(&self, context: &Context, params: MultigridParams) -> MultigridPreconditioner<T> {
        let params = params.dim(self.dim).shift(self.shift);
        let made = self.with(|a| match a {
            Some(a) => MultigridPreconditioner::with_coefficient(context, self.n, &params, a),
            None => MultigridPreconditioner::new(context, self.n, &params),
        });
        made.unwrap()
    }
}

fn difference(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).fold(0.0, |most: f64, (x, y)| most.max((x - y).abs()))
}

fn wide<T: Real>(x: &Vector<T>) -> Vec<f64> {
    x.to_vec().unwrap().into_iter().map(T::into_f64).collect()
}

#[test]
fn the_matrix_is_that_of_the_stencil() {
    for context in capable::<f64>() {
        for problem in Problem::all() {
            let a = problem.matrix::<f64>(context);
            let x = noise::<f64>(problem.points(), 3);
            let mut y = Vector::zeros(context, x.len()).unwrap();
            a.apply(1.0, &Vector::from_slice(context, &x).unwrap(), 0.0, &mut y).unwrap();
            let want = problem.product(&x);
            let largest = want.iter().fold(0.0, |most: f64, y| most.max(y.abs()));
            assert!(difference(&wide(&y), &want) <= 1e-14 * largest, "{}", problem.what());
        }
    }
}

#[test]
fn cycles_are_symmetric_and_positive() {
    for context in capable::<f64>() {
        for problem in Problem::all() {
            for (smoother, visits) in [(Smoother::RedBlack, 1), (Smoother::Jacobi, 1), (Smoother::RedBlack, 2)] {
                let params = MultigridParams::default().smoother(smoother).visits(visits);
                let mut m = problem.preconditioner::<f64>(context, params);
                let [r, s] = [4, 5].map(|seed| noise::<f64>(problem.points(), seed));
                let [r, s] = [r, s].map(|values| Vector::from_slice(context, &values).unwrap());
                let nan = || Vector::filled(context, problem.points(), f64::NAN).unwrap();
                let (mut mr, mut ms) = (nan(), nan());
                m.apply(&r, &mut mr).unwrap();
                m.apply(&s, &mut ms).unwrap();
                let (left, right) = (ops::dot(&mr, &s).unwrap(), ops::dot(&r, &ms).unwrap());
                let size = ops::dot(&r, &mr).unwrap();
                let what = format!("{}, {params:?}, {context:?}", problem.what());
                assert!(size > 0.0 && (left - right).abs() < 1e-12 * size, "{left} and {right}: {what}");
                // The identity on the boundary.
                let (r, mr) = (wide(&r), wide(&mr));
                assert!((0..r.len()).all(|p| problem.inside(p) || r[p] == mr[p]), "{what}");
            }
        }
    }
}

/// Solutions that are given, by every method, in a number of iterations that does not grow with the grid.
fn methods_find_the_solution<T: Real>(context: &Context, problem: &Problem) {
    let exact: Vec<f64> = noise::<T>(problem.points(), 6).into_iter().map(T::into_f64).collect();
    let b: Vec<T> = problem.product(&exact).into_iter().map(T::from_f64).collect();
    let b = Vector::from_slice(context, &b).unwrap();
    let a = problem.matrix::<T>(context);
    let mut m = problem.preconditioner::<T>(context, MultigridParams::default());
    let tolerance = if eps::<T>() > 1e-10 { 1e-4 } else { 1e-11 };
    let stopping = Stopping::default().tolerance(tolerance);
    let size = problem.points();
    let solvers: [(&str, usize, Box<dyn Solver<T>>); 3] = [
        ("CG", 30, Box::new(Cg::new(context, size, stopping.clone().into()).unwrap())),
        ("BiCGStab", 20, Box::new(BiCgStab::new(context, size, stopping.clone().into()).unwrap())),
        ("GMRES", 30, Box::new(Gmres::new(context, size, GmresParams::from(stopping)).unwrap())),
    ];
    for (name, most, mut solver) in solvers {
        let mut x = Vector::zeros(context, size).unwrap();
        let report = solver.solve(&a, Some(&mut m), &b, &mut x).unwrap();
        let what = format!("{name}, {}, {context:?}: {report}", problem.what());
        assert_eq!(report.stop, Stop::Converged, "{what}");
        assert!(report.iterations <= most, "{what}");
        // The residual, from the stencil. Rounding adds that of the upload of b and of the product.
        let (got, want) = (problem.product(&wide(&x)), wide(&b));
        let norm = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
        let residual: Vec<f64> = got.iter().zip(&want).map(|(got, want)| got - want).collect();
        let bound = tolerance + 64.0 * eps::<T>();
        assert!(norm(&residual) <= bound * norm(&want), "{:e}, {what}", norm(&residual) / norm(&want));
    }
}

#[test]
fn krylov_methods_find_the_solution_f64() {
    for context in capable::<f64>() {
        Problem::all().iter().for_each(|problem| methods_find_the_solution::<f64>(context, problem));
    }
}

#[test]
fn krylov_methods_find_the_solution_f32() {
    for context in contexts() {
        Problem::all().iter().for_each(|problem| methods_find_the_solution::<f32>(context, problem));
    }
}

#[test]
fn wrong_arguments_are_errors() {
    for context in contexts() {
        let new = |n, params: MultigridParams| MultigridPreconditioner::<f32>::new(context, n, &params).unwrap_err();
        let given = MultigridParams::default();
        assert!(matches!(new(18, given), Error::Value { argument: "n", .. }));
        assert!(matches!(new(17, given.dim(4)), Error::Value { argument: "dim", .. }));
        assert!(matches!(new(17, given.shift(-1.0)), Error::Value { argument: "shift", .. }));
        let cells = vec![1.0_f32; 16 * 16];
        let cubic = MultigridPreconditioner::with_coefficient(context, 17, &given.dim(3), Coefficient::Cells(&cells));
        assert!(matches!(cubic.unwrap_err(), Error::Value { argument: "dim", .. }));
        let short = MultigridPreconditioner::with_coefficient(context, 17, &given, Coefficient::Points(&cells));
        assert!(matches!(short.unwrap_err(), Error::Length { argument: "coefficient", expected: 289, got: 256 }));
        assert!(matches!(assemble::<f32>(context, 17, 3, f64::NAN, None), Err(Error::Value { argument: "shift", .. })));
        let mut m = MultigridPreconditioner::<f32>::new(context, 5, &given.dim(3)).unwrap();
        let (r, mut z) = (Vector::zeros(context, 125).unwrap(), Vector::zeros(context, 25).unwrap());
        assert!(matches!(m.apply(&r, &mut z), Err(Error::Length { argument: "z", expected: 125, got: 25 })));
    }
}
