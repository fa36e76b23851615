//! The geometry of a problem on a device.

use std::f64::consts::PI;
use std::ops::Range;

use clinalg::runtime;
use clinalg::{Buffer, Context, Error, KernelFamily, Real, Result};
use serde::Serialize;

use super::assemble::matrix_bytes;
use super::radial::Tables;
use super::singular::CutRules;
use super::{ComplexScalar, Domain, Material, Waves};
use crate::assembly::{fill_parallel, parallel};
use crate::kernels::bem_elasto::Program;
use crate::quadrature::gauss_legendre;
use crate::surface::{SurfacePoint, norm, scaled, sub};
use crate::{ElementMesh, Point};

/// Collocation points that an item of a CPU takes; rows of numbers for each collocation point are padded to this.
const LANES: usize = 8;
/// Numbers of a Gauss point on a device.
const POINT: usize = 8;
/// Work-items per work-group on a GPU, for kernels with one collocation point per item.
const GROUP: usize = 64;
/// Parts of the sum over all elements that one launch forms at once.
const PARTS: usize = 64;
/// Farther than every element: a rule that begins here never serves.
const NEVER: f64 = 1e30;

/// Gauss points of an element, n x n, n even: the middle point of an odd rule is the collocation point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Rule {
    /// So many in each direction, 2 to 16, for every pair.
    Fixed(usize),
    /// By the distance of the collocation point from the element's centre: 8 x 8, from 1 diameter on 4 x 4, from 2.5 on 2 x 2. On a cubed
    /// sphere with 8 elements to a shear wave the entries differ from those of 8 x 8 by 5e-5 of the largest one at most.
    Adaptive,
}

impl Rule {
    /// Elements that a group goes through in an assembly: more where each takes few points.
    pub(super) fn tile(self) -> usize {
        match self {
            Rule::Fixed(n) if n > 4 => 4,
            _ => 16,
        }
    }

    /// Points per direction of each rule; from how many diameters on the second and the third serve.
    pub(super) fn parts(self) -> ([usize; 3], [f64; 2]) {
        match self {
            Rule::Fixed(n) => ([n, 0, 0], [NEVER, NEVER]),
            Rule::Adaptive => ([8, 4, 2], [1.0, 2.5]),
        }
    }
}

/// Options of the discretisation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Gauss points. Default 8 x 8 everywhere.
    pub rule: Rule,
    /// The boundary elements whose rows H and G get, from the first up to before the second. Default all.
    pub rows: Option<[usize; 2]>,
    /// Whether H and G have the columns of the enclosing elements too: 3 m x 3 N. Default no.
    pub rectangular: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { rule: Rule::Fixed(8), rows: None, rectangular: false }
    }
}

impl Options {
    /// With another rule.
    pub fn rule(mut self, rule: Rule) -> Options {
        self.rule = rule;
        self
    }

    /// With the rows of the boundary elements `rows` only.
    pub fn rows(mut self, rows: Range<usize>) -> Options {
        self.rows = Some([rows.start, rows.end]);
        self
    }

    /// The rows assigned to each of the `devices`.
    pub(super) fn share(&self, mesh: &ElementMesh, devices: usize) -> Result<Vec<Range<usize>>> {
        let m = mesh.boundary();
        let [first, last] = self.rows.unwrap_or([0, m]);
        if first >= last || last > m {
            return Err(Error::value("rows", format!("a range within 0..{m}, not empty"), format!("{first}..{last}")));
        }
        if devices > last - first {
            let expected = format!("at most {} devices, one for each boundary element", last - first);
            return Err(Error::value("devices", expected, devices));
        }
        let start = |k: usize| first + (last - first) * k / devices;
        Ok((0..devices).map(|k| start(k)..start(k + 1)).collect())
    }

    /// Number of elements with columns.
    pub(super) fn cols(&self, mesh: &ElementMesh) -> usize {
        if self.rectangular { mesh.len() } else { mesh.boundary() }
    }

    /// With the columns of enclosing elements, or without.
    pub fn rectangular(mut self, rectangular: bool) -> Options {
        self.rectangular = rectangular;
        self
    }
}

