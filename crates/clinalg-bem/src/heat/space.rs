//! The geometry of a mesh on a device.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use clinalg::runtime::{Arg, Buffer};
use clinalg::team::Team;
use clinalg::{Context, Error, Real, Result};

use super::{HeatOperator, HeatParams, Kind};
use crate::Mesh;
use crate::quadrature::TriangleRule;
use crate::surface::{norm, sub};

/// Columns are padded to a multiple of this.
pub(super) const LANES: usize = 8;
/// Marks an empty place in a list of corners.
const NONE: u32 = u32::MAX;

/// Mesh, parameters and what all operators on them share, on one device and in one precision.
#[derive(Debug, Clone)]
pub struct HeatSpace<T: Real> {
    pub(super) shared: Arc<Shared<T>>,
    pub(super) ranks: Option<Arc<Ranks<T>>>,
}

/// Devices that share out the rows of operators.
#[derive(Debug)]
pub(super) struct Ranks<T: Real> {
    pub(super) team: Team,
    /// What each rank gets done, in any unit.
    pub(super) weights: Vec<f64>,
    /// Mesh and parameters on the devices of the ranks from 1 on.
    pub(super) others: Vec<Arc<Shared<T>>>,
}

#[derive(Debug)]
pub(super) struct Shared<T: Real> {
    pub(super) context: Context,
    pub(super) mesh: Mesh,
    pub(super) params: HeatParams,
    pub(super) rule: TriangleRule,
    points: Buffer<T>,
    pub(super) shapes: Buffer<T>,
    weights: Buffer<T>,
    /// Three nodes per triangle.
    pub(super) nodes: Buffer<u32>,
    /// Coordinates of the corners of each triangle.
    pub(super) corners: Buffer<T>,
    pub(super) of_triangles: Entities<T>,
    of_nodes: Entities<T>,
}

/// The rows or columns of an operator: triangles or nodes.
#[derive(Debug)]
pub(super) struct Entities<T: Real> {
    corners: Buffer<u32>,
    pub(super) centres: Buffer<T>,
    /// Centres on the host.
    pub(super) places: Vec<crate::Point>,
    /// Count padded to [`LANES`].
    pub(super) stride: usize,
    slots: usize,
    /// Largest distance of a quadrature point from its entity's centre.
    pub(super) reach: f64,
}

impl<T: Real> HeatSpace<T> {
    /// Uploads `mesh`.
    ///
    /// # Errors
    /// Those of [`HeatParams::check`]; [`Error::Allocation`](clinalg::Error::Allocation);
    /// [`Error::NoFp64`](clinalg::Error::NoFp64).
    pub fn new(context: &Context, mesh: &Mesh, params: &HeatParams) -> Result<HeatSpace<T>> {
        params.check()?;
        context.require::<T>()?;
        let rule = TriangleRule::of_order(params.order)?;
        let count = mesh.triangles().len();
        let all = 0..count;
        let mut points = Vec::with_capacity(3 * rule.len() * count);
        for at in &rule.points {
            for d in 0..3 {
                points.extend(all.clone().map(|k| T::from_f64(mesh.point(k, *at)[d])));
            }
        }
        let mut shapes: Vec<T> = mesh.areas().iter().map(|&a| T::from_f64(a)).collect();
        for d in 0..3 {
            shapes.extend(mesh.normals().iter().map(|n| T::from_f64(n[d])));
        }
        for c in 0..3 {
            for d in 0..3 {
                shapes.extend(all.clone().map(|k| T::from_f64(mesh.curls(k)[c][d])));
            }
        }
        let mut weights = Vec::with_capacity(4 * rule.len());
        for (at, weight) in rule.points.iter().zip(&rule.weights) {
            weights.extend([*weight, at[0], at[1], at[2]].map(T::from_f64));
        }
        let nodes: Vec<u32> = mesh.triangles().iter().flatten().copied().collect();
        let corners: Vec<T> = all.clone().flat_map(|k| mesh.corners(k)).flatten().map(T::from_f64).collect();
        let triangles: Vec<Vec<u32>> = (0..count as u32).map(|k| vec![4 * k]).collect();
        let centroids = all.map(|k| mesh.point(k, [1.0 / 3.0; 3])).collect();
        let around = mesh.triangles_around();
        let fans: Vec<Vec<u32>> = (0..mesh.nodes().len())
            .map(|node| around.of(node).iter().map(|c| 4 * c.triangle + c.corner).collect())
            .collect();
        Ok(HeatSpace {
            ranks: None,
            shared: Arc::new(Shared {
                context: context.clone(),
                points: Buffer::from_slice(context, &points)?,
                shapes: Buffer::from_slice(context, &shapes)?,
                weights: Buffer::from_slice(context, &weights)?,
                nodes: Buffer::from_slice(context, &nodes)?,
                corners: Buffer::from_slice(context, &corners)?,
                of_triangles: Entities::new(context, mesh, &rule, &triangles, centroids)?,
                of_nodes: Entities::new(context, mesh, &rule, &fans, mesh.nodes().to_vec())?,
                mesh: mesh.clone(),
                params: *params,
                rule,
            }),
        })
    }

