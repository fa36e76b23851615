//! Closed surfaces of quadrilaterals and triangles with a normal and a Jacobian at every point.

use std::collections::HashMap;

use clinalg::{Error, Result, number};

use crate::quadrature::gauss_legendre;

use super::{Numbers, Point, bad, cross, dot, norm, open_at, same_way, scaled, solid_angle, sub};

/// A closed surface of bilinear quadrilaterals and flat triangles, normals outward.
///
/// The first [`boundary`](ElementMesh::boundary) elements carry unknowns; those after them *enclose* an open patch, such as
/// a part of the surface of a half-space, so that the whole is closed.
#[derive(Debug, Clone, PartialEq)]
pub struct ElementMesh {
    pub(super) nodes: Vec<Point>,
    pub(super) elements: Vec<[u32; 4]>,
    boundary: usize,
    centres: Vec<Point>,
    diameters: Vec<f64>,
}

/// A point of an element.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SurfacePoint {
    /// Coordinates.
    pub point: Point,
    /// Outward unit normal.
    pub normal: Point,
    /// Area of the surface per area of the square (0, 1)^2.
    pub jacobian: f64,
}

impl SurfacePoint {
    /// As [`ElementMesh::at`] of the element with these corners.
    pub(crate) fn of([a, b, c, d]: &[Point; 4], s: f64, t: f64) -> SurfacePoint {
        let mix = |f: [f64; 4]| [0, 1, 2].map(|k| f[0] * a[k] + f[1] * b[k] + f[2] * c[k] + f[3] * d[k]);
        let point = mix([(1.0 - s) * (1.0 - t), s * (1.0 - t), s * t, (1.0 - s) * t]);
        let (along, up) = (mix([t - 1.0, 1.0 - t, t, -t]), mix([s - 1.0, -s, s, 1.0 - s]));
        let product = cross(along, up);
        let jacobian = norm(product);
        SurfacePoint { point, normal: scaled(1.0 / jacobian, product), jacobian }
    }
}

/// Jacobian at a corner, relative to the square of the diameter, below which the corner counts as flat or turned in.
const FLAT: f64 = 1e-10;

impl ElementMesh {
    /// A mesh of `nodes` and `elements` (0-based, anticlockwise seen from outside), of which the first `boundary` carry
    /// unknowns. A triangle names its last node twice: `[a, b, c, c]`.
    ///
    /// # Errors
    /// [`Error::Value`], [`Error::Unsuitable`] or [`Error::Index`] that names the first element or edge for: no boundary elements, coordinates that
    /// are not finite, indices out of range, elements without area or with a corner turned inward, open edges, edges of more than
    /// two elements, neighbours whose normals disagree, normals that point inward.
    pub fn new(nodes: Vec<Point>, elements: Vec<[u32; 4]>, boundary: usize) -> Result<ElementMesh> {
        ElementMesh::numbered(nodes, elements, boundary, &Numbers::of_arrays("element"))
    }

    /// As [`ElementMesh::new`], with the names that messages give to nodes and elements.
    pub(super) fn numbered(
        nodes: Vec<Point>,
        elements: Vec<[u32; 4]>,
        boundary: usize,
        numbers: &Numbers,
    ) -> Result<ElementMesh> {
        if elements.is_empty() {
            return Err(bad("elements", "at least one element", "none".into()));
        }
        if boundary == 0 || boundary > elements.len() || elements.len() > (u32::MAX / 8) as usize {
            let expected = format!("1 to {}, the number of elements (at most 2^29)", elements.len());
            return Err(bad("boundary", &expected, boundary.to_string()));
        }
        if let Some((k, p)) = nodes.iter().enumerate().find(|(_, p)| p.iter().any(|v| !v.is_finite())) {
            return Err(bad("nodes", "finite coordinates", format!("{p:?} in {}", numbers.node(k))));
        }
        for (position, element) in elements.iter().enumerate() {
            if let Some(&index) = element.iter().find(|&&v| v as usize >= nodes.len()) {
                let expected = format!("a node below {}", nodes.len());
                return Err(Error::Index { argument: "elements", position, index: index.into(), expected });
            }
        }
        let mut mesh = ElementMesh { nodes, elements, boundary, centres: Vec::new(), diameters: Vec::new() };
        for j in 0..mesh.elements.len() {
            let corners = mesh.corners(j);
            let longest = |a: &Point| corners.iter().map(|b| norm(sub(*a, *b))).fold(0.0, f64::max);
            mesh.diameters.push(corners.iter().map(longest).fold(0.0, f64::max));
            let centre =
                |points: &[Point]| [0, 1, 2].map(|d| points.iter().map(|p| p[d]).sum::<f64>() / points.len() as f64);
            mesh.centres.push(if mesh.is_triangle(j) { centre(&corners[..3]) } else { centre(&corners) });
        }
        mesh.check_shapes(numbers)?;
        mesh.check_edges(numbers)?;
        let volume = mesh.volume();
        if volume > 0.0 { Ok(mesh) } else { Err(bad("elements", "normals that point outward", inward(volume))) }
    }

