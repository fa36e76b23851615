//! Eigenvalues.

use clinalg::eigen::{EigenParams, Which};

use super::grid::choice;
use super::solve::preconditioning;
use super::{GPU, Outcome, count_as, flag, handle, handle_as, real_as, text};
use crate::args::{Args, Input, Kind};
use crate::emit::{Answer, Out};
use crate::function::Function;
use crate::interrupt;

pub(super) const FUNCTIONS: &[Function] = &[Function {
    name: "MexEigs",
    title: "Find a few eigenvalues and eigenvectors of a symmetric matrix.",
    inputs: &[
        GPU,
        handle_as("A", "a"),
        count_as("k", "count"),
        text("which"),
        real_as("tol", "tolerance"),
        count_as("maxit", "max_iterations"),
        Input::named("precond", "preconditioner", Kind::TextOrHandle),
        handle("mass"),
    ],
    required: 2,
    outputs: &["X", "d", "flag", "residuals", "iter", "reason"],
    text: "\
Finds k eigenvalues of A x = lambda x at one end of the spectrum by LOBPCG, a block method that needs products with A
only. A is a real symmetric or complex Hermitian matrix or operator; any other is an error.
  k        number of eigenvalues (default the smaller of 6 and the rows of A)
  which    'smallest' (default): the smallest eigenvalues in ascending order; 'largest': the largest in descending order
  tol      relative residual norm(A x - lambda B x) / (abs(lambda) norm(B x)) to reach (default 1e-8 in double,
           1e-4 in single precision)
  maxit    maximum number of iterations (default 1000)
  precond  as for MexCG, symmetric positive definite; for the smallest eigenvalues only
  mass     the handle of a symmetric (complex: Hermitian) positive definite matrix B: the problem is A x = lambda B x
X is a full matrix of the eigenvectors, x' B x = 1 for each column x; d has the eigenvalues. flag is 0 if all met tol, 1 if
maxit was reached, 3 if the residual stopped falling, 4 otherwise; reason is its meaning as text. residuals has the
relative residual of each pair.",
    example: "\
gpu = MexInitOpenCL();
e = ones(100, 1);
A = MexSparseMatrix(gpu, spdiags([-e 2*e -e], -1:1, 100, 100));
[X, d, flag] = MexEigs(gpu, A, 3);
d - 4*sin((1:3)'*pi/202).^2",
    see: &["MexCG", "MexPreconditioner", "MexAmg"],
    run: eigs,
    ..Function::DEFAULT
}];

fn eigs(args: &Args<'_>) -> Outcome {
    let objects = args.objects()?;
    let a = args.handle(1);
    let which = choice(args, 3, "which", &[("smallest", Which::Smallest), ("largest", Which::Largest)])?;
    let count = match args.maybe_count(2) {
        Some(count) => count,
        None => objects.info(a)?.rows.min(EigenParams::default().count),
    };
    let mut params = EigenParams::default().count(count).which(which);
    if let Some(tolerance) = args.maybe_real(4) {
        params = params.tolerance(tolerance);
    }
    if let Some(most) = args.maybe_count(5) {
        params = params.max_iterations(most);
    }
    let preconditioning = preconditioning(args, 6)?;
    let (vectors, report) =
        objects.eigenpairs(a, args.maybe_handle(7), preconditioning, &params, &mut interrupt::progress)?;
    Ok(Answer::Several(vec![
        Out::Handle(vectors),
        Out::column(report.values),
        Out::Real(flag(report.stop)),
        Out::column(report.residuals),
        Out::Real(report.iterations as f64),
        Out::Text(report.stop.to_string()),
    ]))
}
