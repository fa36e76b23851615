//! Published numbers for the plain Rust operators.

use clinalg_bem::Mesh;
use clinalg_bem::heat::reference::{Blocks, Reference};
use clinalg_bem::heat::{HeatParams, Kind};

// The published rule for a common edge has the test triangle first and the common corners in the order in which that triangle
// lists them, so that V and D are symmetric up to 1e-5 and 4e-6 of the largest entry only; with it all twelve norms are met to
// 3e-13. The mean of that rule and its transpose, which is symmetric, is 1e-11 away.
fn norms(blocks: &Blocks) -> Vec<f64> {
    (0..blocks.steps).map(|d| blocks.block(d).iter().map(|v| v * v).sum::<f64>().sqrt()).collect()
}

fn check(kind: Kind, want: [f64; 4], tolerance: f64) -> Blocks {
    let mesh = Mesh::cube24().refined().unwrap();
    let blocks = Reference::new(&mesh, &HeatParams::new(0.5, 1.0, 4)).unwrap().blocks(kind);
    for (d, (got, want)) in norms(&blocks).into_iter().zip(want).enumerate() {
        let error = (got - want).abs() / want;
        println!("{kind:?}_{d} is off by {error:.1e}");
        assert!(error <= tolerance, "{kind:?}_{d}: {got:e} is off {want:e} by {error:e}");
    }
    blocks
}

const V: [f64; 4] = [9.071_198_064_832e-2, 4.054_564_951_552e-2, 1.823_056_005_050e-2, 1.217_438_127_988e-2];
const K: [f64; 4] = [4.736_611_857_116e-2, 1.844_067_979_478e-2, 7.206_705_381_519e-3, 4.423_973_529_589e-3];
const D: [f64; 4] = [4.578_386_465_780e-1, 1.495_207_068_552e-1, 1.351_590_058_335e-2, 5.699_604_628_794e-3];

fn asymmetry(blocks: &Blocks, d: usize) -> f64 {
    let (n, block) = (blocks.rows, blocks.block(d));
    let largest = block.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    let pairs = (0..n).flat_map(|i| (0..i).map(move |j| (i, j)));
    pairs.map(|(i, j)| (block[i * n + j] - block[j * n + i]).abs()).fold(0.0, f64::max) / largest
}

#[test]
fn single_layer_has_the_published_norms() {
    let blocks = check(Kind::V, V, 1e-10);
    assert!((blocks.block(0)[0] / 8.522_019_593_658_992e-3 - 1.0).abs() < 1e-9);
    assert!((blocks.block(1)[0] / 2.455_648_861_659_851e-3 - 1.0).abs() < 1e-9);
    assert!(blocks.values.iter().all(|&v| v > 0.0));
    assert!((0..4).all(|d| asymmetry(&blocks, d) < 1e-12));
}

#[test]
fn double_layers_have_the_published_norms() {
    check(Kind::K, K, 1e-12);
}

#[test]
fn adjoint_is_the_transpose() {
    let k = check(Kind::K, K, 1e-12);
    let ks = check(Kind::Ks, K, 1e-12);
    for d in 0..4 {
        let largest = k.block(d).iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        for row in 0..k.rows {
            for col in 0..k.cols {
                let difference = k.block(d)[row * k.cols + col] - ks.block(d)[col * ks.cols + row];
                assert!(difference.abs() <= 1e-12 * largest, "block {d}, {row}, {col}: {difference:e}");
            }
        }
    }
}

#[test]
fn hypersingular_has_the_published_norms() {
    let blocks = check(Kind::D, D, 1e-10);
    assert!((0..4).all(|d| asymmetry(&blocks, d) < 1e-12));
}

#[test]
fn applies_agree_with_blocks() {
    let mesh = Mesh::cube12().refined().unwrap();
    let reference = Reference::new(&mesh, &HeatParams::new(0.5, 0.7, 5)).unwrap();
    for kind in Kind::ALL {
        let blocks = reference.blocks(kind);
        let x: Vec<f64> = (0..blocks.cols * 5).map(|k| ((k * 37 + 11) % 101) as f64 / 50.0 - 1.0).collect();
        let (a, b) = (blocks.apply(&x).unwrap(), reference.apply(kind, &x).unwrap());
        let largest = a.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-13 * largest), "{kind:?}");
    }
}
