//! Incomplete factors as matrices, and preconditioners of triangular factors.

use super::{GPU, Outcome, handle_as, real};
use crate::args::Args;
use crate::emit::{Answer, Out};
use crate::function::Function;

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "MexIncompleteLU",
        title: "Incomplete LU factors of a sparse matrix.",
        inputs: &[GPU, handle_as("A", "a")],
        required: 2,
        outputs: &["L", "U"],
        text: "\
A is a square sparse matrix, real or complex. L and U are new sparse matrices, ILU(0): L, with ones on its diagonal, and U
have entries where A has, and L * U is A there. Rows keep their order; a pivot that is zero is an error that names its row.
MexPreconditioner permutes rows where that is needed.",
        example: "\
gpu = MexInitOpenCL();
A = gallery('poisson', 4);
[L, U] = MexIncompleteLU(gpu, MexSparseMatrix(gpu, A));
norm((MexHandleMatrix(gpu, L) * MexHandleMatrix(gpu, U) - A) .* spones(A), 1)",
        see: &["MexTriangular", "MexIncompleteCholesky", "MexPreconditioner"],
        run: |args| {
            let factors = args.objects()?.incomplete_lu(args.handle(1))?;
            Ok(Answer::Several(factors.map(Out::Handle).into()))
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexIncompleteCholesky",
        title: "Incomplete Cholesky factor of a sparse matrix.",
        inputs: &[GPU, handle_as("A", "a"), real("shift")],
        required: 2,
        outputs: &["L"],
        text: "\
A is a Hermitian positive definite sparse matrix, whose lower triangle is read. L is a new sparse matrix, IC(0): it has
entries where the lower triangle of A has, and L * L' is A + shift * diag(diag(A)) there. shift is 0 by default. A pivot
that is not positive is an error that names its row; a larger shift, such as 1e-3, avoids it.",
        example: "\
gpu = MexInitOpenCL();
L = MexIncompleteCholesky(gpu, MexSparseMatrix(gpu, gallery('poisson', 4)));
nnz(MexHandleMatrix(gpu, L))",
        see: &["MexTriangular", "MexIncompleteLU", "MexPreconditioner"],
        run: |args| {
            let shift = args.maybe_real(2).unwrap_or(0.0);
            Ok(Out::Handle(args.objects()?.incomplete_cholesky(args.handle(1), shift)?).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexTriangular",
        title: "Make a preconditioner of triangular factors.",
        inputs: &[GPU, handle_as("L", "first"), handle_as("U", "second")],
        required: 2,
        outputs: &["M"],
        text: "\
L and U are sparse triangular matrices, lower or upper. M is the preconditioner L * U, or L alone: the argument precond of
MexCG, MexBiCGStab and MexGMRES; z = MexMultiply(gpu, M, r) is U \\ (L \\ r). It does not refer to them. MexRelease frees it.",
        example: "\
gpu = MexInitOpenCL();
A = MexSparseMatrix(gpu, gallery('poisson', 20));
L = MexIncompleteCholesky(gpu, A);
M = MexTriangular(gpu, L, MexTranspose(gpu, L));
[x, flag, relres, iter] = MexCG(gpu, A, MexMatrix(gpu, ones(400, 1)), 1e-8, 100, M);
iter",
        see: &["MexIncompleteCholesky", "MexIncompleteLU", "MexCG"],
        run: triangular,
        ..Function::DEFAULT
    },
];

fn triangular(args: &Args<'_>) -> Outcome {
    Ok(Out::Handle(args.objects()?.triangular_factors(args.handle(1), args.maybe_handle(2))?).into())
}
