//! Operators of the heat equation.

use clinalg::{Error, Precision};
use clinalg_bem::Mesh;
use clinalg_bem::heat::{Form, HeatParams, Kind as Layer, OperatorOptions};
use clinalg_handles::{
    forward_handle, interior_values, operator_handle, operator_preconditioner_handle, project_samples,
    right_side_handle, sample_points,
};

use super::grid::choice;
use super::{GPU, Outcome, count, handle, handle_as, real, registry, text};
use crate::args::{Args, Full, Input, Kind};
use crate::emit::{Answer, Out};
use crate::fault::Fault;
use crate::function::Function;

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "MexHeatOperator",
        title: "Make a boundary integral operator of the heat equation.",
        inputs: &[
            GPU,
            text("kind"),
            Input::new("nodes", Kind::Full),
            Input::new("triangles", Kind::Full),
            real("alpha"),
            real("end_time"),
            count("steps"),
            text("form"),
            Input::new("single", Kind::Flag),
        ],
        required: 7,
        outputs: &["h"],
        text: "\
For du/dt - alpha Laplace u = 0 inside a closed surface for 0 < t < end_time, u = 0 at the start, by
space-time Galerkin boundary elements: u linear on the triangles and continuous, the flux
w = alpha du/dn constant on them, both constant on each of the time steps. nodes is n x 3, triangles
m x 3 with the numbers of nodes from 1 on, anticlockwise seen from outside. kind is
  'V'   single layer, for w, tested on triangles
  'K'   double layer, for u, tested on triangles
  'Ks'  adjoint double layer, for w, tested at nodes
  'D'   hypersingular, for u, tested at nodes
Vectors store one time step after the other: V is m*steps x m*steps, K m*steps x n*steps. h stands for a
matrix in MexMultiply, MexCG, MexBiCGStab and MexGMRES (without 'jacobi').
  form    'auto' (default) stores the blocks if they fit, 'assembled' always stores them, 'otf' computes
          them on the fly in every product
  single  1 computes in single precision (default 0)
