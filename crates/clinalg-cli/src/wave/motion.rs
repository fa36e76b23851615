//! A wave on whatever place.

use clinalg::multigrid::Separable;
use clinalg::solve::Progress;
use clinalg::wave::{ImplicitReport, Scheme, Wave, WaveState};
use clinalg::{Real, team};

pub(super) trait Motion<T: Real> {
    fn start(&mut self, u: &[T], v: Option<&[T]>) -> clinalg::Result<Option<ImplicitReport>>;
    fn start_separable(&mut self, u: &Separable, v: Option<&[T]>) -> clinalg::Result<Option<ImplicitReport>>;
    /// The largest difference of the displacement from `exact`; NaN if a value is NaN. All processes call it.
    fn error_max(&mut self, exact: &Separable) -> clinalg::Result<f64>;
    fn step_with(&mut self, steps: usize, progress: Progress<'_>) -> clinalg::Result<Option<ImplicitReport>>;
    fn displacement(&mut self, u: &mut [T]) -> clinalg::Result<()>;
    /// The total.
    fn energy(&mut self) -> clinalg::Result<f64>;
    fn steps(&self) -> u64;
    fn time(&self) -> f64;
    fn state(&mut self) -> clinalg::Result<WaveState<T>>;
    fn restore(&mut self, state: &WaveState<T>) -> clinalg::Result<()>;
    /// Whether its state has an initial guess of the next solution.
    fn is_implicit(&self) -> bool {
        false
    }
}

impl<T: Real> Motion<T> for Wave<T> {
    fn start(&mut self, u: &[T], v: Option<&[T]>) -> clinalg::Result<Option<ImplicitReport>> {
        Ok(Wave::start(self, u, v)?.implicit)
    }

    fn start_separable(&mut self, u: &Separable, v: Option<&[T]>) -> clinalg::Result<Option<ImplicitReport>> {
        Ok(Wave::start_separable(self, u, v)?.implicit)
    }

    fn error_max(&mut self, exact: &Separable) -> clinalg::Result<f64> {
        Wave::error_max(self, exact)
    }

    fn step_with(&mut self, steps: usize, progress: Progress<'_>) -> clinalg::Result<Option<ImplicitReport>> {
        Ok(Wave::step_with(self, steps, progress)?.implicit)
    }

    fn displacement(&mut self, u: &mut [T]) -> clinalg::Result<()> {
        Wave::displacement(self, u)
    }

    fn energy(&mut self) -> clinalg::Result<f64> {
        Ok(Wave::energy(self)?.total())
    }

    fn steps(&self) -> u64 {
        Wave::steps(self)
    }

    fn time(&self) -> f64 {
        Wave::time(self)
    }

    fn state(&mut self) -> clinalg::Result<WaveState<T>> {
        Wave::state(self)
    }

    fn restore(&mut self, state: &WaveState<T>) -> clinalg::Result<()> {
        Wave::restore(self, state)
    }

    fn is_implicit(&self) -> bool {
        self.params().scheme == Scheme::Implicit
    }
}

impl<T: Real> Motion<T> for team::Wave<T> {
    fn start(&mut self, u: &[T], v: Option<&[T]>) -> clinalg::Result<Option<ImplicitReport>> {
        team::Wave::start(self, u, v).map(|()| None)
    }

    fn start_separable(&mut self, u: &Separable, v: Option<&[T]>) -> clinalg::Result<Option<ImplicitReport>> {
        team::Wave::start_separable(self, u, v).map(|()| None)
    }

    fn error_max(&mut self, exact: &Separable) -> clinalg::Result<f64> {
        team::Wave::error_max(self, exact)
    }

    fn step_with(&mut self, steps: usize, progress: Progress<'_>) -> clinalg::Result<Option<ImplicitReport>> {
        Ok(team::Wave::step_with(self, steps, progress)?.implicit)
    }

    fn displacement(&mut self, u: &mut [T]) -> clinalg::Result<()> {
        team::Wave::displacement(self, u)?;
        gather(self, u)
    }

    fn energy(&mut self) -> clinalg::Result<f64> {
        Ok(team::Wave::energy(self)?.total())
    }

    fn steps(&self) -> u64 {
        team::Wave::steps(self)
    }

    fn time(&self) -> f64 {
        team::Wave::time(self)
    }

    fn state(&mut self) -> clinalg::Result<WaveState<T>> {
        let mut state = team::Wave::state(self)?;
        gather(self, &mut state.u)?;
        gather(self, &mut state.before)?;
        Ok(state)
    }

    fn restore(&mut self, state: &WaveState<T>) -> clinalg::Result<()> {
        team::Wave::restore(self, state)
    }
}

/// Brings the rows of all processes to the first one.
fn gather<T: Real>(wave: &team::Wave<T>, values: &mut [T]) -> clinalg::Result<()> {
    wave.team().gather(wave.partition(), wave.params().points[0], values)
}
