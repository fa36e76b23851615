//! Products, vector operations, reductions.

use clinalg::ops::Transpose;
use clinalg_handles::{Kind as Object, Operand, Registry};

use super::{GPU, Outcome, handle, handle_as, number, number_of, scalar};
use crate::args::{Args, Input, Kind};
use crate::emit::Out;
use crate::function::Function;

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "MexMatrixVector",
        title: "Product of a full matrix and a vector.",
        inputs: &[GPU, handle_as("A", "a"), handle("x"), handle("y")],
        required: 3,
        outputs: &["y"],
        text: "\
y = A x, with A a full m x n matrix, x a vector of n values and y one of m, all of the same precision. The
result goes to y if it is given, otherwise to a new column.",
        example: "\
gpu = MexInitOpenCL();
A = MexMatrix(gpu, [1 2; 3 4]);
x = MexMatrix(gpu, [1; 1]);
y = MexMatrixVector(gpu, A, x);
MexHandleMatrix(gpu, y)",
        see: &["MexMatrixTransposeVector", "MexMultiplyAdd", "MexSparseMatrixVector", "MexBandMatrixVector"],
        run: |args| product(args, &[Object::Dense], Transpose::No),
        ..Function::DEFAULT
    },
    Function {
        name: "MexSparseMatrixVector",
        title: "Product of a sparse matrix and a vector.",
        inputs: &[GPU, handle_as("A", "a"), handle("x"), handle("y")],
        required: 3,
        outputs: &["y"],
        text: "\
y = A x, with A a sparse m x n matrix, x a vector of n values and y one of m, all of the same precision. The
result goes to y if it is given, otherwise to a new column.",
        example: "\
gpu = MexInitOpenCL();
A = MexSparseMatrix(gpu, sparse([1 2; 0 4]));
x = MexMatrix(gpu, [1; 1]);
y = MexSparseMatrixVector(gpu, A, x);
MexHandleMatrix(gpu, y)",
        see: &["MexSparseMatrixTransposeVector", "MexMultiplyAdd", "MexMatrixVector", "MexBandMatrixVector"],
        run: |args| product(args, &[Object::Csr], Transpose::No),
        ..Function::DEFAULT
    },
    Function {
        name: "MexBandMatrixVector",
        title: "Product of a band matrix and a vector.",
        inputs: &[GPU, handle_as("A", "a"), handle("x"), handle("y")],
        required: 3,
        outputs: &["y"],
        text: "\
y = A x, with A an m x n band matrix, x a vector of n values and y one of m, all of the same precision. The
result goes to y if it is given, otherwise to a new column.",
        example: "\
gpu = MexInitOpenCL();
A = MexBandMatrix(gpu, [2 1 0; 0 2 1; 0 0 2], 0, 1);
x = MexMatrix(gpu, [1; 1; 1]);
y = MexBandMatrixVector(gpu, A, x);
MexHandleMatrix(gpu, y)",
        see: &["MexMultiplyAdd", "MexMatrixVector", "MexSparseMatrixVector"],
        run: |args| product(args, &[Object::Band], Transpose::No),
        ..Function::DEFAULT
    },
    Function {
        name: "MexMatrixTransposeVector",
        title: "Product of the transpose of a full matrix and a vector.",
        inputs: &[GPU, handle_as("A", "a"), handle("x"), handle("y")],
        required: 3,
        outputs: &["y"],
        text: "\
y = A' x with the conjugate transpose of a full m x n matrix A, x a vector of m values and y one of n, all
of one precision. The result goes to y if it is given, otherwise to a new column.",
        example: "\
gpu = MexInitOpenCL();
A = MexMatrix(gpu, [1 2; 3 4]);
x = MexMatrix(gpu, [1; 1]);
y = MexMatrixTransposeVector(gpu, A, x);
MexHandleMatrix(gpu, y)",
        see: &["MexMatrixVector", "MexTranspose"],
        run: |args| product(args, &[Object::Dense], Transpose::Conjugate),
        ..Function::DEFAULT
    },
    Function {
        name: "MexSparseMatrixTransposeVector",
        title: "Product of the transpose of a sparse matrix and a vector.",
        inputs: &[GPU, handle_as("A", "a"), handle("x"), handle("y")],
        required: 3,
        outputs: &["y"],
        text: "\
y = A' x with the conjugate transpose of a sparse m x n matrix A, x a vector of m values and y one of n, all
of one precision. The result goes to y if it is given, otherwise to a new column. The first call converts A to its transpose,
which the device keeps.",
        example: "\
gpu = MexInitOpenCL();
A = MexSparseMatrix(gpu, sparse([1 2; 0 4]));
x = MexMatrix(gpu, [1; 1]);
y = MexSparseMatrixTransposeVector(gpu, A, x);
MexHandleMatrix(gpu, y)",
        see: &["MexSparseMatrixVector", "MexTranspose"],
        run: |args| product(args, &[Object::Csr], Transpose::Conjugate),
        ..Function::DEFAULT
    },
    Function {
        name: "MexMultiply",
        title: "Product of a matrix of any kind and a vector.",
        inputs: &[GPU, handle_as("A", "a"), handle("x"), handle("y")],
        required: 3,
        outputs: &["y"],
        text: "\
y = A x, with A a full, sparse or band m x n matrix, x a vector of n values and y one of m, all of one
precision. The result goes to y if it is given, otherwise to a new column.",
        example: "\
gpu = MexInitOpenCL();
A = MexMatrix(gpu, [1 2; 3 4]);
x = MexMatrix(gpu, [1; 1]);
y = MexMultiply(gpu, A, x);
MexHandleMatrix(gpu, y)",
        see: &["MexMatrixVector", "MexSparseMatrixVector", "MexBandMatrixVector", "MexMultiplyTranspose"],
        run: |args| product(args, Object::MATRIX, Transpose::No),
        ..Function::DEFAULT
    },
    Function {
        name: "MexMultiplyTranspose",
        title: "Product of the transpose of a full or sparse matrix and a vector.",
        inputs: &[GPU, handle_as("A", "a"), handle("x"), handle("y")],
        required: 3,
        outputs: &["y"],
        text: "\
y = A' x with the conjugate transpose of a full or sparse m x n matrix A, x a vector of m values and y one
of n, all of the same precision. The result goes to y if it is given, otherwise to a new column.",
        example: "\
gpu = MexInitOpenCL();
A = MexMatrix(gpu, [1 2; 3 4]);
x = MexMatrix(gpu, [1; 1]);
y = MexMultiplyTranspose(gpu, A, x);
MexHandleMatrix(gpu, y)",
        see: &["MexMultiplyOp", "MexMatrixTransposeVector", "MexSparseMatrixTransposeVector", "MexMultiply"],
        run: |args| product(args, Object::TRANSPOSED, Transpose::Conjugate),
        ..Function::DEFAULT
    },
    Function {
        name: "MexMultiplyAdd",
        title: "alpha A x + beta y for a matrix of any kind.",
        inputs: &[GPU, scalar("alpha"), handle_as("A", "a"), handle("x"), scalar("beta"), handle("y")],
        required: 6,
        outputs: &["y"],
        text: "\
y becomes alpha A x + beta y, with A a full, sparse or band m x n matrix, x a vector of n values and y one
of m, another object than x. With beta = 0 the former values of y are not read.",
        example: "\
gpu = MexInitOpenCL();
A = MexMatrix(gpu, [1 2; 3 4]);
x = MexMatrix(gpu, [1; 1]);
y = MexMatrix(gpu, [10; 20]);
MexMultiplyAdd(gpu, -1, A, x, 1, y);
MexHandleMatrix(gpu, y)",
        see: &["MexMatrixVector", "MexSparseMatrixVector", "MexBandMatrixVector", "MexAxpby"],
        run: |args| {
            let (alpha, a, x) = (args.number(1), args.handle(2), args.handle(3));
            Ok(Out::Handle(args.objects()?.mv(alpha, a, x, args.number(4), Some(args.handle(5)))?).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexVectorPlusVector",
        title: "Sum of two objects.",
        inputs: &[GPU, handle("a"), handle("b"), handle_as("c", "out")],
        required: 3,
        outputs: &["c"],
        text: "\
c = a + b, for two vectors or two matrices of the same kind, shape and precision; sparse matrices must
have their entries at the same positions. The result goes to c if it is given, which may be a or b, else
to a new object.",
        example: "\
gpu = MexInitOpenCL();
a = MexMatrix(gpu, [1; 2]);
b = MexMatrix(gpu, [3; 4]);
c = MexVectorPlusVector(gpu, a, b);
MexHandleMatrix(gpu, c)",
        see: &["MexVectorMinusVector", "MexVectorMinusVectorConstant", "MexAxpby"],
        run: |args| Ok(Out::Handle(args.objects()?.plus(args.handle(1), args.handle(2), args.maybe_handle(3))?).into()),
        ..Function::DEFAULT
    },
    Function {
        name: "MexVectorMinusVector",
        title: "Difference of two objects.",
        inputs: &[GPU, handle("a"), handle("b"), handle_as("c", "out")],
        required: 3,
        outputs: &["c"],
        text: "c = a - b; the arguments are those of MexVectorPlusVector.",
        example: "\
gpu = MexInitOpenCL();
a = MexMatrix(gpu, [1; 2]);
b = MexMatrix(gpu, [3; 4]);
c = MexVectorMinusVector(gpu, a, b);
MexHandleMatrix(gpu, c)",
        see: &["MexVectorPlusVector", "MexVectorMinusVectorConstant", "MexAxpby"],
        run: |args| Ok(Out::Handle(args.objects()?.minus(args.handle(1), args.handle(2), args.maybe_handle(3))?).into()),
        ..Function::DEFAULT
    },
    Function {
        name: "MexVectorMinusVectorConstant",
        title: "a - k b.",
        inputs: &[GPU, handle("a"), handle("b"), Input::named("k", "c", Kind::Number), handle_as("c", "out")],
        required: 4,
        outputs: &["c"],
        text: "c = a - k b with a number k, real unless a is complex; the other arguments are those of MexVectorPlusVector.",
        example: "\
gpu = MexInitOpenCL();
a = MexMatrix(gpu, [1; 2]);
b = MexMatrix(gpu, [3; 4]);
c = MexVectorMinusVectorConstant(gpu, a, b, 0.5);
MexHandleMatrix(gpu, c)",
        see: &["MexVectorMinusVector", "MexAxpby"],
        run: |args| {
            let (a, b, k) = (args.handle(1), args.handle(2), args.number(3));
            Ok(Out::Handle(args.objects()?.minus_scaled(a, b, k, args.maybe_handle(4))?).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexVectorTimesConstant",
        title: "An object times a number.",
        inputs: &[GPU, handle("a"), Input::named("k", "c", Kind::Number), handle_as("c", "out")],
        required: 3,
        outputs: &["c"],
        text: "\
c = k a with a number k, real unless a is complex, for an object a of any kind. The result goes to c if it is given, an object
of the same kind, shape and precision, which may be a, else to a new object.",
        example: "\
gpu = MexInitOpenCL();
a = MexMatrix(gpu, [1; 2]);
c = MexVectorTimesConstant(gpu, a, 10);
MexHandleMatrix(gpu, c)",
        see: &["MexAxpby", "MexVectorTimesVector"],
        run: |args| {
            let (a, k) = (args.handle(1), args.number(2));
            Ok(Out::Handle(args.objects()?.times_constant(a, k, args.maybe_handle(3))?).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexVectorTimesVector",
        title: "Product of two objects, element by element.",
        inputs: &[GPU, handle("a"), handle("b"), handle_as("c", "out")],
        required: 3,
        outputs: &["c"],
        text: "c = a .* b; the arguments are those of MexVectorPlusVector.",
        example: "\
gpu = MexInitOpenCL();
a = MexMatrix(gpu, [1; 2]);
b = MexMatrix(gpu, [3; 4]);
c = MexVectorTimesVector(gpu, a, b);
MexHandleMatrix(gpu, c)",
        see: &["MexVectorTimesConstant", "MexDot"],
        run: |args| {
            Ok(Out::Handle(args.objects()?.multiply(args.handle(1), args.handle(2), args.maybe_handle(3))?).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexAxpby",
        title: "alpha x + beta y.",
        inputs: &[GPU, scalar("alpha"), handle("x"), scalar("beta"), handle("y"), handle_as("z", "out")],
        required: 5,
        outputs: &["z"],
        text: "\
z = alpha x + beta y with numbers alpha and beta, real unless x is complex, for two objects of the same
kind, shape and precision. The result goes to z if it is given, which may be x or y, else to a new object.",
        example: "\
gpu = MexInitOpenCL();
x = MexMatrix(gpu, [1; 2]);
y = MexMatrix(gpu, [3; 4]);
z = MexAxpby(gpu, 2, x, -1, y);
MexHandleMatrix(gpu, z)",
        see: &["MexVectorPlusVector", "MexVectorMinusVectorConstant", "MexMultiplyAdd"],
        run: |args| {
            let (alpha, x, beta, y) = (args.number(1), args.handle(2), args.number(3), args.handle(4));
            Ok(Out::Handle(args.objects()?.axpby(alpha, x, beta, y, args.maybe_handle(5))?).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexSum",
        title: "Sum of all values.",
        inputs: &[GPU, handle("a")],
        required: 2,
        outputs: &["s"],
        text: "\
s is a number of the precision of a, an object of any kind; of a sparse matrix the stored entries are
summed. The same call on the same device gives the same bits.",
        example: "\
gpu = MexInitOpenCL();
a = MexMatrix(gpu, 1:100);
s = MexSum(gpu, a)",
        see: &["MexDot", "MexNorm1"],
        run: |args| {
            let (objects, a) = (args.objects()?, args.handle(1));
            let s = objects.sum_complex(a)?;
            Ok(number_of(objects.info(a)?.scalar(), s).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexDot",
        title: "Dot product.",
        inputs: &[GPU, handle("a"), handle("b")],
        required: 3,
        outputs: &["s"],
        text: "\
s = sum(conj(a) .* b) for two objects of the same kind, shape and precision. The same call on the same
device gives the same bits.",
        example: "\
gpu = MexInitOpenCL();
a = MexMatrix(gpu, [1; 2]);
b = MexMatrix(gpu, [3; 4]);
s = MexDot(gpu, a, b)",
        see: &["MexDotu", "MexSum", "MexNorm2", "MexVectorTimesVector"],
        run: |args| {
            let objects = args.objects()?;
            let a = args.handle(1);
            let s = objects.dot_complex(a, args.handle(2))?;
            Ok(number_of(objects.info(a)?.scalar(), s).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexNorm1",
        title: "Sum of magnitudes.",
        inputs: &[GPU, handle("a")],
        required: 2,
        outputs: &["s"],
        text: "s = sum(abs(a(:))), of the precision of a, an object of any kind.",
        example: "\
gpu = MexInitOpenCL();
a = MexMatrix(gpu, [-3; 4]);
s = MexNorm1(gpu, a)",
        see: &["MexNorm2", "MexNormInf", "MexSum"],
        run: |args| reduce(args, Registry::norm1),
        ..Function::DEFAULT
    },
    Function {
        name: "MexNorm2",
        title: "Euclidean norm.",
        inputs: &[GPU, handle("a")],
        required: 2,
        outputs: &["s"],
        text: "\
s = sqrt(sum(abs(a(:)) .^ 2)), of the precision of a, an object of any kind; of a matrix it is the Frobenius
norm. Large and small values neither overflow nor underflow in between.",
        example: "\
gpu = MexInitOpenCL();
a = MexMatrix(gpu, [-3; 4]);
s = MexNorm2(gpu, a)",
        see: &["MexNorm1", "MexNormInf", "MexDot"],
        run: |args| reduce(args, Registry::norm2),
        ..Function::DEFAULT
    },
    Function {
        name: "MexNormInf",
        title: "Largest magnitude.",
        inputs: &[GPU, handle("a")],
        required: 2,
        outputs: &["s"],
        text: "s = max(abs(a(:))), of the precision of a, an object of any kind; 0 if it is empty, NaN if a value is NaN.",
        example: "\
gpu = MexInitOpenCL();
a = MexMatrix(gpu, [-3; 4]);
s = MexNormInf(gpu, a)",
        see: &["MexNorm1", "MexNorm2"],
        run: |args| reduce(args, Registry::norm_inf),
        ..Function::DEFAULT
    },
];

/// A product with a matrix of one of `kinds`.
fn product(args: &Args<'_>, kinds: &'static [Object], op: Transpose) -> Outcome {
    let objects = args.objects()?;
    let a = args.handle(1);
    objects.call(&[Operand::new("a", a, kinds)], None, |_, _| Ok(()))?;
    Ok(Out::Handle(objects.mv_op(op, 1.0, a, args.handle(2), 0.0, args.maybe_handle(3))?).into())
}

/// A number in the precision of the object.
fn reduce(args: &Args<'_>, operation: fn(&Registry, u64) -> clinalg::Result<f64>) -> Outcome {
    let objects = args.objects()?;
    let a = args.handle(1);
    let s = operation(objects, a)?;
    Ok(number(objects.info(a)?.precision, s).into())
}
