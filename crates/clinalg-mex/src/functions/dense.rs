//! Dense and sparse matrices by factorisation.

use super::factorisation::{FACTORISATIONS, name_of};
use super::grid::choice;
use super::{GPU, handle, handle_as, number_of};
use crate::args::{Input, Kind};
use crate::emit::{Answer, Out};
use crate::function::Function;
use clinalg::Error;

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "MexSolveDense",
        title: "Solve a system with a full matrix by factorisation.",
        inputs: &[GPU, handle_as("A", "a"), handle("b"), Input::new("factorisation", Kind::Text)],
        required: 3,
        outputs: &["x", "rcond", "rank", "tolerance"],
        text: "\
x = A \\ b for a full matrix A and a full b of one or more columns, real or complex, all of the same precision; x
is a new object. factorisation is 'auto' (default), which solves by substitution where A is a triangle, by
Cholesky where it is Hermitian positive definite, else by LU, and by QR in the sense of least squares where it is not
square; or 'lu', 'cholesky', of which the lower triangle of A is read, or 'qr'. A singular square matrix
is an error, except with 'qr', which gives the minimum-norm least-squares solution. rcond is an estimate of the
reciprocal condition number of a square A with 'auto', otherwise NaN. rank is the numerical rank if QR was used, and
tolerance the threshold it was found with.",
        example: "\
gpu = MexInitOpenCL();
A = MexMatrix(gpu, [4 1i; -1i 3]);
x = MexSolveDense(gpu, A, MexMatrix(gpu, [1i; 2]));
MexHandleMatrix(gpu, x)",
        see: &["MexLu", "MexCholesky", "MexQr", "MexCG", "MexGMRES"],
        run: |args| {
            let objects = args.objects()?;
            let (a, b) = (args.handle(1), args.handle(2));
            let factorisation = choice(args, 3, "factorisation", &FACTORISATIONS)?;
            let found = objects.solve_dense(factorisation, a, b)?;
            Ok(Answer::Several(vec![
                Out::Handle(found.x),
                Out::Real(found.reciprocal_condition.unwrap_or(f64::NAN)),
                Out::Real(found.rank as f64),
                Out::Real(found.tolerance),
            ]))
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexSolveDirect",
        title: "Solve a system with a sparse matrix by a complete factorisation.",
        inputs: &[GPU, handle_as("A", "a"), handle("b"), Input::new("limited", Kind::Flag)],
        required: 3,
        outputs: &["x", "info"],
        text: "\
x = A \\ b for a square sparse matrix A and a full b of one or more columns, real or complex, all of the same precision;
x is a new object. There is no tolerance: Cholesky factors where A is Hermitian positive definite, LDL where it is
Hermitian or complex symmetric, else those of LU, and iterative refinement. A matrix that is singular to working
precision is an error unless b lies in its range.
  limited   whether a factorisation that takes longer than seconds is an error (default false)
info is a structure with the fields
  kind             'cholesky', 'ldl' or 'lu'
  backwardError    the largest abs(b - A*x) ./ (abs(A)*abs(x) + abs(b))
  refinements      steps of iterative refinement
  entries          stored numbers of the factors
  operations       multiplications and additions of the factorisation
  replacedPivots   pivots that were too small and were replaced
  matched          whether rows were permuted for a large diagonal
  rcond            an estimate of the reciprocal condition number in the 1-norm where the pivots suggest that A is nearly
                   singular, else NaN",
        example: "\
gpu = MexInitOpenCL();
A = MexSparseMatrix(gpu, gallery('poisson', 20));
[x, info] = MexSolveDirect(gpu, A, MexMatrix(gpu, ones(400, 1)));
info.kind",
        see: &["MexSolveSparse", "MexPreconditioner", "MexSolveDense"],
        run: |args| {
            let limited = args.maybe_flag(3).unwrap_or(false);
            let found = args.objects()?.solve_sparse(args.handle(1), args.handle(2), limited)?;
            let (solved, factors) = (found.solved, found.factors);
            let fields = vec![
                c"kind",
                c"backwardError",
                c"refinements",
                c"entries",
                c"operations",
                c"replacedPivots",
                c"matched",
                c"rcond",
            ];
            let record = vec![
                Out::Text(name_of(factors.kind)),
                Out::Real(solved.backward_error),
                Out::Real(solved.refinements as f64),
                Out::Real(factors.entries as f64),
                Out::Real(factors.operations),
                Out::Real(factors.replaced_pivots as f64),
                Out::Flag(factors.is_matched),
                Out::Real(found.reciprocal_condition),
            ];
            Ok(Answer::Several(vec![Out::Handle(found.x), Out::Records { fields, records: vec![record] }]))
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexLu",
        title: "LU factorisation of a full matrix.",
        inputs: &[GPU, handle_as("A", "a")],
        required: 2,
        outputs: &["L", "U", "rows"],
        text: "\
A(rows, :) = L U of a full m x n matrix by partial pivoting: L is m x min(m, n) with ones on its diagonal, U is
min(m, n) x n. A singular matrix has zeros on the diagonal of U and is not an error.",
        example: "\
gpu = MexInitOpenCL();
[L, U, rows] = MexLu(gpu, MexMatrix(gpu, magic(3)));
MexHandleMatrix(gpu, L) * MexHandleMatrix(gpu, U)",
        see: &["MexCholesky", "MexQr", "MexSolveDense"],
        run: |args| {
            let factors = args.objects()?.lu(args.handle(1))?;
            let rows = factors.rows.iter().map(|&row| row as f64 + 1.0).collect();
            Ok(Answer::Several(vec![
                Out::Handle(factors.lower),
                Out::Handle(factors.upper),
                Out::Reals { rows: 1, values: rows },
            ]))
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexCholesky",
        title: "Cholesky factorisation of a full matrix.",
        inputs: &[GPU, handle_as("A", "a")],
        required: 2,
        outputs: &["L", "minor"],
        text: "\
A = L L' of a Hermitian positive definite full matrix, of which the lower triangle is read. minor is 0, or the order
of the first leading minor that is not positive where there is no factorisation; L is 0 then.",
        example: "\
gpu = MexInitOpenCL();
L = MexCholesky(gpu, MexMatrix(gpu, [4 2; 2 5]));
MexHandleMatrix(gpu, L)",
        see: &["MexLu", "MexQr", "MexSolveDense"],
        run: |args| {
            let (lower, minor) = match args.objects()?.cholesky(args.handle(1)) {
                Err(Error::NotPositiveDefinite { minor }) => (0, minor),
                made => (made?, 0),
            };
            Ok(Answer::Several(vec![Out::Handle(lower), Out::Real(minor as f64)]))
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexQr",
        title: "QR factorisation of a full matrix.",
        inputs: &[GPU, handle_as("A", "a"), Input::new("economy", Kind::Flag)],
        required: 2,
        outputs: &["Q", "R"],
        text: "\
A = Q R of a full m x n matrix by Householder reflections: Q is m x m with orthonormal columns and R m x n, zero below
its diagonal; with economy 1, Q has min(m, n) columns and R as many rows.",
        example: "\
gpu = MexInitOpenCL();
[Q, R] = MexQr(gpu, MexMatrix(gpu, [1 2; 3 4; 5 6]), 1);
MexHandleMatrix(gpu, R)",
        see: &["MexLu", "MexCholesky", "MexSolveDense"],
        run: |args| {
            let objects = args.objects()?;
            let a = args.handle(1);
            let (q, r) = if args.maybe_flag(2).unwrap_or(false) { objects.qr(a)? } else { objects.full_qr(a)? };
            Ok(Answer::Several(vec![Out::Handle(q), Out::Handle(r)]))
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexInverse",
        title: "Inverse of a full matrix.",
        inputs: &[GPU, handle_as("A", "a")],
        required: 2,
        outputs: &["B", "rcond"],
        text: "\
B is the inverse of a square full matrix, rcond an estimate of its reciprocal condition number in the 1-norm. A
singular matrix is an error. To solve a system, MexSolveDense is faster and more accurate.",
        example: "\
gpu = MexInitOpenCL();
[B, rcond] = MexInverse(gpu, MexMatrix(gpu, [2 1; 1 1]));
MexHandleMatrix(gpu, B)",
        see: &["MexSolveDense", "MexLu", "MexDeterminant"],
        run: |args| {
            let (inverse, reciprocal) = args.objects()?.inverse(args.handle(1))?;
            Ok(Answer::Several(vec![Out::Handle(inverse), Out::Real(reciprocal)]))
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexDeterminant",
        title: "Determinant of a full matrix.",
        inputs: &[GPU, handle_as("A", "a")],
        required: 2,
        outputs: &["d"],
        text: "d is the determinant of a square full matrix, of the class of A; infinite or zero where it leaves the range.",
        example: "\
gpu = MexInitOpenCL();
d = MexDeterminant(gpu, MexMatrix(gpu, [1 2; 3 4]))",
        see: &["MexLu", "MexInverse"],
        run: |args| {
            let objects = args.objects()?;
            let a = args.handle(1);
            let d = objects.determinant(a)?;
            Ok(number_of(objects.info(a)?.scalar(), d).into())
        },
        ..Function::DEFAULT
    },
];
