//! Operators behind handles.

#[path = "../../../tests/bem/common/mod.rs"]
mod common;

use clinalg::solve::{Operator, Stopping};
use clinalg::{Precision, Vector};
use clinalg_bem::Mesh;
use clinalg_bem::heat::{Form, HeatParams, HeatSpace, Kind, OperatorOptions};
use clinalg_handles::{
    Kind as Object, Method, Preconditioning, Registry, forward_handle, operator_handle, operator_preconditioner_handle,
};
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
    let solver = Stopping::default().tolerance(1e-11);
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

#[test]
fn inverses_behind_handles() {
    let Some(context) = context() else { return };
    let registry = Registry::new();
    let (mesh, params) = (Mesh::cube24().refined().unwrap(), HeatParams::new(0.5, 1.0, 4));
    let make = |precision, kind| {
        operator_handle(&registry, &context, precision, &mesh, &params, kind, &OperatorOptions::default()).unwrap()
    };
    for (precision, tolerance) in [(Precision::F64, 1e-10), (Precision::F32, 1e-4)] {
        for kind in [Kind::V, Kind::D] {
            let a = make(precision, kind);
            let n = registry.info(a).unwrap().rows;
            let x: Vec<f64> = (0..n).map(|k| ((k * 31) % 17) as f64 - 8.0).collect();
            let x = match precision {
                Precision::F32 => registry.upload_vector(&context, &x.iter().map(|&v| v as f32).collect::<Vec<_>>()),
                Precision::F64 => registry.upload_vector(&context, &x),
            }
            .unwrap();
            let b = registry.mv(1.0, a, x, 0.0, None).unwrap();
            let inverse = forward_handle(&registry, a).unwrap();
            let preconditioner = operator_preconditioner_handle(&registry, a, Form::Otf).unwrap();
            assert_eq!(registry.info(inverse).unwrap().rows, n);
            // y = A^-1 b, then y = y - A^-1 b.
            let y = registry.mv(1.0, inverse, b, 0.0, None).unwrap();
            let back = registry.mv(1.0, a, y, 0.0, None).unwrap();
            let difference = registry.minus(back, b, None).unwrap();
            assert!(registry.norm2(difference).unwrap() <= tolerance * registry.norm2(b).unwrap());
            registry.mv(-1.0, inverse, b, 1.0, Some(y)).unwrap();
            assert!(registry.norm2(y).unwrap() <= 1e-12 * registry.norm2(x).unwrap());
            // One iteration with the inverse, fewer with operator preconditioning than without.
            let solver = Stopping::default().tolerance(tolerance);
            let solve = |how| {
                let (y, report) = registry.solve(Method::Gmres(n), how, a, b, None, &solver).unwrap();
                assert!(report.stop.is_success(), "{report}");
                registry.release(y, Object::VALUES).unwrap();
                report.iterations
            };
            let (plain, direct) = (solve(Preconditioning::None), solve(Preconditioning::Inverse(inverse)));
            let preconditioned = solve(Preconditioning::Inverse(preconditioner));
            assert!(direct <= 2 && preconditioned < plain, "{kind:?}: {plain}, {direct}, {preconditioned}");
            // The operator is kept by its inverse.
            registry.release(a, Object::OPERATOR).unwrap();
            let again = registry.mv(1.0, inverse, b, 0.0, None).unwrap();
            assert!(registry.norm2(again).unwrap() > 0.0);
            assert_eq!(forward_handle(&registry, a).unwrap_err().id(), "clinalg:handle:stale");
        }
    }
    // What there is no inverse of.
    let (k, v) = (make(Precision::F64, Kind::K), make(Precision::F64, Kind::V));
    let b = registry.upload_vector(&context, &vec![1.0; registry.info(v).unwrap().rows]).unwrap();
    for made in [forward_handle(&registry, k), operator_preconditioner_handle(&registry, k, Form::Auto)] {
        let error = made.unwrap_err();
        assert_eq!(error.id(), "clinalg:argument:shape");
        assert!(error.to_string().contains("V or D"), "{error}");
    }
    let inverse = forward_handle(&registry, v).unwrap();
    let error = forward_handle(&registry, inverse).unwrap_err();
    assert!(error.to_string().contains("operator of the heat equation"), "{error}");
    assert_eq!(forward_handle(&registry, b).unwrap_err().id(), "clinalg:handle:kind");
    // Preconditioners that do not fit.
    let solve = |m| registry.solve(Method::Gmres(9), Preconditioning::Inverse(m), v, b, None, &Stopping::default());
    for (m, id) in [
        (k, "clinalg:argument:shape"),
        (b, "clinalg:handle:kind"),
        (b | 0xffff_ffff, "clinalg:handle:foreign"),
        (make(Precision::F32, Kind::V), "clinalg:argument:precision"),
    ] {
        let error = solve(m).unwrap_err();
        assert_eq!(error.id(), id);
        assert!(error.to_string().contains("preconditioner"), "{error}");
    }
    // A matrix stands for an inverse, too.
    let identity: Vec<usize> = (0..registry.info(v).unwrap().rows).collect();
    let (n, ones) = (identity.len(), vec![1.0; identity.len()]);
    let offsets: Vec<usize> = (0..=n).collect();
    let identity = registry.upload_csr(&context, (n, n), &offsets, &identity, &ones).unwrap();
    let with = registry.solve(Method::Gmres(n), Preconditioning::Inverse(identity), v, b, None, &Stopping::default());
    let without = registry.solve(Method::Gmres(n), Preconditioning::None, v, b, None, &Stopping::default());
    assert_eq!(with.unwrap().1.iterations, without.unwrap().1.iterations);
}
