//! Elastodynamics in the frequency domain by collocated boundary elements.
//!
//! (lambda + mu) grad div u + mu Laplace u + rho w^2 u = 0 with the time factor exp(i w t), displacements u and tractions t on
//! the boundary. Both are constant on each element of an [`ElementMesh`](crate::ElementMesh); the equation holds at the centres:
//! c u + int T u dS = int U t dS, or **H u = G t** with complex 3 x 3 blocks. Vectors have three components per element: component k of element j
//! is at `3 * j + k`. Normals, and so tractions, point out of the material, in an exterior problem into the cavity.
//!
//! Any consistent units serve, such as m, Pa, kg/m^3 and rad/s.
//!
//! ```
//! use clinalg::{Complex, Context};
//! use clinalg_bem::ElementMesh;
//! use clinalg_bem::elastodynamics::{Conditions, Domain, Known, Material, Options, Problem};
//!
//! // A cavity of radius 1 under the pressure 1.
//! let mesh = ElementMesh::cubed_sphere(2, 1.0)?;
//! let material = Material::new(1.0, 0.3, 1.0)?;
//! let context = Context::global()?;
//! let problem = Problem::<Complex<f64>>::new(&context, &mesh, material, Domain::Exterior, &Options::default())?;
//! let system = problem.assemble(1.0)?.system(&Conditions::uniform(&mesh, Known::Traction))?;
//! let factors = system.factorise()?;
//! // The material's normal points into the cavity: the traction -p n pushes the wall outwards.
//! let pressure: Vec<_> = problem.normals().iter().flat_map(|n| n.map(|v| Complex::new(-v, 0.0))).collect();
//! let solution = factors.solve(&pressure)?;
//! assert_eq!(solution.displacements().len(), 3 * 24);
//! # Ok::<(), clinalg::Error>(())
//! ```
//!
//! Sources: Dominguez, *Boundary Elements in Dynamics*, 1993 (fundamental solutions); Lachat and Watson 1976 (singular integrals);
//! Belinassi et al. 2017 (assembly on a GPU, a work-group per pair of elements).

mod assemble;
pub mod exact;
mod fundamental;
mod problem;
mod product;
mod radial;
pub mod reference;
mod shared;
mod singular;
mod solution;
mod system;

use clinalg::{Complex, Error, Real, Result, Scalar};
use serde::Serialize;

pub use assemble::{Algorithm, Assembly, Memory};
pub use fundamental::Waves;
pub use problem::{Options, Problem, Rule};
pub use product::OnTheFly;
pub use shared::{Shared, SharedAssembly, SharedSystem};
pub use solution::Solution;
pub use system::{Conditions, Factors, Known, System};

/// A complex number in double precision.
pub type C64 = Complex<f64>;

/// A complex scalar type that devices compute with: `Complex<f32>` or `Complex<f64>`.
pub trait ComplexScalar: Scalar {}

impl ComplexScalar for Complex<f32> {}
impl ComplexScalar for Complex<f64> {}

/// The nearest value of the device's precision.
pub(crate) fn narrow<S: ComplexScalar>(value: C64) -> S {
    S::from_parts(S::Real::from_f64(value.re), S::Real::from_f64(value.im))
}

/// The value in double precision.
pub(crate) fn widen<S: ComplexScalar>(value: S) -> C64 {
    C64::new(value.re().into_f64(), value.im().into_f64())
}

/// A linear elastic isotropic material with hysteretic damping.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Material {
    shear: f64,
    poisson: f64,
    density: f64,
    damping: f64,
}

impl Material {
    /// A material without damping: shear modulus (force per area), Poisson's ratio, density (mass per volume).
    ///
    /// # Errors
    /// [`Error::Value`] unless the shear modulus and the density are positive and Poisson's ratio lies between -1 and 0.5.
    pub fn new(shear: f64, poisson: f64, density: f64) -> Result<Material> {
        for (argument, value) in [("shear", shear), ("density", density)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(Error::value(argument, "a positive finite number", value));
            }
        }
        if !(poisson > -1.0 && poisson < 0.5) {
            return Err(Error::value("poisson", "above -1 and below 0.5, where the material is compressible", poisson));
        }
        Ok(Material { shear, poisson, density, damping: 0.0 })
    }

    /// The same with the hysteretic damping ratio `damping`: mu = G (1 + 2 i D).
    ///
    /// # Errors
    /// [`Error::Value`] unless the ratio is finite and at least 0.
    pub fn with_damping(self, damping: f64) -> Result<Material> {
        if damping >= 0.0 && damping.is_finite() {
            Ok(Material { damping, ..self })
        } else {
            Err(Error::value("damping", "a finite number, at least 0", damping))
        }
    }

    /// Shear modulus without damping.
    pub fn shear(&self) -> f64 {
        self.shear
    }

    /// Poisson's ratio.
    pub fn poisson(&self) -> f64 {
        self.poisson
    }

    /// Density.
    pub fn density(&self) -> f64 {
        self.density
    }

    /// Damping ratio.
    pub fn damping(&self) -> f64 {
        self.damping
    }

    /// Complex shear modulus mu = G (1 + 2 i D).
    pub fn complex_shear(&self) -> C64 {
        C64::new(self.shear, 2.0 * self.damping * self.shear)
    }

    /// (c_S / c_P)^2 = (1 - 2 nu) / (2 - 2 nu).
    pub fn speed_ratio_squared(&self) -> f64 {
        (1.0 - 2.0 * self.poisson) / (2.0 - 2.0 * self.poisson)
    }

    /// Length of a shear wave at the angular frequency `frequency`; infinite for 0.
    pub fn shear_wavelength(&self, frequency: f64) -> f64 {
        2.0 * std::f64::consts::PI * (self.shear / self.density).sqrt() / frequency
    }
}

/// Which side of the surface the material is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Domain {
    /// Inside; also a half-space whose patch is closed by enclosing elements.
    Interior,
    /// Outside, up to infinity; waves go outwards.
    Exterior,
}

impl Domain {
    /// What the rows of the static H of a closed surface add up to: 0 or 1 times the identity.
    pub(crate) fn rigid(self) -> f64 {
        match self {
            Domain::Interior => 0.0,
            Domain::Exterior => 1.0,
        }
    }

    /// The sign of the material's outward normal relative to the mesh's.
    pub(crate) fn side(self) -> f64 {
        match self {
            Domain::Interior => 1.0,
            Domain::Exterior => -1.0,
        }
    }
}

/// An error unless `frequency` is finite and at least 0.
pub(crate) fn check_frequency(frequency: f64) -> Result<()> {
    if frequency >= 0.0 && frequency.is_finite() {
        Ok(())
    } else {
        Err(Error::value("frequency", "a finite angular frequency, at least 0", frequency))
    }
}
