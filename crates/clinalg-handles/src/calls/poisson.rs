//! The Poisson problem on handles.

use clinalg::multigrid::{Coefficient, End, Grid, Poisson, PoissonParams, PoissonReport, Tensor};
use clinalg::solve::{Progress, Stop};
use clinalg::{Context, Error, Precision, Real, Result, Vector, ops};

use super::preconditioner::InverseOf;
use crate::kind::Kind;
use crate::object::{Object, PoissonSolver, PoissonState, typed_real};
use crate::registry::{Operand, Registry};

/// What errors call the handle of a solver.
const ARGUMENT: &str = "poisson";

fn narrowed<T: Real>(values: &[f64]) -> Vec<T> {
    values.iter().map(|&value| T::from_f64(value)).collect()
}

/// What varies over a grid.
#[derive(Debug, Clone, Copy)]
pub enum PoissonField<'a> {
    /// k, by which the constant tensor is multiplied.
    Coefficient(Coefficient<'a, f64>),
    /// The tensor.
    Tensor(Tensor<'a, f64>),
}

fn made<T: Real>(
    context: &Context,
    grid: &Grid,
    params: &PoissonParams,
    varying: Option<PoissonField<'_>>,
) -> Result<Object> {
    let solver = match varying {
        None => Poisson::<T>::new(context, grid, params)?,
        Some(PoissonField::Coefficient(Coefficient::Points(values))) => {
            Poisson::with_coefficient(context, grid, params, Coefficient::Points(&narrowed::<T>(values)))?
        }
        Some(PoissonField::Coefficient(Coefficient::Cells(values))) => {
            Poisson::with_coefficient(context, grid, params, Coefficient::Cells(&narrowed::<T>(values)))?
        }
        Some(PoissonField::Tensor(Tensor { diagonal, mixed })) => {
            let (diagonal, mixed) = (diagonal.map(narrowed::<T>), mixed.map(narrowed::<T>));
            let tensor = Tensor { diagonal: diagonal.each_ref().map(|d| &**d), mixed: mixed.each_ref().map(|d| &**d) };
            Poisson::with_tensor(context, grid, params, tensor)?
        }
    };
    Ok(PoissonSolver::new(solver).into())
}

/// An error about a grid or parameters with the names that the options have in C and MATLAB.
fn with_name_of_option(error: Error) -> Error {
    match error {
        Error::Value { argument, expected, got } => {
            let argument = match argument {
                "size" => "lengths",
                "spacing" => "coordinates",
                other => other,
            };
            Error::Value { argument, expected, got }
        }
        other => other,
    }
}

/// What is done with a solver and vectors on its device.
trait OnPoisson {
    fn run<T: Real>(&self, state: &mut PoissonState<T>, from: &Vector<T>) -> Result<Vector<T>>;
}

/// Integrated sources and side values, by unknown.
struct RightSide;

impl OnPoisson for RightSide {
    fn run<T: Real>(&self, state: &mut PoissonState<T>, f: &Vector<T>) -> Result<Vector<T>> {
        let (operator, sides) = state.operator()?;
        operator.right_side(f, sides)
    }
}

/// Values at all points from those of the unknowns.
struct Points;

impl OnPoisson for Points {
    fn run<T: Real>(&self, state: &mut PoissonState<T>, x: &Vector<T>) -> Result<Vector<T>> {
        let mut u = Vector::zeros(x.context(), state.poisson.grid().len())?;
        let (operator, sides) = state.operator()?;
        operator.points(x, sides, &mut u)?;
        Ok(u)
    }
}

impl Registry {
    /// A solver of `-div(k D grad u) + c u = f`: [`Poisson`]. Sides have no values until
    /// [`Registry::poisson_set_side`]. [`Registry::release`] takes the handle with [`Kind::POISSON`].
    ///
    /// # Errors
    /// Those of [`Poisson::with_coefficient`]; [`Error::Value`] names `lengths` and `coordinates` for `size` and `spacing`.
    pub fn poisson(
        &self,
        context: &Context,
        precision: Precision,
        grid: &Grid,
        params: &PoissonParams,
        coefficient: Option<Coefficient<'_, f64>>,
    ) -> Result<u64> {
        self.poisson_varying(context, precision, grid, params, coefficient.map(PoissonField::Coefficient))
    }

    /// As [`Registry::poisson`], with a coefficient or a tensor that varies: [`Poisson::with_tensor`].
    ///
    /// # Errors
    /// As [`Registry::poisson`]; those of [`Poisson::with_tensor`].
    pub fn poisson_varying(
        &self,
        context: &Context,
        precision: Precision,
        grid: &Grid,
        params: &PoissonParams,
        varying: Option<PoissonField<'_>>,
    ) -> Result<u64> {
        let made = match precision {
            Precision::F32 => made::<f32>(context, grid, params, varying),
            Precision::F64 => made::<f64>(context, grid, params, varying),
        };
        Ok(self.insert(made.map_err(with_name_of_option)?))
    }

    /// Sets the values of a side, or takes them away: [`SideValues::set`](clinalg::multigrid::SideValues::set),
    /// [`SideValues::clear`](clinalg::multigrid::SideValues::clear).
    ///
    /// # Errors
    /// [`Error::Handle`]; those of the method.
    pub fn poisson_set_side(&self, poisson: u64, axis: usize, end: End, values: Option<&[f64]>) -> Result<()> {
        self.call(&[Operand::new(ARGUMENT, poisson, Kind::POISSON)], None, |objects, _| {
            typed_real!(objects[0], ARGUMENT, T => {
                let state = &mut *objects[0].expect_content::<PoissonSolver<T>>().lock()?;
                match values {
                    Some(values) => state.sides_mut().set(axis, end, narrowed::<T>(values)),
                    None => state.sides_mut().clear(axis, end),
                }
            })
        })
    }

    /// Solves for arrays on the host: [`Poisson::solve_with`]; `progress` must not use the solver.
    ///
    /// # Errors
    /// [`Error::Handle`]; those of the method.
    pub fn poisson_solve(
        &self,
        poisson: u64,
        f: &[f64],
        u: &mut [f64],
        progress: Progress<'_>,
    ) -> Result<PoissonReport> {
        self.call(&[Operand::new(ARGUMENT, poisson, Kind::POISSON)], None, |objects, _| {
            typed_real!(objects[0], ARGUMENT, T => {
                let mut values = narrowed::<T>(u);
                let state = &mut *objects[0].expect_content::<PoissonSolver<T>>().lock()?;
                let report = state.solver()?.solve_with(&narrowed::<T>(f), &mut values, progress)?;
                if report.stop != Stop::NotFinite {
                    u.iter_mut().zip(values).for_each(|(u, value)| *u = value.into_f64());
                }
                Ok(report)
            })
        })
    }

    /// Solves for f and u on the device, without a copy on the host: [`Poisson::solve_device_with`]. Without u, from
    /// zero into a new object. Gives the handle of u, which stays as it was where the solve fails or the data are not
    /// finite.
    ///
    /// # Errors
    /// [`Error::Handle`], [`Error::Precision`]; those of the method.
    pub fn poisson_solve_vector(
        &self,
        poisson: u64,
        f: u64,
        u: Option<u64>,
        progress: Progress<'_>,
    ) -> Result<(u64, PoissonReport)> {
        let inputs = [Operand::new(ARGUMENT, poisson, Kind::POISSON), Operand::new("f", f, Kind::FULL)];
        self.solve_into(u, ("f", f), |u| {
            self.call(&inputs, Some(Operand::new("u", u, Kind::FULL)), |objects, output| {
                typed_real!(objects[0], ARGUMENT, T => {
                    let f = objects[1].stored::<T>("f")?.full("f")?;
                    let u = output.expect("an output was named").stored_mut::<T>("u")?.full_mut("u")?;
                    objects[0].expect_content::<PoissonSolver<T>>().lock()?.solver()?.solve_device_with(f, u, progress)
                })
            })
        })
    }

    /// The matrix that a solver inverts, an operator on vectors of the unknowns: [`Poisson::operator`]. The solver may be
    /// released before it.
    ///
    /// # Errors
    /// [`Error::Handle`]; those of the method.
    pub fn poisson_operator(&self, poisson: u64) -> Result<u64> {
        self.call(&[Operand::new(ARGUMENT, poisson, Kind::POISSON)], None, |objects, _| {
            typed_real!(objects[0], ARGUMENT, T => {
                Ok(Object::operator(objects[0].expect_content::<PoissonSolver<T>>().lock()?.poisson.operator()?))
            })
        })
        .map(|object| self.insert(object))
    }

    /// A cycle as the approximate inverse of that matrix, as an operator: [`Poisson::preconditioner`].
    ///
    /// # Errors
    /// [`Error::Handle`]; those of the method.
    pub fn poisson_preconditioner(&self, poisson: u64) -> Result<u64> {
        self.call(&[Operand::new(ARGUMENT, poisson, Kind::POISSON)], None, |objects, _| {
            typed_real!(objects[0], ARGUMENT, T => {
                Ok(Object::operator(InverseOf::new(objects[0].expect_content::<PoissonSolver<T>>().lock()?.poisson.preconditioner()?)))
            })
        })
        .map(|object| self.insert(object))
    }

    /// The right-hand side for [`Registry::poisson_operator`], a value per unknown, of the source f, a value per point, and
    /// the values of the sides, into `b` or a new vector: [`PoissonOperator::right_side`](clinalg::multigrid::PoissonOperator::right_side). Gives its handle.
    ///
    /// # Errors
    /// [`Error::Handle`], [`Error::Precision`]; those of the method.
    pub fn poisson_right_side(&self, poisson: u64, f: u64, b: Option<u64>) -> Result<u64> {
        self.on_poisson(&RightSide, poisson, ("f", f), ("b", b))
    }

    /// The values at all points from those of the unknowns and the sides, into `u` or a new vector: [`PoissonOperator::points`](clinalg::multigrid::PoissonOperator::points).
    /// Gives its handle.
    ///
    /// # Errors
    /// [`Error::Handle`], [`Error::Precision`]; those of the method.
    pub fn poisson_points(&self, poisson: u64, x: u64, u: Option<u64>) -> Result<u64> {
        self.on_poisson(&Points, poisson, ("x", x), ("u", u))
    }

    fn on_poisson(
        &self,
        work: &impl OnPoisson,
        poisson: u64,
        (name, from): (&'static str, u64),
        (output, to): (&'static str, Option<u64>),
    ) -> Result<u64> {
        let inputs = [Operand::new(ARGUMENT, poisson, Kind::POISSON), Operand::new(name, from, Kind::FULL)];
        let target = to.map(|to| Operand::new(output, to, Kind::FULL));
        let made = self.call(&inputs, target, |objects, out| {
            typed_real!(objects[0], ARGUMENT, T => {
                let state = &mut *objects[0].expect_content::<PoissonSolver<T>>().lock()?;
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
