//! A model that compares one exchange per iteration with one exchange every few steps on a cluster.

use clinalg::team::{ClusterModel, Link, Work};

use crate::model::System;
use crate::model::access::slow_axis;
use crate::team::reach;
use crate::team::slabs::Slabs;
use crate::{Error, Method, Result};

/// A model of the time per step on a cluster whose nodes hold consecutive rows of a grid, with one device per node; the formula is that of
/// [`ClusterModel`].
///
/// Each of p nodes has N / p of the N rows. A step on k rows takes `launch` + k `row` seconds. It reads r rows on either side, of b bytes each.
///
/// Time stepping with an exchange every m steps also computes halos of m r rows, see [`TeamStepper`](crate::team::TeamStepper). Waveform relaxation
/// in a window of s steps takes K iterations, each with halos of r rows and one exchange of whole waveforms; the norms of the differences are reduced
/// over all nodes. With latency L, bandwidth B and two neighbours, the times per step are
///
/// T_step = launch + (N / p + 2 m r) row + L / m + 2 r b / B
///
/// T_window / s = K (launch + (N / p + 2 r) row + (1 + ceil(log2 p)) L / s + 2 r b / B + 8 p / B)
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WaveformModel {
    /// Number of rows of the grid.
    pub rows: usize,
    /// Number of rows that a step reads on either side.
    pub reach: usize,
    /// Bytes per row.
    pub row_bytes: usize,
    /// Seconds per step that do not depend on the number of rows.
    pub launch: f64,
    /// Seconds per step and row.
    pub row: f64,
    /// The network link.
    pub link: Link,
}

impl WaveformModel {
    /// The model of a system whose values take the given number of bytes, fitted to the seconds per step measured for two numbers of rows.
    ///
    /// # Errors
    /// [`Error::Value`] unless the two numbers of rows differ and the seconds are finite and at least 0.
    pub fn new(
        system: &System,
        method: &Method,
        value_bytes: usize,
        measured: [(usize, f64); 2],
        link: Link,
    ) -> Result<WaveformModel> {
        let [(few, short), (many, long)] = measured;
        if few == many || [short, long].iter().any(|s| !(s.is_finite() && *s >= 0.0)) {
            return Err(Error::value("measured", "seconds of two numbers of rows", format!("{measured:?}")));
        }
        let row = ((long - short) / (many as f64 - few as f64)).max(0.0);
        let rows = Slabs::rows(system);
        Ok(WaveformModel {
            rows,
            reach: reach(method.without_error().graph(), system.radius()[slow_axis(system)]),
            row_bytes: system.components() / rows * value_bytes,
            launch: (short - few as f64 * row).max(0.0),
            row,
            link,
        })
    }

    fn cluster(&self) -> ClusterModel {
        ClusterModel { launch: self.launch, point: self.row, link: self.link, reduction: self.link.latency }
    }

    /// Steps with an exchange every `steps` steps.
    fn work(&self, steps: usize) -> Work {
        Work::explicit_step(self.rows, 1, self.row_bytes, self.reach, steps)
    }

    /// Bytes per step that a node with two neighbours sends.
    pub fn bytes_per_step(&self) -> usize {
        2 * self.reach * self.row_bytes
    }

    /// Seconds per step on `nodes` nodes with an exchange every `steps` steps.
    pub fn step_exchange(&self, nodes: usize, steps: usize) -> f64 {
        self.cluster().seconds(&[self.work(steps)], nodes)
    }

    /// The number of steps between two exchanges, at most `most`, that takes the least time per step, and that time.
    pub fn best_step_exchange(&self, nodes: usize, most: usize) -> (usize, f64) {
        let times = (1..=most.max(1)).map(|steps| (steps, self.step_exchange(nodes, steps)));
        times.min_by(|a, b| a.1.total_cmp(&b.1)).expect("one at least")
    }

    /// Seconds per step on `nodes` nodes by waveform relaxation in windows of `steps` steps, with the given number of iterations.
    pub fn window_exchange(&self, nodes: usize, steps: usize, iterations: usize) -> f64 {
        if nodes == 1 {
            return self.cluster().seconds(&[self.work(1)], nodes);
        }
        let work = Work {
            exchanges: 1.0 / steps as f64,
            exchange_bytes: (self.reach * self.row_bytes * steps) as f64,
            reductions: 1.0 / steps as f64,
            reduction_bytes: (8 * steps) as f64,
            ..self.work(1)
        };
        iterations as f64 * self.cluster().seconds(&[work], nodes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Grid;

    fn cluster(latency: f64) -> WaveformModel {
        let system = System::builder(Grid::unit(&[100, 64]))
            .field("u", "v[0,1] + v[0,-1]")
            .field("v", "u[2,0]")
            .build()
            .unwrap();
        let method = Method::named("rk4").unwrap();
        let measured = [(16, 10e-6), (64, 34e-6)];
        WaveformModel::new(&system, &method, 4, measured, Link { latency, bandwidth: 1e10 }).unwrap()
    }

    /// By hand: 2 us per launch and 0.5 us per row; rk4 reads 4 rows of 800 bytes on either side.
    #[test]
    fn times_are_those_of_the_formulas() {
        let c = cluster(1e-5);
        assert!((c.launch - 2e-6).abs() < 1e-18 && (c.row - 5e-7).abs() < 1e-18);
        assert_eq!((c.rows, c.reach, c.row_bytes, c.bytes_per_step()), (64, 4, 800, 6400));
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        near(c.step_exchange(1, 1), 34e-6);
        near(c.step_exchange(4, 1), 2e-6 + 24.0 * 5e-7 + 1e-5 + 6.4e-7);
        near(c.step_exchange(4, 5), 2e-6 + 56.0 * 5e-7 + 2e-6 + 6.4e-7);
        near(c.window_exchange(4, 10, 3), 3.0 * (2e-6 + 24.0 * 5e-7 + 3e-6 + 6.4e-7 + 3.2e-9));
        near(c.window_exchange(1, 10, 3), 34e-6);
        // Halos twice as deep cost 4 us per step: they pay off if the latency is more than twice that.
        assert_eq!(c.best_step_exchange(4, 16).0, 2);
        assert_eq!(cluster(1e-6).best_step_exchange(4, 16).0, 1);
    }

    /// Waveform relaxation wins if latency dominates, and loses if there is none.
    #[test]
    fn latency_decides() {
        let (slow, fast) = (cluster(1e-2), cluster(1e-8));
        assert!(slow.step_exchange(16, 1) > 4.0 * slow.window_exchange(16, 100, 4));
        assert!(fast.step_exchange(16, 1) < 0.5 * fast.window_exchange(16, 100, 4));
        let wrong = [(4, 1.0), (4, 2.0)];
        let system = System::builder(Grid::unit(&[9])).field("u", "u[1]").build().unwrap();
        let euler = Method::named("euler").unwrap();
        assert!(WaveformModel::new(&system, &euler, 8, wrong, slow.link).is_err());
    }
}