    /// No corner is flat or turned in.
    fn check_shapes(&self, numbers: &Numbers) -> Result<()> {
        for j in 0..self.elements.len() {
            let p = self.corners(j);
            let count = if self.is_triangle(j) { 3 } else { 4 };
            let whole = cross(sub(p[2], p[0]), sub(p[3], p[1]));
            let turn = |c: usize| {
                let (next, last) = (p[(c + 1) % count], p[(c + count - 1) % count]);
                let product = cross(sub(next, p[c]), sub(last, p[c]));
                if count == 3 { norm(product) } else { dot(product, scaled(1.0 / norm(whole), whole)) }
            };
            let least = self.diameters[j] * self.diameters[j] * FLAT;
            // Written so that NaN fails too.
            if !(0..count).all(|c| turn(c) > least) {
                let got = format!(
                    "{} of {}, without area or with a corner turned inward",
                    numbers.face(j),
                    numbers.nodes(&self.elements[j])
                );
                return Err(bad("elements", "convex elements with an area", got));
            }
        }
        Ok(())
    }

    /// Each edge belongs to two elements that run through it in opposite directions.
    fn check_edges(&self, numbers: &Numbers) -> Result<()> {
        let mut directed: HashMap<(u32, u32), usize> = HashMap::with_capacity(4 * self.elements.len());
        for j in 0..self.elements.len() {
            for edge @ (a, b) in self.edges(j) {
                if let Some(first) = directed.insert(edge, j) {
                    let got = same_way(first, j, [a, b], numbers);
                    return Err(bad(
                        "elements",
                        "neighbours with normals on the same side, two elements at each edge",
                        got,
                    ));
                }
            }
        }
        for j in 0..self.elements.len() {
            for (a, b) in self.edges(j) {
                if !directed.contains_key(&(b, a)) {
                    let advice = ", by enclosing elements after the boundary elements";
                    return Err(open_at("elements", [a, b], j, numbers, advice));
                }
            }
        }
        Ok(())
    }

    fn edges(&self, j: usize) -> impl Iterator<Item = (u32, u32)> {
        let element = self.elements[j];
        (0..4).map(move |c| (element[c], element[(c + 1) % 4])).filter(|(a, b)| a != b)
    }

    /// Node coordinates.
    pub fn nodes(&self) -> &[Point] {
        &self.nodes
    }

    /// Node indices of each element, anticlockwise seen from outside; of a triangle the last one twice.
    pub fn elements(&self) -> &[[u32; 4]] {
        &self.elements
    }

    /// Number of elements that carry unknowns; they come first.
    pub fn boundary(&self) -> usize {
        self.boundary
    }

    /// Number of elements, those that enclose a patch included.
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// Whether there is no element; there always is one.
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// Whether element `j` is a triangle.
    pub fn is_triangle(&self, j: usize) -> bool {
        self.elements[j][2] == self.elements[j][3]
    }

    /// The corners of element `j`; of a triangle the last one twice.
    pub fn corners(&self, j: usize) -> [Point; 4] {
        self.elements[j].map(|v| self.nodes[v as usize])
    }

    /// The centre of each element, where equations are collocated: the mean of its corners.
    pub fn centres(&self) -> &[Point] {
        &self.centres
    }

