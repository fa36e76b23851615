//! Parts of arrays, functions element by element, reductions along a dimension, products of matrices.

use clinalg::Error;
use clinalg::ops::{Reduction, Transpose};
use clinalg_handles::Part;

use super::expression::{BINARY, UNARY};
use super::grid::choice;
use super::part::part_or_nothing;
use super::{GPU, count, handle, handle_as, text};
use crate::args::{Args, Input, Kind, Value};
use crate::emit::{Answer, Out};
use crate::fault::Fault;
use crate::function::Function;

/// Positions from 1 on.
const fn positions(name: &'static str) -> Input {
    Input::new(name, Kind::Full)
}

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "MexTake",
        title: "Rows and columns of a full matrix.",
        inputs: &[GPU, handle_as("A", "a"), positions("rows"), positions("cols")],
        required: 2,
        outputs: &["B"],
        text: "\
B = A(rows, cols), a new object. rows and cols are positions from 1 on, in any order; all where they are left out or [].
Equally spaced positions are read without a list.",
        example: "\
gpu = MexInitOpenCL();
B = MexTake(gpu, MexMatrix(gpu, magic(4)), [4 3], [1 2 4]);
MexHandleMatrix(gpu, B)",
        see: &["MexTakeLinear", "MexPut", "MexSlice"],
        run: |args| {
            let (rows, cols) = (list(args, 2, "rows")?, list(args, 3, "cols")?);
            let part = Part::Block(rows.as_deref(), cols.as_deref());
            Ok(Out::Handle(args.objects()?.take(args.handle(1), part)?).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexTakeLinear",
        title: "Elements of a full matrix or vector by their number.",
        inputs: &[GPU, handle_as("A", "a"), positions("at"), count("m"), count("n")],
        required: 5,
        outputs: &["B"],
        text: "\
B = reshape(A(at), m, n), a new object. at holds the numbers of the elements, which count from 1 column by column; [] for all,
which makes B = reshape(A, m, n).",
        example: "\
gpu = MexInitOpenCL();
B = MexTakeLinear(gpu, MexMatrix(gpu, magic(4)), 1:2:16, 2, 4);
MexHandleMatrix(gpu, B)",
        see: &["MexTake", "MexPutLinear", "MexSlice"],
        run: |args| {
            let at = list(args, 2, "at")?;
            let part = Part::Linear(at.as_deref(), (args.count(3), args.count(4)));
            Ok(Out::Handle(args.objects()?.take(args.handle(1), part)?).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexPut",
        title: "Write rows and columns of a full matrix.",
        inputs: &[GPU, handle_as("A", "a"), handle_as("B", "values"), positions("rows"), positions("cols")],
        required: 3,
        outputs: &[],
        text: "\
A(rows, cols) = B, in place. rows and cols are positions from 1 on, each at most once; all where they are left out or [].
B has the values of the part, or one for all of them.",
        example: "\
gpu = MexInitOpenCL();
A = MexZeros(gpu, 3, 4);
MexPut(gpu, A, MexMatrix(gpu, [1 2]), 2, [1 4]);
MexHandleMatrix(gpu, A)",
        see: &["MexPutLinear", "MexTake", "MexWriteSlice"],
        run: |args| {
            let (rows, cols) = (list(args, 3, "rows")?, list(args, 4, "cols")?);
            let part = Part::Block(rows.as_deref(), cols.as_deref());
            args.objects()?.put(args.handle(1), part, args.handle(2))?;
            Ok(Answer::Nothing)
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexPutLinear",
        title: "Write elements of a full matrix or vector by their number.",
        inputs: &[GPU, handle_as("A", "a"), handle_as("B", "values"), positions("at")],
        required: 3,
        outputs: &[],
        text: "\
A(at) = B, in place. at holds the numbers of the elements, which count from 1 column by column, each at most once; all where
it is left out or []. B has as many values, or one for all of them.",
        example: "\
gpu = MexInitOpenCL();
A = MexZeros(gpu, 3, 3);
MexPutLinear(gpu, A, MexMatrix(gpu, 7), [1 5 9]);
MexHandleMatrix(gpu, A)",
        see: &["MexPut", "MexTakeLinear", "MexWriteSlice"],
        run: |args| {
            let at = list(args, 3, "at")?;
            args.objects()?.put(args.handle(1), Part::Linear(at.as_deref(), (0, 0)), args.handle(2))?;
            Ok(Answer::Nothing)
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexMap",
        title: "A function of each element of an array.",
        inputs: &[GPU, text("name"), handle("a")],
        required: 3,
        outputs: &["c"],
        text: "\
c = name(a), element by element, for a full real matrix or vector: a new object. name is 'abs', 'asinh', 'atan', 'ceil',
'cos', 'cosh', 'exp', 'expm1', 'fix', 'floor', 'log', 'round', 'sign', 'sin', 'sinh', 'sqrt', 'tan', 'tanh' or 'uminus'. log
and sqrt of negative numbers are NaN.",
        example: "\
gpu = MexInitOpenCL();
c = MexMap(gpu, 'exp', MexMatrix(gpu, [0 1 2]));
MexHandleMatrix(gpu, c)",
        see: &["MexMap2", "MexLazy", "MexAbs"],
        run: |args| {
            let f = choice(args, 1, "name", UNARY)?;
            Ok(Out::Handle(args.objects()?.map(f, args.handle(2))?).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexMap2",
        title: "A function of the elements of two arrays.",
        inputs: &[GPU, text("name"), handle("a"), handle("b")],
        required: 4,
        outputs: &["c"],
        text: "\
c = name(a, b), element by element, for full matrices or vectors of one precision, both real or both complex: a new object. A
row, a column or a single element is repeated. name is 'plus', 'minus', 'times' or 'rdivide', of real arrays also 'max',
'min', 'atan2', 'hypot', 'power', 'mod' or 'rem'.",
        example: "\
gpu = MexInitOpenCL();
c = MexMap2(gpu, 'rdivide', MexMatrix(gpu, [1; 2]), MexMatrix(gpu, [3 4 7]));
MexHandleMatrix(gpu, c)",
        see: &["MexMap", "MexLazy2", "MexVectorTimesVector", "MexAxpby"],
        run: |args| {
            let f = choice(args, 1, "name", BINARY)?;
            Ok(Out::Handle(args.objects()?.map2(f, args.handle(2), args.handle(3))?).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexReduce",
        title: "Sums, products or extrema of the columns or rows of an array.",
        inputs: &[GPU, text("name"), Input::new("a", Kind::Object), Input::named("dim", "dimension", Kind::Count)],
        required: 3,
        outputs: &["c"],
        text: "\
c = name(a, dim) for a full matrix or vector: a new object with one row (dim = 1) or one column (dim = 2), or a number where
that has one element. Without dim it is the first dimension that is longer than 1. name is 'sum' or 'prod', of real arrays
also 'max' or 'min', which pass over NaN. c is [] for other dimensions, extrema of complex numbers, and objects that are not
full, are empty, have one element and no dim, or that MexMark has marked. a may also be a clinalg.array.",
        example: "\
gpu = MexInitOpenCL();
c = MexReduce(gpu, 'sum', MexMatrix(gpu, magic(3)), 1);
MexHandleMatrix(gpu, c)",
        see: &["MexSum", "MexNormInf"],
        run: |args| {
            let join = choice(args, 1, "name", REDUCTION)?;
            let dimension = args.maybe_count(3).map(|dimension| dimension.wrapping_sub(1));
            let objects = args.objects()?;
            let (Value::Handle(a) | Value::Object(a)) = args.value(2) else { return Ok(part_or_nothing(None).into()) };
            Ok(part_or_nothing(objects.reduced(join, *a, dimension)?).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexMultiplyColumns",
        title: "Product of a matrix of any kind with the columns of a full one.",
        inputs: &[GPU, handle_as("A", "a"), handle_as("X", "x")],
        required: 3,
        outputs: &["Y"],
        text: "Y = A X for a full, sparse or band matrix A and a full matrix X of one class; Y is a new full matrix.",
        example: "\
gpu = MexInitOpenCL();
A = MexSparseMatrix(gpu, speye(3));
Y = MexMultiplyColumns(gpu, A, MexMatrix(gpu, magic(3)));
MexHandleMatrix(gpu, Y)",
        see: &["MexMultiply", "MexMatrixMatrix", "MexSparseMultiply"],
        run: |args| Ok(Out::Handle(args.objects()?.mm(1.0, args.handle(1), args.handle(2), 0.0, None)?).into()),
        ..Function::DEFAULT
    },
    Function {
        name: "MexMatrixMatrix",
        title: "Product of two full matrices, their transposes or conjugate transposes.",
        inputs: &[GPU, handle_as("A", "a"), handle_as("B", "b"), text("op_a"), text("op_b")],
        required: 3,
        outputs: &["C"],
        text: "\
C = op_a(A) op_b(B) for full matrices of one precision, both real or both complex: a new object. op_a and op_b are 'notransp'
(default), 'transp' or 'ctransp'.",
        example: "\
gpu = MexInitOpenCL();
A = MexMatrix(gpu, magic(3));
C = MexMatrixMatrix(gpu, A, A, 'transp');
MexHandleMatrix(gpu, C)",
        see: &["MexMultiply", "MexMultiplyOp"],
        run: |args| {
            let ops = [("notransp", Transpose::No), ("transp", Transpose::Yes), ("ctransp", Transpose::Conjugate)];
            let (op_a, op_b) = (choice(args, 3, "op_a", &ops)?, choice(args, 4, "op_b", &ops)?);
            Ok(Out::Handle(args.objects()?.gemm((op_a, args.handle(1)), (op_b, args.handle(2)))?).into())
        },
        ..Function::DEFAULT
    },
];

const REDUCTION: &[(&str, Reduction)] =
    &[("sum", Reduction::Sum), ("prod", Reduction::Product), ("max", Reduction::Max), ("min", Reduction::Min)];

/// Positions from 1 on as positions from 0 on; none where the argument is left out or [].
pub(super) fn list(args: &Args<'_>, position: usize, argument: &'static str) -> Result<Option<Vec<usize>>, Fault> {
    let Value::Full(full) = args.value(position) else { return Ok(None) };
    if full.rows == 0 && full.cols == 0 {
        return Ok(None);
    }
    let whole = |&value: &f64| (1.0..=9_007_199_254_740_992.0).contains(&value) && value.fract() == 0.0;
    let values = full.values.reals();
    match values.iter().find(|value| !whole(value)) {
        Some(wrong) => Err(Error::value(argument, "positive integers", wrong).into()),
        None => Ok(Some(values.iter().map(|&value| value as usize - 1).collect())),
    }
}
