//! Operators behind handles.

mod common;

use clinalg::registry::{Kind as Object, Method, Preconditioning, Registry};
use clinalg::solve::{Operator, Params};
use clinalg::{Precision, Vector};
use clinalg_bem::Mesh;
use clinalg_bem::heat::{HeatParams, HeatSpace, Kind, OperatorOptions, operator_handle};
use common::context;

#[test]
fn handles_multiply_and_solve() {
    let Some(context) = context() else { return };
    let registry = Registry::new();
    let (mesh, params) = (Mesh::cube24(), HeatParams::new(0.5, 1.0, 4));
    let options = OperatorOptions::default();
    let a = operator_handle(&registry, &context, Precision::F64, &mesh, &params, Kind::V, &options).unwrap();
    let info = registry.info(a).unwrap();
    assert_eq!((info.kind, info.rows, info.cols, info.precision), (Object::Operator, 96, 96, Precision::F64));
    let x: Vec<f64> = (0..96).map(|k| f64::from((k * 31) % 17) - 8.0).collect();
    let x_handle = registry.upload_vector(&context, &x).unwrap();
    let b = registry.mv(1.0, a, x_handle, 0.0, None).unwrap();
    // The same operator without a handle.
    let plain = HeatSpace::<f64>::new(&context, &mesh, &params).unwrap().operator(Kind::V, &options).unwrap();
    let mut want = Vector::zeros(&context, 96).unwrap();
    plain.apply(1.0, &Vector::from_slice(&context, &x).unwrap(), 0.0, &mut want).unwrap();
    let want = registry.upload_vector(&context, &want.to_vec().unwrap()).unwrap();
    let difference = registry.minus(b, want, None).unwrap();
    assert_eq!(registry.norm2(difference).unwrap(), 0.0);
    // A x = b gives x back.
    let solver = Params { tolerance: 1e-11, ..Params::default() };
    let (y, report) = registry.solve(Method::Gmres(96), Preconditioning::None, a, b, None, &solver).unwrap();
    assert!(report.stop.is_success(), "{report}");
    let difference = registry.minus(y, x_handle, None).unwrap();
    assert!(registry.norm2(difference).unwrap() < 1e-7 * registry.norm2(x_handle).unwrap());
    // What an operator cannot do.
    let jacobi = registry.solve(Method::Cg, Preconditioning::Jacobi, a, b, None, &solver);
    assert_eq!(jacobi.unwrap_err().id(), "clinalg:argument:value");
    assert_eq!(registry.mv_transposed(1.0, a, b, 0.0, None).unwrap_err().id(), "clinalg:handle:kind");
    assert_eq!(registry.norm2(a).unwrap_err().id(), "clinalg:handle:kind");
    let single = registry.upload_vector(&context, &[1.0_f32; 96]).unwrap();
    assert_eq!(registry.mv(1.0, a, single, 0.0, None).unwrap_err().id(), "clinalg:argument:precision");
    registry.release(a, Object::OPERATOR).unwrap();
    assert_eq!(registry.mv(1.0, a, x_handle, 0.0, None).unwrap_err().id(), "clinalg:handle:stale");
}
