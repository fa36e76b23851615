//! Writes the generated kernels of a set of methods and systems to a folder, one file each, for checks by other compilers.
//!
//! `cargo run -p clinalg-ode --example sources -- FOLDER`

use std::error::Error;
use std::path::PathBuf;

use clinalg::KernelFamily;
use clinalg_ode::codegen::sources;
use clinalg_ode::{Boundary, DeviceOptions, Grid, Layout, Method, System, Variant};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("which folder?")?);
    std::fs::create_dir_all(&folder)?;
    let brusselator = |n: &[usize], boundary| {
        let lap = |f: &str| format!("{f}[-1,0] + {f}[1,0] + {f}[0,-1] + {f}[0,1] - 4*{f}");
        System::builder(Grid::unit(n))
            .parameter("d", 0.5)
            .field("u", format!("1 + u*u*v - 4.4*u + d*({})", lap("u")))
            .field("v", format!("3.4*u - u*u*v + d*({})", lap("v")))
            .boundary(boundary)
            .layout(Layout::Interleaved)
            .build()
    };
    let laplace = "u[-1,0] + u[1,0] + u[0,-1] + u[0,1] - 4*u";
    let laplace3 = "u[-1,0,0] + u[1,0,0] + u[0,-1,0] + u[0,1,0] + u[0,0,-1] + u[0,0,1] - 6*u";
    let systems = [
        ("narrow", brusselator(&[16, 500], Boundary::Mirror)?, ["rk4", "verner65", "peer4"].as_slice()),
        ("periodic", brusselator(&[300, 200], Boundary::Periodic)?, &["dopri54"]),
        ("heat", System::builder(Grid::unit(&[300, 200])).field("u", laplace).build()?, &["euler", "rk4"]),
        ("heat3d", System::builder(Grid::unit(&[90, 80, 70])).field("u", laplace3).build()?, &["bs32"]),
        (
            "chain",
            // SAFETY: it reads components that exist, at most 9 away.
            unsafe { System::snippet(9000, "return Y(I > 0 ? I - 1 : 0) - Y(I + 9 < N ? I + 9 : I);", 9) }.build()?,
            &["bs32"],
        ),
    ];
    let variants = [
        (Variant::Fused, 1),
        (Variant::Overlapped, 2),
        (Variant::Trapezoidal, 1),
        (Variant::Hexagonal, 1),
        (Variant::Grid, 1),
        (Variant::Grid, 4),
        (Variant::Wavefront, 1),
        (Variant::Cooperative, 1),
        (Variant::Recomputed, 1),
    ];
    let mut count = 0;
    for (title, system, methods) in &systems {
        for name in *methods {
            let method = Method::named(name)?;
            for (variant, steps) in variants {
                let options = DeviceOptions { variant, steps, tile: None };
                let kernels = match sources::<f64>(&method, system, &options, KernelFamily::Gpu) {
                    Err(clinalg_ode::Error::Variant { .. }) => continue,
                    other => other?,
                };
                for (k, (_, text)) in kernels.iter().enumerate() {
                    let file = format!("{title}_{name}_{}{steps}_{k}.cl", variant.name()).replace('-', "_");
                    std::fs::write(folder.join(file), text)?;
                    count += 1;
                }
            }
        }
    }
    println!("{count} kernels");
    Ok(())
}
