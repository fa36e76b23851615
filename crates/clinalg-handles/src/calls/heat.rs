//! Operators of the heat equation behind handles.

use std::cell::RefCell;
use std::sync::Arc;

use clinalg::solve::{Operator, Stopping};
use clinalg::{Context, Error, Precision, Real, Result, Vector};

use clinalg_bem::Mesh;
use clinalg_bem::heat::{
    Form, Forward, HeatOperator, HeatParams, HeatSpace, Kind, OperatorOptions, OperatorPreconditioner,
};

use crate::object::{Object, RealElement};
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
    fn of<T: RealElement>(
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
    fn of<T: RealElement>(registry: &Registry, layer: &Layer<T>) -> Result<u64> {
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
pub fn opposite_handle(registry: &Registry, matrix: u64, form: Form) -> Result<u64> {
    fn of<T: RealElement>(registry: &Registry, layer: &Layer<T>, form: Form) -> Result<u64> {
        let options = OperatorOptions { form, ..OperatorOptions::default() };
        Ok(registry.operator(OperatorPreconditioner::new(&layer.space, &layer.matrix, &options)?))
    }
    match layer(registry, matrix)? {
        Either::F32(layer) => of(registry, &layer, form),
        Either::F64(layer) => of(registry, &layer, form),
    }
}

/// An operator in one of the two precisions.
enum Either {
    F32(Layer<f32>),
    F64(Layer<f64>),
}

/// What `handle` stands for.
fn layer(registry: &Registry, handle: u64) -> Result<Either> {
    fn of<T: RealElement>(object: &Object) -> Option<Layer<T>> {
        let share = |layer: &Layer<T>| Layer { space: layer.space.clone(), matrix: layer.matrix.clone() };
        T::of_operator(object)?.with(share)
    }
    let operand = Operand::new("matrix", handle, crate::Kind::OPERATOR);
    registry.call(&[operand], None, |inputs, _| {
        let found = of(inputs[0]).map(Either::F64).or_else(|| of(inputs[0]).map(Either::F32));
        found.ok_or_else(|| Error::Shape {
            argument: "matrix",
            expected: "an operator of the heat equation".into(),
            got: "another operator".into(),
        })
    })
}
