//! Elastodynamics by boundary elements.

use clinalg::{Complex, Context, Error, Precision};
use clinalg_bem::ElementMesh;
use clinalg_bem::elastodynamics::{C64, Domain, Known, Material, Options, Rule, Solution};
use clinalg_handles::{ElastodynamicsMethod, Kind as Object, ScalarType};

use super::grid::choice;
use super::{GPU, Outcome, count, handle, real, registry, text};
use crate::args::{Args, Full, Input, Kind, Numbers};
use crate::emit::{Answer, Out, Target};
use crate::fault::Fault;
use crate::function::Function;
use crate::interrupt;

const SINGLE: Input = Input::new("single", Kind::Flag);
const PROBLEM: Input = handle("problem");
const FREQUENCY: Input = real("frequency");

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "MexElasto",
        title: "Make a problem of elastodynamics: a surface with a material on one side.",
        inputs: &[
            GPU,
            Input::new("nodes", Kind::Full),
            Input::new("elements", Kind::Full),
            Input::new("material", Kind::Full),
            text("domain"),
            count("boundary"),
            count("rule"),
            SINGLE,
        ],
        required: 4,
        outputs: &["problem"],
        text: "\
For (lambda + mu) grad div u + mu Laplace u + rho w^2 u = 0 with the time factor exp(i w t), by collocated
boundary elements: displacements u and tractions t are constant on each of m elements. nodes is n x 3,
elements m x 4 with the numbers of nodes from 1 on, anticlockwise seen from outside; a triangle names its
last node twice, and m x 3 are triangles. The surface is closed. material is [shear modulus, Poisson's ratio,
density] or, with hysteretic damping D that makes the modulus G (1 + 2 i D), [G, nu, rho, D].
  domain    'interior' (default): the material is inside; 'exterior': outside, up to infinity
  boundary  number of elements with unknowns; those after them enclose an open patch (default: all)
  rule      Gauss points per direction, an even number from 2 to 16, or 0 for fewer points far away (default 8)
  single    1 computes in single precision (default 0)
