//! Functions element by element that are evaluated when their values are needed.

use clinalg::ops::{Binary, Unary};
use clinalg::{Complex, Precision};
use clinalg_handles::Term;

use super::grid::choice;
use super::{GPU, handle, text};
use crate::args::{Args, Input, Kind, Numbers, Value};
use crate::emit::{Answer, Out};
use crate::function::Function;

const fn operand(name: &'static str) -> Input {
    Input::new(name, Kind::Operand)
}

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "MexLazy",
        title: "A function of each element, evaluated when it is read.",
        inputs: &[GPU, text("name"), operand("a")],
        required: 3,
        outputs: &["c"],
        text: "\
c = name(a), element by element, for a full matrix or vector: a new object that is evaluated when a call needs its values,
together with the operations that it is made of. name is as for MexMap, of complex arrays 'exp', 'log', 'sqrt', 'sin', 'cos',
'uminus' or 'conj'. c is 0 where the device has no such function, or the result of a real array may be complex ('sqrt' of what
may be negative). a may also be a clinalg.array.",
        example: "\
gpu = MexInitOpenCL();
c = MexLazy(gpu, 'exp', MexMatrix(gpu, [0 1 2]));
MexExplain(gpu, c)
MexHandleMatrix(gpu, c)",
        see: &["MexLazy2", "MexMap", "MexExplain"],
        run: |args| {
            let f = choice(args, 1, "name", UNARY)?;
            let objects = args.objects()?;
            let (Value::Handle(a) | Value::Object(a)) = args.value(2) else { return Ok(Out::Handle(0).into()) };
            Ok(Out::Handle(objects.lazy_map(f, *a)?.unwrap_or(0)).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexLazy2",
        title: "A function of the elements of two arrays, evaluated when it is read.",
        inputs: &[GPU, text("name"), operand("a"), operand("b")],
        required: 4,
        outputs: &["c"],
        text: "\
c = name(a, b), element by element, for full matrices or vectors of one class and numbers: a new object that is evaluated when
a call needs its values, together with the operations that it is made of. A row, a column or a single element is repeated.
name is as for MexMap2. c is 0 where the device has no such function of these operands: of two classes, of two numbers, of
sparse or empty arrays, of sizes that do not agree, of arrays that MexMark named, and where the result of real arrays may be
complex ('power'). a and b may also be of class clinalg.array; beside one, a uint64 is a number and c is 0.",
        example: "\
gpu = MexInitOpenCL();
a = MexMatrix(gpu, [1; 2]);
c = MexLazy2(gpu, 'plus', MexLazy2(gpu, 'times', a, 2), MexMatrix(gpu, [3 4 7]));
MexExplain(gpu, c)
MexHandleMatrix(gpu, c)",
        see: &["MexLazy", "MexMap2", "MexExplain"],
        run: |args| {
            let f = choice(args, 1, "name", BINARY)?;
            let objects = args.objects()?;
            // Callers that pass objects pass no handles: a uint64 is then a number of a class that arrays cannot have.
            let mixed = |a, b| matches!((args.value(a), args.value(b)), (Value::Object(_), Value::Handle(_)));
            let (Some(a), Some(b), false) = (term(args, 2), term(args, 3), mixed(2, 3) || mixed(3, 2)) else {
                return Ok(Out::Handle(0).into());
            };
            Ok(Out::Handle(objects.lazy_map2(f, a, b)?.unwrap_or(0)).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexMark",
        title: "Note that the caller keeps the dimensions of an array.",
        inputs: &[GPU, handle("a")],
        required: 2,
        outputs: &[],
        text: "\
a has more than two dimensions, which the caller keeps: MexLazy and MexLazy2 give 0 for it, so that no result lacks them.",
        example: "\
gpu = MexInitOpenCL();
a = MexMatrix(gpu, ones(2, 6));
MexMark(gpu, a);
MexLazy(gpu, 'exp', a)",
        see: &["MexLazy", "MexLazy2"],
        run: |args| {
            args.objects()?.mark(args.handle(1))?;
            Ok(Answer::Nothing)
        },
        ..Function::DEFAULT
    },
];

fn term(args: &Args<'_>, position: usize) -> Option<Term> {
    match args.value(position) {
        Value::Handle(handle) | Value::Object(handle) => Some(Term::Handle(*handle)),
        Value::Full(full) => Some(match &full.values {
            Numbers::ComplexDouble(parts) => Term::Number(parts.joined()[0], Precision::F64),
            Numbers::ComplexSingle(parts) => {
                let number = parts.joined()[0];
                Term::Number(Complex::new(f64::from(number.re), f64::from(number.im)), Precision::F32)
            }
            Numbers::Single(values) => Term::Number(Complex::new(f64::from(values[0]), 0.0), Precision::F32),
            reals => Term::Number(Complex::new(reals.reals()[0], 0.0), Precision::F64),
        }),
        _ => None,
    }
}

pub(super) const UNARY: &[(&str, Unary)] = &[
    ("exp", Unary::Exp),
    ("log", Unary::Log),
    ("sqrt", Unary::Sqrt),
    ("sin", Unary::Sin),
    ("cos", Unary::Cos),
    ("tan", Unary::Tan),
    ("atan", Unary::Atan),
    ("tanh", Unary::Tanh),
    ("floor", Unary::Floor),
    ("ceil", Unary::Ceil),
    ("round", Unary::Round),
    ("fix", Unary::Fix),
    ("sign", Unary::Sign),
    ("uminus", Unary::Negative),
    ("abs", Unary::Abs),
    ("expm1", Unary::Expm1),
    ("sinh", Unary::Sinh),
    ("cosh", Unary::Cosh),
    ("asinh", Unary::Asinh),
    ("conj", Unary::Conjugate),
];

pub(super) const BINARY: &[(&str, Binary)] = &[
    ("plus", Binary::Plus),
    ("minus", Binary::Minus),
    ("times", Binary::Times),
    ("rdivide", Binary::Divide),
    ("max", Binary::Max),
    ("min", Binary::Min),
    ("atan2", Binary::Atan2),
    ("hypot", Binary::Hypot),
    ("power", Binary::Power),
    ("mod", Binary::Mod),
    ("rem", Binary::Rem),
];
