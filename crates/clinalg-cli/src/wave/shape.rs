//! Grids, and what is on them at the start.

use std::f64::consts::PI;

use clinalg::Real;
use clinalg::multigrid::{End, Separable};
use clinalg::wave::{WaveParams, WaveSide};

use super::{Args, Mode};
use crate::args::boxes::{self, Sides};
use crate::data::zeros;
use crate::data::{InputField, Lattice};
use crate::exit::{Failure, usage};

/// `x=absorbing,y0=free`.
pub(super) fn sides(text: &str) -> Result<Sides<WaveSide>, String> {
    let names = ["fixed", "free", "absorbing", "periodic"];
    let all = [WaveSide::Fixed, WaveSide::Free, WaveSide::Absorbing, WaveSide::Periodic];
    Sides::parse(text, "fixed, free, absorbing or periodic", |word| {
        names.iter().position(|name| *name == word).map(|k| all[k])
    })
}

fn side_name(side: WaveSide) -> &'static str {
    match side {
        WaveSide::Free => "free",
        WaveSide::Absorbing => "absorbing",
        WaveSide::Periodic => "periodic",
        _ => "fixed",
    }
}

/// A grid as the options describe it.
pub(super) struct Shape {
    /// The grid, with one speed; neither time step nor scheme.
    pub(super) params: WaveParams,
    pub(super) lattice: Lattice,
    /// Whether `--points` describes it.
    pub(super) is_box: bool,
}

/// Displacement at time 0.
pub(super) enum Initial {
    /// A standing wave, see --mode: by direction whether it is a sine, and its wave number.
    Mode(Mode, Vec<(bool, f64)>),
    /// A bump that runs out in a ring.
    Gauss,
    /// A tent.
    Pluck,
    Field(InputField),
}

impl Shape {
    pub(super) fn new(args: &Args) -> Result<Shape, Failure> {
        let mut params = match &args.points {
            Some(points) => WaveParams::new(&points.0),
            None => WaveParams::square(args.n),
        };
        let dim = params.points.len();
        boxes::check_count("--size", args.size.as_ref(), dim)?;
        if let Some(size) = &args.size {
            params.size.clone_from(&size.0);
        }
        if let Some(given) = &args.sides {
            given.apply(dim, |axis, end, side| params.sides[axis][usize::from(end == End::High)] = side)?;
        }
        params.sponge = args.sponge;
        params.limit()?;
        let periodic: Vec<bool> = params.sides.iter().map(|ends| ends.contains(&WaveSide::Periodic)).collect();
        let lattice = Lattice::with_ends(&params.points, &params.size, &periodic);
        Ok(Shape { params, lattice, is_box: args.points.is_some() })
    }

    pub(super) fn dim(&self) -> usize {
        self.params.points.len()
    }

    pub(super) fn absorbs(&self) -> bool {
        self.params.sides.iter().flatten().any(|side| *side == WaveSide::Absorbing)
    }

    /// `x0=fixed`, for each side.
    pub(super) fn side_names(&self) -> Vec<String> {
        let side = |axis: usize, end: End| self.params.sides[axis][usize::from(end == End::High)];
        let ends = boxes::sides(self.dim());
        ends.map(|(axis, end)| format!("{}={}", boxes::side_name(axis, end), side_name(side(axis, end)))).collect()
    }

    /// Whether u is held at a point with these indices.
    fn held(&self, at: &[usize]) -> bool {
        at.iter().zip(&self.params.points).zip(&self.params.sides).any(|((i, n), ends)| {
            (*i == 0 && ends[0] == WaveSide::Fixed) || (i + 1 == *n && ends[1] == WaveSide::Fixed)
        })
    }

    /// Values of `profile` where u is not held, 0 elsewhere; `profile` gets the indices.
    fn sample<T: Real>(&self, profile: impl Fn(&[usize]) -> f64) -> Result<Vec<T>, Failure> {
        let mut u = self.zeros()?;
        let mut at = vec![0; self.dim()];
        for (k, value) in u.iter_mut().enumerate() {
            let mut rest = k;
            for (i, n) in at.iter_mut().zip(&self.params.points) {
                *i = rest % n;
                rest /= n;
            }
            if !self.held(&at) {
                *value = T::from_f64(profile(&at));
            }
        }
        Ok(u)
    }

