//! Complex numbers, products with either transpose, dense systems.

use clinalg::ops::Transpose;
use clinalg_handles::Registry;

use super::grid::choice;
use super::{GPU, Outcome, handle, handle_as, number_of};
use crate::args::{Args, Input, Kind};
use crate::emit::Out;
use crate::function::Function;

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "MexComplex",
        title: "A complex object from its parts.",
        inputs: &[GPU, handle("re"), handle("im")],
        required: 3,
        outputs: &["c"],
        text: "\
c = complex(re, im) for two full real matrices or vectors of the same shape and precision; a new object.",
        example: "\
gpu = MexInitOpenCL();
c = MexComplex(gpu, MexMatrix(gpu, [1 2]), MexMatrix(gpu, [3 4]));
MexHandleMatrix(gpu, c)",
        see: &["MexRealPart", "MexImagPart", "MexConvert"],
        run: |args| Ok(Out::Handle(args.objects()?.complex(args.handle(1), args.handle(2))?).into()),
        ..Function::DEFAULT
    },
    Function {
        name: "MexRealPart",
        title: "The real parts of an object.",
        inputs: &[GPU, handle("a")],
        required: 2,
        outputs: &["r"],
        text: "r = real(a) for a full matrix or vector a: a new real object of the same shape and precision.",
        example: "\
gpu = MexInitOpenCL();
r = MexRealPart(gpu, MexMatrix(gpu, [1+2i; 3-4i]));
MexHandleMatrix(gpu, r)",
        see: &["MexImagPart", "MexComplex"],
        run: |args| part(args, Registry::real_part),
        ..Function::DEFAULT
    },
    Function {
        name: "MexImagPart",
        title: "The imaginary parts of an object.",
        inputs: &[GPU, handle("a")],
        required: 2,
        outputs: &["r"],
        text: "r = imag(a) for a full matrix or vector a: a new real object of the same shape and precision.",
        example: "\
gpu = MexInitOpenCL();
r = MexImagPart(gpu, MexMatrix(gpu, [1+2i; 3-4i]));
MexHandleMatrix(gpu, r)",
        see: &["MexRealPart", "MexComplex"],
        run: |args| part(args, Registry::imaginary_part),
        ..Function::DEFAULT
    },
    Function {
        name: "MexAbs",
        title: "The magnitudes of the values of an object.",
        inputs: &[GPU, handle("a")],
        required: 2,
        outputs: &["r"],
        text: "\
r = abs(a) for a full matrix or vector a: a new real object of the same shape and precision. The squares
of large and small values neither overflow nor underflow on the way.",
        example: "\
gpu = MexInitOpenCL();
r = MexAbs(gpu, MexMatrix(gpu, [3+4i; -1]));
MexHandleMatrix(gpu, r)",
        see: &["MexRealPart", "MexNorm2"],
        run: |args| part(args, Registry::abs),
        ..Function::DEFAULT
    },
    Function {
        name: "MexConj",
        title: "The conjugate of an object, element by element.",
        inputs: &[GPU, handle("a"), handle_as("c", "out")],
        required: 2,
        outputs: &["c"],
        text: "\
c = conj(a) for an object a of any kind. The result goes to c if it is given, an object of the same kind,
shape and precision, which may be a, else to a new object.",
        example: "\
gpu = MexInitOpenCL();
c = MexConj(gpu, MexMatrix(gpu, [1+2i; 3-4i]));
MexHandleMatrix(gpu, c)",
        see: &["MexConjTranspose", "MexImagPart"],
        run: |args| Ok(Out::Handle(args.objects()?.conj(args.handle(1), args.maybe_handle(2))?).into()),
        ..Function::DEFAULT
    },
    Function {
        name: "MexConjTranspose",
        title: "Conjugate transpose of a full or sparse matrix.",
        inputs: &[GPU, handle_as("A", "handle")],
        required: 2,
        outputs: &["T"],
        text: "\
A is a full matrix or vector, or a sparse matrix; T is A', a new object of the same kind and precision. A
product with A' needs no T: see MexMultiplyTranspose.",
        example: "\
gpu = MexInitOpenCL();
T = MexConjTranspose(gpu, MexMatrix(gpu, [1 2i]));
MexHandleMatrix(gpu, T)",
        see: &["MexTranspose", "MexConj", "MexMultiplyTranspose"],
        run: |args| part(args, Registry::conj_transpose),
        ..Function::DEFAULT
    },
    Function {
        name: "MexDotu",
        title: "Dot product without conjugation.",
        inputs: &[GPU, handle("a"), handle("b")],
        required: 3,
        outputs: &["s"],
        text: "s = sum(a .* b) for two objects of the same kind, shape and precision; MexDot conjugates a.",
        example: "\
gpu = MexInitOpenCL();
a = MexMatrix(gpu, [1i; 2]);
s = MexDotu(gpu, a, a)",
        see: &["MexDot", "MexSum"],
        run: |args| {
            let (objects, a) = (args.objects()?, args.handle(1));
            let s = objects.dotu(a, args.handle(2))?;
            Ok(number_of(objects.info(a)?.scalar(), s).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexMultiplyOp",
        title: "Product of a matrix, its transpose or its conjugate transpose and a vector.",
        inputs: &[GPU, Input::named("op", "transpose", Kind::Text), handle_as("A", "a"), handle("x"), handle("y")],
        required: 4,
        outputs: &["y"],
        text: "\
op is 'notransp' for y = A x, 'transp' for y = A.' x and 'ctransp' for y = A' x, the latter two with a full
or sparse matrix A. The result goes to y if it is given, otherwise to a new column.",
        example: "\
gpu = MexInitOpenCL();
A = MexMatrix(gpu, [1 2i; 3 4]);
x = MexMatrix(gpu, [1i; 1]);
y = MexMultiplyOp(gpu, 'transp', A, x);
MexHandleMatrix(gpu, y)",
        see: &["MexMultiply", "MexMultiplyTranspose", "MexTranspose"],
        run: |args| {
            let objects = args.objects()?;
            let ops = [("notransp", Transpose::No), ("transp", Transpose::Yes), ("ctransp", Transpose::Conjugate)];
            let op = choice(args, 1, "transpose", &ops)?;
            let (a, x) = (args.handle(2), args.handle(3));
            Ok(Out::Handle(objects.mv_op(op, 1.0, a, x, 0.0, args.maybe_handle(4))?).into())
        },
        ..Function::DEFAULT
    },
];

/// A new object from one.
fn part(args: &Args<'_>, of: fn(&Registry, u64) -> clinalg::Result<u64>) -> Outcome {
    Ok(Out::Handle(of(args.objects()?, args.handle(1))?).into())
}