/// A surface, a material on one side of it and what all frequencies share: Gauss points and static parts, in the memory of a device.
#[derive(Debug)]
pub struct Problem<S: ComplexScalar> {
    pub(super) context: Context,
    pub(super) mesh: ElementMesh,
    pub(super) material: Material,
    pub(super) domain: Domain,
    pub(super) options: Options,
    /// Coordinates are relative to this point, so that a body far from the origin loses no digits.
    origin: Point,
    /// The surface is no farther from the origin than this.
    radius: f64,
    /// The element whose rows come first.
    pub(super) first: usize,
    /// Elements with columns.
    pub(super) cols: usize,
    normals: Vec<Point>,
    /// Points of each rule of an element.
    pub(super) counts: [u32; 3],
    pub(super) limits: [S::Real; 2],
    pub(super) centres: Places<S>,
    pub(super) spheres: Buffer<S::Real>,
    pub(super) quadrature: Buffer<S::Real>,
    pub(super) statics: Buffer<S::Real>,
}

/// Collocation points on a device: three rows of `stride`.
#[derive(Debug)]
pub(super) struct Places<S: ComplexScalar> {
    /// The least and the largest distance from the origin.
    reach: [f64; 2],
    pub(super) count: usize,
    pub(super) stride: usize,
    pub(super) values: Buffer<S::Real>,
}

/// The Gauss points of all elements relative to a point, and normals at the centres of those with unknowns.
struct Geometry<R> {
    origin: Point,
    radius: f64,
    normals: Vec<Point>,
    quadrature: Vec<R>,
}

impl<R: Real> Geometry<R> {
    fn new(mesh: &ElementMesh, domain: Domain, rule: Rule) -> Result<Geometry<R>> {
        if let Rule::Fixed(n) = rule
            && !(2..=16).contains(&n) | (n % 2 == 1)
        {
            return Err(Error::value("rule", "an even number of points per direction, 2 to 16", n));
        }
        let (orders, _) = rule.parts();
        let real = <R as clinalg::Scalar>::from_f64;
        let centres = mesh.centres();
        let origin = [0, 1, 2].map(|d| centres.iter().map(|c| c[d]).sum::<f64>() / centres.len() as f64);
        let side = domain.side();
        // The points of all rules in the square, the finest rule first.
        let product = |n: usize| {
            let rule = gauss_legendre(n);
            let row = |&(s, v): &(f64, f64)| rule.iter().map(move |&(t, w)| (s, t, v * w)).collect::<Vec<_>>();
            rule.iter().flat_map(row).collect::<Vec<_>>()
        };
        let places = orders.map(product).concat();
        let mut quadrature = zeros(mesh.len() * places.len() * POINT)?;
        fill_parallel(&mut quadrature, places.len() * POINT, |j, values| {
            let corners = mesh.corners(j);
            for (&(s, t, w), value) in places.iter().zip(values.chunks_exact_mut(POINT)) {
                let SurfacePoint { point, normal, jacobian } = SurfacePoint::of(&corners, s, t);
                let weight = w * jacobian;
                let [x, y, z] = sub(point, origin);
                let n = scaled(side * weight, normal);
                value.copy_from_slice(&[x, y, z, n[0], n[1], n[2], weight, 0.0].map(real));
            }
        });
        Ok(Geometry {
            origin,
            radius: mesh.nodes().iter().map(|&p| norm(sub(p, origin))).fold(0.0, f64::max),
            normals: (0..mesh.boundary()).map(|j| scaled(side, normal_at_centre(mesh, j))).collect(),
            quadrature,
        })
    }
}

impl<S: ComplexScalar> Problem<S> {
    /// Computes Gauss points and static parts of `mesh` and uploads them: 64 bytes (double precision) for each point.
    ///
    /// # Errors
    /// [`Error::Value`] for a rule with an odd number of points or one outside 2 to 16, or for rows that the mesh does not have;
    /// [`Error::Allocation`]; [`Error::NoFp64`].
    pub fn new(
        context: &Context,
        mesh: &ElementMesh,
        material: Material,
        domain: Domain,
        options: &Options,
    ) -> Result<Problem<S>> {
        let mut all = Problem::on_each(std::slice::from_ref(context), mesh, material, domain, options)?;
        all.pop().ok_or_else(|| Error::value("contexts", "at least one", 0))
    }

