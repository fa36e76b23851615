//! Steps of a stabilised method, whose number of stages follows the spectral radius of the right-hand side.

use clinalg::Real;

use crate::method::graph::Graph;
use crate::method::rkc::{self, NOMINAL};
use crate::method::{BEGIN, Method};
use crate::run::power_method::PowerMethod;
use crate::run::stepper::{Slot, Stepper, Stored, Tolerance, all_times, per_step};
use crate::{Error, Result};

/// The name of the method beside [`METHODS`](crate::METHODS).
pub const STABILISED: &str = "rkc";

/// Accepted steps between two estimates of the spectral radius.
const EVERY: usize = 25;

/// By how much the estimate, which comes from below, is enlarged, as in RKC.
const SAFETY: f64 = 1.2;

/// A stepper of RKC (see [`Method::rkc`]), each of whose steps has as many stages as its size and the spectral radius ask for; made of
/// steppers of another kind, on which each stage is a step. [`Integrator`](crate::integrate::Integrator) takes it like any other.
///
/// For problems whose stiff eigenvalues lie near the negative real axis, such as diffusion: s stages reach as far as about 0.65 s^2
/// evaluations of Euler's method. The radius is found by a power method every 25 steps and after a rejected step, or
/// [given](Stabilised::radius). Rounding limits the stages to sqrt(tolerance / (10 eps)); a step that needs more is rejected.
///
/// ```
/// use clinalg_ode::integrate::{Integrator, Options, Stabilised, Stepper};
/// use clinalg_ode::reference::Reference;
/// use clinalg_ode::{Grid, System};
///
/// let heat = System::builder(Grid::unit(&[50])).field("u", "2401 * (u[-1] - 2*u + u[1])").build()?;
/// let y0 = heat.sample(|_, [x, ..]| x * (1.0 - x));
/// let mut stepper = Stabilised::new(Reference::<f64>::new(&Stabilised::<()>::stage()?, &heat))?;
/// let mut run = Integrator::new(&mut stepper, 0.0, 0.1, &y0, &Options::default())?;
/// run.run()?;
/// println!("{} evaluations", run.report().rhs_evaluations);
/// # Ok::<(), clinalg_ode::Error>(())
/// ```
pub struct Stabilised<S>(Kind<S>);

enum Kind<S> {
    /// A stepper of another method beside one of RKC.
    Plain(S),
    Rkc(Box<Rkc<S>>),
}

struct Rkc<S> {
    method: Method,
    /// Holds y and computes F(y).
    slope: S,
    stage: S,
    /// Holds F_0 as its third input.
    error: S,
    power: PowerMethod<S>,
    given: Option<f64>,
    radius: f64,
    /// Steps since the radius was estimated; none where it was not.
    age: Option<usize>,
    /// Whether F_0 is that of y.
    known: bool,
    /// Whether a step was tried and not taken.
    tried: bool,
    /// Evaluations of the step tried last.
    evaluations: usize,
    most: usize,
    /// Between which the times of stages stay.
    times: [f64; 2],
}

/// F = f(t, y) beside y.
fn slope() -> Result<Method> {
    let mut g = Graph::new("rkc-slope");
    let y = g.input("y");
    let f = g.rhs("F", 0.0, y);
    g.carry(y, f);
    g.solution_is(f);
    Method::new(g, 1, None, vec![BEGIN])
}

impl<S> Stabilised<S> {
    /// A stepper of any method as it is, for code that takes those of RKC beside others.
    pub(crate) fn plain(stepper: S) -> Stabilised<S> {
        Stabilised(Kind::Plain(stepper))
    }

    /// The method of the steppers that [`Stabilised::new`] takes: one stage of RKC.
    ///
    /// # Errors
    /// None in fact.
    pub fn stage() -> Result<Method> {
        Method::rkc_stage()
    }

    /// Takes a stepper of [`Stabilised::stage`]. One on a device that computes several steps at once computes so many stages at
    /// once.
    ///
    /// # Errors
    /// [`Error::Value`] for a stepper of another method; those of the device.
    pub fn new<T: Real>(stage: S) -> Result<Stabilised<S>>
    where
        S: Stepper<T>,
    {
        if *stage.method() != Method::rkc_stage()? {
            return Err(Error::value("stage", "a stepper of `Stabilised::stage`", stage.method().name()));
        }
        Ok(Stabilised(Kind::Rkc(Box::new(Rkc {
            method: Method::rkc(NOMINAL)?,
            slope: stage.sibling(&slope()?)?,
            error: stage.sibling(&Method::rkc_error()?)?,
            power: PowerMethod::new(&stage)?,
            stage,
            given: None,
            radius: 0.0,
            age: None,
            known: false,
            tried: false,
            evaluations: 0,
            most: 0,
            times: all_times::<T>(),
        }))))
    }