    /// Uploads `mesh` to each device of a team, which then share out the rows of every operator of the space in proportion to
    /// `weights`, one for each rank. Vectors are on the device of rank 0, [`HeatSpace::context`]. The blocks are those of one device;
    /// products agree with those of one device to rounding.
    ///
    /// ```
    /// use clinalg::solve::Operator;
    /// use clinalg::team::Team;
    /// use clinalg::{Context, ContextOptions, Device, Vector};
    /// use clinalg_bem::Mesh;
    /// use clinalg_bem::heat::{HeatParams, HeatSpace, Kind, OperatorOptions};
    ///
    /// let context = || Context::new(&Device::default_device()?, &ContextOptions::default());
    /// let team = Team::of_contexts(vec![context()?, context()?])?;
    /// let space = HeatSpace::<f64>::on_team(&team, &Mesh::cube12(), &HeatParams::new(1.0, 1.0, 4), &[1.0, 1.0])?;
    /// let v = space.operator(Kind::V, &OperatorOptions::default())?;
    /// let x = Vector::filled(space.context(), v.cols(), 1.0)?;
    /// let mut y = Vector::zeros(space.context(), v.rows())?;
    /// v.apply(1.0, &x, 0.0, &mut y)?;
    /// # Ok::<(), clinalg::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Value`] for another number of weights or one that is not positive and finite, and for ranks in other processes; as
    /// [`Error::Rank`], those of [`HeatSpace::new`].
    pub fn on_team(team: &Team, mesh: &Mesh, params: &HeatParams, weights: &[f64]) -> Result<HeatSpace<T>> {
        let value = |argument: &'static str, expected: String, got: String| Error::Value { argument, expected, got };
        if team.contexts().len() != team.ranks() {
            let expected = "one in this process; heat operators cannot be distributed over several processes".into();
            return Err(value("team", expected, format!("{} ranks elsewhere", team.ranks() - team.contexts().len())));
        }
        let positive = weights.iter().all(|w| *w > 0.0 && w.is_finite());
        if weights.len() != team.ranks() || !positive {
            let expected = format!("{} positive finite numbers, one for each rank", team.ranks());
            return Err(value("weights", expected, format!("{weights:?}")));
        }
        let mut spaces = team.each(|_, context| HeatSpace::new(context, mesh, params))?;
        let shared = spaces.remove(0).shared;
        let others: Vec<_> = spaces.into_iter().map(|space| space.shared).collect();
        let ranks = Ranks { team: team.clone(), weights: weights.to_vec(), others };
        let ranks = (team.ranks() > 1).then(|| Arc::new(ranks));
        Ok(HeatSpace { shared, ranks })
    }

    /// [`HeatSpace::on_team`] with rows in proportion to what each rank gets done, measured by products of some rows of V on the
    /// fly, see [`Team::measure`].
    ///
    /// # Errors
    /// As [`HeatSpace::on_team`]; those of [`HeatSpace::operator`].
    pub fn balanced(team: &Team, mesh: &Mesh, params: &HeatParams) -> Result<HeatSpace<T>> {
        let even = HeatSpace::on_team(team, mesh, params, &vec![1.0; team.ranks()])?;
        let Some(ranks) = &even.ranks else { return Ok(even) };
        let weights = HeatOperator::measured(ranks, &even.shared)?;
        let ranks = Ranks { team: team.clone(), weights, others: ranks.others.clone() };
        Ok(HeatSpace { shared: even.shared, ranks: Some(Arc::new(ranks)) })
    }

    /// The mesh.
    pub fn mesh(&self) -> &Mesh {
        &self.shared.mesh
    }

    /// The parameters.
    pub fn params(&self) -> &HeatParams {
        &self.shared.params
    }

    /// The context.
    pub fn context(&self) -> &Context {
        &self.shared.context
    }
}

impl<T: Real> Shared<T> {
    pub(super) fn rows(&self, kind: Kind) -> &Entities<T> {
        if kind.tests_nodes() { &self.of_nodes } else { &self.of_triangles }
    }

    pub(super) fn cols(&self, kind: Kind) -> &Entities<T> {
        if kind.tries_nodes() { &self.of_nodes } else { &self.of_triangles }
    }

    /// The arguments that describe triangles.
    pub(super) fn triangles(&self) -> Vec<Arg> {
        let count = Arg::size(self.mesh.triangles().len());
        vec![self.points.arg(), self.shapes.arg(), self.weights.arg(), count]
    }

