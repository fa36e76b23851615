//! Cubed spheres, cubes and patches of a half-space.

use std::collections::HashMap;
use std::f64::consts::{FRAC_PI_4, PI};

use clinalg::Result;

use super::{ElementMesh, Mesh, Point, bad, norm, scaled};

/// The directions across and up the faces of a cube seen from outside, and their normals: axis and side. The upper face first.
const FACES: [[(usize, bool); 3]; 6] = [
    [(0, true), (1, true), (2, true)],
    [(1, true), (0, true), (2, false)],
    [(1, true), (2, true), (0, true)],
    [(2, true), (1, true), (0, false)],
    [(2, true), (0, true), (1, true)],
    [(0, true), (2, true), (1, false)],
];

/// The surface of (-1, 1)^3 with `n` elements along each edge, its nodes moved by `place`; the face z = 1 first.
fn cube_surface(n: usize, boundary: impl Fn(usize) -> usize, place: impl Fn(Point) -> Point) -> Result<ElementMesh> {
    // 6 * 2^24 elements need more memory than any device has for their matrices.
    if !(1..=1 << 12).contains(&n) {
        return Err(bad("n", "1 to 1024 elements along an edge", n.to_string()));
    }
    let (mut nodes, mut known, mut elements) = (Vec::new(), HashMap::new(), Vec::with_capacity(6 * n * n));
    for [across, up, out] in FACES {
        for k in 0..n * n {
            let corners = [(0, 0), (1, 0), (1, 1), (0, 1)];
            elements.push(corners.map(|(a, b)| {
                let mut at = [0; 3];
                (at[across.0], at[up.0], at[out.0]) = (k % n + a, k / n + b, if out.1 { n } else { 0 });
                *known.entry(at).or_insert_with(|| {
                    nodes.push(place(at.map(|v| 2.0 * v as f64 / n as f64 - 1.0)));
                    nodes.len() as u32 - 1
                })
            }));
        }
    }
    let boundary = boundary(elements.len());
    ElementMesh::new(nodes, elements, boundary)
}

impl ElementMesh {
    /// A sphere of `radius` around the origin: 6 n^2 quadrilaterals, the faces of a cube with equal angles between their
    /// lines. Also the wall of a spherical cavity.
    ///
    /// # Errors
    /// [`Error::Value`](clinalg::Error::Value) for `n` outside 1 to 1024 or a radius that is not positive.
    pub fn cubed_sphere(n: usize, radius: f64) -> Result<ElementMesh> {
        check_positive("radius", radius)?;
        cube_surface(
            n,
            |all| all,
            |p| {
                let p = p.map(|v| (FRAC_PI_4 * v).tan());
                scaled(radius / norm(p), p)
            },
        )
    }

    /// A cube of edge length `side` around the origin: 6 n^2 squares.
    ///
    /// # Errors
    /// As [`ElementMesh::cubed_sphere`].
    pub fn cube(n: usize, side: f64) -> Result<ElementMesh> {
        check_positive("side", side)?;
        cube_surface(n, |all| all, |p| scaled(0.5 * side, p))
    }

    /// A square patch of the surface z = 0 of the half-space z < 0, of edge length `side` around the origin: n^2 squares, and
    /// 5 n^2 elements that enclose them, the other faces of a box of `depth`.
    ///
    /// # Errors
    /// As [`ElementMesh::cubed_sphere`].
    pub fn half_space(n: usize, side: f64, depth: f64) -> Result<ElementMesh> {
        check_positive("side", side)?;
        check_positive("depth", depth)?;
        cube_surface(n, |all| all / 6, |[x, y, z]| [0.5 * side * x, 0.5 * side * y, 0.5 * depth * (z - 1.0)])
    }