MexRelease frees it.",
        example: "\
gpu = MexInitOpenCL();
nodes = [0 0 0; 1 0 0; 0 1 0; 0 0 1];
triangles = [1 3 2; 1 2 4; 1 4 3; 2 3 4];
V = MexHeatOperator(gpu, 'V', nodes, triangles, 0.5, 1, 4);
b = MexMultiply(gpu, V, MexMatrix(gpu, ones(16, 1)));
[w, flag] = MexGMRES(gpu, V, b, 16, 1e-8, 1);
flag",
        see: &["MexHeatForward", "MexHeatOperatorPreconditioner", "MexHeatRightSide", "MexHeatMesh", "MexGMRES", "MexRelease"],
        run: operator,
        ..Function::DEFAULT
    },
    Function {
        name: "MexHeatForward",
        title: "Make the inverse of an operator of the heat equation, by block forward elimination.",
        inputs: &[GPU, handle_as("A", "matrix")],
        required: 2,
        outputs: &["h"],
        text: "\
A is an operator V or D of MexHeatOperator. Its diagonal block is inverted here; each product with h,
x = MexMultiply(gpu, h, b), then solves A x = b up to rounding in one pass through time. h can also be a
preconditioner. It keeps the operator alive: A may be released before it. MexRelease frees it.",
        example: "\
gpu = MexInitOpenCL();
nodes = [0 0 0; 1 0 0; 0 1 0; 0 0 1];
triangles = [1 3 2; 1 2 4; 1 4 3; 2 3 4];
V = MexHeatOperator(gpu, 'V', nodes, triangles, 0.5, 1, 4);
b = MexMatrix(gpu, ones(16, 1));
w = MexMultiply(gpu, MexHeatForward(gpu, V), b);
MexNorm2(gpu, MexVectorMinusVector(gpu, MexMultiply(gpu, V, w), b))",
        see: &["MexHeatOperator", "MexHeatOperatorPreconditioner", "MexMultiply", "MexRelease"],
        run: |args| {
            let objects = args.objects()?;
            Ok(Out::Handle(forward_handle(objects, args.handle(1))?).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexHeatOperatorPreconditioner",
        title: "Make a preconditioner for an operator of the heat equation.",
        inputs: &[GPU, handle_as("A", "matrix"), text("form")],
        required: 2,
        outputs: &["h"],
        text: "\
A is an operator V or D of MexHeatOperator. h is an approximate inverse of A by operator (Calderon-type)
preconditioning, D for V and V for D, on the same surface and time steps: the argument precond of MexGMRES.
form is as for MexHeatOperator and applies to the preconditioning operator. MexRelease frees h; A may be
released before it.",
        example: "\
gpu = MexInitOpenCL();
nodes = [0 0 0; 1 0 0; 0 1 0; 0 0 1];
triangles = [1 3 2; 1 2 4; 1 4 3; 2 3 4];
D = MexHeatOperator(gpu, 'D', nodes, triangles, 0.5, 1, 4);
b = MexMatrix(gpu, ones(16, 1));
[u, flag] = MexGMRES(gpu, D, b, 16, 1e-8, 1, MexHeatOperatorPreconditioner(gpu, D));
flag",
        see: &["MexHeatOperator", "MexHeatForward", "MexGMRES", "MexRelease"],
        run: |args| {
            let objects = args.objects()?;
            Ok(Out::Handle(operator_preconditioner_handle(objects, args.handle(1), form(args, 2)?)?).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexHeatMesh",
        title: "Read a closed surface of triangles from a file.",
        inputs: &[GPU, text("file")],
        required: 2,
        outputs: &["nodes", "triangles"],
        text: "\
The extension of the file tells the format: .obj, .off, .stl or .msh (Gmsh 2 or 4, ASCII); polygons are cut into triangles.
nodes is n x 3, triangles m x 3 with the numbers of nodes from 1 on, as MexHeatOperator takes them.",
        example: "\
gpu = MexInitOpenCL();
name = [tempname(), '.off'];
f = fopen(name, 'w');
fprintf(f, 'OFF\\n4 4 0\\n0 0 0\\n1 0 0\\n0 1 0\\n0 0 1\\n3 0 2 1\\n3 0 1 3\\n3 0 3 2\\n3 1 2 3\\n');
fclose(f);
[nodes, triangles] = MexHeatMesh(gpu, name);
delete(name);
triangles",
        see: &["MexHeatOperator"],
        run: mesh,
        ..Function::DEFAULT
    },
    Function {
        name: "MexHeatSamples",
        title: "Points and times where boundary values are projected.",
        inputs: &[GPU, handle_as("A", "matrix")],
        required: 2,
        outputs: &["points", "normals", "times"],
        text: "\
A is an operator of MexHeatOperator. MexHeatProject takes the values of a function at these points, with the outward normal
of each, and at these times: points and normals have a row for each point, times is a row.",
        example: "\
gpu = MexInitOpenCL();
nodes = [0 0 0; 1 0 0; 0 1 0; 0 0 1];
V = MexHeatOperator(gpu, 'V', nodes, [1 3 2; 1 2 4; 1 4 3; 2 3 4], 0.5, 1, 4);
[x, n, t] = MexHeatSamples(gpu, V);
size(x), size(t)",
        see: &["MexHeatProject", "MexHeatOperator"],
        run: samples,
        ..Function::DEFAULT
    },
    Function {
        name: "MexHeatProject",
        title: "Project boundary values onto the vectors of an operator.",
        inputs: &[GPU, handle_as("A", "matrix"), Input::new("values", Kind::Full)],
        required: 3,
        outputs: &["g"],
        text: "\
A is an operator of MexHeatOperator, values has a row for each point and a column for each time of MexHeatSamples. g, a new
column, is the L2 projection onto the vectors that A multiplies: for 'V' and 'Ks' constants on triangles, for 'K' and 'D'
hats at nodes, constant in each time step.",
        example: "\
gpu = MexInitOpenCL();
nodes = [0 0 0; 1 0 0; 0 1 0; 0 0 1];
K = MexHeatOperator(gpu, 'K', nodes, [1 3 2; 1 2 4; 1 4 3; 2 3 4], 0.5, 1, 4);
[x, n, t] = MexHeatSamples(gpu, K);
g = MexHeatProject(gpu, K, x(:, 1) * t);
MexSize(gpu, g)",
        see: &["MexHeatSamples", "MexHeatRightSide"],
        run: project,
        ..Function::DEFAULT
    },
    Function {
        name: "MexHeatRightSide",
        title: "Right-hand side of a boundary value problem of the heat equation.",
        inputs: &[GPU, handle_as("K", "other"), handle_as("g", "given")],
        required: 3,
        outputs: &["b"],
        text: "\
K is an operator 'K' or 'Ks' of MexHeatOperator, g the boundary values that are given, as of MexHeatProject with K. b is a new
column, with the mass matrix M: for u given (Dirichlet) b = M g / 2 + K g, and w solves V w = b; for w = alpha du/dn given
(Neumann) b = M' g / 2 - Ks g, and u solves D u = b. MexMultiply with MexHeatForward of V or D solves.",
        example: "\
gpu = MexInitOpenCL();
nodes = [0 0 0; 1 0 0; 0 1 0; 0 0 1];
triangles = [1 3 2; 1 2 4; 1 4 3; 2 3 4];
K = MexHeatOperator(gpu, 'K', nodes, triangles, 0.5, 1, 4);
V = MexHeatOperator(gpu, 'V', nodes, triangles, 0.5, 1, 4);
g = MexMatrix(gpu, kron((1:4)', ones(4, 1)));
w = MexMultiply(gpu, MexHeatForward(gpu, V), MexHeatRightSide(gpu, K, g));
u = MexHeatInterior(gpu, V, w, g, [0.2 0.2 0.2])",
        see: &["MexHeatProject", "MexHeatInterior", "MexHeatForward", "MexHeatOperator"],
        run: |args| {
            let objects = args.objects()?;
            Ok(Out::Handle(right_side_handle(objects, args.handle(1), args.handle(2))?).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexHeatInterior",
        title: "Temperature inside, from the boundary values.",
        inputs: &[GPU, handle_as("A", "matrix"), handle("w"), handle("u"), Input::new("points", Kind::Full)],
        required: 5,
        outputs: &["values"],
        text: "\
A is an operator of MexHeatOperator, for whose surface and time steps w on triangles and u at nodes are columns on the
device. points has a row of three coordinates for each point inside, which keeps a distance of about the size of a triangle
from the surface. values has a row for each point and a column for the middle of each time step.",
        example: "\
gpu = MexInitOpenCL();
nodes = [0 0 0; 1 0 0; 0 1 0; 0 0 1];
V = MexHeatOperator(gpu, 'V', nodes, [1 3 2; 1 2 4; 1 4 3; 2 3 4], 0.5, 1, 4);
u = MexHeatInterior(gpu, V, MexMatrix(gpu, zeros(16, 1)), MexMatrix(gpu, ones(16, 1)), [0.2 0.2 0.2])",
        see: &["MexHeatRightSide", "MexHeatOperator"],
        run: interior,
        ..Function::DEFAULT
    },
];

/// An array of three columns.
fn triples(rows: impl ExactSizeIterator<Item = [f64; 3]> + Clone) -> Out {
    let values = (0..3).flat_map(|d| rows.clone().map(move |row| row[d])).collect();
    Out::Reals { rows: rows.len(), values }
}

fn mesh(args: &Args<'_>) -> Outcome {
    args.objects()?;
    let mesh = Mesh::read(args.text(1)).map_err(|error| match error {
        Error::Value { argument: "mesh", expected, got } => Error::Value { argument: "file", expected, got },
        other => other,
    })?;
    let triangles = mesh.triangles().iter().map(|t| t.map(|node| f64::from(node) + 1.0));
    Ok(Answer::Several(vec![triples(mesh.nodes().iter().copied()), triples(triangles)]))
}

fn samples(args: &Args<'_>) -> Outcome {
    let found = sample_points(args.objects()?, args.handle(1))?;
    Ok(Answer::Several(vec![
        triples(found.points.into_iter()),
        triples(found.normals.into_iter()),
        Out::Reals { rows: 1, values: found.times },
    ]))
}

fn project(args: &Args<'_>) -> Outcome {
    let (objects, values) = (args.objects()?, args.full(2));
    let found = sample_points(objects, args.handle(1))?;
    let (rows, cols) = (found.points.len(), found.times.len());
    if (values.rows, values.cols) != (rows, cols) {
        let (expected, got) = (format!("{rows} x {cols}"), format!("{} x {}", values.rows, values.cols));
        return Err(Error::Shape { argument: "values", expected, got }.into());
    }
    Ok(Out::Handle(project_samples(objects, args.handle(1), &values.values.reals())?).into())
}

fn interior(args: &Args<'_>) -> Outcome {
    let points = rows("points", &args.full(4))?;
    let values = interior_values(args.objects()?, args.handle(1), args.handle(2), args.handle(3), &points)?;
    Ok(Out::Reals { rows: points.len(), values }.into())
}

/// The argument `form` at `position`.
fn form(args: &Args<'_>, position: usize) -> Result<Form, Fault> {
    let known = [("auto", Form::Auto), ("assembled", Form::Assembled), ("otf", Form::Otf)];
    choice(args, position, "form", &known)
}

/// The rows of an array of three columns.
fn rows(argument: &'static str, array: &Full<'_>) -> Result<Vec<[f64; 3]>, Fault> {
    if array.cols != 3 {
        let got = format!("{} x {}", array.rows, array.cols);
        return Err(Error::Shape { argument, expected: "three columns".into(), got }.into());
    }
    let values = array.values.reals();
    let at = |i: usize, d: usize| values[d * array.rows + i];
    Ok((0..array.rows).map(|i| [at(i, 0), at(i, 1), at(i, 2)]).collect())
}

fn operator(args: &Args<'_>) -> Outcome {
    let context = args.context()?;
    let kind = choice(args, 1, "kind", &[("V", Layer::V), ("K", Layer::K), ("Ks", Layer::Ks), ("D", Layer::D)])?;
    let form = form(args, 7)?;
    let nodes = rows("nodes", &args.full(2))?;
    let mut triangles = Vec::new();
    for (k, row) in rows("triangles", &args.full(3))?.into_iter().enumerate() {
        let count = nodes.len() as f64;
        if let Some(v) = row.iter().find(|v| !(v.fract() == 0.0 && **v >= 1.0 && **v <= count)) {
            let (expected, got) = (format!("whole numbers from 1 to {count}"), format!("{v} in row {}", k + 1));
            return Err(Error::Value { argument: "triangles", expected, got }.into());
        }
        triangles.push(row.map(|v| v as u32 - 1));
    }
    let mesh = Mesh::new(nodes, triangles)?;
    let params = HeatParams::new(args.real(4), args.real(5), args.count(6));
    let options = OperatorOptions { form, ..OperatorOptions::default() };
    let precision = if args.maybe_flag(8) == Some(true) { Precision::F32 } else { Precision::F64 };
    Ok(Out::Handle(operator_handle(registry(), &context, precision, &mesh, &params, kind, &options)?).into())
}