MexRelease frees it.",
        example: "\
gpu = MexInitOpenCL();
nodes = [-1 -1 -1; 1 -1 -1; 1 1 -1; -1 1 -1; -1 -1 1; 1 -1 1; 1 1 1; -1 1 1];
elements = [1 4 3 2; 5 6 7 8; 1 2 6 5; 2 3 7 6; 3 4 8 7; 4 1 5 8];
problem = MexElasto(gpu, nodes, elements, [1 0.3 1 0.01]);
[centres, normals] = MexElastoSurface(gpu, problem);
[u, t] = MexElastoSolve(gpu, problem, 1, zeros(18, 1), reshape(normals.', [], 1));
size(u)",
        see: &["MexElastoSurface", "MexElastoMatrices", "MexElastoSolve", "MexElastoEvaluate", "MexRelease"],
        run: |args| {
            let context = args.context()?;
            Ok(Out::Handle(problem(args, &context, [4, 5, 6, 7])?).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexElastoAssemble",
        title: "Assemble the matrices H and G of elastodynamics on the device.",
        inputs: &[
            GPU,
            Input::new("nodes", Kind::Full),
            Input::new("elements", Kind::Full),
            Input::new("material", Kind::Full),
            FREQUENCY,
            text("domain"),
            count("boundary"),
            count("rule"),
            SINGLE,
        ],
        required: 5,
        outputs: &["H", "G"],
        text: "\
H u = G t at the angular frequency, complex, 3 m x 3 m for m elements: row 3 (i - 1) + l is for a force in the
direction l at the centre of element i, column 3 (j - 1) + k for the component k on element j. Frequency 0 gives
the static matrices. The other arguments are those of MexElasto, which keeps what several frequencies share.",
        example: "\
gpu = MexInitOpenCL();
nodes = [-1 -1 -1; 1 -1 -1; 1 1 -1; -1 1 -1; -1 -1 1; 1 -1 1; 1 1 1; -1 1 1];
elements = [1 4 3 2; 5 6 7 8; 1 2 6 5; 2 3 7 6; 3 4 8 7; 4 1 5 8];
[H, G] = MexElastoAssemble(gpu, nodes, elements, [1 0.3 1], 0);
H = MexHandleMatrix(gpu, H);
max(abs(sum(H(:, 1 : 3 : end), 2))) < 1e-12",
        see: &["MexElasto", "MexElastoMatrices", "MexSolveDense", "MexHandleMatrix", "MexRelease"],
        run: |args| {
            let context = args.context()?;
            let made = problem(args, &context, [5, 6, 7, 8])?;
            let matrices = registry().elastodynamics_assemble(made, args.real(4));
            registry().release(made, Object::ELASTODYNAMICS)?;
            Ok(Answer::Several(matrices?.map(Out::Handle).into()))
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexElastoMatrices",
        title: "Assemble the matrices H and G of a problem of elastodynamics.",
        inputs: &[GPU, PROBLEM, FREQUENCY],
        required: 3,
        outputs: &["H", "G"],
        text: "As MexElastoAssemble for a problem of MexElasto.",
        example: "\
gpu = MexInitOpenCL();
nodes = [1 1 1; 1 -1 -1; -1 1 -1; -1 -1 1];
problem = MexElasto(gpu, nodes, [1 2 3; 1 4 2; 1 3 4; 2 4 3], [1 0.3 1], 'exterior');
[H, G] = MexElastoMatrices(gpu, problem, 0.5);
info = MexInfo(gpu, H);
info.rows",
        see: &["MexElasto", "MexElastoAssemble", "MexRelease"],
        run: |args| {
            let objects = args.objects()?;
            let matrices = objects.elastodynamics_assemble(args.handle(1), args.real(2))?;
            Ok(Answer::Several(matrices.map(Out::Handle).into()))
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexElastoSurface",
        title: "Centres and normals of the boundary elements of a problem of elastodynamics.",
        inputs: &[GPU, PROBLEM],
        required: 2,
        outputs: &["centres", "normals"],
        text: "\
m x 3 each; the normals have length 1 and point out of the material, in an exterior problem into the cavity.",
        example: "\
gpu = MexInitOpenCL();
nodes = [1 1 1; 1 -1 -1; -1 1 -1; -1 -1 1];
problem = MexElasto(gpu, nodes, [1 2 3; 1 4 2; 1 3 4; 2 4 3], [1 0.3 1]);
[centres, normals] = MexElastoSurface(gpu, problem);
sum(centres .* normals, 2)",
        see: &["MexElasto", "MexElastoSolve"],
        run: |args| {
            let surface = args.objects()?.elastodynamics_surface(args.handle(1))?;
            let columns = |rows: &[[f64; 3]]| Out::Reals {
                rows: rows.len(),
                values: (0..3).flat_map(|d| rows.iter().map(move |row| row[d])).collect(),
            };
            Ok(Answer::Several(vec![columns(&surface.centres), columns(&surface.normals)]))
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexElastoSolve",
        title: "Solve a problem of elastodynamics for given boundary values.",
        inputs: &[
            GPU,
            PROBLEM,
            FREQUENCY,
            Input::new("known", Kind::Full),
            Input::new("given", Kind::Array),
            text("method"),
        ],
        required: 5,
        outputs: &["u", "t"],
        text: "\
known has 3 m numbers, x, y and z of each element in turn: 1 where the displacement is known, 0 where the
traction is. Each column of given has the 3 m known values, which may be complex; u and t are all
displacements and tractions, in columns as given.
  method  'lu' (default) factorises the stored matrix once for all columns; 'otf' iterates by GMRES, computes the
          products from the Gauss points each time and stores no matrix
Ctrl-C stops it after the current iteration of GMRES, with 'lu' after the assembly or the factorisation, with an
error that says how far it got.",
        example: "\
gpu = MexInitOpenCL();
nodes = [-1 -1 -1; 1 -1 -1; 1 1 -1; -1 1 -1; -1 -1 1; 1 -1 1; 1 1 1; -1 1 1];
elements = [1 4 3 2; 5 6 7 8; 1 2 6 5; 2 3 7 6; 3 4 8 7; 4 1 5 8];
problem = MexElasto(gpu, nodes, elements, [1 0.3 1], 'exterior');
[centres, normals] = MexElastoSurface(gpu, problem);
[u, t] = MexElastoSolve(gpu, problem, 1, zeros(18, 1), reshape(-normals.', [], 1), 'lu');
abs(u(6)) > 0",
        see: &["MexElasto", "MexElastoSurface", "MexElastoEvaluate"],
        run: solve,
        ..Function::DEFAULT
    },
    Function {
        name: "MexElastoEvaluate",
        title: "Displacements and stresses of elastodynamics at points in the material.",
        inputs: &[
            GPU,
            PROBLEM,
            FREQUENCY,
            Input::new("u", Kind::Array),
            Input::new("t", Kind::Array),
            Input::new("points", Kind::Full),
        ],
        required: 6,
        outputs: &["field", "stress"],
        text: "\
u and t are 3 m displacements and tractions of MexElastoSolve, points p x 3. field is 3 x p, stress 9 x p: xx, xy, xz,
yx, ... of each point. Near the surface, within a third of an element, both lose accuracy.",
        example: "\
gpu = MexInitOpenCL();
nodes = [-1 -1 -1; 1 -1 -1; 1 1 -1; -1 1 -1; -1 -1 1; 1 -1 1; 1 1 1; -1 1 1];
elements = [1 4 3 2; 5 6 7 8; 1 2 6 5; 2 3 7 6; 3 4 8 7; 4 1 5 8];
problem = MexElasto(gpu, nodes, elements, [1 0.3 1], 'exterior');
[centres, normals] = MexElastoSurface(gpu, problem);
[u, t] = MexElastoSolve(gpu, problem, 1, zeros(18, 1), reshape(-normals.', [], 1));
[field, stress] = MexElastoEvaluate(gpu, problem, 1, u, t, [0 0 3; 4 0 0]);
size(stress)",
        see: &["MexElasto", "MexElastoSolve"],
        run: evaluate,
        ..Function::DEFAULT
    },
];

/// A problem from nodes, elements and material at 1 to 3 and the optional arguments at the other places.
fn problem(args: &Args<'_>, context: &Context, [domain, boundary, rule, single]: [usize; 4]) -> Result<u64, Fault> {
    let known = [("interior", Domain::Interior), ("exterior", Domain::Exterior)];
    let domain = choice(args, domain, "domain", &known)?;
    let (nodes, elements) = (args.full(1), args.full(2));
    let nodes: Vec<[f64; 3]> = columns::<3>("nodes", &nodes)?;
    let faces: Vec<[f64; 4]> = if elements.cols == 3 {
        columns::<3>("elements", &elements)?.into_iter().map(|[a, b, c]| [a, b, c, c]).collect()
    } else {
        columns::<4>("elements", &elements)?
    };
    let most = nodes.len() as f64;
    let mut indices = Vec::with_capacity(faces.len());
    for (k, face) in faces.iter().enumerate() {
        if let Some(v) = face.iter().find(|v| !(v.fract() == 0.0 && **v >= 1.0 && **v <= most)) {
            let (expected, got) = (format!("whole numbers from 1 to {most}"), format!("{v} in row {}", k + 1));
            return Err(Error::Value { argument: "elements", expected, got }.into());
        }
        indices.push(face.map(|v| v as u32 - 1));
    }
    let count = args.maybe_count(boundary).unwrap_or(indices.len());
    let mesh = ElementMesh::new(nodes, indices, count)?;
    let material = match args.full(3).values.reals()[..] {
        [shear, poisson, density] => Material::new(shear, poisson, density)?,
        [shear, poisson, density, damping] => Material::new(shear, poisson, density)?.with_damping(damping)?,
        ref other => {
            let (expected, got) = ("[G nu rho] or [G nu rho D]".into(), format!("{} numbers", other.len()));
            return Err(Error::Shape { argument: "material", expected, got }.into());
        }
    };
    let rule = match args.maybe_count(rule) {
        None => Rule::Fixed(8),
        Some(0) => Rule::Adaptive,
        Some(n) => Rule::Fixed(n),
    };
    let precision = if args.maybe_flag(single) == Some(true) { Precision::F32 } else { Precision::F64 };
    let options = Options::default().rule(rule);
    Ok(registry().elastodynamics(context, precision, &mesh, material, domain, &options)?)
}

/// The rows of an array of `N` columns.
fn columns<const N: usize>(argument: &'static str, array: &Full<'_>) -> Result<Vec<[f64; N]>, Fault> {
    if array.cols != N {
        let (expected, got) = (format!("{N} columns"), format!("{} x {}", array.rows, array.cols));
        return Err(Error::Shape { argument, expected, got }.into());
    }
    let values = array.values.reals();
    Ok((0..array.rows).map(|i| std::array::from_fn(|d| values[d * array.rows + i])).collect())
}

/// The values of an array, real or complex.
fn numbers(array: &Full<'_>) -> Vec<C64> {
    match &array.values {
        Numbers::ComplexDouble(parts) => parts.joined().to_vec(),
        Numbers::ComplexSingle(parts) => {
            parts.joined().iter().map(|v| Complex::new(f64::from(v.re), f64::from(v.im))).collect()
        }
        real => real.reals().into_iter().map(C64::from).collect(),
    }
}

/// A complex result of `rows` rows.
fn complex(rows: usize, values: Vec<C64>) -> Out {
    let cols = values.len() / rows.max(1);
    let fill = move |room: Target<'_>| {
        if let Target::ComplexDouble(target) = room {
            target.copy_from_slice(&values);
        }
        Ok(())
    };
    Out::Full { rows, cols, scalar: ScalarType::C64, fill: Box::new(fill) }
}

fn solve(args: &Args<'_>) -> Outcome {
    let objects = args.objects()?;
    let methods = [("lu", ElastodynamicsMethod::Lu), ("otf", ElastodynamicsMethod::OnTheFly)];
    let method = choice(args, 5, "method", &methods)?;
    let size = 3 * objects.elastodynamics_surface(args.handle(1))?.centres.len();
    let flags = args.full(3).values.reals();
    if flags.len() != size {
        return Err(Error::Length { argument: "known", expected: size, got: flags.len() }.into());
    }
    let kind = |v: &f64| match *v {
        1.0 => Ok(Known::Displacement),
        0.0 => Ok(Known::Traction),
        other => Err(Error::value("known", "1 for a displacement or 0 for a traction", other)),
    };
    let known = flags.iter().map(kind).collect::<Result<Vec<_>, _>>()?;
    let known = known.chunks_exact(3).map(|k| [k[0], k[1], k[2]]).collect();
    let given = numbers(&args.full(4));
    if given.is_empty() || !given.len().is_multiple_of(size) {
        return Err(Error::Length { argument: "given", expected: size, got: given.len() }.into());
    }
    let sets: Vec<&[C64]> = given.chunks_exact(size).collect();
    let (problem, frequency) = (args.handle(1), args.real(2));
    let solutions = objects.elastodynamics_solve(problem, frequency, method, known, &sets, &mut interrupt::progress)?;
    let all = |of: fn(&Solution) -> &[C64]| complex(size, solutions.iter().flat_map(of).copied().collect());
    Ok(Answer::Several(vec![all(Solution::displacements), all(Solution::tractions)]))
}

fn evaluate(args: &Args<'_>) -> Outcome {
    let objects = args.objects()?;
    let size = 3 * objects.elastodynamics_surface(args.handle(1))?.centres.len();
    let (u, t) = (numbers(&args.full(3)), numbers(&args.full(4)));
    for (argument, values) in [("u", &u), ("t", &t)] {
        if values.len() != size {
            let expected = format!("{size} numbers each in u and t, three for each element");
            let got = format!("{} in u and {} in t", u.len(), t.len());
            return Err(Error::Shape { argument, expected, got }.into());
        }
    }
    let solution = Solution::new(u, t, args.real(2))?;
    let points = columns::<3>("points", &args.full(5))?;
    let (u, sigma) = objects.elastodynamics_evaluate(args.handle(1), &solution, &points, args.outputs > 1)?;
    let stresses = if args.outputs > 1 { sigma.as_flattened().as_flattened().to_vec() } else { Vec::new() };
    Ok(Answer::Several(vec![complex(3, u.concat()), complex(9, stresses)]))
}
