//! Krylov methods whose products the host's functions compute.

use clinalg::solve::Stopping;
use clinalg_handles::{Method, Preconditioning};

use super::grid::choice;
use super::solve::{gmres_limits, length, outer_and_inner, preconditioning, results};
use super::{GPU, count_as, handle, handle_as, real_as, text};
use crate::args::{Args, Input, Kind, Value};
use crate::emit::{Answer, Out};
use crate::fault::Fault;
use crate::function::Function;
use crate::solves::{self, Task, What};
use crate::{interrupt, session};

/// What the host computes.
const FUNCTION: &str = "function";

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "MexSolveBegin",
        title: "Begin a Krylov method whose products the caller computes.",
        inputs: &[
            GPU,
            text("method"),
            Input::named("A", "a", Kind::TextOrHandle),
            handle("b"),
            Input::named("precond", "preconditioner", Kind::TextOrHandle),
            real_as("tol", "tolerance"),
            count_as("maxit", "max_iterations"),
            handle("x"),
            count_as("restart", "restart"),
        ],
        required: 4,
        outputs: &["run"],
        text: "\
method is 'pcg', 'bicgstab', 'gmres' or 'minres'. A or precond, or both, are 'function': the caller computes their products,
which MexSolveNext requests. Otherwise A is a matrix, and precond, with [] for none, what MexCG takes. b, tol, maxit and x
are those of MexCG and MexGMRES, restart, for 'gmres' only, that of MexGMRES. run is the argument of MexSolveNext and
MexSolveEnd. Until MexSolveEnd, A, b and precond may be read but not written, and x must not be used: such a call would
never return.",
        example: "\
gpu = MexInitOpenCL();
d = MexMatrix(gpu, [4; 5; 6]);
run = MexSolveBegin(gpu, 'pcg', 'function', MexMatrix(gpu, [4; 10; 18]), [], 1e-10);
[wanted, r] = MexSolveNext(gpu, run);
while ~isempty(wanted)
  [wanted, r] = MexSolveNext(gpu, run, MexVectorTimesVector(gpu, d, r));
end
[x, flag] = MexSolveEnd(gpu, run);
MexHandleMatrix(gpu, x)",
        see: &["MexSolveNext", "MexSolveEnd", "MexCG", "MexGMRES"],
        run: |args| {
            let context = args.context()?;
            Ok(Out::Handle(solves::begin(&context, task(args)?)?).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexSolveNext",
        title: "Give a product to a Krylov method, and ask for the next.",
        inputs: &[GPU, handle("run"), handle_as("y", "y")],
        required: 2,
        outputs: &["wanted", "r"],
        text: "\
run is the result of MexSolveBegin. wanted is 'A' where A r is needed, 'precond' where the product of the inverse of the
preconditioner with r is, and empty at the end. r is a new vector; y is the product with the former r, of its size and type.
Ctrl-C ends the method after its current iteration.",
        example: "\
gpu = MexInitOpenCL();
run = MexSolveBegin(gpu, 'pcg', 'function', MexMatrix(gpu, [1; 2]));
[wanted, r] = MexSolveNext(gpu, run);
while ~isempty(wanted)
  [wanted, r] = MexSolveNext(gpu, run, r);
end
[x, flag] = MexSolveEnd(gpu, run)",
        see: &["MexSolveBegin", "MexSolveEnd"],
        run: |args| {
            session::check(args.handle(0))?;
            let next = solves::next(args.handle(1), args.maybe_handle(2), !interrupt::goes_on())?;
            let (wanted, r) = match next {
                Some((What::Matrix, r)) => ("A", r),
                Some((What::Preconditioner, r)) => ("precond", r),
                None => ("", 0),
            };
            Ok(Answer::Several(vec![Out::Text(wanted.to_owned()), Out::Handle(r)]))
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexSolveEnd",
        title: "End a Krylov method begun by MexSolveBegin.",
        inputs: &[GPU, handle("run")],
        required: 2,
        outputs: &["x", "flag", "relres", "iter", "resvec", "reason"],
        text: "\
run is the result of MexSolveBegin, and is not valid afterwards. The results are those of MexCG. A method that waits for a
product ends with the error clinalg:solve:cancelled. End every method that was begun; MexReleaseOpenCL ends them all.",
        example: "\
gpu = MexInitOpenCL();
run = MexSolveBegin(gpu, 'pcg', 'function', MexMatrix(gpu, [1; 2]));
try
  MexSolveEnd(gpu, run);
catch problem
  disp(problem.identifier)
end",
        see: &["MexSolveBegin", "MexSolveNext"],
        run: |args| {
            session::check(args.handle(0))?;
            let ((method, a, b), (x, report, number)) = solves::end(args.handle(1))?;
            let mut outs = results(args.objects()?, (a, b), x, &report, number)?;
            if let Method::Gmres(restart) = method {
                outs[3] = outer_and_inner(number, restart);
            }
            Ok(Answer::Several(outs))
        },
        ..Function::DEFAULT
    },
];

fn task(args: &Args<'_>) -> Result<Task, Fault> {
    let n = length(args, 3)?;
    let (restart, most) = gmres_limits(n, args.maybe_count(8), args.maybe_count(6));
    let methods = [
        ("pcg", Method::Cg),
        ("bicgstab", Method::BiCgStab),
        ("gmres", Method::Gmres(restart)),
        ("minres", Method::Minres),
    ];
    let method = choice(args, 1, "method", &methods)?;
    if let (Some(restart), false) = (args.maybe_count(8), matches!(method, Method::Gmres(_))) {
        return Err(clinalg::Error::value("restart", "left out or []: it is for 'gmres'", restart.to_string()).into());
    }
    let most = match method {
        Method::Gmres(_) => most,
        _ => args.maybe_count(6).unwrap_or(n.min(20)),
    };
    let is_function = |position| matches!(args.value(position), Value::Text(text) if text == FUNCTION);
    let a = match args.maybe_handle(2) {
        None => {
            choice(args, 2, "a", &[(FUNCTION, ())])?;
            None
        }
        handle => handle,
    };
    let applied = is_function(4);
    let preconditioning = if applied { Preconditioning::None } else { preconditioning(args, 4)? };
    if a.is_none()
        && matches!(preconditioning, Preconditioning::Of(_) | Preconditioning::Saddle | Preconditioning::Jacobi)
    {
        let expected = "a function, an approximate inverse or none, as A is a function, which has no entries";
        return Err(clinalg::Error::value("preconditioner", expected, args.text(4)).into());
    }
    let stopping = Stopping::default().tolerance(args.maybe_real(5).unwrap_or(1e-6)).max_iterations(most);
    Ok(Task { method, a, b: args.handle(3), x: args.maybe_handle(7), preconditioning, applied, stopping })
}
