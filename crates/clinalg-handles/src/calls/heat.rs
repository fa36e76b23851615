//! Operators of the heat equation behind handles.

use std::cell::RefCell;
use std::sync::Arc;

use clinalg::solve::{Operator, Stopping};
use clinalg::{Context, Error, Precision, Real, Result, Vector};

use clinalg_bem::heat::data::{BoundaryFunction, SamplePoints, Sampled, project_nodes, project_triangles, samples_of};
use clinalg_bem::heat::{
    Form, Forward, HeatOperator, HeatParams, HeatSpace, Kind, OperatorOptions, OperatorPreconditioner, Problem,
    interior,
};
use clinalg_bem::{Mesh, Point};

use crate::object::Object;
use crate::registry::{Operand, Registry};

/// What the handle of an operator stands for.
struct Layer<T: Real> {
    space: HeatSpace<T>,
    matrix: Arc<HeatOperator<T>>,
}

impl<T: Real> Operator<T> for Layer<T> {
    fn rows(&self) -> usize {
        self.matrix.rows()
    }

    fn cols(&self) -> usize {
        self.matrix.cols()
    }

    fn context(&self) -> &Context {
        self.matrix.context()
    }

    fn apply(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        self.matrix.apply(alpha, x, beta, y)
    }
}

/// The inverse of V or D: its products are solves.
struct Inverse<T: Real> {
    work: RefCell<(Forward<T>, Vector<T>)>,
    context: Context,
    size: usize,
}

impl<T: Real> Operator<T> for Inverse<T> {
    fn rows(&self) -> usize {
        self.size
    }

    fn cols(&self) -> usize {
        self.size
    }

    fn context(&self) -> &Context {
        &self.context
    }

    fn apply(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        // Where rounding or a NaN ends a solve above the tolerance, its result is as good as there is.
        let tolerance = Stopping::default().tolerance_of::<T>();
        let (forward, solution) = &mut *self.work.borrow_mut();
        forward.solve_into(x, solution, tolerance, &mut |_| {})?;
        clinalg::ops::update(alpha, solution, beta, y)
    }
}

/// Makes an operator on `mesh` and names it in `registry`: its handle stands for a matrix in products and Krylov methods, and
/// [`Registry::release`] takes it with [`Kind::OPERATOR`](crate::Kind::OPERATOR).
///
/// # Errors
/// Those of [`HeatSpace::new`] and [`HeatSpace::operator`].
pub fn operator_handle(
    registry: &Registry,
    context: &Context,
    precision: Precision,
    mesh: &Mesh,
    params: &HeatParams,
    kind: Kind,
    options: &OperatorOptions,
) -> Result<u64> {
    fn of<T: Real>(
        registry: &Registry,
        context: &Context,
        (mesh, params): (&Mesh, &HeatParams),
        (kind, options): (Kind, &OperatorOptions),
    ) -> Result<u64> {
        let space = HeatSpace::<T>::new(context, mesh, params)?;
        let matrix = Arc::new(space.operator(kind, options)?);
        Ok(registry.operator(Layer { space, matrix }))
    }
    match precision {
        Precision::F32 => of::<f32>(registry, context, (mesh, params), (kind, options)),
        Precision::F64 => of::<f64>(registry, context, (mesh, params), (kind, options)),
    }
}

/// Names in `registry` the inverse of `matrix`, the handle of V or D, by [`Forward`]: its products are solves, to rounding. The
/// diagonal block is inverted here. The operator lives on as long as either handle.
///
/// # Errors
/// [`Error::Handle`](clinalg::Error::Handle) that names `matrix`; [`Error::Shape`](clinalg::Error::Shape) for another operator; those of [`Forward::new`].
pub fn forward_handle(registry: &Registry, matrix: u64) -> Result<u64> {
    fn of<T: Real>(registry: &Registry, layer: &Layer<T>) -> Result<u64> {
        let (context, size) = (layer.context().clone(), layer.rows());
        let work = RefCell::new((Forward::new(&layer.matrix)?, Vector::zeros(&context, size)?));
        Ok(registry.operator(Inverse { work, context, size }))
    }
    match layer(registry, matrix)? {
        Either::F32(layer) => of(registry, &layer),
        Either::F64(layer) => of(registry, &layer),
    }
}

/// Names in `registry` an approximate inverse of `matrix`, the handle of V or D, by [`OperatorPreconditioner`], whose blocks are stored as
/// `form` says.
///
/// # Errors
/// [`Error::Handle`](clinalg::Error::Handle) that names `matrix`; [`Error::Shape`](clinalg::Error::Shape) for another operator; those of [`OperatorPreconditioner::new`].
pub fn operator_preconditioner_handle(registry: &Registry, matrix: u64, form: Form) -> Result<u64> {
    fn of<T: Real>(registry: &Registry, layer: &Layer<T>, form: Form) -> Result<u64> {
        let options = OperatorOptions { form, ..OperatorOptions::default() };
        Ok(registry.operator(OperatorPreconditioner::new(&layer.space, &layer.matrix, &options)?))
    }
    match layer(registry, matrix)? {
        Either::F32(layer) => of(registry, &layer, form),
        Either::F64(layer) => of(registry, &layer, form),
    }
}

