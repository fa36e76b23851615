//! The wave equation on handles.

use clinalg::Scalar as _;
use clinalg::solve::Progress;
use clinalg::wave::{Medium, WaveEnergy, WaveParams, WaveReport};
use clinalg::{Context, Dense, Error, Precision, Real, Result, Vector};

use crate::kind::Kind;
use crate::object::{Membrane, Object, typed_real};
use crate::registry::{Operand, Registry};

/// Where a wave is.
#[derive(Debug, Clone, PartialEq)]
pub struct WaveState {
    /// What it was made with.
    pub params: WaveParams,
    /// Its precision.
    pub precision: Precision,
    /// Steps since the start.
    pub steps: u64,
    /// Time since the start.
    pub time: f64,
}

/// What is read of a wave.
#[derive(Debug, Clone, Copy)]
enum Reading {
    Displacement,
    Velocity,
}

/// `params` with the largest of the speeds, where there are some.
fn with_largest(params: &WaveParams, speed: Option<&[f64]>) -> WaveParams {
    let c = speed.map_or(params.c, |speed| speed.iter().fold(f64::MIN, |most, c| most.max(*c)));
    WaveParams { c, ..params.clone() }
}

fn made<T: Real>(context: &Context, params: &WaveParams, speed: Option<&[f64]>) -> Result<Object> {
    let speed = speed.map(|speed| speed.iter().map(|&c| T::from_f64(c)).collect::<Vec<T>>());
    Ok(Membrane::new(context, params, Medium { speed: speed.as_deref(), force: None })?.into())
}

/// C and MATLAB call the core's `size` `lengths`.
pub(super) fn of_lengths(error: Error) -> Error {
    error.renamed("size", "lengths")
}

impl Registry {
    /// A wave at rest: [`Wave::with_medium`](clinalg::wave::Wave::with_medium), with a `speed` for each point, the
    /// largest of which takes the place of [`WaveParams::c`], or with that one. Gives its handle, which
    /// [`Registry::release`] takes with [`Kind::WAVE`].
    ///
    /// # Errors
    /// Those of [`Wave::with_medium`](clinalg::wave::Wave::with_medium); they name `lengths` for `size`.
    pub fn wave(
        &self,
        context: &Context,
        precision: Precision,
        params: &WaveParams,
        speed: Option<&[f64]>,
    ) -> Result<u64> {
        let params = with_largest(params, speed);
        let wave = match precision {
            Precision::F32 => made::<f32>(context, &params, speed),
            Precision::F64 => made::<f64>(context, &params, speed),
        };
        Ok(self.insert(wave.map_err(of_lengths)?))
    }

    /// The largest stable time step of the explicit scheme: [`WaveParams::limit`] for `speed` as in [`Registry::wave`].
    ///
    /// # Errors
    /// Those of [`WaveParams::limit`], with `lengths` for `size`; [`Error::Length`] and [`Error::Value`] that name
    /// `speed`.
    pub fn wave_limit(params: &WaveParams, speed: Option<&[f64]>) -> Result<f64> {
        let params = with_largest(params, speed);
        let limit = params.limit().map_err(of_lengths)?;
        let Some(speed) = speed else { return Ok(limit) };
        if speed.len() != params.total_points() {
            return Err(Error::Length { argument: "speed", expected: params.total_points(), got: speed.len() });
        }
        match speed.iter().find(|c| c.is_nan() || **c <= 0.0) {
            Some(c) => Err(Error::value("speed", "finite numbers above 0", c)),
            None => Ok(limit),
        }
    }

