//! Vectors in parts on the devices of a team: where the parts stand, and what is computed from them.

use std::sync::Arc;

use clinalg::runtime::View;
use clinalg::team::{Partition, Reduction, Team};
use clinalg::{Real, Vector, ops};

use super::slabs::Slabs;
use crate::integrate::{Slot, Stored};
use crate::problems::Problem;
use crate::run::stepper::{Parts, Shared};
use crate::run::whole::with_noise_on;
use crate::{Error, Result, System};

/// How the components of a system are distributed.
#[derive(Debug)]
pub(super) struct Shares {
    pub(super) team: Team,
    pub(super) system: System,
    pub(super) slabs: Slabs,
    /// The rows that the ranks of this process store.
    pub(super) parts: Vec<System>,
}

impl Shares {
    pub(super) fn new(team: &Team, system: &System, slabs: Slabs) -> Shares {
        let parts = team.local().map(|rank| slabs.system(system, rank)).collect();
        Shares { team: team.clone(), system: system.clone(), slabs, parts }
    }

    /// What `work` gives for each rank of this process, counted from 0 there.
    fn each<R>(&self, work: impl Fn(usize) -> Result<R>) -> Result<Vec<R>> {
        (0..self.parts.len()).map(|k| work(k).map_err(|error| error.of_rank(&self.team, k))).collect()
    }

    fn rank(&self, k: usize) -> usize {
        self.team.local().start + k
    }
}

/// Vectors with a part for each rank of this process.
pub(super) trait Ranks<T: Real>: std::fmt::Debug {
    fn shares(&self) -> &Arc<Shares>;

    /// What local rank `k` stores, halos included.
    fn vector(&self, slot: Slot, k: usize) -> &Vector<T>;

    /// What `of` gives for each piece that local rank `k` owns.
    fn each_own<V>(&self, slot: Slot, k: usize, of: impl Fn(&Vector<T>) -> clinalg::Result<V>) -> Result<Vec<V>> {
        let (shares, vector) = (self.shares(), self.vector(slot, k));
        let of_piece = |range: std::ops::Range<usize>| match range.len() == vector.len() {
            true => of(vector),
            false => of(&Vector::from_view(vector.slice(range)?)?),
        };
        Ok(shares.slabs.own(shares.rank(k)).map(of_piece).collect::<clinalg::Result<_>>()?)
    }
}

impl<T: Real, R: Ranks<T>> Parts<T> for R {
    fn team(&self) -> &Team {
        &self.shares().team
    }

    fn partition(&self) -> &Partition {
        &self.shares().slabs.partition
    }

    fn len(&self) -> usize {
        self.shares().system.components()
    }

    fn part(&self, slot: Slot, k: usize) -> (&System, &Vector<T>) {
        (&self.shares().parts[k], self.vector(slot, k))
    }

    fn own(&self, slot: Slot, k: usize) -> Result<Vec<View<'_, T>>> {
        let (shares, vector) = (self.shares(), self.vector(slot, k));
        let views = shares.slabs.own(shares.rank(k)).map(|range| vector.slice(range));
        views.collect::<clinalg::Result<_>>().map_err(|error| Error::from(error).of_rank(&shares.team, k))
    }

    fn to_vec(&self, slot: Slot) -> Result<Vec<T>> {
        let shares = self.shares();
        let mut whole = vec![T::zero(); shares.system.components()];
        for k in 0..shares.parts.len() {
            for (range, view) in shares.slabs.of_whole(shares.rank(k)).zip(self.own(slot, k)?) {
                view.read(&mut whole[range]).map_err(|error| Error::from(error).of_rank(&shares.team, k))?;
            }
        }
        let of_rank = |rank: usize| shares.slabs.of_whole(rank).collect::<Vec<_>>();
        let of_ranks: Vec<_> = (0..shares.team.ranks()).map(of_rank).collect();
        for piece in 0..of_ranks[0].len() {
            let ranges: Vec<_> = of_ranks.iter().map(|pieces| pieces[piece].clone()).collect();
            shares.team.gather_ranges(&ranges, &mut whole)?;
        }
        Ok(whole)
    }

    fn all_finite(&self, slot: Slot) -> Result<bool> {
        let shares = self.shares();
        let is_finite = |vector: &Vector<T>| Ok(ops::norm_inf(vector)?.is_finite());
        let faults = shares.each(|k| {
            // Halos may hold anything, but most often they are finite too.
            let all = is_finite(self.vector(slot, k))? || self.each_own(slot, k, is_finite)?.into_iter().all(|own| own);
            Ok(vec![f64::from(u8::from(!all))])
        })?;
        Ok(shares.team.all_reduce(Reduction::Max, &faults)?[0] == 0.0)
    }

    fn norm2(&self, slot: Slot) -> Result<f64> {
        let shares = self.shares();
        let square = |own: &Vector<T>| Ok(ops::norm2(own)?.into_f64().powi(2));
        let squares = shares.each(|k| Ok(vec![self.each_own(slot, k, square)?.into_iter().sum()]))?;
        Ok(shares.team.all_reduce(Reduction::Sum, &squares)?[0].sqrt())
    }

    fn pick(&self, slot: Slot, components: &[usize]) -> Result<Vec<T>> {
        let shares = self.shares();
        let places: Vec<_> = components.iter().map(|c| shares.slabs.place(*c)).collect();
        let parts = shares.each(|k| {
            let own = |place: &(usize, usize)| place.0 == shares.rank(k);
            let wanted: Vec<usize> = places.iter().filter(|place| own(place)).map(|place| place.1).collect();
            let mut part = vec![0.0; components.len()];
            let targets = part.iter_mut().zip(&places).filter(|(_, place)| own(place));
            let values = Stored::Device(self.vector(slot, k)).pick(&wanted)?;
            targets.zip(values).for_each(|((target, _), value)| *target = value.into_f64());
            Ok(part)
        })?;
        // One of the terms is the value, the others are 0.
        let sums = shares.team.all_reduce(Reduction::Sum, &parts)?;
        Ok(sums.into_iter().map(T::from_f64).collect())
    }

    fn with_noise(&self, slot: Slot, distance: f64) -> Result<Box<dyn Parts<T>>> {
        let shares = self.shares();
        let ranks = shares.each(|k| {
            let rank = shares.rank(k);
            let pieces = shares.slabs.own(rank).zip(shares.slabs.of_whole(rank));
            with_noise_on(self.vector(slot, k), pieces, distance)
        })?;
        Ok(Box::new(TeamVector { shares: shares.clone(), ranks }))
    }
}

