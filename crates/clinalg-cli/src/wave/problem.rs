//! What is integrated, and where.

use clinalg::multigrid::Backend;
use clinalg::wave::{Amplitude, ImplicitReport, Medium, Wave, WaveParams};
use clinalg::{Real, team};
use clinalg_ode::Function;

use super::Args;
use super::motion::Motion;
use super::shape::{Initial, Shape};
use crate::checkpoint::Fingerprint;
use crate::data::{InputField, Lattice};
use crate::executor::{Executor, check_memory};
use crate::exit::{Failure, usage};
use crate::global::Global;

/// Values at the points, beside the displacement at the start.
pub(super) struct PointData<T> {
    velocity: Option<Vec<T>>,
    speed: Option<Vec<T>>,
    force: Option<Vec<T>>,
    /// The largest speed.
    pub(super) c: f64,
}

impl<T: Real> PointData<T> {
    /// Those of the options, and the factor of the force.
    pub(super) fn read(args: &Args, lattice: &Lattice) -> Result<(PointData<T>, Amplitude), Failure> {
        let values = |option: &'static str, text: &Option<String>| -> Result<Option<Vec<f64>>, Failure> {
            let given = text.as_deref().map(|text| InputField::new(option, text, lattice.dim())).transpose()?;
            given.map(|given| given.at_points(lattice, |_| true)).transpose()
        };
        let velocity = values("--velocity", &args.velocity)?;
        let speed = values("--speed", &args.speed)?;
        let force = values("--force", &args.force)?;
        let factor = Function::parse(args.force_time.as_deref().unwrap_or("1"), &[])
            .map_err(|error| Failure::usage(format!("--force-time: {error}")))?;
        let c = speed.as_ref().map_or(args.c, |speed| speed.iter().copied().fold(f64::MIN, f64::max));
        if c.is_nan() || c <= 0.0 {
            return usage!("--speed is at most {c}; it must be positive at every point");
        }
        let [velocity, speed, force] =
            [velocity, speed, force].map(|values| values.map(|values| values.into_iter().map(T::from_f64).collect()));
        Ok((PointData { velocity, speed, force, c }, Box::new(move |t| factor.at(&[], t))))
    }
}

impl Args {
    /// Whether the speed varies or a force acts.
    pub(super) fn has_medium(&self) -> bool {
        self.speed.is_some() || self.force.is_some()
    }

    /// An error unless the executor supports such a wave.
    pub(super) fn check_executor<T: Real>(
        &self,
        shape: &Shape,
        executor: &Executor,
        global: &Global,
    ) -> Result<(), Failure> {
        match (executor, self.backend.into()) {
            (Executor::Device(context), Backend::Kernels) if shape.is_box => {
                let one = shape.params.points.iter().map(|n| *n as f64).product::<f64>() * size_of::<T>() as f64;
                // u, the step before, the speed, and the force.
                let grids = if self.force.is_some() { 4.0 } else { 3.0 };
                check_memory(context, &shape.name(" x "), one, grids * one)
            }
            _ if shape.is_box => usage!(
                "--points runs on one device with --backend kernels; leave out --devices and any other --backend"
            ),
            (Executor::Team(_), _) if self.has_medium() => {
                usage!("--speed and --force take one device: {}", global.on_one_device())
            }
            _ => Ok(()),
        }
    }
}

/// A wave as options and files describe it.
pub(super) struct Problem<'a, T> {
    pub(super) args: &'a Args,
    pub(super) shape: &'a Shape,
    pub(super) initial: &'a Initial,
    pub(super) data: PointData<T>,
    pub(super) params: WaveParams,
    pub(super) executor: &'a Executor,
}

impl<T: Real> Problem<'_, T> {
    /// The wave, which is not started; `amplitude` is the factor of the force.
    pub(super) fn motion(&self, amplitude: Amplitude, global: &Global) -> Result<Box<dyn Motion<T>>, Failure> {
        let (params, PointData { speed, force, .. }) = (&self.params, &self.data);
        let medium = Medium { speed: speed.as_deref(), force: force.as_deref().map(|force| (force, amplitude)) };
        Ok(match self.executor {
            Executor::Host => Box::new(Wave::<T>::with_medium(None, params, medium)?),
            Executor::Device(context) => Box::new(Wave::<T>::with_medium(Some(context), params, medium)?),
            Executor::Team(team) if global.balance => Box::new(team::Wave::<T>::balanced(team, params)?),
            Executor::Team(team) => Box::new(team::Wave::<T>::new(team, params)?),
        })
    }

    /// Starts the wave; returns the displacement where it is needed on the host, as for frames that are shown.
    pub(super) fn start(
        &self,
        wave: &mut dyn Motion<T>,
        shown: bool,
    ) -> Result<(Vec<T>, Option<ImplicitReport>), Failure> {
        let velocity = self.data.velocity.as_deref();
        let separable = self.waves().filter(|_| self.is_on_devices()).map(|waves| self.shape.standing_wave(waves, 1.0));
        let u = if separable.is_none() || shown { self.shape.displacement::<T>(self.initial)? } else { Vec::new() };
        let implicit = match &separable {
            Some(separable) => wave.start_separable(separable, velocity)?,
            None => wave.start(&u, velocity)?,
        };
        Ok((u, implicit))
    }

    /// The wave numbers of a standing wave.
    fn waves(&self) -> Option<&[(bool, f64)]> {
        if let Initial::Mode(_, waves) = self.initial { Some(waves) } else { None }
    }

    /// Whether the devices compute standing waves.
    fn is_on_devices(&self) -> bool {
        self.executor.computes_separable(self.shape.lattice.len())
    }

    pub(super) fn displacement(&self, wave: &mut dyn Motion<T>) -> Result<Vec<T>, Failure> {
        let mut u = vec![T::zero(); self.shape.lattice.len()];
        wave.displacement(&mut u)?;
        Ok(u)
    }

    /// The largest difference from the exact solution, where that is known.
    pub(super) fn error_max(&self, wave: &mut dyn Motion<T>) -> Result<Option<f64>, Failure> {
        let (Some(waves), false, None) = (self.waves(), self.args.has_medium(), &self.data.velocity) else {
            return Ok(None);
        };
        let frequency = self.params.c * waves.iter().map(|(_, k)| k * k).sum::<f64>().sqrt();
        let exact = self.shape.standing_wave(waves, (frequency * wave.time()).cos());
        Ok(Some(match self.is_on_devices() {
            true => wave.error_max(&exact)?,
            false => exact.error_max_host(&self.displacement(wave)?)?,
        }))
    }

    /// What decides the results.
    pub(super) fn fingerprint(&self) -> Result<Fingerprint, Failure> {
        let Problem { args, shape, params, data, .. } = self;
        let options = Fingerprint::default();
        let options = match &args.points {
            None => options.option("--n", args.n).option("--scheme", params.scheme),
            Some(points) => options
                .option("--points", &points.0)
                .option("--size", &params.size)
                .option("--sides", shape.side_names())
                .option("--sponge", args.sponge),
        };
        let u = shape.displacement::<T>(self.initial)?;
        let options = options.option("--precision", args.precision).option("--c", params.c);
        let options = options.option("--dt", args.dt).option("--courant", args.courant);
        let options = options.values("--initial", Some(&u)).values("--velocity", data.velocity.as_deref());
        let options = options.values("--speed", data.speed.as_deref()).values("--force", data.force.as_deref());
        Ok(options.option("--force-time", &args.force_time))
    }
}
