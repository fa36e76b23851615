//! Operations on small arrays in one call: a call costs the interpreter more than the work.

use clinalg::ops::Transpose;
use clinalg::{Complex, Precision};
use clinalg_handles::{ScalarType, SmallProduct, VectorNumber};

use super::grid::choice;
use super::part::wide_values;
use super::{GPU, Outcome, handle, number_of, real, text};
use crate::args::{Args, Input, Kind, Numbers, Value};
use crate::emit::Out;
use crate::function::Function;

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "MexElement",
        title: "An element of a full matrix or vector.",
        inputs: &[GPU, handle("a"), real("i"), real("j")],
        required: 3,
        outputs: &["value"],
        text: "\
value is element i of a, column by column, or a(i, j). It is [] where there is no such element, for sparse matrices, and,
with j, for arrays that MexMark has marked. It is real where its imaginary part is zero.",
        example: "\
gpu = MexInitOpenCL();
MexElement(gpu, MexMatrix(gpu, magic(3)), 2, 3)",
        see: &["MexWithElement", "MexTake", "MexTakeLinear"],
        run: |args| Ok(number_or_nothing(args.objects()?.element(args.handle(1), index(args, 2))?).into()),
        ..Function::DEFAULT
    },
    Function {
        name: "MexWithElement",
        title: "A copy of a full matrix or vector with another element.",
        inputs: &[GPU, handle("a"), Input::new("value", Kind::Operand), real("i"), real("j")],
        required: 4,
        outputs: &["c"],
        text: "\
c is a new object with value as element i, column by column, or as c(i, j), and the other elements of a. c is 0 where there
is no such element, where value is no number or one of another class (complex beside real elements, single beside double),
of sparse matrices, and of arrays that MexMark named.",
        example: "\
gpu = MexInitOpenCL();
c = MexWithElement(gpu, MexMatrix(gpu, magic(3)), 10, 2, 3);
MexHandleMatrix(gpu, c)",
        see: &["MexElement", "MexPut", "MexPutLinear"],
        run: with_element,
        ..Function::DEFAULT
    },
    Function {
        name: "MexVectorNumber",
        title: "Sum or norm of a vector.",
        inputs: &[GPU, text("name"), Input::new("a", Kind::Object)],
        required: 3,
        outputs: &["value"],
        text: "\
name is 'sum', 'norm1', 'norm2' or 'normInf'. value is [] unless a is a full object with one row or one column that is not
empty and that MexMark did not name. a may also be a clinalg.array.",
        example: "\
gpu = MexInitOpenCL();
MexVectorNumber(gpu, 'norm2', MexMatrix(gpu, [3; 4]))",
        see: &["MexSum", "MexNorm1", "MexNorm2", "MexNormInf"],
        run: |args| {
            let names = [
                ("sum", VectorNumber::Sum),
                ("norm1", VectorNumber::Norm1),
                ("norm2", VectorNumber::Norm2),
                ("normInf", VectorNumber::NormInf),
            ];
            let what = choice(args, 1, "name", &names)?;
            let objects = args.objects()?;
            let (Value::Handle(a) | Value::Object(a)) = args.value(2) else { return Ok(number_or_nothing(None).into()) };
            Ok(number_or_nothing(objects.vector_number(what, *a)?).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexSmallProduct",
        title: "Product of a matrix of any kind and a column or of small matrices, where the operands fit.",
        inputs: &[GPU, text("op"), Input::new("a", Kind::Object), Input::new("b", Kind::Object)],
        required: 4,
        outputs: &["c"],
        text: "\
c = op(a) * b, a new object, or a number where it has one element; op is 'notransp', 'transp' or 'ctransp'. 'dot' gives the
dot product of two vectors, of which the first is conjugated. c is [] where the operands are of two classes or their sizes do
not agree, and of large operands also where b has several columns, or the result has one element and a is no transposed
column. a and b may also be of class clinalg.array.",
        example: "\
gpu = MexInitOpenCL();
x = MexMatrix(gpu, [1; 2]);
MexSmallProduct(gpu, 'ctransp', x, x)",
        see: &["MexMultiply", "MexMultiplyOp", "MexDot"],
        run: |args| {
            let ops = [
                ("notransp", Some(Transpose::No)),
                ("transp", Some(Transpose::Yes)),
                ("ctransp", Some(Transpose::Conjugate)),
                ("dot", None),
            ];
            let op = choice(args, 1, "op", &ops)?;
            let objects = args.objects()?;
            let (Value::Handle(a) | Value::Object(a), Value::Handle(b) | Value::Object(b)) = (args.value(2), args.value(3))
            else {
                return Ok(number_or_nothing(None).into());
            };
            let Some(op) = op else { return Ok(number_or_nothing(objects.vector_dot(*a, *b)?).into()) };
            Ok(match objects.small_product(op, *a, *b)? {
                Some(SmallProduct::Handle(c)) => Out::Handle(c),
                Some(SmallProduct::Number(value, scalar)) => number_or_nothing(Some((value, scalar))),
                None => number_or_nothing(None),
            }
            .into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexSmallTranspose",
        title: "The transpose of a small full matrix.",
        inputs: &[GPU, Input::named("a", "handle", Kind::Object), Input::new("conjugate", Kind::Flag)],
        required: 3,
        outputs: &["c"],
        text: "\
c is a new object, the transpose of a, conjugated if conjugate is true. c is 0 for large, sparse and band matrices, those of
one element and arrays that MexMark has marked. a may also be a clinalg.array.",
        example: "\
gpu = MexInitOpenCL();
MexHandleMatrix(gpu, MexSmallTranspose(gpu, MexMatrix(gpu, [1; 2i]), true))",
        see: &["MexTranspose", "MexConjTranspose"],
        run: |args| {
            let objects = args.objects()?;
            let (Value::Handle(a) | Value::Object(a)) = args.value(1) else { return Ok(Out::Handle(0).into()) };
            Ok(Out::Handle(objects.small_transpose(*a, args.flag(2))?.unwrap_or(0)).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexSmallSolve",
        title: "Solve a small system with a full matrix.",
        inputs: &[GPU, Input::named("A", "a", Kind::Object), Input::new("b", Kind::Object)],
        required: 3,
        outputs: &["x"],
        text: "\
x = A \\ b, a new object, for a small square A. x is 0 where that is left to MexSolveDense: of large, rectangular, singular or
nearly singular A, of operands of two classes and where sizes do not agree. A and b may also be of class clinalg.array.",
        example: "\
gpu = MexInitOpenCL();
x = MexSmallSolve(gpu, MexMatrix(gpu, [4 1; 1 3]), MexMatrix(gpu, [1; 2]));
MexHandleMatrix(gpu, x)",
        see: &["MexSolveDense"],
        run: |args| {
            let objects = args.objects()?;
            let (Value::Handle(a) | Value::Object(a), Value::Handle(b) | Value::Object(b)) = (args.value(1), args.value(2))
            else {
                return Ok(Out::Handle(0).into());
            };
            Ok(Out::Handle(objects.solve_small(*a, *b)?.unwrap_or(0)).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexJoin",
        title: "Full arrays side by side or one below the other.",
        inputs: &[
            GPU,
            Input::named("dim", "dimension", Kind::Count),
            Input::new("count", Kind::Count),
            PART,
            Input::new("b", Kind::Assigned),
            Input::new("c", Kind::Assigned),
            Input::new("d", Kind::Assigned),
            Input::new("e", Kind::Assigned),
            Input::new("f", Kind::Assigned),
        ],
        required: 3,
        outputs: &["j"],
        text: "\
j = cat(dim, a, b, ...), a new object, of count arrays, 6 at most: handles, arrays of class clinalg.array and full arrays of
the host, one at least of the first two. dim is 1 or 2. j is 0 where they are of two classes, sparse or empty, their sizes do
not agree, or MexMark has marked one.",
        example: "\
gpu = MexInitOpenCL();
j = MexJoin(gpu, 1, 2, MexMatrix(gpu, [1 2]), [3 4; 5 6]);
MexHandleMatrix(gpu, j)",
        see: &["MexPut", "MexTake"],
        run: join,
        ..Function::DEFAULT
    },
];

const PART: Input = Input::new("a", Kind::Assigned);

fn join(args: &Args<'_>) -> Outcome {
    let nothing = || Ok(Out::Handle(0).into());
    let objects = args.objects()?;
    let (dimension, count) = (args.count(1), args.count(2));
    let places = 3..9;
    let given: Vec<_> = places.map(|place| args.value(place)).filter(|value| !matches!(value, Value::Absent)).collect();
    let handle = given.iter().find_map(|value| match value {
        Value::Handle(handle) | Value::Object(handle) => Some(*handle),
        _ => None,
    });
    let Some(handle) = handle.filter(|_| given.len() == count && (1..=2).contains(&dimension)) else {
        return nothing();
    };
    let mut scalar = None;
    let (mut parts, mut made) = (Vec::with_capacity(count), Vec::new());
    for value in given {
        let part = match value {
            Value::Handle(part) | Value::Object(part) => *part,
            Value::Full(full) => {
                let scalar = match scalar {
                    Some(scalar) => scalar,
                    None => *scalar.insert(objects.info(handle)?.scalar()),
                };
                let (values, own) = wide_values(&full.values);
                // What does not fit is left to the caller, and so is a double beside arrays in single precision, which is rounded.
                let fits = own.precision() == scalar.precision() && (scalar.is_complex() || !own.is_complex());
                match fits.then(|| objects.upload_like(handle, (full.rows, full.cols), &values)).transpose()?.flatten()
                {
                    Some(part) => {
                        made.push(part);
                        part
                    }
                    None => break,
                }
            }
            _ => break,
        };
        parts.push(part);
    }
    let joined = if parts.len() == count { objects.join(dimension - 1, &parts) } else { Ok(None) };
    for part in made {
        objects.release(part, clinalg_handles::Kind::VALUES)?;
    }
    Ok(Out::Handle(joined?.unwrap_or(0)).into())
}

fn index(args: &Args<'_>, position: usize) -> (f64, Option<f64>) {
    (args.real(position), args.maybe_real(position + 1))
}

pub(super) fn number_or_nothing(number: Option<(Complex<f64>, ScalarType)>) -> Out {
    match number {
        Some((value, scalar)) if value.im == 0.0 => number_of(ScalarType::new(scalar.precision(), false), value),
        Some((value, scalar)) => number_of(scalar, value),
        None => Out::column(Vec::new()),
    }
}

fn with_element(args: &Args<'_>) -> Outcome {
    let value = match args.value(2) {
        Value::Full(full) => match &full.values {
            Numbers::ComplexDouble(parts) => (parts.joined()[0], Precision::F64),
            Numbers::ComplexSingle(parts) => {
                let value = parts.joined()[0];
                (Complex::new(f64::from(value.re), f64::from(value.im)), Precision::F32)
            }
            Numbers::Single(values) => (Complex::from(f64::from(values[0])), Precision::F32),
            reals => (Complex::from(reals.reals()[0]), Precision::F64),
        },
        _ => return Ok(Out::Handle(0).into()),
    };
    let made = args.objects()?.with_element(args.handle(1), index(args, 3), value)?;
    Ok(Out::Handle(made.unwrap_or(0)).into())
}
