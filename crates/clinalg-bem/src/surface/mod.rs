//! Closed surfaces: of triangles, and of quadrilaterals and triangles.

mod element_shapes;
mod elements;
mod generate;
mod mend;
mod numbers;
mod read;
mod write;

use std::collections::HashMap;
use std::f64::consts::PI;

use clinalg::{Error, Result};
use serde::Serialize;

use crate::quadrature::Contact;

use numbers::Numbers;

pub use elements::{ElementMesh, SurfacePoint};
pub use write::Field;

/// A point or vector in space.
pub type Point = [f64; 3];

pub(crate) fn sub(a: Point, b: Point) -> Point {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub(crate) fn dot(a: Point, b: Point) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(crate) fn cross(a: Point, b: Point) -> Point {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub(crate) fn norm(a: Point) -> f64 {
    dot(a, a).sqrt()
}

pub(crate) fn scaled(factor: f64, a: Point) -> Point {
    a.map(|v| factor * v)
}

/// The solid angle under which the triangle of these corners is seen from the origin, negative where its outer side is seen (van
/// Oosterom and Strackee 1983).
fn solid_angle([a, b, c]: [Point; 3]) -> f64 {
    let [la, lb, lc] = [a, b, c].map(norm);
    let below = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb;
    2.0 * dot(a, cross(b, c)).atan2(below)
}

/// The surface of a bounded domain as flat triangles: closed, each edge in exactly two triangles
/// that run through it in opposite directions, normals outward.
#[derive(Debug, Clone, PartialEq)]
pub struct Mesh {
    nodes: Vec<Point>,
    triangles: Vec<[u32; 3]>,
    areas: Vec<f64>,
    normals: Vec<Point>,
}

/// A connected part of a surface and the box around it.
struct Part {
    triangles: Vec<usize>,
    least: Point,
    most: Point,
}

/// Sizes and shapes of the triangles of a mesh.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Quality {
    /// Number of nodes.
    pub nodes: usize,
    /// Number of triangles.
    pub triangles: usize,
    /// Sum of the areas.
    pub area: f64,
    /// Volume inside.
    pub volume: f64,
    /// Length of the shortest edge.
    pub shortest_edge: f64,
    /// Length of the longest edge.
    pub longest_edge: f64,
    /// Smallest angle in degrees.
    pub smallest_angle: f64,
    /// Largest angle in degrees.
    pub largest_angle: f64,
    /// Largest ratio of circumradius to twice the inradius; 1 for an equilateral triangle.
    pub worst_aspect: f64,
}

/// Height of a triangle over its longest edge, relative to that edge, below which it counts as
/// degenerate: its normal would be rounding.
const FLAT: f64 = 1e-10;

fn bad(argument: &'static str, expected: &str, got: String) -> Error {
    Error::Value { argument, expected: expected.into(), got }
}

/// That no second face lies at an edge of `face`; `how` is how the surface can be closed.
fn open_at(argument: &'static str, edge: [u32; 2], face: usize, numbers: &Numbers, how: &str) -> Error {
    let (nodes, face) = (numbers.nodes(&edge), numbers.face(face));
    let reason = format!("the surface is open at the edge between {nodes} of {face}; close it{how}");
    Error::unsuitable(argument, reason)
}

/// That both faces run from the one node of `edge` to the other.
fn same_way(first: usize, second: usize, edge: [u32; 2], numbers: &Numbers) -> String {
    let (first, second, nodes) = (numbers.face(first), numbers.face(second), numbers.nodes(&edge));
    format!("{first} and {second}, which run through the edge between {nodes} the same way")
}

impl Mesh {
    /// A mesh of `nodes` and `triangles` (0-based, anticlockwise seen from outside).
    ///
    /// # Errors
    /// [`Error::Value`], [`Error::Unsuitable`] or [`Error::Index`] that names the first node, triangle or edge, counted from 1, for: no
    /// triangles, coordinates that are not finite, indices out of range, nodes in no triangle,
    /// triangles without area, the same triangle twice, open edges, edges in more than two triangles,
    /// neighbours of opposite orientation, nodes where several parts of the surface touch,
    /// normals that point inward, for a hole into the body.
    pub fn new(nodes: Vec<Point>, triangles: Vec<[u32; 3]>) -> Result<Mesh> {
        Mesh::numbered(nodes, triangles, &Numbers::of_arrays("triangle"))
    }

    /// As [`Mesh::new`], with the names that messages give to nodes and triangles.
    fn numbered(nodes: Vec<Point>, triangles: Vec<[u32; 3]>, numbers: &Numbers) -> Result<Mesh> {
        if triangles.is_empty() {
            return Err(bad("triangles", "at least four, the surface of a body", "none".into()));
        }
        if nodes.len() > u32::MAX as usize || triangles.len() > (u32::MAX / 8) as usize {
            return Err(bad("triangles", "fewer than 2^29", triangles.len().to_string()));
        }
        if let Some((k, p)) = nodes.iter().enumerate().find(|(_, p)| p.iter().any(|v| !v.is_finite())) {
            return Err(bad("nodes", "finite coordinates", format!("{p:?} in {}", numbers.node(k))));
        }
        for (k, triangle) in triangles.iter().enumerate() {
            if let Some(&index) = triangle.iter().find(|&&v| v as usize >= nodes.len()) {
                return Err(Error::Index {
                    argument: "triangles",
                    position: k,
                    index: index.into(),
                    expected: format!("a node below {}", nodes.len()),
                });
            }
        }
        let mut areas = Vec::with_capacity(triangles.len());
        let mut normals = Vec::with_capacity(triangles.len());
        for (k, triangle) in triangles.iter().enumerate() {
            let [a, b, c] = triangle.map(|v| nodes[v as usize]);
            let edges = [sub(b, a), sub(c, b), sub(a, c)];
            let longest = edges.iter().map(|&e| dot(e, e)).fold(0.0, f64::max);
            let product = cross(edges[0], sub(c, a));
            let twice = norm(product);
            // Written so that NaN from an overflow fails too.
            if !(twice > FLAT * longest && twice.is_finite()) {
                return Err(bad(
                    "triangles",
                    "triangles with an area",
                    format!("{} without one, of {}", numbers.face(k), numbers.nodes(triangle)),
                ));
            }
            areas.push(0.5 * twice);
            normals.push(scaled(1.0 / twice, product));
        }
        let mesh = Mesh { nodes, triangles, areas, normals };
        mesh.check_surface(numbers)?;
        Ok(mesh)
    }

    /// Closed, manifold, oriented, outward.
    fn check_surface(&self, numbers: &Numbers) -> Result<()> {
        let mut seen: HashMap<[u32; 3], usize> = HashMap::with_capacity(self.triangles.len());
        let mut edges: HashMap<(u32, u32), usize> = HashMap::with_capacity(3 * self.triangles.len());
        for (k, &triangle) in self.triangles.iter().enumerate() {
            let mut sorted = triangle;
            sorted.sort_unstable();
            if let Some(first) = seen.insert(sorted, k) {
                let (first, second) = (numbers.face(first), numbers.face(k));
                let got = format!("{first} and {second} with the same corners, {}", numbers.nodes(&triangle));
                return Err(bad("triangles", "each triangle once", got));
            }
        }
        let directed = |triangle: &[u32; 3]| [0, 1, 2].map(|e| (triangle[e], triangle[(e + 1) % 3]));
        let mut undirected: HashMap<(u32, u32), usize> = HashMap::with_capacity(2 * self.triangles.len());
        for (a, b) in self.triangles.iter().flat_map(directed) {
            *undirected.entry((a.min(b), a.max(b))).or_default() += 1;
        }
        for (k, triangle) in self.triangles.iter().enumerate() {
            for (a, b) in directed(triangle) {
                match undirected[&(a.min(b), a.max(b))] {
                    1 => {
                        return Err(open_at("triangles", [a, b], k, numbers, ""));
                    }
                    2 => {}
                    n => {
                        let got = format!("{n} triangles at the edge between {}", numbers.nodes(&[a, b]));
                        return Err(bad("triangles", "a manifold: two triangles at each edge", got));
                    }
                }
                if let Some(first) = edges.insert((a, b), k) {
                    let got = same_way(first, k, [a, b], numbers);
                    return Err(bad("triangles", "neighbours of the same orientation", got));
                }
            }
        }
        // Around a node of a manifold one fan of triangles closes.
        let around = self.triangles_around();
        for node in 0..self.nodes.len() {
            let fan = around.of(node);
            let Some(&start) = fan.first() else {
                return Err(bad("nodes", "every node in a triangle", format!("{} in none", numbers.node(node))));
            };
            let mut at = start.triangle;
            let mut steps = 0;
            loop {
                let triangle = self.triangles[at as usize];
                let corner = triangle.iter().position(|&v| v as usize == node).unwrap_or_default();
                at = edges[&(node as u32, triangle[(corner + 2) % 3])] as u32;
                steps += 1;
                if at == start.triangle {
                    break;
                }
            }
            if steps != fan.len() {
                let got = format!("{}, where several parts of the surface touch", numbers.node(node));
                return Err(bad("triangles", "a manifold: one fan of triangles around each node", got));
            }
        }
        self.check_sides(&around, numbers)
    }

    /// Normals point out of the body: away from the inside of its outer parts, into its holes.
    fn check_sides(&self, around: &Around, numbers: &Numbers) -> Result<()> {
        let parts = self.parts(around);
        let point = |part: &Part| self.corners(part.triangles[0])[0];
        for (k, part) in parts.iter().enumerate() {
            let holds = |other: &Part, p: Point| (0..3).all(|d| other.least[d] < p[d] && p[d] < other.most[d]);
            let within = |other: &Part| {
                let p = point(part);
                holds(other, p) && self.solid_angle(other.triangles.iter().copied(), p).abs() > 2.0 * PI
            };
            let depth = parts.iter().enumerate().filter(|&(j, other)| j != k && within(other)).count();
            let volume = self.volume_from(part.triangles.iter().copied(), point(part));
            let which = match parts.len() {
                1 => String::new(),
                _ => format!(
                    " in the part of {} triangles with {}",
                    part.triangles.len(),
                    numbers.face(part.triangles[0])
                ),
            };
            if depth % 2 == 0 && volume <= 0.0 {
                let got = format!("normals that point inward{which}; swap two nodes of every triangle of it");
                return Err(bad("triangles", "normals that point outward", got));
            }
            if depth % 2 == 1 && volume >= 0.0 {
                let got = format!("normals that point out of a hole{which}; swap two nodes of every triangle of it");
                return Err(bad("triangles", "normals that point out of the body", got));
            }
        }
        Ok(())
    }

    /// The connected parts, by their first triangles.
    fn parts(&self, around: &Around) -> Vec<Part> {
        let mut seen = vec![false; self.triangles.len()];
        let mut parts = Vec::new();
        for first in 0..self.triangles.len() {
            if std::mem::replace(&mut seen[first], true) {
                continue;
            }
            let mut triangles = vec![first];
            let mut at = 0;
            while at < triangles.len() {
                for &node in &self.triangles[triangles[at]] {
                    for corner in around.of(node as usize) {
                        let next = corner.triangle as usize;
                        if !std::mem::replace(&mut seen[next], true) {
                            triangles.push(next);
                        }
                    }
                }
                at += 1;
            }
            let (mut least, mut most) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
            for p in triangles.iter().flat_map(|&k| self.corners(k)) {
                for d in 0..3 {
                    least[d] = least[d].min(p[d]);
                    most[d] = most[d].max(p[d]);
                }
            }
            parts.push(Part { triangles, least, most });
        }
        parts
    }

    /// Node coordinates.
    pub fn nodes(&self) -> &[Point] {
        &self.nodes
    }

    /// Node indices of each triangle, anticlockwise seen from outside.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Area of each triangle.
    pub fn areas(&self) -> &[f64] {
        &self.areas
    }

    /// Outward unit normal of each triangle.
    pub fn normals(&self) -> &[Point] {
        &self.normals
    }

    /// The corners of triangle `k`.
    pub fn corners(&self, k: usize) -> [Point; 3] {
        self.triangles[k].map(|v| self.nodes[v as usize])
    }

    /// The point of triangle `k` with barycentric coordinates `at`.
    pub fn point(&self, k: usize, at: [f64; 3]) -> Point {
        let [a, b, c] = self.corners(k);
        [0, 1, 2].map(|d| at[0] * a[d] + at[1] * b[d] + at[2] * c[d])
    }

    /// The surface curl n x grad of the three hat functions of triangle `k`, each constant there:
    /// minus the opposite edge over twice the area.
    pub fn curls(&self, k: usize) -> [Point; 3] {
        let corners = self.corners(k);
        [0, 1, 2].map(|c| {
            let edge = sub(corners[(c + 2) % 3], corners[(c + 1) % 3]);
            scaled(-0.5 / self.areas[k], edge)
        })
    }

    /// Volume inside the surface.
    pub fn volume(&self) -> f64 {
        // Relative to a node, so that a body far from the origin loses no digits.
        self.volume_from(0..self.triangles.len(), self.nodes[0])
    }

    /// The signed volume between `triangles` and `origin`.
    fn volume_from(&self, triangles: impl Iterator<Item = usize>, origin: Point) -> f64 {
        let six: f64 = triangles
            .map(|k| {
                let [a, b, c] = self.corners(k).map(|p| sub(p, origin));
                dot(a, cross(b, c))
            })
            .sum();
        six / 6.0
    }

    /// Whether `point` lies inside, by the solid angles of the triangles.
    pub fn contains(&self, point: Point) -> bool {
        // 4 pi inside, 0 outside.
        self.solid_angle(0..self.triangles.len(), point) > 2.0 * PI
    }

    /// Whether `point` lies on a triangle, to 1e-9 of that triangle's size.
    pub fn touches(&self, point: Point) -> bool {
        (0..self.triangles.len()).any(|k| {
            let (corners, normal, twice) = (self.corners(k), self.normals[k], 2.0 * self.areas[k]);
            let on_plane = dot(sub(point, corners[0]), normal).abs() <= 1e-9 * twice.sqrt();
            // Barycentric coordinates.
            let inside = |c: usize| {
                let (a, b) = (corners[c], corners[(c + 1) % 3]);
                dot(cross(sub(b, a), sub(point, a)), normal) >= -1e-9 * twice
            };
            on_plane && (0..3).all(inside)
        })
    }

    /// The solid angle under which `triangles` are seen from `point`, negative where it sees their outer side.
    fn solid_angle(&self, triangles: impl Iterator<Item = usize>, point: Point) -> f64 {
        triangles.map(|k| solid_angle(self.corners(k).map(|corner| sub(corner, point)))).sum()
    }

    /// The corners of triangles at each node.
    pub fn triangles_around(&self) -> Around {
        let mut offsets = vec![0_u32; self.nodes.len() + 1];
        for &v in self.triangles.iter().flatten() {
            offsets[v as usize + 1] += 1;
        }
        for k in 1..offsets.len() {
            offsets[k] += offsets[k - 1];
        }
        let mut next = offsets.clone();
        let mut corners = vec![Corner { triangle: 0, corner: 0 }; 3 * self.triangles.len()];
        for (k, triangle) in self.triangles.iter().enumerate() {
            for (c, &v) in triangle.iter().enumerate() {
                corners[next[v as usize] as usize] = Corner { triangle: k as u32, corner: c as u32 };
                next[v as usize] += 1;
            }
        }
        Around { offsets, corners }
    }

    /// Triangles that share at least a node with triangle `k`, itself included, in ascending order.
    pub fn touching(&self, k: usize, around: &Around) -> Vec<u32> {
        let fans = self.triangles[k].iter().flat_map(|&v| around.of(v as usize));
        let mut all: Vec<u32> = fans.map(|corner| corner.triangle).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// How triangles `i` and `j` touch, and orders of their corners in which the common ones stand
    /// first, in the order in which triangle `i` lists them. `None` for disjoint triangles.
    pub fn contact(&self, i: usize, j: usize) -> Option<(Contact, [usize; 3], [usize; 3])> {
        let (a, b) = (self.triangles[i], self.triangles[j]);
        if i == j {
            return Some((Contact::Coincident, [0, 1, 2], [0, 1, 2]));
        }
        let find = |node: u32| b.iter().position(|&v| v == node);
        let common = [0, 1, 2].map(|c| find(a[c]));
        for [c, n] in [[0, 1], [1, 2], [0, 2]] {
            if let (Some(first), Some(second)) = (common[c], common[n]) {
                return Some((Contact::Edge, [c, n, 3 - c - n], [first, second, 3 - first - second]));
            }
        }
        let c = common.iter().position(Option::is_some)?;
        let first = common[c].unwrap_or_default();
        Some((Contact::Vertex, [c, (c + 1) % 3, (c + 2) % 3], [first, (first + 1) % 3, (first + 2) % 3]))
    }

    /// Sizes and shapes.
    pub fn quality(&self) -> Quality {
        let mut quality = Quality {
            nodes: self.nodes.len(),
            triangles: self.triangles.len(),
            area: self.areas.iter().sum(),
            volume: self.volume(),
            shortest_edge: f64::INFINITY,
            longest_edge: 0.0,
            smallest_angle: 180.0,
            largest_angle: 0.0,
            worst_aspect: 1.0,
        };
        for (k, area) in self.areas.iter().enumerate() {
            let corners = self.corners(k);
            let lengths = [0, 1, 2].map(|c| norm(sub(corners[(c + 2) % 3], corners[(c + 1) % 3])));
            for c in 0..3 {
                let (a, b) = (sub(corners[(c + 1) % 3], corners[c]), sub(corners[(c + 2) % 3], corners[c]));
                let angle = norm(cross(a, b)).atan2(dot(a, b)).to_degrees();
                quality.smallest_angle = quality.smallest_angle.min(angle);
                quality.largest_angle = quality.largest_angle.max(angle);
                quality.shortest_edge = quality.shortest_edge.min(lengths[c]);
                quality.longest_edge = quality.longest_edge.max(lengths[c]);
            }
            // R = abc / 4A, r = 2A / (a + b + c).
            let aspect = lengths.iter().product::<f64>() * lengths.iter().sum::<f64>() / (16.0 * area * area);
            quality.worst_aspect = quality.worst_aspect.max(aspect);
        }
        quality
    }
}

/// A corner of a triangle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Corner {
    /// The triangle.
    pub triangle: u32,
    /// 0, 1 or 2.
    pub corner: u32,
}

/// The corners at each node, by ascending triangle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Around {
    offsets: Vec<u32>,
    corners: Vec<Corner>,
}

impl Around {
    /// The corners at `node`.
    pub fn of(&self, node: usize) -> &[Corner] {
        &self.corners[self.offsets[node] as usize..self.offsets[node + 1] as usize]
    }
}
