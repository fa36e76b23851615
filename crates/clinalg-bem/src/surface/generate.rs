//! Cubes, spheres and midpoint refinement.

use std::collections::HashMap;

use clinalg::Result;

use super::{Mesh, Point, norm, scaled};

/// Corners of the cube (-1, 1)^3: the face z = -1, then z = 1 above it.
const CORNERS: [Point; 8] = [
    [1.0, -1.0, -1.0],
    [1.0, 1.0, -1.0],
    [-1.0, 1.0, -1.0],
    [-1.0, -1.0, -1.0],
    [1.0, -1.0, 1.0],
    [1.0, 1.0, 1.0],
    [-1.0, 1.0, 1.0],
    [-1.0, -1.0, 1.0],
];

/// Faces as corners, anticlockwise seen from outside; the diagonal of the cube of 12 triangles runs
/// from the first to the third.
const FACES: [[u32; 4]; 6] = [
    [0, 1, 5, 4], // x = 1
    [1, 2, 6, 5], // y = 1
    [2, 3, 7, 6], // x = -1
    [3, 0, 4, 7], // y = -1
    [1, 0, 3, 2], // z = -1
    [4, 5, 6, 7], // z = 1
];

impl Mesh {
    /// The surface of (-1, 1)^3: 8 nodes, each face two triangles.
    pub fn cube12() -> Mesh {
        let triangles = FACES.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
        Mesh::new(CORNERS.to_vec(), triangles).expect("the cube is closed and oriented")
    }

    /// The surface of (-1, 1)^3: 8 corners and 6 centres of faces, each face four triangles, whose first node is the centre.
    pub fn cube24() -> Mesh {
        let mut nodes = CORNERS.to_vec();
        let mut triangles = Vec::with_capacity(24);
        for face in FACES {
            let centre = nodes.len() as u32;
            let sum = |d: usize| face.iter().map(|&v| CORNERS[v as usize][d]).sum::<f64>();
            nodes.push([0, 1, 2].map(|d| sum(d) / 4.0));
            triangles.extend((0..4).map(|k| [centre, face[k], face[(k + 1) % 4]]));
        }
        Mesh::new(nodes, triangles).expect("the cube is closed and oriented")
    }

    /// The unit sphere: an icosahedron refined `level` times, its nodes moved onto the sphere;
    /// 20 * 4^level triangles.
    ///
    /// # Errors
    /// As [`Mesh::refined`].
    pub fn icosphere(level: usize) -> Result<Mesh> {
        let g = 0.5 * (1.0 + 5.0_f64.sqrt());
        let mut nodes: Vec<Point> = Vec::with_capacity(12);
        for (a, b) in [(1.0, g), (-1.0, g), (1.0, -g), (-1.0, -g)] {
            nodes.extend([[0.0, a, b], [a, b, 0.0], [b, 0.0, a]]);
        }
        // The faces are the triples of neighbours: nodes at the distance 2.
        let near = |i: usize, j: usize| (norm(super::sub(nodes[i], nodes[j])) - 2.0).abs() < 1e-9;
        let mut triangles = Vec::with_capacity(20);
        for i in 0..12 {
            for j in i + 1..12 {
                for k in j + 1..12 {
                    if near(i, j) && near(j, k) && near(i, k) {
                        let outward = super::dot(nodes[i], super::cross(nodes[j], nodes[k])) > 0.0;
                        let (j, k) = if outward { (j, k) } else { (k, j) };
                        triangles.push([i as u32, j as u32, k as u32]);
                    }
                }
            }
        }
        let unit = |nodes: &mut Vec<Point>| nodes.iter_mut().for_each(|p| *p = scaled(1.0 / norm(*p), *p));
        unit(&mut nodes);
        let mut mesh = Mesh::new(nodes, triangles)?;
        for _ in 0..level {
            let (mut nodes, triangles) = mesh.split();
            unit(&mut nodes);
            mesh = Mesh::new(nodes, triangles)?;
        }
        Ok(mesh)
    }

    /// Each triangle split in four at the midpoints of its edges.
    ///
    /// # Errors
    /// Those of [`Mesh::new`] where there are too many triangles, or midpoints coincide by rounding.
    pub fn refined(&self) -> Result<Mesh> {
        let (nodes, triangles) = self.split();
        Mesh::new(nodes, triangles)
    }

    /// Refined `times` times.
    ///
    /// # Errors
    /// As [`Mesh::refined`].
    pub fn refined_times(&self, times: usize) -> Result<Mesh> {
        (0..times).try_fold(self.clone(), |mesh, _| mesh.refined())
    }

    fn split(&self) -> (Vec<Point>, Vec<[u32; 3]>) {
        let mut nodes = self.nodes.clone();
        let mut midpoints: HashMap<(u32, u32), u32> = HashMap::with_capacity(3 * self.triangles.len() / 2);
        let mut triangles = Vec::with_capacity(4 * self.triangles.len());
        for &[a, b, c] in &self.triangles {
            let [ab, bc, ca] = [(a, b), (b, c), (c, a)].map(|(p, q)| {
                *midpoints.entry((p.min(q), p.max(q))).or_insert_with(|| {
                    let (p, q) = (self.nodes[p as usize], self.nodes[q as usize]);
                    nodes.push([0, 1, 2].map(|d| 0.5 * (p[d] + q[d])));
                    nodes.len() as u32 - 1
                })
            });
            triangles.extend([[a, ab, ca], [ab, b, bc], [bc, c, ca], [ab, bc, ca]]);
        }
        (nodes, triangles)
    }
}