/// The L2 projection of a function on the surface and in time onto the vectors that the operator of `matrix` multiplies: constants on
/// triangles or hats at nodes, constant in each time step. Gives the handle of a new vector.
///
/// # Errors
/// [`Error::Handle`](clinalg::Error::Handle) and [`Error::Shape`](clinalg::Error::Shape) that name `matrix`; those of
/// [`project_nodes`] and [`project_triangles`].
pub fn project_handle(registry: &Registry, matrix: u64, f: &dyn BoundaryFunction) -> Result<u64> {
    fn of<T: Real>(registry: &Registry, layer: &Layer<T>, f: &dyn BoundaryFunction) -> Result<u64> {
        let (mesh, params) = (layer.space.mesh(), layer.space.params());
        let values = match layer.matrix.kind().tries_nodes() {
            true => project_nodes(mesh, params, f)?,
            false => project_triangles(mesh, params, f)?,
        };
        let values: Vec<T> = values.into_iter().map(T::from_f64).collect();
        Ok(registry.insert(Vector::from_slice(layer.context(), &values)?))
    }
    match layer(registry, matrix)? {
        Either::F32(layer) => of(registry, &layer, f),
        Either::F64(layer) => of(registry, &layer, f),
    }
}

/// Where [`project_samples`] takes the values of a function for the operator of `matrix`.
///
/// # Errors
/// [`Error::Handle`](clinalg::Error::Handle) and [`Error::Shape`](clinalg::Error::Shape) that name `matrix`; those of [`samples_of`].
pub fn sample_points(registry: &Registry, matrix: u64) -> Result<SamplePoints> {
    match layer(registry, matrix)? {
        Either::F32(layer) => samples_of(layer.space.mesh(), layer.space.params()),
        Either::F64(layer) => samples_of(layer.space.mesh(), layer.space.params()),
    }
}

/// As [`project_handle`], of a function whose values at [`sample_points`] are known, point by point at each time.
///
/// # Errors
/// As [`project_handle`]; [`Error::Length`](clinalg::Error::Length) that names `values`.
pub fn project_samples(registry: &Registry, matrix: u64, values: &[f64]) -> Result<u64> {
    let SamplePoints { points, times, .. } = sample_points(registry, matrix)?;
    let expected = points.len() * times.len();
    if values.len() != expected {
        return Err(Error::Length { argument: "values", expected, got: values.len() });
    }
    project_handle(registry, matrix, &Sampled { values, points: points.len() })
}

/// The right-hand side of a boundary value problem from the given boundary values, a vector, by the operator `other`, K or Ks:
/// [`Problem::right_side`]. Gives the handle of a new vector.
///
/// # Errors
/// [`Error::Handle`](clinalg::Error::Handle), [`Error::Precision`](clinalg::Error::Precision), [`Error::Shape`](clinalg::Error::Shape);
/// [`Error::Value`](clinalg::Error::Value) for V or D; those of the method.
pub fn right_side_handle(registry: &Registry, other: u64, given: u64) -> Result<u64> {
    fn of<T: Real>(registry: &Registry, layer: &Layer<T>, given: u64) -> Result<u64> {
        let problem = match layer.matrix.kind() {
            Kind::Ks => Problem::Neumann,
            Kind::K => Problem::Dirichlet,
            kind => return Err(Error::value("other", "the operator K or Ks", format!("{kind:?}"))),
        };
        let given = values_of::<T>(registry, "given", given)?;
        Ok(registry.insert(problem.right_side(&layer.space, &layer.matrix, &given)?))
    }
    match layer_as(registry, "other", other)? {
        Either::F32(layer) => of(registry, &layer, given),
        Either::F64(layer) => of(registry, &layer, given),
    }
}

/// u inside the domain at the middle of each time step, from w on triangles and u at nodes, vectors for the operators on the surface of
/// `matrix`: [`interior`]. One time step after the other.
///
/// # Errors
/// [`Error::Handle`](clinalg::Error::Handle), [`Error::Precision`](clinalg::Error::Precision), [`Error::Shape`](clinalg::Error::Shape);
/// those of [`interior`].
pub fn interior_values(registry: &Registry, matrix: u64, w: u64, u: u64, points: &[Point]) -> Result<Vec<f64>> {
    fn of<T: Real>(registry: &Registry, layer: &Layer<T>, w: u64, u: u64, points: &[Point]) -> Result<Vec<f64>> {
        let (w, u) = (values_of::<T>(registry, "w", w)?, values_of::<T>(registry, "u", u)?);
        interior(layer.space.mesh(), layer.space.params(), &w, &u, points)
    }
    match layer(registry, matrix)? {
        Either::F32(layer) => of(registry, &layer, w, u, points),
        Either::F64(layer) => of(registry, &layer, w, u, points),
    }
}

/// The values of a vector in this precision.
fn values_of<T: Real>(registry: &Registry, argument: &'static str, handle: u64) -> Result<Vec<f64>> {
    registry.call(&[Operand::new(argument, handle, crate::Kind::FULL)], None, |inputs, _| {
        let values = inputs[0].stored::<T>(argument)?.full(argument)?.to_vec()?;
        Ok(values.into_iter().map(Real::into_f64).collect())
    })
}

/// An operator in one of the two precisions.
enum Either {
    F32(Layer<f32>),
    F64(Layer<f64>),
}

/// What `handle` stands for.
fn layer(registry: &Registry, handle: u64) -> Result<Either> {
    layer_as(registry, "matrix", handle)
}

/// As [`layer`] for another argument.
fn layer_as(registry: &Registry, argument: &'static str, handle: u64) -> Result<Either> {
    fn of<T: Real>(object: &Object) -> Result<Option<Layer<T>>> {
        object.with_operator(|layer: &Layer<T>| Layer { space: layer.space.clone(), matrix: layer.matrix.clone() })
    }
    let operand = Operand::new(argument, handle, crate::Kind::OPERATOR);
    registry.call(&[operand], None, |inputs, _| {
        let found = of(inputs[0])?.map(Either::F64).or(of(inputs[0])?.map(Either::F32));
        found.ok_or_else(|| Error::Shape {
            argument,
            expected: "an operator of the heat equation".into(),
            got: "an operator of another kind".into(),
        })
    })
}
