//! Objects on the device: copies, formats, files, release.

use std::path::Path;

use clinalg::io::matrix_market;
use clinalg::matrix::Format;
use clinalg::{Csr, Precision};
use clinalg_handles::{Kind as Object, Operand, ScalarType};

use super::grid::choice;
use super::{GPU, Outcome, class_name, count, count_as, handle, handle_as, registry, scalar, text};
use crate::args::{Args, Input, Kind};
use crate::emit::{Answer, Out};
use crate::fault::{Fault, id};
use crate::function::Function;
use crate::typed::typed;

const SINGLE: Input = Input::new("single", Kind::Flag);
const COMPLEX: Input = Input::new("complex", Kind::Flag);

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "MexCopy",
        title: "Copy an object on the device.",
        inputs: &[GPU, handle("a"), handle_as("c", "out")],
        required: 2,
        outputs: &["c"],
        text: "\
a is an object of any kind. The copy goes to c, an object of the same kind, shape and precision, or to a
new one.",
        example: "\
gpu = MexInitOpenCL();
a = MexMatrix(gpu, [1; 2]);
c = MexCopy(gpu, a);
MexHandleMatrix(gpu, c)",
        see: &["MexVectorTimesConstant", "MexConvert"],
        run: |args| Ok(Out::Handle(args.objects()?.copy(args.handle(1), args.maybe_handle(2))?).into()),
        ..Function::DEFAULT
    },
    Function {
        name: "MexConvert",
        title: "Copy an object in single or double precision.",
        inputs: &[GPU, handle_as("a", "handle"), SINGLE, COMPLEX],
        required: 3,
        outputs: &["c"],
        text: "\
c is a new object of the kind and shape of a, in single precision for single = 1, in double for 0; complex
for complex = 1, else as a is. A complex object has no real copy: see MexRealPart.",
        example: "\
gpu = MexInitOpenCL();
a = MexMatrix(gpu, [0.1; 0.2]);
c = MexConvert(gpu, a, 1);
class(MexHandleMatrix(gpu, c))",
        see: &["MexCopy"],
        run: |args| {
            let (objects, a) = (args.objects()?, args.handle(1));
            let precision = if args.flag(2) { Precision::F32 } else { Precision::F64 };
            let complex = objects.info(a)?.complex || args.maybe_flag(3) == Some(true);
            Ok(Out::Handle(objects.convert(a, ScalarType::new(precision, complex))?).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexFill",
        title: "Set every stored value of an object.",
        inputs: &[GPU, handle_as("h", "handle"), scalar("value")],
        required: 3,
        outputs: &["h"],
        text: "\
For a sparse matrix this sets the stored entries, for a band matrix the entries of its diagonals. A
complex value needs a complex object.",
        example: "\
gpu = MexInitOpenCL();
h = MexZeros(gpu, 2, 2);
MexFill(gpu, h, pi);
MexHandleMatrix(gpu, h)",
        see: &["MexZeros", "MexWriteMatrix"],
        run: |args| {
            let h = args.handle(1);
            args.objects()?.fill(h, args.number(2))?;
            Ok(Out::Handle(h).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexSlice",
        title: "Copy a part of a full matrix or vector to a new vector.",
        inputs: &[GPU, handle_as("h", "handle"), count("first"), count("count")],
        required: 4,
        outputs: &["v"],
        text: "v is a column with the values h(first : first + count - 1), counted column by column from 1 on.",
        example: "\
gpu = MexInitOpenCL();
h = MexMatrix(gpu, 10:10:50);
v = MexSlice(gpu, h, 2, 3);
MexHandleMatrix(gpu, v)",
        see: &["MexWriteSlice", "MexCopy"],
        run: |args| {
            let objects = args.objects()?;
            let (h, first, count) = (args.handle(1), offset(args, 2)?, args.count(3));
            let part = objects.call(&[Operand::new("handle", h, Object::FULL)], None, |inputs, _| {
                let rest = inputs[0].info().entries.checked_sub(first);
                let error = |argument, expected: String, got: usize| {
                    Err(clinalg::Error::Value { argument, expected, got: got.to_string() })
                };
                match rest {
                    None => error("first", "a position in the object".into(), first + 1),
                    Some(rest) if count > rest => error("count", format!("at most {rest} from there on"), count),
                    Some(_) => Ok(first..first + count),
                }
            })?;
            Ok(Out::Handle(objects.slice(h, part)?).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexWriteSlice",
        title: "Replace a part of a full matrix or vector on the device.",
        inputs: &[GPU, handle_as("h", "target"), count_as("first", "offset"), handle_as("v", "source")],
        required: 4,
        outputs: &["h"],
        text: "\
Sets h(first : first + numel(v) - 1), counted column by column from 1 on, to all values of the full matrix
or vector v, another object of the same precision.",
        example: "\
gpu = MexInitOpenCL();
h = MexZeros(gpu, 1, 5);
MexWriteSlice(gpu, h, 2, MexMatrix(gpu, [7; 8]));
MexHandleMatrix(gpu, h)",
        see: &["MexSlice", "MexWriteMatrix"],
        run: |args| {
            let h = args.handle(1);
            args.objects()?.write_slice(h, offset(args, 2)?, args.handle(3))?;
            Ok(Out::Handle(h).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexSize",
        title: "Number of rows and columns of an object.",
        inputs: &[GPU, handle_as("h", "handle")],
        required: 2,
        outputs: &["rows", "cols"],
        text: "h is an object of any kind.",
        example: "\
gpu = MexInitOpenCL();
[rows, cols] = MexSize(gpu, MexZeros(gpu, 2, 3))",
        see: &["MexInfo"],
        run: |args| {
            let info = args.objects()?.info(args.handle(1))?;
            Ok(Answer::Several(vec![Out::Real(info.rows as f64), Out::Real(info.cols as f64)]))
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexExplain",
        title: "How products of a sparse matrix run; what an array waits for.",
        inputs: &[GPU, handle_as("A", "a")],
        required: 2,
        outputs: &["words"],
        text: "\
A is a sparse matrix or an array of another kind. At upload of a sparse matrix the library looks for structure: a stencil
with constant coefficients, entries on few diagonals, rows of very different lengths. words is a sentence that describes it.
Of an array that MexLazy or MexLazy2 made it says the expression, and what the one kernel reads and writes.",
        example: "\
gpu = MexInitOpenCL();
A = MexSparseMatrix(gpu, spdiags(ones(1000, 3), -1 : 1, 1000, 1000));
MexExplain(gpu, A)",
        see: &["MexSetFormat", "MexSparseMatrixVector"],
        run: |args| Ok(Out::Text(args.objects()?.explain(args.handle(1))?).into()),
        ..Function::DEFAULT
    },
    Function {
        name: "MexSetFormat",
        title: "Choose how the products of a sparse matrix run.",
        inputs: &[GPU, handle_as("A", "a"), text("format")],
        required: 2,
        outputs: &[],
        text: "\
format is 'best' for the best format for the current values (default), 'csr', 'balanced', 'dia',
'stencil', 'bsr' or 'sell'. A format that the matrix or the device does not support is an error and
changes nothing.",
        example: "\
gpu = MexInitOpenCL();
A = MexSparseMatrix(gpu, speye(1000));
MexSetFormat(gpu, A, 'csr');
MexExplain(gpu, A)",
        see: &["MexExplain"],
        run: |args| {
            let formats = [
                ("best", None),
                ("csr", Some(Format::Csr)),
                ("balanced", Some(Format::Balanced)),
                ("dia", Some(Format::Dia)),
                ("stencil", Some(Format::Stencil)),
                ("bsr", Some(Format::Bsr)),
                ("sell", Some(Format::Sell)),
            ];
            args.objects()?.set_format(args.handle(1), choice(args, 2, "format", &formats)?)?;
            Ok(Answer::Nothing)
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexInfo",
        title: "Kind, precision and shape of the object of a handle.",
        inputs: &[GPU, handle_as("h", "handle")],
        required: 2,
        outputs: &["info"],
        text: "\
info is a structure with the fields
  kind        'full', 'sparse', 'band', 'wave', 'operator', 'elastodynamics' or 'poisson'
  class       'double' or 'single'
  complex     whether the values are complex
  rows, cols  the shape
  entries     number of values of a full matrix, of stored entries of a sparse one, 0 for a band
  kl, ku      number of sub- and superdiagonals of a band matrix, else 0",
        example: "\
gpu = MexInitOpenCL();
info = MexInfo(gpu, MexSparseMatrix(gpu, speye(3)));
info.entries",
        see: &["MexSize", "MexMemory"],
        run: |args| {
            let info = args.objects()?.info(args.handle(1))?;
            let number = |n: usize| Out::Real(n as f64);
            let kind = match info.kind {
                Object::Csr => "sparse",
                Object::Band => "band",
                Object::Wave => "wave",
                Object::Operator => "operator",
                Object::Elastodynamics => "elastodynamics",
                Object::Poisson => "poisson",
                _ => "full",
            };
            let record = vec![
                Out::Text(kind.to_owned()),
                Out::Text(class_name(info.precision).to_owned()),
                Out::Flag(info.complex),
                number(info.rows),
                number(info.cols),
                number(info.entries),
                number(info.kl),
                number(info.ku),
            ];
            let fields = vec![c"kind", c"class", c"complex", c"rows", c"cols", c"entries", c"kl", c"ku"];
            Ok(Out::Records { fields, records: vec![record] }.into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexTranspose",
        title: "Transpose a full or sparse matrix.",
        inputs: &[GPU, handle_as("A", "handle")],
        required: 2,
        outputs: &["T"],
        text: "\
A is a full matrix or vector, or a sparse matrix; T is A.', a new object of the same kind and precision. A
product with the transpose needs no T: see MexMatrixTransposeVector.",
        example: "\
gpu = MexInitOpenCL();
T = MexTranspose(gpu, MexSparseMatrix(gpu, sparse([0 1; 0 0])));
MexHandleMatrix(gpu, T)",
        see: &["MexConjTranspose", "MexMatrixTransposeVector", "MexSparseMatrixTransposeVector"],
        run: |args| Ok(Out::Handle(args.objects()?.transpose(args.handle(1))?).into()),
        ..Function::DEFAULT
    },
    Function {
        name: "MexDiagonal",
        title: "Copy the main diagonal of a matrix to a new vector.",
        inputs: &[GPU, handle_as("A", "handle")],
        required: 2,
        outputs: &["d"],
        text: "A is a full, sparse or band matrix; d is a column of min(rows, cols) values.",
        example: "\
gpu = MexInitOpenCL();
d = MexDiagonal(gpu, MexSparseMatrix(gpu, sparse([4 1; 1 3])));
MexHandleMatrix(gpu, d)",
        see: &["MexTranspose"],
        run: |args| Ok(Out::Handle(args.objects()?.diagonal(args.handle(1))?).into()),
        ..Function::DEFAULT
    },
    Function {
        name: "MexReadMarket",
        title: "Read a MatrixMarket file to the device.",
        inputs: &[GPU, text("file"), SINGLE],
        required: 2,
        outputs: &["h"],
        text: "\
A coordinate file makes a sparse matrix, an array file a full one; symmetric and Hermitian files are
expanded, files of complex numbers make complex objects. The values are kept in double precision or, with
single = 1, in single precision.",
        example: "\
gpu = MexInitOpenCL();
h = MexSparseMatrix(gpu, speye(3));
file = [tempname() '.mtx'];
MexWriteMarket(gpu, h, file);
MexHandleMatrix(gpu, MexReadMarket(gpu, file))
delete(file)",
        see: &["MexWriteMarket", "MexSparseMatrix"],
        run: |args| {
            let context = args.context()?;
            let single = args.maybe_flag(2) == Some(true);
            let precision = if single { Precision::F32 } else { Precision::F64 };
            let file = matrix_market::read(args.text(1))?;
            let h = typed!(ScalarType::new(precision, file.storage.is_complex()), T => match file.storage.is_sparse() {
                true => registry().insert(Csr::from_parts(&context, &file.to_csr_parts::<T>()?)?),
                false => registry().upload_dense(&context, file.rows, file.cols, &file.to_column_major::<T>()?)?,
            });
            Ok(Out::Handle(h).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexWriteMarket",
        title: "Write an object to a MatrixMarket file.",
        inputs: &[GPU, handle_as("h", "handle"), text("file")],
        required: 3,
        text: "\
A sparse or band matrix makes a coordinate file, a full matrix or vector an array file. An existing file
is replaced.",
        example: "\
gpu = MexInitOpenCL();
h = MexMatrix(gpu, [1 2; 3 4]);
file = [tempname() '.mtx'];
MexWriteMarket(gpu, h, file);
type(file)
delete(file)",
        see: &["MexReadMarket"],
        run: |args| {
            let objects = args.objects()?;
            let (h, file) = (args.handle(1), args.text(2));
            objects.write_matrix_market(h, Path::new(&file))?;
            Ok(Answer::Nothing)
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexReleaseMatrix",
        title: "Free a full matrix or vector.",
        inputs: &[GPU, handle_as("h", "handle")],
        required: 2,
        text: "h is stale afterwards; using or releasing it again is an error without side effects.",
        example: "\
gpu = MexInitOpenCL();
h = MexMatrix(gpu, [1 2 3]);
MexReleaseMatrix(gpu, h);",
        see: &["MexMatrix", "MexRelease", "MexReleaseOpenCL"],
        run: |args| release(args, Object::FULL),
        ..Function::DEFAULT
    },
    Function {
        name: "MexReleaseSparseMatrix",
        title: "Free a sparse matrix.",
        inputs: &[GPU, handle_as("h", "handle")],
        required: 2,
        text: "h is stale afterwards; using or releasing it again is an error without side effects.",
        example: "\
gpu = MexInitOpenCL();
h = MexSparseMatrix(gpu, speye(3));
MexReleaseSparseMatrix(gpu, h);",
        see: &["MexSparseMatrix", "MexRelease", "MexReleaseOpenCL"],
        run: |args| release(args, &[Object::Csr]),
        ..Function::DEFAULT
    },
    Function {
        name: "MexReleaseBandMatrix",
        title: "Free a band matrix.",
        inputs: &[GPU, handle_as("h", "handle")],
        required: 2,
        text: "h is stale afterwards; using or releasing it again is an error without side effects.",
        example: "\
gpu = MexInitOpenCL();
h = MexBandMatrix(gpu, eye(3), 0, 0);
MexReleaseBandMatrix(gpu, h);",
        see: &["MexBandMatrix", "MexRelease", "MexReleaseOpenCL"],
        run: |args| release(args, &[Object::Band]),
        ..Function::DEFAULT
    },
    Function {
        name: "MexRelease",
        title: "Free an object of any kind, if it is still there.",
        inputs: &[GPU, handle("h")],
        required: 2,
        outputs: &["freed"],
        text: "freed is false if h no longer names an object, which is not an error: for clean-up code.",
        example: "\
gpu = MexInitOpenCL();
h = MexMatrix(gpu, [1 2 3]);
freed = MexRelease(gpu, h)
freed = MexRelease(gpu, h)",
        see: &["MexReleaseMatrix", "MexReleaseOpenCL"],
        run: |args| Ok(Out::Flag(registry().release(args.handle(1), Object::ALL).is_ok()).into()),
        ..Function::DEFAULT
    },
];

fn release(args: &Args<'_>, kinds: &'static [Object]) -> Outcome {
    args.objects()?.release(args.handle(1), kinds)?;
    Ok(Answer::Nothing)
}

/// The argument `first`, a 1-based position, as an offset.
fn offset(args: &Args<'_>, position: usize) -> Result<usize, Fault> {
    let missing = || Fault::argument(id::VALUE, position + 1, "first", "is 0, expected a position of at least 1");
    args.count(position).checked_sub(1).ok_or_else(missing)
}
