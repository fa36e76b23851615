//! A model of the time that a team takes, fitted to measurements.

use super::poisson::{gather_side, gathered_level};
use super::strips::halo;
use crate::multigrid::{Grid, PoissonParams, regular_sides};
use crate::{Error, Result};

/// A communication link: a message of b bytes takes `latency` + b / `bandwidth` seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// Latency in seconds.
    pub latency: f64,
    /// Bandwidth in bytes per second.
    pub bandwidth: f64,
}

impl Link {
    /// The link that fits the seconds measured for messages of so many bytes, by least squares on the relative errors.
    ///
    /// ```
    /// use clinalg::team::Link;
    ///
    /// // 10 us and 1 GB/s.
    /// let link = Link::fit(&[(8, 10.008e-6), (10_000, 20e-6), (1_000_000, 1010e-6)])?;
    /// assert!((link.latency - 10e-6).abs() < 1e-11 && (link.bandwidth - 1e9).abs() < 1e3);
    /// # Ok::<(), clinalg::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Value`] unless there are two sizes and all seconds are finite and above 0.
    pub fn fit(samples: &[(usize, f64)]) -> Result<Link> {
        let rows: Vec<_> = samples.iter().map(|&(bytes, seconds)| ([1.0, bytes as f64], seconds)).collect();
        let [latency, per_byte] = least_squares(&rows)?;
        Ok(Link { latency, bandwidth: 1.0 / per_byte })
    }

    /// Seconds that a message takes.
    pub fn seconds(&self, bytes: f64) -> f64 {
        self.latency + bytes / self.bandwidth
    }

    /// The link formed by this one followed by `next`: latencies add, and so do times per byte.
    #[must_use]
    pub fn then(self, next: Link) -> Link {
        let bandwidth = 1.0 / (1.0 / self.bandwidth + 1.0 / next.bandwidth);
        Link { latency: self.latency + next.latency, bandwidth }
    }
}

/// Work that repeats, as [`ClusterModel`] counts it: a step, an iteration, or a level of a multigrid cycle.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Work {
    /// Number of times the cost of a launch is paid.
    pub launches: f64,
    /// Rows, or planes, that are distributed over the devices.
    pub rows: f64,
    /// Points per row.
    pub row_points: f64,
    /// Rows of each neighbour that a device computes as well.
    pub halo: f64,
    /// Points that one device computes while the others wait.
    pub serial_points: f64,
    /// Exchanges with the neighbours, at most two.
    pub exchanges: f64,
    /// Bytes of one of them to one neighbour.
    pub exchange_bytes: f64,
    /// Reductions over all devices.
    pub reductions: f64,
    /// Bytes of one of them per device.
    pub reduction_bytes: f64,
    /// Bytes of all devices together that are gathered on one device and later sent back.
    pub gathered_bytes: f64,
}

impl Work {
    /// An explicit step on `rows` rows of `row_points` points and `row_bytes` bytes each, of which a step reads `reach` rows on either side, with an
    /// exchange every `steps` steps.
    pub fn explicit_step(rows: usize, row_points: usize, row_bytes: usize, reach: usize, steps: usize) -> Work {
        let halo = (reach * steps) as f64;
        Work {
            launches: 1.0,
            rows: rows as f64,
            row_points: row_points as f64,
            halo,
            exchanges: 1.0 / steps as f64,
            exchange_bytes: halo * row_bytes as f64,
            ..Work::default()
        }
    }

    /// A V-cycle of [`Poisson`](super::Poisson) with values of so many bytes on so many devices, level by level. On all levels that are not gathered
    /// the halo of the right-hand side, or of the finest solution, is exchanged once; exchanges count in full, although that of the finest level
    /// overlaps with other work. Norms of residuals are left out, as those of several cycles are read at once.
    ///
    /// # Errors
    /// [`Error::Value`] for parameters out of range, and for more devices than the problem can be distributed over.
    pub fn poisson(grid: &Grid, params: &PoissonParams, value_bytes: usize, devices: usize) -> Result<Vec<Work>> {
        let sides = regular_sides(grid, params)?;
        let points = |n: usize| n.pow(grid.dim() as u32) as f64;
        if devices == 1 {
            let level = |n: &usize| Work { launches: 1.0, serial_points: points(*n), ..Work::default() };
            return Ok(sides.iter().map(level).collect());
        }
        let gathered = gathered_level(&sides, gather_side(grid.dim()), devices);
        if sides.len() < 2 || sides[gathered] < devices {
            let most = sides.get(1).copied().unwrap_or(1);
            let expected = format!("at most {most} for {} points per side", sides[0]);
            return Err(Error::value("devices", expected, devices));
        }
        let depth = halo(params) as f64;
        let strips = sides[..gathered].iter().map(|&n| {
            let row_points = points(n) / n as f64;
            Work {
                launches: 1.0,
                rows: n as f64,
                row_points,
                halo: depth,
                exchanges: 1.0,
                exchange_bytes: depth * row_points * value_bytes as f64,
                ..Work::default()
            }
        });
        let coarse = Work {
            launches: (sides.len() - gathered) as f64,
            serial_points: sides[gathered..].iter().map(|&n| points(n)).sum(),
            gathered_bytes: points(sides[gathered]) * value_bytes as f64,
            ..Work::default()
        };
        Ok(strips.chain([coarse]).collect())
    }
}