    /// A disc of the surface z = 0 of the half-space z < 0 around the origin: `n` x `n` quadrilaterals on the disc of `radius`, around it rings of
    /// 4 n out to the disc of radius `extent`, each wider than the one inside as its radius grows; a hemisphere of about as many elements
    /// encloses them. The elements of the inner disc come first.
    ///
    /// # Errors
    /// [`Error::Value`](clinalg::Error::Value) for `n` outside 1 to 1024, a radius that is not positive, or an extent that is not larger.
    pub fn half_space_disc(n: usize, radius: f64, extent: f64) -> Result<ElementMesh> {
        check_positive("radius", radius)?;
        if !(1..=1024).contains(&n) {
            return Err(bad("n", "1 to 1024 elements across the disc", n.to_string()));
        }
        if !(extent > radius && extent.is_finite()) {
            return Err(bad("extent", &format!("a finite number above the radius, {radius}"), extent.to_string()));
        }
        // Rings about as wide as their elements are long: the radius grows by 2 pi / (4 n) of itself.
        let rings = ((extent / radius).ln() * 2.0 * n as f64 / PI).ceil().max(1.0) as usize;
        let layers = n.div_ceil(2);
        let grid = |k: usize| 2.0 * k as f64 / n as f64 - 1.0;
        let (mut nodes, mut elements): (Vec<Point>, Vec<[u32; 4]>) = (Vec::new(), Vec::new());
        // A square grid on the disc; its nodes by rows.
        let upper: Vec<u32> = (0..(n + 1) * (n + 1))
            .map(|k| {
                let [x, y] = round(grid(k % (n + 1)), grid(k / (n + 1)));
                nodes.push([radius * x, radius * y, 0.0]);
                nodes.len() as u32 - 1
            })
            .collect();
        let square = |k: usize| [(k % n, k / n), (k % n + 1, k / n), (k % n + 1, k / n + 1), (k % n, k / n + 1)];
        let slot = |(i, j): (usize, usize)| j * (n + 1) + i;
        elements.extend((0..n * n).map(|k| square(k).map(|at| upper[slot(at)])));
        // The grid's border, anticlockwise seen from above.
        let border: Vec<(usize, usize)> = (0..n)
            .map(|k| (k, 0))
            .chain((0..n).map(|k| (n, k)))
            .chain((0..n).map(|k| (n - k, n)))
            .chain((0..n).map(|k| (0, n - k)))
            .collect();
        let mut last: Vec<u32> = border.iter().map(|&at| upper[slot(at)]).collect();
        let mut boundary = 0;
        for ring in 1..=rings + layers {
            let (r, z) = if ring <= rings {
                (radius * (extent / radius).powf(ring as f64 / rings as f64), 0.0)
            } else {
                let (sin, cos) = (FRAC_PI_4 * (ring - rings) as f64 / layers as f64).sin_cos();
                (extent * cos, -extent * sin)
            };
            let next: Vec<u32> = border
                .iter()
                .map(|&(i, j)| {
                    let [x, y] = round(grid(i), grid(j));
                    nodes.push([r * x, r * y, z]);
                    nodes.len() as u32 - 1
                })
                .collect();
            let turned = |k: usize| (k + 1) % border.len();
            elements.extend((0..border.len()).map(|k| [last[k], next[k], next[turned(k)], last[turned(k)]]));
            last = next;
            if ring == rings {
                boundary = elements.len();
            }
        }
        // The grid once more on the lower part of the sphere, within 45 degrees of the pole.
        let mut lower = vec![u32::MAX; (n + 1) * (n + 1)];
        border.iter().zip(&last).for_each(|(&at, &node)| lower[slot(at)] = node);
        for (k, node) in lower.iter_mut().enumerate().filter(|(_, node)| **node == u32::MAX) {
            let [x, y] = round(grid(k % (n + 1)), grid(k / (n + 1)));
            let from_pole = x.hypot(y);
            let (sin, cos) = (FRAC_PI_4 * from_pole).sin_cos();
            let across = if from_pole > 0.0 { extent * sin / from_pole } else { 0.0 };
            nodes.push([across * x, across * y, -extent * cos]);
            *node = nodes.len() as u32 - 1;
        }
        elements.extend((0..n * n).map(|k| {
            let [a, b, c, d] = square(k).map(|at| lower[slot(at)]);
            [a, d, c, b]
        }));
        ElementMesh::new(nodes, elements, boundary)
    }
}

/// The point of the square (-1, 1)^2 on the disc of radius 1, borders on the circle.
fn round(u: f64, v: f64) -> [f64; 2] {
    [u * (1.0 - 0.5 * v * v).sqrt(), v * (1.0 - 0.5 * u * u).sqrt()]
}

fn check_positive(argument: &'static str, value: f64) -> Result<()> {
    if value > 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(bad(argument, "a positive finite number", value.to_string()))
    }
}

impl TryFrom<&Mesh> for ElementMesh {
    type Error = clinalg::Error;

    /// The triangles of `mesh`, all with unknowns.
    fn try_from(mesh: &Mesh) -> Result<ElementMesh> {
        let elements: Vec<[u32; 4]> = mesh.triangles().iter().map(|&[a, b, c]| [a, b, c, c]).collect();
        let count = elements.len();
        ElementMesh::new(mesh.nodes().to_vec(), elements, count)
    }
}
