//! Operations on small arrays in one call: a call costs the interpreter more than the work.

use clinalg::ops::Transpose;
use clinalg::{Complex, Precision};
use clinalg_handles::{ScalarType, SmallProduct, VectorNumber};

use super::grid::choice;
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
        title: "Product of a matrix of any kind and a column, where the operands fit.",
        inputs: &[GPU, text("op"), Input::new("a", Kind::Object), Input::new("b", Kind::Object)],
        required: 4,
        outputs: &["c"],
        text: "\
c = op(a) * b, a new object, or a number where a is a transposed column; op is 'notransp', 'transp' or 'ctransp'. c is []
where the operands are of two classes, their sizes do not agree, b has several columns, or the result has one element and
a is no transposed column. a and b may also be of class clinalg.array.",
        example: "\
gpu = MexInitOpenCL();
x = MexMatrix(gpu, [1; 2]);
MexSmallProduct(gpu, 'ctransp', x, x)",
        see: &["MexMultiply", "MexMultiplyOp", "MexDot"],
        run: |args| {
            let ops = [("notransp", Transpose::No), ("transp", Transpose::Yes), ("ctransp", Transpose::Conjugate)];
            let op = choice(args, 1, "op", &ops)?;
            let objects = args.objects()?;
            let (Value::Handle(a) | Value::Object(a), Value::Handle(b) | Value::Object(b)) = (args.value(2), args.value(3))
            else {
                return Ok(number_or_nothing(None).into());
            };
            Ok(match objects.small_product(op, *a, *b)? {
                Some(SmallProduct::Handle(c)) => Out::Handle(c),
                Some(SmallProduct::Number(value, scalar)) => number_or_nothing(Some((value, scalar))),
                None => number_or_nothing(None),
            }
            .into())
        },
        ..Function::DEFAULT
    },
];

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