/// A model of the time on p devices: arithmetic and memory by the rate of one device, messages by latency and bandwidth of a link.
///
/// With c = `launch`, d = `point`, latency L and bandwidth B of `link`, r = `reduction`, n = min(p - 1, 2) neighbours and l = ceil(log2 p) rounds, the
/// seconds of a [`Work`] of R rows of w points are
///
/// T(p) = launches c + ((R / p + n halo) w + serial) d + exchanges (L + n bytes / B) + reductions (l r + p bytes / B) + 2 (l L + gathered (p - 1) / (p B))
///
/// where a rank computes no more than all R rows, and the last term is for work that is gathered. Nothing overlaps in this model (the postal model
/// of Bar-Noy and Kipnis 1994, with messages of a device one after the other), and all devices are equally fast.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClusterModel {
    /// Seconds that do not depend on the number of points.
    pub launch: f64,
    /// Seconds per point on one device.
    pub point: f64,
    /// The way from a device to a neighbour.
    pub link: Link,
    /// Seconds per round of a reduction over all devices.
    pub reduction: f64,
}

impl ClusterModel {
    /// The model whose `launch` and `point` fit the seconds that one device takes for each of these lists of work, with the least squares of the
    /// relative differences.
    ///
    /// # Errors
    /// [`Error::Value`] unless there are two lists of different size and all seconds are finite and above 0.
    pub fn fit(samples: &[(Vec<Work>, f64)], link: Link, reduction: f64) -> Result<ClusterModel> {
        let rows = samples.iter().map(|(work, seconds)| {
            let launches: f64 = work.iter().map(|work| work.launches).sum();
            let points: f64 = work.iter().map(|work| work.rows * work.row_points + work.serial_points).sum();
            ([launches, points], *seconds)
        });
        let [launch, point] = least_squares(&rows.collect::<Vec<_>>())?;
        Ok(ClusterModel { launch, point, link, reduction })
    }

    /// Seconds of all this work, one after the other, on `devices` devices.
    pub fn seconds(&self, work: &[Work], devices: usize) -> f64 {
        work.iter().map(|work| self.seconds_of(work, devices)).sum()
    }

    fn seconds_of(&self, work: &Work, devices: usize) -> f64 {
        let ClusterModel { launch, point, link, reduction } = *self;
        let p = devices as f64;
        let neighbours = (p - 1.0).min(2.0);
        let rows = (work.rows / p + neighbours * work.halo).min(work.rows);
        let computing = work.launches * launch + (rows * work.row_points + work.serial_points) * point;
        if devices == 1 {
            return computing;
        }
        let rounds = f64::from(devices.next_power_of_two().ilog2());
        let exchanges = work.exchanges * link.seconds(neighbours * work.exchange_bytes);
        let reductions = work.reductions * (rounds * reduction + p * work.reduction_bytes / link.bandwidth);
        let gather = match work.gathered_bytes {
            0.0 => 0.0,
            bytes => 2.0 * (rounds * link.latency + bytes * (p - 1.0) / p / link.bandwidth),
        };
        computing + exchanges + reductions + gather
    }
}

