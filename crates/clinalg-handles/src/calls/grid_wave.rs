//! The wave equation on boxes, on handles.

use clinalg::solve::Progress;
use clinalg::wave::{BoxWave, BoxWaveParams, WaveEnergy};
use clinalg::{Context, Error, Precision, Result, Vector};

use crate::kind::Kind;
use crate::object::{Object, RealElement, typed_real};
use crate::registry::{Operand, Registry};

/// What errors call the handle of a wave.
const ARGUMENT: &str = "wave";

fn made<T: RealElement>(context: &Context, params: &BoxWaveParams, speed: &[f64]) -> Result<Object> {
    let speed: Vec<T> = speed.iter().map(|&c| T::from_f64(c)).collect();
    Ok(T::erase_grid_wave(BoxWave::new(context, params, &speed)?))
}

/// What is read of a wave.
#[derive(Debug, Clone, Copy)]
enum Reading {
    Displacement,
    Velocity,
}

impl Reading {
    fn read<T: RealElement>(self, wave: &BoxWave<T>, to: &mut Vector<T>) -> Result<()> {
        match self {
            Reading::Displacement => wave.displacement_device(to),
            Reading::Velocity => {
                let mut values = vec![T::zero(); to.len()];
                wave.velocity(&mut values)?;
                to.write(&values)
            }
        }
    }
}

impl Registry {
    /// A wave on a box, at rest: [`BoxWave::new`] with a speed for each point or one for all. Gives its handle, which [`Registry::release`]
    /// takes with [`Kind::GRID_WAVE`].
    ///
    /// # Errors
    /// Those of [`BoxWave::new`]; [`Error::Value`] names `lengths` for `size`.
    pub fn grid_wave(
        &self,
        context: &Context,
        precision: Precision,
        params: &BoxWaveParams,
        speed: &[f64],
    ) -> Result<u64> {
        let made = match precision {
            Precision::F32 => made::<f32>(context, params, speed),
            Precision::F64 => made::<f64>(context, params, speed),
        };
        let made = made.map_err(|error| match error {
            Error::Value { argument: "size", expected, got } => Error::Value { argument: "lengths", expected, got },
            other => other,
        })?;
        Ok(self.insert(made))
    }

    /// Sets displacement and velocity, vectors or dense matrices with a value for each point, at time 0; they pass through the host's memory.
    ///
    /// # Errors
    /// [`Error::Handle`], [`Error::Precision`]; those of [`BoxWave::start`].
    pub fn grid_wave_start(&self, wave: u64, u: u64, v: Option<u64>) -> Result<()> {
        let inputs = [Operand::new(ARGUMENT, wave, Kind::GRID_WAVE), Operand::new("u", u, Kind::FULL)];
        let v = v.map(|v| Operand::new("v", v, Kind::FULL));
        let inputs: Vec<_> = inputs.into_iter().chain(v).collect();
        self.call(&inputs, None, |objects, _| {
            typed_real!(objects[0], ARGUMENT, T => {
                let u = objects[1].stored::<T>("u")?.full("u")?.to_vec()?;
                let v = objects.get(2).map(|v| v.stored::<T>("v")?.full("v")?.to_vec()).transpose()?;
                T::of_grid_wave(objects[0])?.lock().start(&u, v.as_deref())
            })
        })
    }

    /// Makes steps until `progress` ends the call: [`BoxWave::step_with`]; enqueues them all where there is no progress to tell. Gives the
    /// number of steps made and the time reached.
    ///
    /// # Errors
    /// [`Error::Handle`] and those of the method.
    pub fn grid_wave_step(&self, wave: u64, steps: usize, progress: Option<Progress<'_>>) -> Result<(usize, f64)> {
        self.call(&[Operand::new(ARGUMENT, wave, Kind::GRID_WAVE)], None, |objects, _| {
            typed_real!(objects[0], ARGUMENT, T => {
                let mut wave = T::of_grid_wave(objects[0])?.lock();
                let made = match progress {
                    Some(progress) => wave.step_with(steps, progress)?,
                    None => wave.step(steps).map(|()| steps)?,
                };
                Ok((made, wave.time()))
            })
        })
    }

    /// The displacement into `u`, or into a new vector; gives the handle of the result.
    ///
    /// # Errors
    /// [`Error::Handle`], [`Error::Precision`] and those of [`BoxWave::displacement_device`].
    pub fn grid_wave_displacement(&self, wave: u64, u: Option<u64>) -> Result<u64> {
        self.grid_wave_reading(wave, Reading::Displacement, "u", u)
    }

    /// The velocity into `v`, or into a new vector; it passes through the host's memory. Gives the handle of the result.
    ///
    /// # Errors
    /// [`Error::Handle`], [`Error::Precision`] and those of [`BoxWave::velocity`].
    pub fn grid_wave_velocity(&self, wave: u64, v: Option<u64>) -> Result<u64> {
        self.grid_wave_reading(wave, Reading::Velocity, "v", v)
    }

    fn grid_wave_reading(&self, wave: u64, reading: Reading, name: &'static str, out: Option<u64>) -> Result<u64> {
        let target = out.map(|out| Operand::new(name, out, Kind::FULL));
        let made = self.call(&[Operand::new(ARGUMENT, wave, Kind::GRID_WAVE)], target, |objects, out| {
            typed_real!(objects[0], ARGUMENT, T => {
                let motion = T::of_grid_wave(objects[0])?;
                let wave = motion.lock();
                match out {
                    Some(out) => {
                        let to = out.stored_mut::<T>(name)?.full_mut(name)?;
                        if to.len() != motion.points() {
                            return Err(Error::Length { argument: name, expected: motion.points(), got: to.len() });
                        }
                        reading.read(&wave, to).map(|()| None)
                    }
                    None => {
                        let mut made = Vector::<T>::zeros(wave.context(), motion.points())?;
                        reading.read(&wave, &mut made)?;
                        Ok(Some(Object::from(made)))
                    }
                }
            })
        })?;
        Ok(self.result(made, out))
    }

    /// The discrete energy: [`BoxWave::energy`].
    ///
    /// # Errors
    /// [`Error::Handle`] and those of the method.
    pub fn grid_wave_energy(&self, wave: u64) -> Result<WaveEnergy> {
        self.call(
            &[Operand::new(ARGUMENT, wave, Kind::GRID_WAVE)],
            None,
            |objects, _| typed_real!(objects[0], ARGUMENT, T => T::of_grid_wave(objects[0])?.lock().energy()),
        )
    }
}