    /// Sets displacement and velocity, a value for each point, at time 0:
    /// [`Wave::start_device`](clinalg::wave::Wave::start_device).
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle), [`Error::Precision`](clinalg::Error::Precision) and those of the
    /// method.
    pub fn wave_start(&self, wave: u64, u: u64, v: Option<u64>) -> Result<WaveReport> {
        let v = v.map(|v| Operand::new("v", v, Kind::FULL));
        let inputs = [Operand::new("wave", wave, Kind::WAVE), Operand::new("u", u, Kind::FULL)];
        let inputs: Vec<_> = inputs.into_iter().chain(v).collect();
        self.call(&inputs, None, |objects, _| {
            typed_real!(objects[0], "wave", T => {
                let u = objects[1].stored::<T>("u")?.full("u")?;
                let v = objects.get(2).map(|v| v.stored::<T>("v")?.full("v")).transpose()?;
                objects[0].expect_content::<Membrane<T>>().lock()?.start_device(u, v)
            })
        })
    }

    /// Makes steps: [`Wave::step`](clinalg::wave::Wave::step).
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle) and those of the method.
    pub fn wave_step(&self, wave: u64, steps: usize) -> Result<WaveReport> {
        self.call(
            &[Operand::new("wave", wave, Kind::WAVE)],
            None,
            |objects, _| typed_real!(objects[0], "wave", T => objects[0].expect_content::<Membrane<T>>().lock()?.step(steps)),
        )
    }

    /// Makes steps until `progress` ends the call: [`Wave::step_with`](clinalg::wave::Wave::step_with).
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle) and those of the method.
    pub fn wave_step_with(&self, wave: u64, steps: usize, progress: Progress<'_>) -> Result<WaveReport> {
        self.call(
            &[Operand::new("wave", wave, Kind::WAVE)],
            None,
            |objects, _| typed_real!(objects[0], "wave", T => objects[0].expect_content::<Membrane<T>>().lock()?.step_with(steps, progress)),
        )
    }

    /// The displacement into `u`, or into a new matrix with a row for each point along x; gives the handle of the
    /// result.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle), [`Error::Precision`](clinalg::Error::Precision) and those of
    /// [`Wave::displacement_device`](clinalg::wave::Wave::displacement_device).
    pub fn wave_displacement(&self, wave: u64, u: Option<u64>) -> Result<u64> {
        self.wave_reading(wave, Reading::Displacement, "u", u)
    }

    /// The velocity into `v`, or into a new matrix with a row for each point along x; gives the handle of the result.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle), [`Error::Precision`](clinalg::Error::Precision) and those of
    /// [`Wave::velocity_device`](clinalg::wave::Wave::velocity_device).
    pub fn wave_velocity(&self, wave: u64, v: Option<u64>) -> Result<u64> {
        self.wave_reading(wave, Reading::Velocity, "v", v)
    }

    fn wave_reading(&self, wave: u64, reading: Reading, argument: &'static str, out: Option<u64>) -> Result<u64> {
        let target = out.map(|out| Operand::new(argument, out, Kind::FULL));
        let made = self.call(&[Operand::new("wave", wave, Kind::WAVE)], target, |objects, out| {
            typed_real!(objects[0], "wave", T => {
                let membrane = objects[0].expect_content::<Membrane<T>>();
                let mut wave = membrane.lock()?;
                let (rows, columns) = membrane.shape;
                let mut read = |to: &mut Vector<T>| match reading {
                    Reading::Displacement => wave.displacement_device(to),
                    Reading::Velocity => wave.velocity_device(to),
                };
                match out {
                    Some(out) => read(out.stored_mut::<T>(argument)?.full_mut(argument)?).map(|()| None),
                    None => {
                        let mut made = Dense::<T>::zeros(&membrane.context, rows, columns)?;
                        read(made.as_vector_mut())?;
                        Ok(Some(Object::from(made)))
                    }
                }
            })
        })?;
        Ok(self.result(made, out))
    }

    /// The discrete energy: [`Wave::energy`](clinalg::wave::Wave::energy).
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle) and those of the method.
    pub fn wave_energy(&self, wave: u64) -> Result<WaveEnergy> {
        self.call(
            &[Operand::new("wave", wave, Kind::WAVE)],
            None,
            |objects, _| typed_real!(objects[0], "wave", T => objects[0].expect_content::<Membrane<T>>().lock()?.energy()),
        )
    }

    /// Parameters, steps and time.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle).
    pub fn wave_state(&self, wave: u64) -> Result<WaveState> {
        self.call(&[Operand::new("wave", wave, Kind::WAVE)], None, |objects, _| {
            typed_real!(objects[0], "wave", T => {
                let wave = objects[0].expect_content::<Membrane<T>>().lock()?;
                let params = wave.params().clone();
                Ok(WaveState { params, precision: T::PRECISION, steps: wave.steps(), time: wave.time() })
            })
        })
    }
}