    /// Takes `radius` for the spectral radius of the right-hand side's derivative, in place of estimates.
    ///
    /// # Errors
    /// [`Error::Value`] unless it is finite and at least 0.
    pub fn radius(mut self, radius: f64) -> Result<Stabilised<S>> {
        if !(radius >= 0.0 && radius.is_finite()) {
            return Err(Error::value("radius", "a finite number, at least 0", radius));
        }
        if let Kind::Rkc(rkc) = &mut self.0 {
            rkc.given = Some(radius);
        }
        Ok(self)
    }

    /// Most stages of a step so far.
    pub fn most_stages(&self) -> usize {
        match &self.0 {
            Kind::Plain(_) => 0,
            Kind::Rkc(rkc) => rkc.most,
        }
    }

    /// The stepper of the stages.
    pub fn inner(&self) -> &S {
        match &self.0 {
            Kind::Plain(stepper) => stepper,
            Kind::Rkc(rkc) => &rkc.stage,
        }
    }
}

impl<S> Rkc<S> {
    fn trial<T: Real>(&mut self, t: f64, h: f64, tolerance: &Tolerance) -> Result<f64>
    where
        S: Stepper<T>,
    {
        self.evaluations = 0;
        if !self.known {
            self.slope.trial(t, 0.0, &Tolerance::UNUSED)?;
            self.error.load(2, self.slope.stored(Slot::Result))?;
            (self.known, self.age) = (true, None);
            self.evaluations += 1;
        }
        let old = self.age.is_none_or(|age| age >= EVERY || (self.tried && age > 0));
        match self.given {
            Some(radius) => self.radius = radius,
            None if old => {
                self.radius = SAFETY * self.power.estimate(&self.slope, t, true)?;
                self.evaluations += self.power.evaluations();
                self.age = Some(0);
            }
            None => {}
        }
        self.tried = true;
        let stages = rkc::stages_for(h * self.radius);
        let size = tolerance.relative.max(tolerance.absolute);
        let most = (size / (10.0 * T::epsilon().into_f64())).sqrt().max(2.0);
        if stages > most.floor() {
            // Of a step of order 2, whose size is to fall by the square of this.
            return Ok((stages / most).powi(6).max(2.0));
        }
        let stages = rkc::stages(stages as usize);
        self.most = self.most.max(stages.len());
        for input in 0..3 {
            self.stage.load(input, self.slope.stored(Slot::Input(0)))?;
        }
        self.stage.load(3, self.error.stored(Slot::Input(2)))?;
        let times: Vec<f64> = stages.iter().map(|stage| t + stage.c * h).collect();
        let arguments: Vec<f64> = stages.iter().flat_map(rkc::Stage::arguments).collect();
        self.stage.advance_with(&times, h, &arguments)?;
        self.error.load(0, self.stage.stored(Slot::Input(0)))?;
        self.error.load(1, self.slope.stored(Slot::Input(0)))?;
        self.evaluations += stages.len() + 1;
        Ok(self.error.trial(t + h, h, tolerance)?.unwrap_or(f64::NAN))
    }
}

impl<T: Real, S: Stepper<T>> Stepper<T> for Stabilised<S> {
    fn method(&self) -> &Method {
        match &self.0 {
            Kind::Plain(stepper) => stepper.method(),
            Kind::Rkc(rkc) => &rkc.method,
        }
    }

    fn components(&self) -> usize {
        self.inner().components()
    }

    fn set(&mut self, inputs: &[Vec<T>]) -> Result<()> {
        match &mut self.0 {
            Kind::Plain(stepper) => stepper.set(inputs),
            Kind::Rkc(rkc) => {
                (rkc.known, rkc.tried) = (false, false);
                rkc.slope.set(inputs)
            }
        }
    }

    fn trial(&mut self, t: f64, h: f64, tolerance: &Tolerance) -> Result<Option<f64>> {
        match &mut self.0 {
            Kind::Plain(stepper) => stepper.trial(t, h, tolerance),
            Kind::Rkc(rkc) => rkc.trial(t, h, tolerance).map(Some),
        }
    }

    fn accept(&mut self) -> Result<()> {
        match &mut self.0 {
            Kind::Plain(stepper) => stepper.accept(),
            Kind::Rkc(rkc) => {
                rkc.slope.load(0, rkc.stage.stored(Slot::Input(0)))?;
                rkc.error.accept()?;
                (rkc.tried, rkc.age) = (false, rkc.age.map(|age| age + 1));
                Ok(())
            }
        }
    }

    fn solution(&self) -> Result<Vec<T>> {
        match &self.0 {
            Kind::Plain(stepper) => stepper.solution(),
            Kind::Rkc(rkc) => rkc.slope.stored(Slot::Input(0)).to_vec(),
        }
    }

