//! Waves in either precision, on one device or on a team.

use clinalg::solve::Progress;
use clinalg::team::{self, Team};
use clinalg::wave::{Medium, Wave, WaveEnergy, WaveParams, WaveReport};
use clinalg::{Context, Real, Result, Vector};

use super::Content;
use super::cell::{Exclusive, ExclusiveGuard};
use crate::kind::{Info, Kind, ScalarType};

/// A wave in one precision, for one caller at a time.
#[derive(Debug)]
pub(crate) struct Membrane<T: Real> {
    pub(crate) context: Context,
    /// Rows and columns of its grids as matrices: points along x, and the product of those of the other directions.
    pub(crate) shape: (usize, usize),
    motion: Exclusive<Motion<T>>,
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
    fn of(context: &Context, motion: Motion<T>) -> Membrane<T> {
        let points = &motion.params().points;
        let shape = (points[0], points[1..].iter().product());
        Membrane { context: context.clone(), shape, motion: Exclusive::new(motion) }
    }

    pub(crate) fn new(context: &Context, params: &WaveParams, medium: Medium<'_, T>) -> Result<Membrane<T>> {
        Ok(Membrane::of(context, Motion::One(Wave::with_medium(Some(context), params, medium)?)))
    }

    /// On a team; grids that are read live in `context`.
    pub(crate) fn on_team(context: &Context, team: &Team, params: &WaveParams) -> Result<Membrane<T>> {
        context.require::<T>()?;
        Ok(Membrane::of(context, Motion::Team(Box::new(team::Wave::new(team, params)?))))
    }

    pub(crate) fn lock(&self) -> Result<ExclusiveGuard<'_, Motion<T>>> {
        self.motion.lock("wave")
    }
}

impl<T: Real> Content for Membrane<T> {
    /// It has the rows and columns of its grids as matrices.
    fn info(&self) -> Info {
        Info::new(Kind::Wave, ScalarType::of::<T>(), self.shape.0, self.shape.1)
    }
}