/// A vector in parts on the devices of a team, with the rows of the [`TeamStepper`](super::TeamStepper) that made it.
#[derive(Debug)]
pub struct TeamVector<T: Real> {
    shares: Arc<Shares>,
    ranks: Vec<Vector<T>>,
}

impl<T: Real> TeamVector<T> {
    /// The initial values of a problem for the system of `shares`.
    pub(super) fn y0(shares: &Arc<Shares>, problem: &Problem) -> Result<TeamVector<T>> {
        let on_devices = problem.has_y0_of_parts();
        let whole: Vec<T> = if on_devices { Vec::new() } else { problem.y0_as()? };
        let ranks = shares.each(|k| {
            let context = &shares.team.contexts()[k];
            if on_devices {
                return problem.y0_of_part(context, &shares.parts[k]);
            }
            Ok(Vector::from_slice(context, &shares.slabs.part(&whole, shares.rank(k)))?)
        })?;
        let y0 = TeamVector { shares: shares.clone(), ranks };
        if on_devices && !y0.stored().all_finite()? {
            // Computed again on the host, for an error that names the point.
            problem.y0()?;
        }
        Ok(y0)
    }

    /// The vector, for [`Integrator`](crate::integrate::Integrator) and what is computed from solutions.
    pub fn stored(&self) -> Stored<'_, T> {
        Stored::Parts(Shared { parts: self, slot: Slot::Input(0) })
    }
}

impl<T: Real> Ranks<T> for TeamVector<T> {
    fn shares(&self) -> &Arc<Shares> {
        &self.shares
    }

    fn vector(&self, _: Slot, k: usize) -> &Vector<T> {
        &self.ranks[k]
    }
}

#[cfg(test)]
mod tests {
    use clinalg::{Context, ContextOptions, Device};

    use super::*;
    use crate::Description;
    use crate::team::{TeamOptions, TeamStepper};

    #[test]
    fn noise_on_a_team_has_the_bits_of_one_device() {
        let Some(device) = clinalg_testing::found(Device::default_device()) else { return };
        let context = || Context::new(&device, &ContextOptions::default()).unwrap();
        let text = "grid 5 43\nboundary periodic\nu' = v[0,1]\nv' = u[0,-2]\nlayout LAYOUT\n\
                    initial u = x + y\ninitial v = i - j\n";
        for layout in ["interleaved", "field-wise"] {
            let text = text.replace("LAYOUT", layout);
            let problem = Description::read(&text).unwrap().problem("test", &[]).unwrap();
            let one = context();
            let y0 = problem.y0_on::<f64>(&one).unwrap();
            let all = 0..y0.len();
            let want = with_noise_on(&y0, std::iter::once((all.clone(), all)), 0.37).unwrap().to_vec().unwrap();
            for ranks in [1, 2, 3] {
                let team = Team::of_contexts((0..ranks).map(|_| context()).collect()).unwrap();
                let method = crate::Method::named("rk4").unwrap();
                let options = TeamOptions::default();
                let stepper = TeamStepper::<f64>::new(&team, &method, &problem.system, &options).unwrap();
                let noisy = stepper.y0(&problem).unwrap().with_noise(Slot::Input(0), 0.37).unwrap();
                assert_eq!(noisy.to_vec(Slot::Input(0)).unwrap(), want, "{layout}, {ranks} ranks");
            }
        }
    }
}
