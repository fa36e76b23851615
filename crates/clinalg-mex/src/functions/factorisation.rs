//! Factors of dense and sparse matrices that are kept for many right-hand sides.

use clinalg::direct::Kind as Factors;
use clinalg::ops::Transpose;
use clinalg_handles::Factorisation;

use super::grid::choice;
use super::{GPU, handle, handle_as, number_of};
use crate::args::{Input, Kind};
use crate::emit::{Answer, Out};
use crate::function::Function;

const FACTORISATION: Input = handle_as("F", "factorisation");

/// The factorisations by name; the first is the default.
pub(super) const FACTORISATIONS: [(&str, Factorisation); 5] = [
    ("auto", Factorisation::Auto),
    ("lu", Factorisation::Lu),
    ("cholesky", Factorisation::Cholesky),
    ("qr", Factorisation::Qr),
    ("ldl", Factorisation::Ldl),
];

/// The name of sparse factors.
pub(super) fn name_of(kind: Factors) -> String {
    let found = match kind {
        Factors::Cholesky => "cholesky",
        Factors::Ldl => "ldl",
        _ => "lu",
    };
    found.to_owned()
}

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "MexFactorisation",
        title: "Factors of a matrix for many right-hand sides.",
        inputs: &[GPU, handle_as("A", "a"), Input::named("kind", "factorisation", Kind::Text)],
        required: 2,
        outputs: &["F"],
        text: "\
A is a full or square sparse matrix, real or complex. Later changes of A do not reach F. kind is 'auto' (default):
Cholesky for a sparse Hermitian positive definite matrix, LDL for one that is Hermitian or complex symmetric, QR for a
full one that is not square, else LU; or 'lu', 'cholesky', for a sparse matrix 'ldl' or for a full one 'qr'. MexRelease
frees F.",
        example: "\
gpu = MexInitOpenCL();
F = MexFactorisation(gpu, MexSparseMatrix(gpu, gallery('poisson', 20)));
x = MexFactorisationSolve(gpu, F, MexMatrix(gpu, ones(400, 1)));
MexFactorisationReport(gpu, F)",
        see: &["MexFactorisationSolve", "MexFactorisationRefill", "MexSolveDirect", "MexSolveDense"],
        run: |args| {
            let factorisation = choice(args, 2, "factorisation", &FACTORISATIONS)?;
            Ok(Out::Handle(args.objects()?.factorisation(factorisation, args.handle(1))?).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexFactorisationSolve",
        title: "Solve a system with factors.",
        inputs: &[GPU, FACTORISATION, handle("b"), Input::named("op", "transpose", Kind::Text)],
        required: 3,
        outputs: &["x"],
        text: "\
x = op(A) \\ b for a full b of one or more columns, of the precision of A; x is a new object. op is 'none'
(default), 'transpose' or 'conjugate' for the conjugate transpose. QR solves in the sense of least squares; with a
sparse matrix x is refined, and one that is singular to working precision is an error.",
        example: "\
gpu = MexInitOpenCL();
F = MexFactorisation(gpu, MexMatrix(gpu, [2 1; 0 1]));
x = MexFactorisationSolve(gpu, F, MexMatrix(gpu, [3; 1]), 'transpose');
MexHandleMatrix(gpu, x)",
        see: &["MexFactorisation", "MexFactorisationReport"],
        run: |args| {
            let known = [("none", Transpose::No), ("transpose", Transpose::Yes), ("conjugate", Transpose::Conjugate)];
            let op = choice(args, 3, "transpose", &known)?;
            let (factors, b) = (args.handle(1), args.handle(2));
            Ok(Out::Handle(args.objects()?.factorisation_solve(factors, op, b, None)?).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexFactorisationRefill",
        title: "New values for the factors of a sparse matrix.",
        inputs: &[GPU, FACTORISATION, handle_as("A", "a")],
        required: 3,
        outputs: &[],
        text: "\
A has its entries at the same positions as the matrix of F. The order of elimination is kept, which makes this
faster than new factors. After an error during the elimination F is of no matrix.",
        example: "\
gpu = MexInitOpenCL();
A = gallery('poisson', 20);
F = MexFactorisation(gpu, MexSparseMatrix(gpu, A));
MexFactorisationRefill(gpu, F, MexSparseMatrix(gpu, A + speye(400)));",
        see: &["MexFactorisation"],
        run: |args| {
            args.objects()?.factorisation_refactor(args.handle(1), args.handle(2))?;
            Ok(Answer::Nothing)
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexFactorisationReport",
        title: "What the factors of a sparse matrix are.",
        inputs: &[GPU, FACTORISATION],
        required: 2,
        outputs: &["info"],
        text: "\
info is a structure with the fields
  kind             'cholesky', 'ldl' or 'lu'
  entries          stored numbers of the factors
  operations       multiplications and additions of the factorisation
  fronts           dense matrices in which pivots are eliminated
  largestFront     rows of the largest of them
  bytes            memory of the factors on the device
  replacedPivots   pivots that were too small and were replaced
  matched          whether rows were permuted for a large diagonal, or with LDL pairs of rows kept together
  inertia          positive, negative and zero eigenvalues, a row; empty where the factors do not show them, as LU
  backwardError    of the last solve: the largest abs(b - A*x) ./ (abs(A)*abs(x) + abs(b)); NaN before the first
  refinements      of the last solve: steps of iterative refinement",
        example: "\
gpu = MexInitOpenCL();
F = MexFactorisation(gpu, MexSparseMatrix(gpu, gallery('poisson', 20)));
info = MexFactorisationReport(gpu, F);
info.kind",
        see: &["MexFactorisation", "MexFactorisationCondition"],
        run: |args| {
            let (factors, solved) = args.objects()?.factorisation_report(args.handle(1))?;
            let counts = factors.inertia.map(|found| [found.positive, found.negative, found.zero]);
            let inertia: Vec<f64> = counts.into_iter().flatten().map(|count| count as f64).collect();
            let fields = vec![
                c"kind",
                c"entries",
                c"operations",
                c"fronts",
                c"largestFront",
                c"bytes",
                c"replacedPivots",
                c"matched",
                c"inertia",
                c"backwardError",
                c"refinements",
            ];
            let record = vec![
                Out::Text(name_of(factors.kind)),
                Out::Real(factors.entries as f64),
                Out::Real(factors.operations),
                Out::Real(factors.fronts as f64),
                Out::Real(factors.largest_front as f64),
                Out::Real(factors.bytes as f64),
                Out::Real(factors.replaced_pivots as f64),
                Out::Flag(factors.is_matched),
                Out::Reals { rows: inertia.len().min(1), values: inertia },
                Out::Real(solved.map_or(f64::NAN, |solved| solved.backward_error)),
                Out::Real(solved.map_or(0.0, |solved| solved.refinements as f64)),
            ];
            Ok(Out::Records { fields, records: vec![record] }.into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexFactorisationCondition",
        title: "Reciprocal condition number of a matrix, from its factors.",
        inputs: &[GPU, FACTORISATION],
        required: 2,
        outputs: &["rcond"],
        text: "\
rcond is an estimate of the reciprocal condition number in the 1-norm, from LU or the factors of a sparse matrix: near
0 for a matrix that is singular to working precision.",
        example: "\
gpu = MexInitOpenCL();
F = MexFactorisation(gpu, MexSparseMatrix(gpu, gallery('poisson', 20)));
condition = 1 / MexFactorisationCondition(gpu, F)",
        see: &["MexFactorisation", "MexFactorisationDeterminant"],
        run: |args| Ok(Out::Real(args.objects()?.factorisation_condition(args.handle(1))?).into()),
        ..Function::DEFAULT
    },
    Function {
        name: "MexFactorisationDeterminant",
        title: "Determinant of a matrix, from its factors.",
        inputs: &[GPU, FACTORISATION],
        required: 2,
        outputs: &["d"],
        text: "\
d is the determinant, from LU, Cholesky or LDL; infinite or zero where it leaves the range. A sparse matrix that is singular
to working precision is an error.",
        example: "\
gpu = MexInitOpenCL();
F = MexFactorisation(gpu, MexSparseMatrix(gpu, gallery('tridiag', 10)));
d = MexFactorisationDeterminant(gpu, F)",
        see: &["MexFactorisation", "MexFactorisationCondition", "MexDeterminant"],
        run: |args| {
            let (objects, factors) = (args.objects()?, args.handle(1));
            let d = objects.factorisation_determinant(factors)?;
            Ok(number_of(objects.info(factors)?.scalar(), d).into())
        },
        ..Function::DEFAULT
    },
];