    /// The arguments that describe triangles, rows and columns.
    pub(super) fn geometry(&self, kind: Kind) -> Vec<Arg> {
        let (rows, cols) = (self.rows(kind), self.cols(kind));
        let mut args = self.triangles();
        for side in [rows, cols] {
            let slots = Arg::U32(side.slots as u32);
            args.extend([side.corners.arg(), side.centres.arg(), Arg::size(side.stride), slots]);
        }
        args
    }
}

impl<T: Real> Entities<T> {
    /// At least the largest distance of one of these from one of `others`: the diagonal of the box around them.
    pub(super) fn apart(&self, others: &Entities<T>) -> f64 {
        let both = || self.places.iter().chain(&others.places);
        let along = |d: usize| {
            let (least, most) = both().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), p| (a.min(p[d]), b.max(p[d])));
            most - least
        };
        norm([along(0), along(1), along(2)])
    }

    /// The arguments that describe which corners belong to which.
    pub(super) fn lists(&self) -> Vec<Arg> {
        vec![self.corners.arg(), Arg::size(self.stride), Arg::U32(self.slots as u32)]
    }

    /// For each place of the lists, of each entity whether there is a corner.
    pub(super) fn lists_on_host(&self) -> Result<Vec<Vec<bool>>> {
        let corners = self.corners.to_vec()?;
        Ok(corners.chunks(self.stride).map(|list| list.iter().map(|&corner| corner != NONE).collect()).collect())
    }

    fn new(
        context: &Context,
        mesh: &Mesh,
        rule: &TriangleRule,
        lists: &[Vec<u32>],
        places: Vec<crate::Point>,
    ) -> Result<Entities<T>> {
        let stride = lists.len().next_multiple_of(LANES);
        let slots = lists.iter().map(Vec::len).max().unwrap_or(0);
        let mut corners = vec![NONE; slots * stride];
        let mut centres = vec![T::zero(); 3 * stride];
        let mut reach = 0.0_f64;
        for (k, (list, place)) in lists.iter().zip(&places).enumerate() {
            for (slot, &corner) in list.iter().enumerate() {
                corners[slot * stride + k] = corner;
                for at in &rule.points {
                    reach = reach.max(norm(sub(mesh.point(corner as usize / 4, *at), *place)));
                }
            }
            (0..3).for_each(|d| centres[d * stride + k] = T::from_f64(place[d]));
        }
        Ok(Entities {
            corners: Buffer::from_slice(context, &corners)?,
            centres: Buffer::from_slice(context, &centres)?,
            places,
            stride,
            slots,
            reach,
        })
    }
}

/// Triangles that share a vertex or an edge, as the kernels take them.
pub(super) struct Touching {
    /// Test triangle, trial triangle, code.
    pub(super) pairs: Vec<u32>,
    /// Row and column of the entries that they add to.
    pub(super) entries: Vec<u32>,
    /// The contributions of each entry: `offsets` into `sources`.
    pub(super) offsets: Vec<u32>,
    pub(super) sources: Vec<u64>,
}

impl Touching {
    /// Those that add to one of `rows`, which entries count from its first.
    pub(super) fn new(mesh: &Mesh, kind: Kind, rows: Range<usize>) -> Touching {
        let around = mesh.triangles_around();
        let mut pairs = Vec::new();
        for i in 0..mesh.triangles().len() {
            for j in mesh.touching(i, &around) {
                if !(0..kind.slots()).any(|slot| rows.contains(&kind.place(mesh, i, j as usize, slot).0)) {
                    continue;
                }
                for pair in kind.singular_pairs(mesh, i, j as usize) {
                    let turns = |order: [usize; 3]| (order[0] | order[1] << 2 | order[2] << 4) as u32;
                    let code = pair.contact as u32
                        | u32::from(pair.exchanged) << 2
                        | turns(pair.first) << 3
                        | turns(pair.second) << 9
                        | u32::from(pair.halved) << 15;
                    pairs.extend([i as u32, j, code]);
                }
            }
        }
        let count = pairs.len() as u64 / 3;
        let mut lists: BTreeMap<(u32, u32), Vec<u64>> = BTreeMap::new();
        for (m, pair) in pairs.chunks_exact(3).enumerate() {
            for slot in 0..kind.slots() {
                let (row, col) = kind.place(mesh, pair[0] as usize, pair[1] as usize, slot);
                if !rows.contains(&row) {
                    continue;
                }
                let row = row - rows.start;
                lists.entry((row as u32, col as u32)).or_default().push(2 * slot as u64 * count + m as u64);
            }
        }
        let (mut entries, mut offsets, mut sources) = (Vec::new(), vec![0], Vec::new());
        for ((row, col), list) in lists {
            entries.extend([row, col]);
            sources.extend(list);
            offsets.push(sources.len() as u32);
        }
        Touching { pairs, entries, offsets, sources }
    }
}