/// x and y, at least 0, with the least sum of ((a x + b y) / t - 1)^2 over the rows ([a, b], t).
fn least_squares(rows: &[([f64; 2], f64)]) -> Result<[f64; 2]> {
    let fail = || Error::value("samples", "finite seconds above 0 for two sizes at least", format!("{rows:?}"));
    if rows.iter().any(|(_, t)| !(t.is_finite() && *t > 0.0)) {
        return Err(fail());
    }
    let mut sums = [0.0; 5];
    for [a, b] in rows.iter().map(|([a, b], t)| [a / t, b / t]) {
        for (sum, term) in sums.iter_mut().zip([a * a, a * b, b * b, a, b]) {
            *sum += term;
        }
    }
    let [aa, ab, bb, a, b] = sums;
    let determinant = aa * bb - ab * ab;
    if determinant <= 1e-12 * aa * bb {
        return Err(fail());
    }
    let (x, y) = ((a * bb - b * ab) / determinant, (aa * b - ab * a) / determinant);
    Ok(match (x < 0.0, y < 0.0) {
        (true, _) => [0.0, b / bb],
        (_, true) => [a / aa, 0.0],
        _ => [x, y],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(got: f64, expected: f64) {
        assert!((got - expected).abs() <= 1e-12 * expected.abs(), "{got} instead of {expected}");
    }

    /// By hand: 2 us per launch, 1 ns per point, 10 us and 1 GB/s.
    #[test]
    fn times_are_those_of_the_formula() {
        let link = Link { latency: 1e-5, bandwidth: 1e9 };
        let model = ClusterModel { launch: 2e-6, point: 1e-9, link, reduction: 3e-6 };
        let step = Work::explicit_step(1000, 100, 800, 2, 5);
        near(model.seconds(&[step], 1), 2e-6 + 1e-4);
        near(model.seconds(&[step], 2), 2e-6 + 510.0 * 1e-7 + (1e-5 + 8e-6) / 5.0);
        near(model.seconds(&[step], 4), 2e-6 + 270.0 * 1e-7 + (1e-5 + 16e-6) / 5.0);
        let sums = Work { reductions: 2.0, reduction_bytes: 8.0, ..Work::default() };
        near(model.seconds(&[sums], 5), 2.0 * (9e-6 + 40e-9));
        let coarse = Work { launches: 3.0, serial_points: 50.0, gathered_bytes: 8000.0, ..Work::default() };
        near(model.seconds(&[coarse, coarse], 4), 2.0 * (6e-6 + 5e-8 + 2.0 * (2e-5 + 6e-6)));
    }

    /// A cycle on 33 points per side: the first coarser level is gathered, halos have 10 rows with two sweeps before and one after.
    #[test]
    fn cycles_have_all_points_of_all_levels() {
        let (grid, params) = (Grid::square(33), PoissonParams { pre: 2, post: 1, ..PoissonParams::default() });
        let one = Work::poisson(&grid, &params, 8, 1).unwrap();
        let several = Work::poisson(&grid, &params, 8, 2).unwrap();
        let points = |work: &[Work]| work.iter().map(|w| w.rows * w.row_points + w.serial_points).sum::<f64>();
        let sides = [33.0_f64, 17.0, 9.0, 5.0, 3.0];
        near(points(&one), sides.iter().map(|n| n * n).sum());
        near(points(&several), points(&one));
        assert_eq!((several.len(), several[0].exchange_bytes), (2, 10.0 * 33.0 * 8.0));
        assert_eq!(several[1].gathered_bytes, 17.0 * 17.0 * 8.0);
        assert!(Work::poisson(&grid, &params, 8, 18).unwrap_err().to_string().contains("at most 17"));
    }

    /// What made the samples is found again; negative parts do not appear.
    #[test]
    fn models_fit_their_own_times() {
        let link = Link { latency: 2e-5, bandwidth: 3e10 };
        let made = ClusterModel { launch: 1e-5, point: 2e-11, link, reduction: 0.0 };
        let of = |n: usize| Work::poisson(&Grid::square(n), &PoissonParams::default(), 8, 1).unwrap();
        let samples = [129, 1025, 4097].map(|n| (of(n), made.seconds(&of(n), 1)));
        let fitted = ClusterModel::fit(&samples, link, 0.0).unwrap();
        assert!((fitted.launch / made.launch - 1.0).abs() < 1e-9 && (fitted.point / made.point - 1.0).abs() < 1e-9);
        let falling = [(8, 2.0), (1 << 20, 1.0)];
        assert_eq!(Link::fit(&falling).unwrap().bandwidth, f64::INFINITY);
        assert!(Link::fit(&[(8, 1.0), (8, 2.0)]).is_err() && Link::fit(&[(8, 0.0), (16, 1.0)]).is_err());
        let way = link.then(Link { latency: 1e-5, bandwidth: 6e10 });
        near(way.latency, 3e-5);
        near(way.bandwidth, 2e10);
    }
}