    /// A zero for each point.
    fn zeros<T: Real>(&self) -> Result<Vec<T>, Failure> {
        zeros(Some(self.lattice.len()), || self.name(" x "))
    }

    /// The numbers of points.
    pub(super) fn name(&self, between: &str) -> String {
        self.params.points.iter().map(usize::to_string).collect::<Vec<_>>().join(between)
    }

    pub(super) fn initial(&self, args: &Args) -> Result<Initial, Failure> {
        Ok(match args.initial_name(self) {
            "mode" => {
                let mode = args.mode.along(self.dim())?;
                let waves = self.standing(&mode)?;
                Initial::Mode(mode, waves)
            }
            "gauss" => Initial::Gauss,
            "pluck" => Initial::Pluck,
            text => Initial::Field(InputField::new("--initial", text, self.dim())?),
        })
    }

    /// The standing wave with these counts of half waves: by direction whether it is a sine, and its wave number.
    fn standing(&self, Mode(counts): &Mode) -> Result<Vec<(bool, f64)>, Failure> {
        use WaveSide::{Absorbing, Fixed, Free, Periodic};
        let along = |axis: usize| {
            let count = f64::from(counts[axis]);
            let (sine, halves) = match self.params.sides[axis] {
                [Absorbing, _] | [_, Absorbing] => {
                    return usage!(
                        "--initial mode is for boxes without absorbing sides, which have no standing waves; \
                                   give --initial gauss or a formula"
                    );
                }
                [Fixed, Fixed] => (true, count),
                [Fixed, _] => (true, count - 0.5),
                [_, Fixed] => (false, count - 0.5),
                [Free, _] => (false, count),
                [Periodic, _] => (true, 2.0 * count),
                _ => (true, count),
            };
            Ok((sine, halves * PI / self.params.size[axis]))
        };
        (0..self.dim()).map(along).collect()
    }

    /// `scale` times a standing wave, 0 on fixed sides.
    pub(super) fn standing_wave(&self, waves: &[(bool, f64)], scale: f64) -> Separable {
        let along = |axis: usize| -> Vec<f64> {
            let (sine, k) = waves[axis];
            let mut values: Vec<f64> = self.lattice.coordinates(axis);
            values.iter_mut().for_each(|x| *x = if sine { (k * *x).sin() } else { (k * *x).cos() });
            let [low, high] = self.params.sides[axis].map(|side| side == WaveSide::Fixed);
            let last = values.len() - 1;
            for (is_fixed, i) in [(low, 0), (high, last)] {
                if is_fixed {
                    values[i] = 0.0;
                }
            }
            values
        };
        let factors: Vec<Vec<f64>> = (0..self.dim()).map(along).collect();
        let factors: Vec<&[f64]> = factors.iter().map(Vec::as_slice).collect();
        Separable::new(scale, &factors).expect("there are two or three directions")
    }

    /// The displacement at the start.
    pub(super) fn displacement<T: Real>(&self, initial: &Initial) -> Result<Vec<T>, Failure> {
        let (axes, size) = (self.lattice.axes(), &self.params.size);
        let centre = |axis: usize| [0.3, 0.4, 0.5][axis];
        match initial {
            Initial::Mode(_, waves) => {
                let mut u = self.zeros()?;
                self.standing_wave(waves, 1.0).fill_host(&mut u)?;
                Ok(u)
            }
            Initial::Gauss => {
                let shortest = size.iter().copied().fold(f64::INFINITY, f64::min);
                let square =
                    |(axis, i): (usize, &usize)| ((axes[axis][*i] - centre(axis) * size[axis]) / shortest).powi(2);
                self.sample(|at| (-at.iter().enumerate().map(square).sum::<f64>() / 0.005).exp())
            }
            Initial::Pluck => {
                let height = |(axis, i): (usize, &usize)| {
                    let part = axes[axis][*i] / size[axis];
                    (part / centre(axis)).min((1.0 - part) / (1.0 - centre(axis)))
                };
                self.sample(|at| at.iter().enumerate().map(height).fold(1.0, f64::min))
            }
            Initial::Field(field) => field.at_points(&self.lattice, |_| true),
        }
    }
}