    /// The problem on several devices, whose `options` say all rows: each gets about as many of them as the others.
    ///
    /// # Errors
    /// As [`Problem::new`].
    pub(super) fn on_each(
        contexts: &[Context],
        mesh: &ElementMesh,
        material: Material,
        domain: Domain,
        options: &Options,
    ) -> Result<Vec<Problem<S>>> {
        let rows = options.share(mesh, contexts.len())?;
        contexts.iter().try_for_each(|context| context.require::<S::Real>())?;
        let geometry = Geometry::new(mesh, domain, options.rule)?;
        let parts = contexts.iter().zip(rows);
        parts.map(|(context, rows)| Problem::with(context, mesh, material, domain, options, &geometry, rows)).collect()
    }

    fn with(
        context: &Context,
        mesh: &ElementMesh,
        material: Material,
        domain: Domain,
        options: &Options,
        geometry: &Geometry<S::Real>,
        rows: Range<usize>,
    ) -> Result<Problem<S>> {
        let (orders, limits) = options.rule.parts();
        let real = <S::Real as clinalg::Scalar>::from_f64;
        let (centres, origin) = (mesh.centres(), geometry.origin);
        let sphere = |j: usize| {
            let [x, y, z] = [0, 1, 2].map(|d| centres[j][d] - origin[d]);
            [x, y, z, mesh.diameters()[j].powi(2)].map(real)
        };
        let mut problem = Problem {
            context: context.clone(),
            centres: Places::new(context, &centres[rows.clone()], origin)?,
            spheres: Buffer::from_slice(context, &(0..mesh.len()).flat_map(sphere).collect::<Vec<_>>())?,
            quadrature: Buffer::from_slice(context, &geometry.quadrature)?,
            statics: Buffer::zeroed(context, 0)?,
            counts: orders.map(|n| (n * n) as u32),
            limits: limits.map(|limit| real(if limit < NEVER { limit * limit } else { NEVER })),
            normals: geometry.normals.clone(),
            first: rows.start,
            cols: options.cols(mesh),
            mesh: mesh.clone(),
            material,
            domain,
            options: *options,
            origin,
            radius: geometry.radius,
        };
        problem.statics = problem.static_parts()?;
        Ok(problem)
    }

