//! H and G in plain Rust loops: the oracle of the device's.

use clinalg::{Complex, Result};

use super::fundamental::{Block, block, static_displacement, static_traction};
use super::singular::CutRules;
use super::{C64, Domain, Material, Waves};
use crate::assembly::parallel;
use crate::quadrature::gauss_legendre;
use crate::surface::{SurfacePoint, scaled};
use crate::{ElementMesh, Point};

/// A mesh with the Gauss points of every element.
#[derive(Debug)]
pub struct Reference<'m> {
    mesh: &'m ElementMesh,
    material: Material,
    domain: Domain,
    rules: CutRules,
    /// Points of each element, with the material's outward normals; their weights times Jacobians.
    points: Vec<Vec<(SurfacePoint, f64)>>,
}

/// Both matrices, 3 m x 3 m for m boundary elements, row by row.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrices {
    /// Rows and columns.
    pub size: usize,
    /// H (no unit).
    pub h: Vec<C64>,
    /// G (length per stress).
    pub g: Vec<C64>,
}

impl Matrices {
    /// H u.
    pub fn apply_h(&self, u: &[C64]) -> Vec<C64> {
        apply(&self.h, u)
    }

    /// G t.
    pub fn apply_g(&self, t: &[C64]) -> Vec<C64> {
        apply(&self.g, t)
    }
}

fn apply(a: &[C64], x: &[C64]) -> Vec<C64> {
    a.chunks(x.len()).map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum()).collect()
}

impl<'m> Reference<'m> {
    /// `order` x `order` Gauss points on every element.
    pub fn new(mesh: &'m ElementMesh, material: Material, domain: Domain, order: usize) -> Reference<'m> {
        let rule = gauss_legendre(order);
        let side = domain.side();
        let points_of = |j: usize| {
            let at = |&(s, v): &(f64, f64), &(t, w): &(f64, f64)| {
                let p = mesh.at(j, s, t);
                (SurfacePoint { normal: scaled(side, p.normal), ..p }, v * w * p.jacobian)
            };
            rule.iter().flat_map(|s| rule.iter().map(move |t| at(s, t))).collect()
        };
        Reference { mesh, material, domain, rules: CutRules::new(), points: (0..mesh.len()).map(points_of).collect() }
    }

    /// The blocks H_ij and G_ij of a collocation point `xi` that is not on element `j`.
    fn pair(&self, waves: &Waves, xi: Point, j: usize) -> (Block, Block) {
        let zero = [[C64::default(); 3]; 3];
        self.points[j].iter().fold((zero, zero), |(h, g), &(p, w)| {
            let (u, t) = waves.both(p.point, p.normal, xi);
            (block(|l, k| h[l][k] + t[l][k] * w), block(|l, k| g[l][k] + u[l][k] * w))
        })
    }

    /// The blocks H_ii and G_ii: regular parts, the static part of G by cut elements, that of H by rigid motions of the closed
    /// surface.
    fn own(&self, waves: &Waves, i: usize) -> (Block, Block) {
        let (nu, mu) = (self.material.poisson(), self.material.complex_shear());
        let xi = self.mesh.centres()[i];
        let (mut h, mut g) = self.pair(waves, xi, i);
        // What the static parts add: of G the singular integral less that by Gauss points; of H, where element i's own part is taken
        // away and the others' negative sum takes its place, the negative sum of all.
        let mut static_g = self.rules.static_own(self.mesh, i, nu);
        for (p, w) in &self.points[i] {
            let u = static_displacement(nu, p.point, xi);
            (0..9).for_each(|e| static_g[e / 3][e % 3] -= w * u[e / 3][e % 3]);
        }
        let rigid = self.domain.rigid();
        let mut static_h = [[rigid, 0.0, 0.0], [0.0, rigid, 0.0], [0.0, 0.0, rigid]];
        for (p, w) in self.points.iter().flatten() {
            let t = static_traction(nu, p.point, p.normal, xi);
            (0..9).for_each(|e| static_h[e / 3][e % 3] -= w * t[e / 3][e % 3]);
        }
        for (l, k) in (0..9).map(|e| (e / 3, e % 3)) {
            h[l][k] += static_h[l][k];
            g[l][k] += C64::from(static_g[l][k]) / mu;
        }
        (h, g)
    }

    /// Both matrices at the angular frequency `frequency`, by the `threads` of the machine or by one.
    ///
    /// # Errors
    /// Those of [`Waves::new`].
    pub fn matrices(&self, frequency: f64, threads: bool) -> Result<Matrices> {
        let waves = Waves::new(self.material, frequency)?;
        let m = self.mesh.boundary();
        let rows: Vec<usize> = (0..m).collect();
        let blocks = |&i: &usize| -> Vec<(Block, Block)> {
            let xi = self.mesh.centres()[i];
            (0..m).map(|j| if i == j { self.own(&waves, i) } else { self.pair(&waves, xi, j) }).collect()
        };
        let all = if threads { parallel(&rows, blocks) } else { rows.iter().map(blocks).collect() };
        let size = 3 * m;
        let mut matrices =
            Matrices { size, h: vec![Complex::default(); size * size], g: vec![Complex::default(); size * size] };
        for (i, row) in all.iter().enumerate() {
            for (j, (h, g)) in row.iter().enumerate() {
                for e in 0..9 {
                    let at = (3 * i + e / 3) * size + 3 * j + e % 3;
                    (matrices.h[at], matrices.g[at]) = (h[e / 3][e % 3], g[e / 3][e % 3]);
                }
            }
        }
        Ok(matrices)
    }
}