    fn sibling(&self, method: &Method) -> Result<Self> {
        Ok(Stabilised(Kind::Plain(self.inner().sibling(method)?)))
    }

    fn stored(&self, slot: Slot) -> Stored<'_, T> {
        match (&self.0, slot) {
            (Kind::Plain(stepper), _) => stepper.stored(slot),
            (Kind::Rkc(rkc), Slot::Input(_)) => rkc.slope.stored(Slot::Input(0)),
            (Kind::Rkc(rkc), Slot::Result) => rkc.stage.stored(Slot::Input(0)),
        }
    }

    fn limit_times(&mut self, times: [f64; 2]) {
        match &mut self.0 {
            Kind::Plain(stepper) => stepper.limit_times(times),
            Kind::Rkc(rkc) => {
                // F_0 may be the value on the other side.
                rkc.known &= rkc.times == times;
                rkc.times = times;
                rkc.slope.limit_times(times);
                rkc.stage.limit_times(times);
                rkc.error.limit_times(times);
                rkc.power.limit_times(times);
            }
        }
    }

    fn finish(&self) -> Result<bool> {
        self.inner().finish()
    }

    fn component_name(&self, component: usize) -> String {
        self.inner().component_name(component)
    }

    fn load(&mut self, input: usize, from: Stored<'_, T>) -> Result<()> {
        match &mut self.0 {
            Kind::Plain(stepper) => stepper.load(input, from),
            Kind::Rkc(rkc) => {
                (rkc.known, rkc.tried) = (false, false);
                rkc.slope.load(input, from)
            }
        }
    }

    fn advance(&mut self, times: &[f64], h: f64) -> Result<()> {
        if let Kind::Plain(stepper) = &mut self.0 {
            return stepper.advance(times, h);
        }
        times.iter().try_for_each(|t| {
            self.trial(*t, h, &Tolerance::UNUSED)?;
            self.accept()
        })
    }

    fn advance_with(&mut self, times: &[f64], h: f64, arguments: &[f64]) -> Result<()> {
        match &mut self.0 {
            Kind::Plain(stepper) => stepper.advance_with(times, h, arguments),
            Kind::Rkc(rkc) => {
                per_step(&rkc.method, times, arguments)?;
                self.advance(times, h)
            }
        }
    }

    fn steps_at_once(&self) -> usize {
        match &self.0 {
            Kind::Plain(stepper) => stepper.steps_at_once(),
            Kind::Rkc(_) => 1,
        }
    }

    fn trial_steps(&mut self, t: f64, h: f64, steps: usize, tolerance: &Tolerance) -> Result<Vec<f64>> {
        match &mut self.0 {
            Kind::Plain(stepper) => stepper.trial_steps(t, h, steps, tolerance),
            Kind::Rkc(rkc) => Ok(vec![rkc.trial(t, h, tolerance)?]),
        }
    }

    fn accept_steps(&mut self, count: usize) -> Result<()> {
        match &mut self.0 {
            Kind::Plain(stepper) => stepper.accept_steps(count),
            Kind::Rkc(_) => self.accept(),
        }
    }

    fn evaluations(&self) -> usize {
        match &self.0 {
            Kind::Plain(stepper) => stepper.evaluations(),
            Kind::Rkc(rkc) => rkc.evaluations,
        }
    }

    fn is_stabilised(&self) -> bool {
        matches!(self.0, Kind::Rkc(_))
    }

    fn kept(&self) -> Result<(Vec<Vec<T>>, Vec<f64>)> {
        let rkc = match &self.0 {
            Kind::Plain(stepper) => return stepper.kept(),
            Kind::Rkc(rkc) => rkc,
        };
        let derivative = if rkc.known { rkc.error.stored(Slot::Input(2)).to_vec()? } else { Vec::new() };
        let age = rkc.age.map_or(f64::NAN, |age| age as f64);
        Ok((vec![derivative], vec![rkc.radius, age, f64::from(u8::from(rkc.tried)), rkc.most as f64]))
    }

    fn restore_kept(&mut self, vectors: &[Vec<T>], numbers: &[f64]) -> Result<()> {
        let rkc = match &mut self.0 {
            Kind::Plain(stepper) => return stepper.restore_kept(vectors, numbers),
            Kind::Rkc(rkc) => rkc,
        };
        let ([derivative], &[radius, age, tried, most]) = (vectors, numbers) else {
            let got = format!("{} vectors and {} numbers", vectors.len(), numbers.len());
            return Err(Error::value("state", "a derivative and 4 numbers of RKC", got));
        };
        rkc.known = !derivative.is_empty();
        if rkc.known {
            rkc.error.load(2, Stored::Host(derivative))?;
        }
        (rkc.radius, rkc.tried, rkc.most) = (radius, tried != 0.0, most as usize);
        rkc.age = (!age.is_nan()).then_some(age as usize);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::integrate::{Integrator, Options};
    use crate::run::reference::Reference;
    use crate::{Grid, System};

    /// The heat equation on n inner points of the unit interval, and its slowest mode.
    fn heat(n: usize) -> (System, Vec<f64>, f64) {
        let scale = ((n + 1) * (n + 1)) as f64;
        let text = format!("{scale} * (u[-1] - 2*u + u[1])");
        let ends = crate::Boundary::Value(vec!["0".into()]);
        let system = System::builder(Grid::unit(&[n])).field("u", &text).boundary(ends).build().unwrap();
        let angle = std::f64::consts::PI / (n + 1) as f64;
        let y0 = (1..=n).map(|i| (angle * i as f64).sin()).collect();
        (system, y0, 4.0 * scale * (angle / 2.0).sin().powi(2))
    }

    fn run(system: &System, y0: &[f64], t_end: f64, options: &Options) -> (Vec<f64>, usize) {
        let stage = Reference::<f64>::new(&Stabilised::<()>::stage().unwrap(), system);
        let mut stepper = Stabilised::new(stage).unwrap();
        let mut run = Integrator::new(&mut stepper, 0.0, t_end, y0, options).unwrap();
        run.run().unwrap();
        (run.solution().unwrap(), run.report().rhs_evaluations)
    }

    #[test]
    fn a_diffusion_takes_few_evaluations() {
        let (system, y0, rate) = heat(99);
        let options = Options { relative: 1e-5, absolute: 1e-7, ..Options::default() };
        let (y, evaluations) = run(&system, &y0, 0.1, &options);
        let decay = (-rate * 0.1).exp();
        let error = y.iter().zip(&y0).map(|(y, y0)| (y - decay * y0).abs()).fold(0.0, f64::max);
        assert!(error < 1e-4, "{error:e}");
        let mut stepper = Reference::<f64>::new(&Method::named("dopri54").unwrap(), &system);
        let mut explicit = Integrator::new(&mut stepper, 0.0, 0.1, &y0, &options).unwrap();
        explicit.run().unwrap();
        let ratio = explicit.report().rhs_evaluations as f64 / evaluations as f64;
        assert!(ratio > 5.0, "{evaluations} evaluations, DOPRI5(4) takes {ratio} times as many");
    }

    #[test]
    fn fixed_steps_are_of_second_order() {
        // Nonlinear, with the time: y' = -20 y^2 + cos t.
        let system = System::builder(Grid::unit(&[1])).field("u", "-20*u^2 + cos(t)").build().unwrap();
        let at = |h: f64| run(&system, &[1.0], 1.0, &Options { fixed_step: Some(h), ..Options::default() }).0[0];
        let mut fine = Reference::<f64>::new(&Method::named("dopri87").unwrap(), &system);
        let options = Options { relative: 1e-12, absolute: 1e-14, ..Options::default() };
        let mut exact = Integrator::new(&mut fine, 0.0, 1.0, &[1.0], &options).unwrap();
        exact.run().unwrap();
        let exact = exact.solution().unwrap()[0];
        let [coarse, half] = [0.01, 0.005].map(|h| (at(h) - exact).abs());
        let order = (coarse / half).log2();
        assert!((1.8..2.3).contains(&order), "order {order}, {coarse:e} {half:e}");
    }

    #[test]
    fn the_method_with_fixed_stages_is_the_same() {
        let (system, y0, _) = heat(9);
        let h = 1e-3;
        let mut fixed = Reference::<f64>::new(&Method::rkc(3).unwrap(), &system);
        fixed.set(std::slice::from_ref(&y0)).unwrap();
        let tolerance = Tolerance { relative: 1e-3, absolute: 1e-6, norm: crate::run::stepper::Norm::Rms };
        let error = fixed.trial(0.0, h, &tolerance).unwrap().unwrap();
        fixed.accept().unwrap();
        let stage = Reference::<f64>::new(&Stabilised::<()>::stage().unwrap(), &system);
        // Two stages reach 1.9, three 5.2.
        let mut stepper = Stabilised::new(stage).unwrap().radius(3.0 / h).unwrap();
        stepper.set(&[y0]).unwrap();
        let other = stepper.trial(0.0, h, &tolerance).unwrap().unwrap();
        stepper.accept().unwrap();
        assert_eq!(stepper.most_stages(), 3);
        assert!((error - other).abs() < 1e-12 * error, "{error} {other}");
        let (a, b) = (fixed.solution().unwrap(), stepper.solution().unwrap());
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-14));
    }
}
