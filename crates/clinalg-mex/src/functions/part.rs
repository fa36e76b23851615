//! Indexing and assignment by subscripts in one call: a call costs the interpreter more than the work.

use clinalg::Complex;
use clinalg_handles::{AssignedValue, PartValue, ScalarType, Subscript};

use super::small::number_or_nothing;
use super::{GPU, Outcome, handle};
use crate::args::{Args, Input, Kind, Numbers, Value};
use crate::emit::Out;
use crate::function::Function;

const I: Input = Input::new("i", Kind::Subscript);
const J: Input = Input::new("j", Kind::Subscript);
const VALUE: Input = Input::named("value", "values", Kind::Assigned);

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "MexPart",
        title: "Elements of a full array by a subscript.",
        inputs: &[GPU, handle("a"), I],
        required: 3,
        outputs: &["c"],
        text: "\
c = a(i), a new object, or a number where that is one element. i is ':', an array of positions from 1 on, or a logical array
of the size of a. c is [] where a is no full object or i does not fit, and, of several elements, for arrays that MexMark has
marked.",
        example: "\
gpu = MexInitOpenCL();
a = MexMatrix(gpu, magic(3));
MexPart(gpu, a, 4)
MexHandleMatrix(gpu, MexPart(gpu, a, [1 5 9]))",
        see: &["MexBlock", "MexWithPart", "MexTakeLinear", "MexElement"],
        run: |args| part(args, &[2]),
        ..Function::DEFAULT
    },
    Function {
        name: "MexBlock",
        title: "Rows and columns of a full array by two subscripts.",
        inputs: &[GPU, handle("a"), I, J],
        required: 4,
        outputs: &["c"],
        text: "\
c = a(i, j), a new object, or a number where that is one element. i and j are ':', arrays of positions from 1 on, or logical
arrays with a value for each row or column. c is [] where a is no full object or a subscript does not fit, and for arrays
that MexMark has marked.",
        example: "\
gpu = MexInitOpenCL();
a = MexMatrix(gpu, magic(3));
MexHandleMatrix(gpu, MexBlock(gpu, a, ':', [3 1]))",
        see: &["MexPart", "MexWithBlock", "MexTake"],
        run: |args| part(args, &[2, 3]),
        ..Function::DEFAULT
    },
    Function {
        name: "MexWithPart",
        title: "A copy of a full array with other elements, by a subscript.",
        inputs: &[GPU, handle("a"), VALUE, I],
        required: 4,
        outputs: &["c"],
        text: "\
c is a new object with the values of a and c(i) = value. value is a full object or a clinalg.array of the type of a, or a full
array of the host, with a value for each position or one for all. c is 0 where MexPart gives [], where a position occurs
twice, where value has another shape, and where its class does not go into that of a (complex beside real elements, single
beside double).",
        example: "\
gpu = MexInitOpenCL();
c = MexWithPart(gpu, MexMatrix(gpu, magic(3)), [10 20], [1 9]);
MexHandleMatrix(gpu, c)",
        see: &["MexWithBlock", "MexPart", "MexPutLinear", "MexWithElement"],
        run: |args| with_part(args, &[3]),
        ..Function::DEFAULT
    },
    Function {
        name: "MexWithBlock",
        title: "A copy of a full array with other rows and columns, by two subscripts.",
        inputs: &[GPU, handle("a"), VALUE, I, J],
        required: 5,
        outputs: &["c"],
        text: "\
c is a new object with the values of a and c(i, j) = value, as MexWithPart has it for one subscript.",
        example: "\
gpu = MexInitOpenCL();
c = MexWithBlock(gpu, MexMatrix(gpu, magic(3)), 0, 2, ':');
MexHandleMatrix(gpu, c)",
        see: &["MexWithPart", "MexBlock", "MexPut"],
        run: |args| with_part(args, &[3, 4]),
        ..Function::DEFAULT
    },
];

/// A subscript; nothing for what is none.
fn subscript(args: &Args<'_>, position: usize) -> Option<Subscript> {
    let full = match args.value(position) {
        Value::Text(_) => return Some(Subscript::All),
        Value::Full(full) => full,
        _ => return None,
    };
    let shape = (full.rows, full.cols);
    if let Numbers::Logical(mask) = full.values {
        let list = mask.iter().enumerate().filter(|(_, value)| **value != 0).map(|(at, _)| at).collect();
        return Some(Subscript::Mask(list, shape));
    }
    let whole = |value: f64| {
        ((1.0..=9_007_199_254_740_992.0).contains(&value) && value.fract() == 0.0).then(|| value as usize - 1)
    };
    let list = match full.values {
        Numbers::Double(values) => values.iter().map(|&value| whole(value)).collect::<Option<Vec<_>>>(),
        _ => full.values.reals().into_iter().map(whole).collect(),
    };
    list.map(|list| Subscript::At(list, shape))
}

fn subscripts(args: &Args<'_>, places: &[usize]) -> Option<Vec<Subscript>> {
    places.iter().map(|&place| subscript(args, place)).collect()
}

fn part(args: &Args<'_>, places: &[usize]) -> Outcome {
    let objects = args.objects()?;
    let Some(at) = subscripts(args, places) else { return Ok(number_or_nothing(None).into()) };
    Ok(part_or_nothing(objects.indexed(args.handle(1), &at)?).into())
}

pub(super) fn part_or_nothing(part: Option<PartValue>) -> Out {
    match part {
        Some(PartValue::Handle(c)) => Out::Handle(c),
        Some(PartValue::Number(value, scalar)) => number_or_nothing(Some((value, scalar))),
        None => number_or_nothing(None),
    }
}

/// Values in double precision, and the type that they have.
pub(super) fn wide_values(values: &Numbers<'_>) -> (Vec<Complex<f64>>, ScalarType) {
    let wide = |z: &Complex<f32>| Complex::new(f64::from(z.re), f64::from(z.im));
    match values {
        Numbers::ComplexDouble(parts) => (parts.joined().into_owned(), ScalarType::C64),
        Numbers::ComplexSingle(parts) => (parts.joined().iter().map(wide).collect(), ScalarType::C32),
        Numbers::Single(_) => (values.reals().into_iter().map(Complex::from).collect(), ScalarType::F32),
        reals => (reals.reals().into_iter().map(Complex::from).collect(), ScalarType::F64),
    }
}

fn with_part(args: &Args<'_>, places: &[usize]) -> Outcome {
    let objects = args.objects()?;
    let made = match (subscripts(args, places), args.value(2)) {
        (Some(at), Value::Handle(values) | Value::Object(values)) => {
            objects.assigned(args.handle(1), &at, AssignedValue::Handle(*values))?
        }
        (Some(at), Value::Full(full)) => {
            let (values, scalar) = wide_values(&full.values);
            objects.assigned(args.handle(1), &at, AssignedValue::Values(&values, (full.rows, full.cols), scalar))?
        }
        _ => None,
    };
    Ok(Out::Handle(made.unwrap_or(0)).into())
}
