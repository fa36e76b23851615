//! Separable functions on grids against closed forms and the reference, on every device and in both families of
//! kernels.

use std::f64::consts::PI;

use clinalg::multigrid::Separable;
use clinalg::{Context, Real, Vector};
use clinalg_reference::separable;

use crate::common::{assert_error, assert_same, noise};

/// Points in each direction: of one row, of rows shorter and longer than a work-group and around eight lanes, of no
/// point.
const GRIDS: [[usize; 3]; 10] = [
    [1, 1, 1],
    [7, 1, 1],
    [1001, 1, 1],
    [3, 3, 1],
    [8, 9, 1],
    [257, 5, 1],
    [33, 1025, 1],
    [5, 7, 3],
    [65, 17, 9],
    [3, 0, 2],
];

/// A sine along each direction.
fn sines(points: [usize; 3]) -> [Vec<f64>; 3] {
    points.map(|n| (0..n).map(|i| (PI * (i + 1) as f64 / (n + 1) as f64).sin()).collect())
}

fn function(scale: f64, factors: &[Vec<f64>; 3], dim: usize) -> Separable {
    let factors: Vec<_> = factors[..dim].iter().map(Vec::as_slice).collect();
    Separable::new(scale, &factors).unwrap()
}

/// The dimensions of the grid: directions at the end with one point may be left out.
fn dim(points: [usize; 3]) -> usize {
    points.iter().rposition(|&n| n != 1).map_or(1, |axis| axis + 1)
}

fn whole_numbers<T: Real>(context: &Context) {
    for points in GRIDS.into_iter().filter(|_| context.device().fp64) {
        let count: usize = points.iter().product();
        let factors = [1.0, -3.0, 2.0].map(|first| (0..1025).map(|i| first + f64::from(i)).collect::<Vec<f64>>());
        let factors = [0, 1, 2].map(|axis| factors[axis][..points[axis]].to_vec());
        // The products are below 2^24, exact in both precisions.
        let value = |p: usize| {
            let (i, j, k) = (p % points[0], p / points[0] % points[1], p / points[0] / points[1]);
            let across = if dim(points) > 1 { j as f64 - 3.0 } else { 1.0 };
            let above = if dim(points) > 2 { k as f64 + 2.0 } else { 1.0 };
            T::from_f64(4.0 * (i as f64 + 1.0) * across * above)
        };
        let want: Vec<T> = (0..count).map(value).collect();
        let f = function(4.0, &factors, dim(points));
        let mut got = f.vector::<T>(context).unwrap();
        assert_same(&format!("{points:?} on {context:?}"), &got.to_vec().unwrap(), &want);
        got.fill(T::nan()).unwrap();
        f.fill(&mut got).unwrap();
        assert_same(&format!("{points:?} on {context:?}"), &got.to_vec().unwrap(), &want);
        assert_eq!(f.error_max(&got).unwrap(), 0.0);
    }
}

#[test]
fn products_of_whole_numbers_are_exact() {
    crate::on_every_device!(whole_numbers);
}

fn reference<T: Real>(context: &Context) {
    let scale = 3.0 * PI * PI + 0.1;
    for points in GRIDS.into_iter().filter(|_| context.device().fp64) {
        let (count, what) = (points.iter().product(), format!("{points:?} on {context:?}"));
        let sines = sines(points);
        let mut factors = sines.clone();
        factors[dim(points)..].fill(vec![1.0]);
        let slices = factors.each_ref().map(Vec::as_slice);
        let f = function(scale, &sines, dim(points));
        let mut want = vec![T::zero(); count];
        separable::fill(scale, slices, &mut want);
        assert_same(&what, &f.vector::<T>(context).unwrap().to_vec().unwrap(), &want);
        let mut on_host = vec![T::nan(); count];
        f.fill_host(&mut on_host).unwrap();
        assert_same(&what, &on_host, &want);
        // Whole rows along the last direction.
        let axis = points.iter().rposition(|&n| n != 1).unwrap_or(0);
        let width = points[..axis].iter().product::<usize>();
        for rows in [0..points[axis], 1.min(points[axis])..points[axis], 0..points[axis] / 2] {
            let part = rows.start * width..rows.end * width;
            let mut got = Vector::<T>::zeros(context, part.len()).unwrap();
            f.fill_range(part.clone(), &mut got).unwrap();
            assert_same(&what, &got.to_vec().unwrap(), &want[part]);
        }
        // The error, to the last bit, also of a part of a vector.
        let u = noise::<T>(count + 5, 1);
        let device = Vector::from_slice(context, &u).unwrap();
        let expected = separable::error_max(scale, slices, &u[5..]);
        assert_eq!(f.error_max(device.slice(5..count + 5).unwrap()).unwrap(), expected, "{what}");
        assert_eq!(f.error_max_host(&u[5..]).unwrap(), expected, "{what}");
        // One value off, wherever it is; one that is no number.
        for place in [0, count / 2, count.saturating_sub(1)].into_iter().filter(|_| count > 0) {
            let mut off = want.clone();
            off[place] = T::from_f64(50.0);
            let device = Vector::from_slice(context, &off).unwrap();
            assert_eq!(f.error_max(&device).unwrap(), separable::error_max(scale, slices, &off), "{what}, {place}");
            off[place] = T::nan();
            let device = Vector::from_slice(context, &off).unwrap();
            assert!(f.error_max(&device).unwrap().is_nan(), "{what}, {place}");
            assert!(f.error_max_host(&off).unwrap().is_nan(), "{what}, {place}");
        }
    }
}

#[test]
fn values_and_errors_are_those_of_the_reference() {
    crate::on_every_device!(reference);
}

fn wrong_shapes<T: Real>(context: &Context) {
    let f = Separable::new(1.0, &[&[1.0, 2.0], &[1.0, 2.0, 3.0]]).unwrap();
    let mut short = Vector::<T>::zeros(context, 5).unwrap();
    assert_error(f.fill(&mut short), "clinalg:argument:length", "out");
    assert_error(f.fill_range(0..4, &mut short), "clinalg:argument:length", "out");
    assert_error(f.fill_range(0..5, &mut short), "clinalg:argument:value", "points");
    assert_error(f.fill_range(2..8, &mut short), "clinalg:argument:value", "points");
    assert_error(f.error_max(&short), "clinalg:argument:length", "u");
    assert_error(f.fill_host(&mut [T::zero(); 5]), "clinalg:argument:length", "out");
    assert_error(f.error_max_host(&[T::zero(); 7]), "clinalg:argument:length", "u");
}

/// -1 times 0 is 0 without a sign, as on the host.
fn zeros<T: Real>(context: &Context) {
    if !context.device().fp64 {
        return;
    }
    let f = Separable::new(1.0, &[&[-1.0, 1.0], &[0.0]]).unwrap();
    let mut on_host = [T::one(); 2];
    f.fill_host(&mut on_host).unwrap();
    let on_device = f.vector::<T>(context).unwrap().to_vec().unwrap();
    assert!(on_host.iter().chain(&on_device).all(|v| *v == T::zero() && v.is_sign_positive()), "{on_device:?}");
}

#[test]
fn zeros_have_no_sign() {
    crate::on_every_device!(zeros);
}

#[test]
fn other_shapes_are_errors() {
    crate::on_every_device!(wrong_shapes);
    assert_error(Separable::new(1.0, &[]), "clinalg:argument:value", "factors");
    assert_error(Separable::new(1.0, &[&[1.0][..]; 4]), "clinalg:argument:value", "factors");
}
