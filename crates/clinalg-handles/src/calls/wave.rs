//! The wave equation on handles.

use clinalg::Scalar as _;
use clinalg::solve::Progress;
use clinalg::wave::{WaveEnergy, WaveParams, WaveReport};
use clinalg::{Context, Dense, Precision, Result, Vector};

use crate::kind::Kind;
use crate::object::{AnyWave, Membrane, Object, RealElement, typed_real};
use crate::registry::{Operand, Registry};

/// Where a wave is.
#[derive(Debug, Clone, Copy, PartialEq)]
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

impl Registry {
    /// A membrane at rest: [`Wave::new`](clinalg::wave::Wave::new). Gives its handle, which [`Registry::release`] takes with [`Kind::WAVE`].
    ///
    /// # Errors
    /// Those of [`Wave::new`](clinalg::wave::Wave::new).
    pub fn wave(&self, context: &Context, precision: Precision, params: &WaveParams) -> Result<u64> {
        Ok(self.insert(Object::Wave(match precision {
            Precision::F32 => AnyWave::F32(Membrane::new(context, params)?),
            Precision::F64 => AnyWave::F64(Membrane::new(context, params)?),
        })))
    }

    /// Sets displacement and velocity, grids of n^2 values, at time 0: [`Wave::start_device`](clinalg::wave::Wave::start_device).
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle), [`Error::Precision`](clinalg::Error::Precision) and those of the method.
    pub fn wave_start(&self, wave: u64, u: u64, v: Option<u64>) -> Result<WaveReport> {
        let v = v.map(|v| Operand::new("v", v, Kind::FULL));
        let inputs = [Operand::new("wave", wave, Kind::WAVE), Operand::new("u", u, Kind::FULL)];
        let inputs: Vec<_> = inputs.into_iter().chain(v).collect();
        self.call(&inputs, None, |objects, _| {
            typed_real!(objects[0], "wave", T => {
                let u = objects[1].stored::<T>("u")?.full("u")?;
                let v = objects.get(2).map(|v| v.stored::<T>("v")?.full("v")).transpose()?;
                T::of_wave(objects[0])?.lock().start_device(u, v)
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
            |objects, _| typed_real!(objects[0], "wave", T => T::of_wave(objects[0])?.lock().step(steps)),
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
            |objects, _| typed_real!(objects[0], "wave", T => T::of_wave(objects[0])?.lock().step_with(steps, progress)),
        )
    }

    /// The displacement into `u`, or into a new n by n matrix; gives the handle of the result.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle), [`Error::Precision`](clinalg::Error::Precision) and those of
    /// [`Wave::displacement_device`](clinalg::wave::Wave::displacement_device).
    pub fn wave_displacement(&self, wave: u64, u: Option<u64>) -> Result<u64> {
        self.wave_reading(wave, Reading::Displacement, "u", u)
    }

    /// The velocity into `v`, or into a new n by n matrix; gives the handle of the result.
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
                let membrane = T::of_wave(objects[0])?;
                let mut wave = membrane.lock();
                let n = wave.params().n;
                let mut read = |to: &mut Vector<T>| match reading {
                    Reading::Displacement => wave.displacement_device(to),
                    Reading::Velocity => wave.velocity_device(to),
                };
                match out {
                    Some(out) => read(out.stored_mut::<T>(argument)?.full_mut(argument)?).map(|()| None),
                    None => {
                        let mut made = Dense::<T>::zeros(&membrane.context, n, n)?;
                        read(made.as_vector_mut())?;
                        Ok(Some(Object::from(made)))
                    }
                }
            })
        })?;
        Ok(made.map_or_else(|| out.expect("a call writes its output or makes one"), |o| self.insert(o)))
    }

    /// The discrete energy: [`Wave::energy`](clinalg::wave::Wave::energy).
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle) and those of the method.
    pub fn wave_energy(&self, wave: u64) -> Result<WaveEnergy> {
        self.call(
            &[Operand::new("wave", wave, Kind::WAVE)],
            None,
            |objects, _| typed_real!(objects[0], "wave", T => T::of_wave(objects[0])?.lock().energy()),
        )
    }

    /// Parameters, steps and time.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle).
    pub fn wave_state(&self, wave: u64) -> Result<WaveState> {
        self.call(&[Operand::new("wave", wave, Kind::WAVE)], None, |objects, _| {
            typed_real!(objects[0], "wave", T => {
                let wave = T::of_wave(objects[0])?.lock();
                Ok(WaveState { params: *wave.params(), precision: T::PRECISION, steps: wave.steps(), time: wave.time() })
            })
        })
    }
}