    /// 4 pi times the static H_ii, from rigid motions, and 4 pi mu times the static G_ii.
    fn static_parts(&self) -> Result<Buffer<S::Real>> {
        let (m, stride) = (self.centres.count, self.centres.stride);
        let parts = self.mesh.len().min(PARTS);
        let mut partial = Buffer::<S::Real>::zeroed(&self.context, parts * 9 * stride)?;
        let beta2 = <S::Real as clinalg::Scalar>::from_f64(self.material.speed_ratio_squared());
        let [count0, count1, count2] = self.counts;
        let (program, range) = (Program::<S>::new().local(self.local() as u64), self.launch(&self.centres, parts));
        // SAFETY: `partial` has 9 rows of `stride` for each part; the others are as `assemble` takes them.
        unsafe {
            program.sum_static(
                &self.context,
                range,
                self.mesh.len(),
                parts,
                stride,
                self.first,
                count0 + count1 + count2,
                count0,
                count1,
                count2,
                self.limits[0],
                self.limits[1],
                beta2,
                &self.centres.values,
                &self.spheres,
                &self.quadrature,
                &mut partial,
            )?;
        }
        let mut sums = vec![0.0; 9 * stride];
        for part in partial.to_vec()?.chunks_exact(9 * stride) {
            sums.iter_mut().zip(part).for_each(|(sum, v)| *sum += v.into_f64());
        }
        let own: Vec<usize> = (self.first..self.first + m).collect();
        let rules = CutRules::new();
        let singular = parallel(&own, |&j| rules.static_own(&self.mesh, j, self.material.poisson()));
        let mut statics = vec![0.0; 15 * stride];
        for i in 0..m {
            for c in 0..9 {
                let rigid = if c % 4 == 0 { self.domain.rigid() } else { 0.0 };
                statics[c * stride + i] = 4.0 * PI * rigid - sums[c * stride + i];
            }
            for (c, (l, k)) in [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)].into_iter().enumerate() {
                statics[(9 + c) * stride + i] = 4.0 * PI * singular[i][l][k];
            }
        }
        let statics: Vec<S::Real> = statics.into_iter().map(<S::Real as clinalg::Scalar>::from_f64).collect();
        Buffer::from_slice(&self.context, &statics)
    }

    /// The range for `places` by `groups`.
    pub(super) fn launch(&self, places: &Places<S>, groups: usize) -> runtime::Range {
        match self.context.family() {
            KernelFamily::Cpu => runtime::Range::d2([places.stride / LANES, groups], [1, 1]),
            KernelFamily::Gpu => runtime::Range::d2([places.count, groups], [self.local(), 1]),
        }
    }

    /// Work-items per work-group on a GPU, for kernels with one collocation point per item.
    pub(super) fn local(&self) -> usize {
        GROUP.min(self.context.local())
    }

    /// Tables of the radial functions for `places`.
    pub(super) fn tables(&self, frequency: f64, places: &Places<S>) -> Result<Tables<S>> {
        Tables::new(&self.context, &Waves::new(self.material, frequency)?, self.distances(places))
    }

    /// A range of all distances between `places` and the surface.
    pub(super) fn distances(&self, places: &Places<S>) -> [f64; 2] {
        let [nearest, farthest] = places.reach;
        [(nearest - self.radius).max(0.0), farthest + self.radius]
    }

    /// Points at which a field is evaluated, as collocation points.
    pub(super) fn places(&self, points: &[Point]) -> Result<Places<S>> {
        Places::new(&self.context, points, self.origin)
    }

    /// The mesh.
    pub fn mesh(&self) -> &ElementMesh {
        &self.mesh
    }

    /// The material.
    pub fn material(&self) -> Material {
        self.material
    }

    /// On which side of the surface the material is.
    pub fn domain(&self) -> Domain {
        self.domain
    }

    /// The context.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The unit normals at the centres of the boundary elements, out of the material.
    pub fn normals(&self) -> &[Point] {
        &self.normals
    }

    /// The boundary elements whose rows H and G have.
    pub fn rows(&self) -> Range<usize> {
        self.first..self.first + self.centres.count
    }

    /// Number of elements that have columns in H and G.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Evaluations of (U, T) of one assembly, by the finest rule.
    pub fn evaluations(&self) -> f64 {
        self.centres.count as f64 * self.cols as f64 * f64::from(self.counts[0])
    }

    /// The shear wavelength at the angular frequency `frequency` divided by the longest edge of the boundary elements; below
    /// four the mesh is too coarse.
    pub fn elements_per_wavelength(&self, frequency: f64) -> f64 {
        self.material.shear_wavelength(frequency) / self.mesh.longest_edge()
    }

    /// Memory of the matrices H and G in bytes.
    pub fn matrix_bytes(&self) -> u64 {
        matrix_bytes::<S>([self.centres.count, self.cols])
    }
}

/// Work-items per work-group, for kernels with one item per number.
pub(super) fn items(context: &Context) -> usize {
    match context.family() {
        KernelFamily::Cpu => LANES,
        KernelFamily::Gpu => context.local(),
    }
}

impl<S: ComplexScalar> Places<S> {
    fn new(context: &Context, points: &[Point], origin: Point) -> Result<Places<S>> {
        let stride = points.len().next_multiple_of(LANES);
        let mut values = Vec::with_capacity(3 * stride);
        for d in 0..3 {
            // The last point fills up.
            let padded = points.iter().chain(points.iter().rev().cycle()).take(stride);
            values.extend(padded.map(|p| <S::Real as clinalg::Scalar>::from_f64(p[d] - origin[d])));
        }
        let far = points.iter().map(|&p| norm(sub(p, origin)));
        let reach = far.fold([f64::INFINITY, 0.0], |[least, most]: [f64; 2], r| [least.min(r), most.max(r)]);
        Ok(Places { reach, count: points.len(), stride, values: Buffer::from_slice(context, &values)? })
    }
}

/// A vector of zeros in host memory.
fn zeros<R: Real>(count: usize) -> Result<Vec<R>> {
    let mut values = Vec::new();
    values.try_reserve_exact(count).map_err(|_| {
        let bytes = count.saturating_mul(size_of::<R>()) as u64;
        let limit =
            "the Gauss points of all elements need that much memory; use a coarser mesh or a rule of fewer points"
                .into();
        Error::Allocation { bytes, device: "the host".into(), limit }
    })?;
    values.resize(count, <R as clinalg::Scalar>::from_f64(0.0));
    Ok(values)
}

fn normal_at_centre(mesh: &ElementMesh, j: usize) -> Point {
    let [s, t] = mesh.centre_place(j);
    mesh.at(j, s, t).normal
}
