//! Waves in either precision, on one device or on a team.

use std::sync::{Mutex, MutexGuard, PoisonError};

use clinalg::solve::Progress;
use clinalg::team::{self, Team};
use clinalg::wave::{Medium, Wave, WaveEnergy, WaveParams, WaveReport};
use clinalg::{Context, Precision, Real, Result, Vector};

/// A wave in one precision, for one caller at a time.
#[derive(Debug)]
pub struct Membrane<T: Real> {
    pub(crate) context: Context,
    motion: Mutex<Motion<T>>,
}

/// A wave on one device or on a team, from and to which the grids of a call are copied.
#[derive(Debug)]
pub(crate) enum Motion<T: Real> {
    One(Wave<T>),
    Team(Box<team::Wave<T>>),
}

/// Evaluates the body for the wave inside.
macro_rules! either {
    ($motion:expr, $wave:ident => $body:expr) => {
        match $motion {
            Motion::One($wave) => $body,
            Motion::Team($wave) => $body,
        }
    };
}

impl<T: Real> Motion<T> {
    pub(crate) fn params(&self) -> &WaveParams {
        either!(self, wave => wave.params())
    }

    /// Rows and columns of its grids as matrices: points along x, and the product of those of the other directions.
    pub(crate) fn shape(&self) -> (usize, usize) {
        let points = &self.params().points;
        (points[0], points[1..].iter().product())
    }

    pub(crate) fn steps(&self) -> u64 {
        either!(self, wave => wave.steps())
    }

    pub(crate) fn time(&self) -> f64 {
        either!(self, wave => wave.time())
    }

    pub(crate) fn energy(&mut self) -> Result<WaveEnergy> {
        either!(self, wave => wave.energy())
    }

    pub(crate) fn start_device(&mut self, u: &Vector<T>, v: Option<&Vector<T>>) -> Result<WaveReport> {
        match self {
            Motion::One(wave) => wave.start_device(u, v),
            Motion::Team(wave) => {
                let v = v.map(Vector::to_vec).transpose()?;
                wave.start(&u.to_vec()?, v.as_deref())?;
                Ok(WaveReport { steps: 0, implicit: None })
            }
        }
    }

    pub(crate) fn step(&mut self, steps: usize) -> Result<WaveReport> {
        match self {
            Motion::One(wave) => wave.step(steps),
            Motion::Team(wave) => wave.step(steps).map(|()| WaveReport { steps, implicit: None }),
        }
    }

    pub(crate) fn step_with(&mut self, steps: usize, progress: Progress<'_>) -> Result<WaveReport> {
        either!(self, wave => wave.step_with(steps, progress))
    }

    pub(crate) fn displacement_device(&mut self, u: &mut Vector<T>) -> Result<()> {
        match self {
            Motion::One(wave) => wave.displacement_device(u),
            Motion::Team(wave) => through_host(u, |values| wave.displacement(values)),
        }
    }

    pub(crate) fn velocity_device(&mut self, v: &mut Vector<T>) -> Result<()> {
        match self {
            Motion::One(wave) => wave.velocity_device(v),
            Motion::Team(wave) => through_host(v, |values| wave.velocity(values)),
        }
    }
}

fn through_host<T: Real>(to: &mut Vector<T>, read: impl FnOnce(&mut [T]) -> Result<()>) -> Result<()> {
    let mut values = vec![T::zero(); to.len()];
    read(&mut values)?;
    to.write(&values)
}

impl<T: Real> Membrane<T> {
    pub(crate) fn new(context: &Context, params: &WaveParams, medium: Medium<'_, T>) -> Result<Membrane<T>> {
        let wave = Wave::with_medium(Some(context), params, medium)?;
        Ok(Membrane { context: context.clone(), motion: Mutex::new(Motion::One(wave)) })
    }

    /// On a team; grids that are read live in `context`.
    pub(crate) fn on_team(context: &Context, team: &Team, params: &WaveParams) -> Result<Membrane<T>> {
        context.require::<T>()?;
        let wave = team::Wave::new(team, params)?;
        Ok(Membrane { context: context.clone(), motion: Mutex::new(Motion::Team(Box::new(wave))) })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Motion<T>> {
        // A panic leaves the last steps that were enqueued.
        self.motion.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A wave whose precision is known at run time only.
#[derive(Debug)]
pub enum AnyWave {
    /// In single precision.
    F32(Membrane<f32>),
    /// In double precision.
    F64(Membrane<f64>),
}

impl AnyWave {
    /// Its precision.
    pub fn precision(&self) -> Precision {
        match self {
            AnyWave::F32(_) => Precision::F32,
            AnyWave::F64(_) => Precision::F64,
        }
    }

    /// Points along x, and the product of those of the other directions.
    pub fn shape(&self) -> (usize, usize) {
        match self {
            AnyWave::F32(membrane) => membrane.lock().shape(),
            AnyWave::F64(membrane) => membrane.lock().shape(),
        }
    }
}
