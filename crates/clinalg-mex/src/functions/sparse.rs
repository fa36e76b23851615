//! Sparse matrices made of sparse matrices.

use clinalg::Error;
use clinalg::ops::Span;
use clinalg_handles::Registry;

use super::array::list;
use super::{GPU, Outcome, handle_as, real, scalar};
use crate::args::{Input, Kind};
use crate::emit::Out;
use crate::fault::Fault;
use crate::function::Function;

const A: Input = handle_as("A", "a");
const B: Input = handle_as("B", "b");

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "MexSparseMultiply",
        title: "Product of two sparse matrices.",
        inputs: &[GPU, A, B],
        required: 3,
        outputs: &["C"],
        text: "\
C = A B for sparse matrices of one precision, both real or both complex: a new sparse matrix without stored zeros.",
        example: "\
gpu = MexInitOpenCL();
A = MexSparseMatrix(gpu, sparse([1 2; 0 4]));
MexHandleMatrix(gpu, MexSparseMultiply(gpu, A, A))",
        see: &["MexSparseAdd", "MexMultiply", "MexTranspose"],
        run: |args| {
            let objects = args.objects()?;
            without_zeros(objects, objects.sparse_multiply(args.handle(1), args.handle(2))?)
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexSparseAdd",
        title: "alpha A + beta B of sparse matrices.",
        inputs: &[GPU, scalar("alpha"), A, scalar("beta"), B],
        required: 5,
        outputs: &["C"],
        text: "\
C = alpha A + beta B for sparse matrices of one shape and precision, both real or both complex, with entries at any
positions: a new sparse matrix without stored zeros. MexAxpby is faster where the positions are the same.",
        example: "\
gpu = MexInitOpenCL();
A = MexSparseMatrix(gpu, speye(2));
B = MexSparseMatrix(gpu, sparse([0 1; 1 0]));
MexHandleMatrix(gpu, MexSparseAdd(gpu, 2, A, -1, B))",
        see: &["MexSparseMultiply", "MexAxpby", "MexDropZeros"],
        run: |args| {
            let objects = args.objects()?;
            let (alpha, beta) = (args.number(1), args.number(3));
            without_zeros(objects, objects.sparse_add(alpha, args.handle(2), beta, args.handle(4))?)
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexSparsePart",
        title: "Rows and columns of a sparse matrix.",
        inputs: &[GPU, A, Input::new("rows", Kind::Full), Input::new("cols", Kind::Full)],
        required: 2,
        outputs: &["C"],
        text: "\
C = A(rows, cols) for a sparse matrix A: a new sparse matrix. rows and cols are positions from 1 on, which may occur several
times; [] stands for all.",
        example: "\
gpu = MexInitOpenCL();
A = MexSparseMatrix(gpu, sparse(magic(4)));
MexHandleMatrix(gpu, MexSparsePart(gpu, A, 2:3, [4 1]))",
        see: &["MexSparseBand", "MexTake"],
        run: |args| {
            let (rows, cols) = (list(args, 2, "rows")?, list(args, 3, "cols")?);
            let (rows, cols) = (rows.as_deref().map(Span::of), cols.as_deref().map(Span::of));
            Ok(Out::Handle(args.objects()?.sparse_part(args.handle(1), rows, cols)?).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexSparseBand",
        title: "Some diagonals of a sparse matrix.",
        inputs: &[GPU, A, real("low"), real("high")],
        required: 4,
        outputs: &["C"],
        text: "\
C has the entries A(i, j) with low <= j - i <= high: tril(A) for -Inf and 0, triu(A) for 0 and Inf, the diagonal as a matrix
for 0 and 0. C is a new sparse matrix.",
        example: "\
gpu = MexInitOpenCL();
A = MexSparseMatrix(gpu, sparse(magic(4)));
MexHandleMatrix(gpu, MexSparseBand(gpu, A, -Inf, 0))",
        see: &["MexSparsePart", "MexDiagonal"],
        run: |args| {
            let (low, high) = (diagonal("low", args.real(2))?, diagonal("high", args.real(3))?);
            Ok(Out::Handle(args.objects()?.sparse_band(args.handle(1), low, high)?).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexDropZeros",
        title: "Remove the stored zeros of a sparse matrix.",
        inputs: &[GPU, A],
        required: 2,
        outputs: &["entries"],
        text: "\
A keeps its handle; entries is the number of entries that are left. MexFill(gpu, A, 1) afterwards makes A its own
sparsity pattern of ones.",
        example: "\
gpu = MexInitOpenCL();
A = MexSparseMatrix(gpu, sparse([1 2; 0 4]));
MexFill(gpu, A, 0);
entries = MexDropZeros(gpu, A)",
        see: &["MexNonzeros", "MexFill"],
        run: |args| Ok(Out::Real(args.objects()?.sparse_drop_zeros(args.handle(1))? as f64).into()),
        ..Function::DEFAULT
    },
    Function {
        name: "MexNonzeros",
        title: "The entries of a sparse matrix that are not zero.",
        inputs: &[GPU, A],
        required: 2,
        outputs: &["v"],
        text: "v is a new column with the entries of the sparse matrix A that are not zero, column by column.",
        example: "\
gpu = MexInitOpenCL();
A = MexSparseMatrix(gpu, sparse([1 2; 0 4]));
MexHandleMatrix(gpu, MexNonzeros(gpu, A))",
        see: &["MexDropZeros", "MexSum"],
        run: |args| Ok(Out::Handle(args.objects()?.nonzeros(args.handle(1))?).into()),
        ..Function::DEFAULT
    },
];

/// A new matrix without its stored zeros, which sparse matrices of MATLAB do not have.
fn without_zeros(objects: &Registry, made: u64) -> Outcome {
    objects.sparse_drop_zeros(made).inspect_err(|_| {
        // The first error counts.
        let _ = objects.release(made, clinalg_handles::Kind::SPARSE);
    })?;
    Ok(Out::Handle(made).into())
}

/// A number of a diagonal; infinities leave a side open.
fn diagonal(argument: &'static str, number: f64) -> Result<i64, Fault> {
    if number.is_nan() || (number.is_finite() && number.fract() != 0.0) {
        return Err(Error::value(argument, "a whole number, -Inf or Inf", number).into());
    }
    // The conversion saturates.
    Ok(number as i64)
}
