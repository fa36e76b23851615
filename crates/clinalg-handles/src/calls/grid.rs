//! The Poisson problem on boxes, on handles.

use clinalg::multigrid::{Coefficient, End, Grid, GridParams, GridPoisson, GridReport, SideValues, Tensor};
use clinalg::solve::{Progress, Stop};
use clinalg::{Context, Error, Precision, Real as _, Result, Scalar as _, Vector, ops};

use super::preconditioner::InverseOf;
use crate::kind::Kind;
use crate::object::{BoxState, Object, RealElement, typed_real};
use crate::registry::{Operand, Registry};

/// What errors call the handle of a solver.
const ARGUMENT: &str = "poisson";

fn narrowed<T: RealElement>(values: &[f64]) -> Vec<T> {
    values.iter().map(|&value| T::from_f64(value)).collect()
}

/// What varies over a box.
#[derive(Debug, Clone, Copy)]
pub enum BoxField<'a> {
    /// k, by which the constant tensor is multiplied.
    Coefficient(Coefficient<'a, f64>),
    /// The tensor.
    Tensor(Tensor<'a, f64>),
}

fn made<T: RealElement>(
    context: &Context,
    grid: &Grid,
    params: &GridParams,
    varying: Option<BoxField<'_>>,
) -> Result<Object> {
    let solver = match varying {
        None => GridPoisson::<T>::new(context, grid, params)?,
        Some(BoxField::Coefficient(Coefficient::Points(values))) => {
            GridPoisson::with_coefficient(context, grid, params, Coefficient::Points(&narrowed::<T>(values)))?
        }
        Some(BoxField::Coefficient(Coefficient::Cells(values))) => {
            GridPoisson::with_coefficient(context, grid, params, Coefficient::Cells(&narrowed::<T>(values)))?
        }
        Some(BoxField::Tensor(Tensor { diagonal, mixed })) => {
            let (diagonal, mixed) = (diagonal.map(narrowed::<T>), mixed.map(narrowed::<T>));
            let tensor = Tensor { diagonal: diagonal.each_ref().map(|d| &**d), mixed: mixed.each_ref().map(|d| &**d) };
            GridPoisson::with_tensor(context, grid, params, tensor)?
        }
    };
    Ok(T::erase_box(solver))
}

/// An error about a grid or parameters with the names that the options have in C and MATLAB.
fn with_name_of_option(error: Error) -> Error {
    match error {
        Error::Value { argument, expected, got } => {
            let argument = match argument {
                "size" => "lengths",
                "spacing" => "coordinates",
                "mixed" => "mixed_derivatives",
                other => other,
            };
            Error::Value { argument, expected, got }
        }
        other => other,
    }
}

/// What is done with a solver and vectors on its device.
trait OnBox {
    fn run<T: RealElement>(&self, state: &mut BoxState<T>, from: &Vector<T>) -> Result<Vector<T>>;
}

/// Integrated sources and side values, by unknown.
struct RightSide;

impl OnBox for RightSide {
    fn run<T: RealElement>(&self, state: &mut BoxState<T>, f: &Vector<T>) -> Result<Vector<T>> {
        state.poisson.right_side(f, &state.sides)
    }
}

/// Values at all points from those of the unknowns.
struct Points;

impl OnBox for Points {
    fn run<T: RealElement>(&self, state: &mut BoxState<T>, x: &Vector<T>) -> Result<Vector<T>> {
        let mut u = Vector::zeros(state.poisson.context(), state.poisson.grid().len())?;
        state.poisson.points(x, &state.sides, &mut u)?;
        Ok(u)
    }
}

impl Registry {
    /// A solver of `-div(k D grad u) + c u = f` on a box: [`GridPoisson`]. All sides have the value 0 until
    /// [`Registry::grid_poisson_set_side`]. [`Registry::release`] takes the handle with [`Kind::GRID_POISSON`].
    ///
    /// # Errors
    /// Those of [`GridPoisson::with_coefficient`]; [`Error::Value`] names `lengths`, `coordinates` and `mixed_derivatives` for `size`, `spacing` and
    /// `mixed`.
    pub fn grid_poisson(
        &self,
        context: &Context,
        precision: Precision,
        grid: &Grid,
        params: &GridParams,
        coefficient: Option<Coefficient<'_, f64>>,
    ) -> Result<u64> {
        self.grid_poisson_varying(context, precision, grid, params, coefficient.map(BoxField::Coefficient))
    }

    /// As [`Registry::grid_poisson`], with a coefficient or a tensor that varies: [`GridPoisson::with_tensor`].
    ///
    /// # Errors
    /// As [`Registry::grid_poisson`]; those of [`GridPoisson::with_tensor`].
    pub fn grid_poisson_varying(
        &self,
        context: &Context,
        precision: Precision,
        grid: &Grid,
        params: &GridParams,
        varying: Option<BoxField<'_>>,
    ) -> Result<u64> {
        let made = match precision {
            Precision::F32 => made::<f32>(context, grid, params, varying),
            Precision::F64 => made::<f64>(context, grid, params, varying),
        };
        Ok(self.insert(made.map_err(with_name_of_option)?))
    }

    /// Sets the values of a side, 0 without values: [`SideValues::set`].
    ///
    /// # Errors
    /// [`Error::Handle`]; those of the method.
    pub fn grid_poisson_set_side(&self, poisson: u64, axis: usize, end: End, values: Option<&[f64]>) -> Result<()> {
        self.call(&[Operand::new(ARGUMENT, poisson, Kind::GRID_POISSON)], None, |objects, _| {
            typed_real!(objects[0], ARGUMENT, T => {
                let state = &mut *T::of_box(objects[0])?.lock();
                let grid = state.poisson.grid();
                let values = match values {
                    Some(values) => narrowed::<T>(values),
                    None => {
                        let other = |&(other, _): &(usize, &usize)| other != axis;
                        vec![T::from_f64(0.0); grid.points().iter().enumerate().filter(other).map(|(_, n)| n).product()]
                    }
                };
                SideValues::set(&mut state.sides, axis, end, values)
            })
        })
    }

    /// Solves for arrays on the host: [`GridPoisson::solve_with`]; `progress` must not use the solver.
    ///
    /// # Errors
    /// [`Error::Handle`]; those of the method.
    pub fn grid_poisson_solve(
        &self,
        poisson: u64,
        f: &[f64],
        u: &mut [f64],
        progress: Progress<'_>,
    ) -> Result<GridReport> {
        self.call(&[Operand::new(ARGUMENT, poisson, Kind::GRID_POISSON)], None, |objects, _| {
            typed_real!(objects[0], ARGUMENT, T => {
                let BoxState { poisson, sides } = &mut *T::of_box(objects[0])?.lock();
                let mut values = narrowed::<T>(u);
                let report = poisson.solve_with(&narrowed::<T>(f), sides, &mut values, progress)?;
                if report.stop != Stop::NotFinite {
                    u.iter_mut().zip(values).for_each(|(u, value)| *u = value.into_f64());
                }
                Ok(report)
            })
        })
    }

    /// Solves for f and u on the device, without a copy on the host: [`GridPoisson::solve_device_with`]. Without u, from
    /// zero into a new object. Gives the handle of u, which stays as it was where the solve fails or the data are not
    /// finite.
    ///
    /// # Errors
    /// [`Error::Handle`], [`Error::Precision`]; those of the method.
    pub fn grid_poisson_solve_vector(
        &self,
        poisson: u64,
        f: u64,
        u: Option<u64>,
        progress: Progress<'_>,
    ) -> Result<(u64, GridReport)> {
        let inputs = [Operand::new(ARGUMENT, poisson, Kind::GRID_POISSON), Operand::new("f", f, Kind::FULL)];
        self.solve_into(u, ("f", f), |u| {
            self.call(&inputs, Some(Operand::new("u", u, Kind::FULL)), |objects, output| {
                typed_real!(objects[0], ARGUMENT, T => {
                    let BoxState { poisson, sides } = &mut *T::of_box(objects[0])?.lock();
                    let f = objects[1].stored::<T>("f")?.full("f")?;
                    let u = output.expect("an output was named").stored_mut::<T>("u")?.full_mut("u")?;
                    poisson.solve_device_with(f, sides, u, progress)
                })
            })
        })
    }

    /// The matrix that a solver inverts, an operator on vectors of the unknowns: [`GridPoisson::operator`]. The solver may be
    /// released before it.
    ///
    /// # Errors
    /// [`Error::Handle`]; those of the method.
    pub fn grid_poisson_operator(&self, poisson: u64) -> Result<u64> {
        self.call(&[Operand::new(ARGUMENT, poisson, Kind::GRID_POISSON)], None, |objects, _| {
            typed_real!(objects[0], ARGUMENT, T => {
                Ok(Object::operator(T::of_box(objects[0])?.lock().poisson.operator()?))
            })
        })
        .map(|object| self.insert(object))
    }

    /// A cycle as the approximate inverse of that matrix, as an operator: [`GridPoisson::preconditioner`].
    ///
    /// # Errors
    /// [`Error::Handle`]; those of the method.
    pub fn grid_poisson_preconditioner(&self, poisson: u64) -> Result<u64> {
        self.call(&[Operand::new(ARGUMENT, poisson, Kind::GRID_POISSON)], None, |objects, _| {
            typed_real!(objects[0], ARGUMENT, T => {
                Ok(Object::operator(InverseOf::new(T::of_box(objects[0])?.lock().poisson.preconditioner()?)))
            })
        })
        .map(|object| self.insert(object))
    }

    /// The right-hand side for [`Registry::grid_poisson_operator`], a value per unknown, of the source f, a value per point, and
    /// the values of the sides, into `b` or a new vector: [`GridPoisson::right_side`]. Gives its handle.
    ///
    /// # Errors
    /// [`Error::Handle`], [`Error::Precision`]; those of the method.
    pub fn grid_poisson_right_side(&self, poisson: u64, f: u64, b: Option<u64>) -> Result<u64> {
        self.on_box(&RightSide, poisson, ("f", f), ("b", b))
    }

    /// The values at all points from those of the unknowns and the sides, into `u` or a new vector: [`GridPoisson::points`].
    /// Gives its handle.
    ///
    /// # Errors
    /// [`Error::Handle`], [`Error::Precision`]; those of the method.
    pub fn grid_poisson_points(&self, poisson: u64, x: u64, u: Option<u64>) -> Result<u64> {
        self.on_box(&Points, poisson, ("x", x), ("u", u))
    }

    fn on_box(
        &self,
        work: &impl OnBox,
        poisson: u64,
        (name, from): (&'static str, u64),
        (output, to): (&'static str, Option<u64>),
    ) -> Result<u64> {
        let inputs = [Operand::new(ARGUMENT, poisson, Kind::GRID_POISSON), Operand::new(name, from, Kind::FULL)];
        let target = to.map(|to| Operand::new(output, to, Kind::FULL));
        let made = self.call(&inputs, target, |objects, out| {
            typed_real!(objects[0], ARGUMENT, T => {
                let state = &mut *T::of_box(objects[0])?.lock();
                let made = work.run::<T>(state, objects[1].stored::<T>(name)?.full(name)?)?;
                match out {
                    Some(out) => {
                        ops::copy(&made, out.stored_mut::<T>(output)?.full_mut(output)?)?;
                        Ok(None)
                    }
                    None => Ok(Some(Object::from(made))),
                }
            })
        })?;
        Ok(made.map_or_else(|| to.expect("a call writes its output or makes one"), |object| self.insert(object)))
    }
}