    /// The largest distance of two corners of each element.
    pub fn diameters(&self) -> &[f64] {
        &self.diameters
    }

    /// Area of element `j`, by 4 x 4 Gauss points.
    pub fn area(&self, j: usize) -> f64 {
        let rule = gauss_legendre(4);
        let row = |&(s, v): &(f64, f64)| rule.iter().map(|&(t, w)| v * w * self.at(j, s, t).jacobian).sum::<f64>();
        rule.iter().map(row).sum()
    }

    /// The longest edge of the boundary elements.
    pub fn longest_edge(&self) -> f64 {
        let length = |(a, b): (u32, u32)| norm(sub(self.nodes[a as usize], self.nodes[b as usize]));
        (0..self.boundary).flat_map(|j| self.edges(j)).map(length).fold(0.0, f64::max)
    }

    /// The point (`s`, `t`) of the square (0, 1)^2 on element `j`, whose corners are (0, 0), (1, 0), (1, 1) and (0, 1).
    /// The side t = 1 of a triangle's square is its last corner.
    pub fn at(&self, j: usize, s: f64, t: f64) -> SurfacePoint {
        SurfacePoint::of(&self.corners(j), s, t)
    }

    /// Where the centre of element `j` lies in its square.
    pub fn centre_place(&self, j: usize) -> [f64; 2] {
        // The mean of the corners of (1 - t) ((1 - s) a + s b) + t c.
        if self.is_triangle(j) { [0.5, 1.0 / 3.0] } else { [0.5, 0.5] }
    }

    /// Volume inside the surface, quadrilaterals cut into triangles.
    pub fn volume(&self) -> f64 {
        let origin = self.nodes[self.elements[0][0] as usize];
        let six = (0..self.elements.len()).map(|j| {
            let [a, b, c, d] = self.corners(j).map(|p| sub(p, origin));
            dot(a, cross(b, c)) + dot(a, cross(c, d))
        });
        six.sum::<f64>() / 6.0
    }

    /// Sum of the solid angles of all elements seen from `point`, over 4 pi: 1 inside, 0 outside.
    pub fn winding(&self, point: Point) -> f64 {
        let sum: f64 = (0..self.elements.len())
            .map(|j| {
                let [a, b, c, d] = self.corners(j).map(|p| sub(p, point));
                solid_angle([a, b, c]) + if self.is_triangle(j) { 0.0 } else { solid_angle([a, c, d]) }
            })
            .sum();
        sum / (4.0 * std::f64::consts::PI)
    }

    /// The distance of `point` from the nearest element, over that element's diameter.
    pub fn relative_distance(&self, point: Point) -> f64 {
        let mut least = f64::INFINITY;
        for j in 0..self.elements.len() {
            let size = self.diameters[j];
            // No point of the element is farther from its centre than its diameter.
            if norm(sub(point, self.centres[j])) / size - 1.0 < least {
                least = least.min(self.distance(j, point) / size);
            }
        }
        least
    }

    /// The distance of `point` from element `j`: the nearest of 9 x 9 points, from there steps along the sides of the square,
    /// halved where none helps.
    fn distance(&self, j: usize, point: Point) -> f64 {
        let from = |[s, t]: [f64; 2]| norm(sub(point, self.at(j, s, t).point));
        let grid = (0..81).map(|k| [f64::from(k / 9) / 8.0, f64::from(k % 9) / 8.0]);
        let mut best =
            grid.map(|at| (from(at), at)).fold((f64::INFINITY, [0.5; 2]), |a, b| if b.0 < a.0 { b } else { a });
        let mut step = 0.125;
        while step > 1e-6 {
            let [s, t] = best.1;
            let moves = [[s - step, t], [s + step, t], [s, t - step], [s, t + step]];
            let tried = moves.map(|at| at.map(|v| v.clamp(0.0, 1.0))).map(|at| (from(at), at));
            match tried.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)) {
                Some(next) if next.0 < best.0 => best = next,
                _ => step *= 0.5,
            }
        }
        best.0
    }
}

fn inward(volume: f64) -> String {
    format!("a volume of {}: normals that point inward; reverse the nodes of every element", number(volume, 4))
}
