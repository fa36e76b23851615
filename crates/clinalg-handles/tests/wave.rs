//! Waves behind handles do as the solver they stand for.

#[path = "../../../tests/core/common/mod.rs"]
mod common;

use clinalg::Precision;
use clinalg::wave::{Medium, Scheme, Wave, WaveParams, WaveSide};
use clinalg_handles::{Kind, Registry};
use common::{capable, noise};

const SCHEMES: [Scheme; 2] = [Scheme::Explicit, Scheme::Implicit];

fn at_courant(n: usize, courant: f64) -> WaveParams {
    let params = WaveParams::square(n);
    WaveParams { dt: params.dt_of(courant), ..params }
}

fn displacement(wave: &mut Wave<f64>) -> Vec<f64> {
    let mut u = vec![f64::NAN; wave.params().total_points()];
    wave.displacement(&mut u).unwrap();
    u
}

fn velocity(wave: &mut Wave<f64>) -> Vec<f64> {
    let mut v = vec![f64::NAN; wave.params().total_points()];
    wave.velocity(&mut v).unwrap();
    v
}

#[test]
fn handles_do_as_the_solver() {
    for context in capable::<f64>() {
        let registry = Registry::new();
        let n = 17;
        for scheme in SCHEMES {
            let params = WaveParams { scheme, ..at_courant(n, 0.5) };
            let (u, v) = (noise::<f64>(n * n, 1), noise::<f64>(n * n, 2));
            let mut wave = Wave::<f64>::new(context, &params).unwrap();
            wave.start(&u, Some(&v)).unwrap();
            wave.step(5).unwrap();
            let handle = registry.wave(context, Precision::F64, &params, None).unwrap();
            let [u, v] = [&u, &v].map(|values| registry.upload_vector(context, values).unwrap());
            assert_eq!(registry.wave_start(handle, u, Some(v)).unwrap().steps, 0);
            assert_eq!(registry.wave_step(handle, 5).unwrap().steps, 5);
            let state = registry.wave_state(handle).unwrap();
            assert_eq!((state.steps, state.time, state.params), (5, wave.time(), params));
            assert_eq!(registry.wave_energy(handle).unwrap(), wave.energy().unwrap());
            let made = registry.wave_displacement(handle, None).unwrap();
            assert_eq!(registry.wave_velocity(handle, Some(v)).unwrap(), v);
            let values = |handle| {
                let mut values = vec![0.0; n * n];
                registry.read(handle, 0, &mut values).unwrap();
                values
            };
            assert_eq!((values(made), values(v)), (displacement(&mut wave), velocity(&mut wave)));
            let info = registry.info(made).unwrap();
            assert_eq!((info.kind, info.rows, info.cols), (Kind::Dense, n, n));
            let info = registry.info(handle).unwrap();
            assert_eq!((info.kind, info.rows, info.precision), (Kind::Wave, n, Precision::F64));

            // What has no values is refused where values are wanted, and the other way round.
            for wrong in
                [registry.plus(handle, u, None).map(drop), registry.fill(handle, 1.0), registry.norm2(handle).map(drop)]
            {
                assert_eq!(wrong.unwrap_err().id(), "clinalg:handle:kind");
            }
            assert_eq!(registry.wave_step(u, 1).unwrap_err().id(), "clinalg:handle:kind");
            assert_eq!(registry.release(handle, Kind::VALUES).unwrap_err().id(), "clinalg:handle:kind");
            let single = registry.upload_vector(context, &vec![0.0_f32; n * n]).unwrap();
            assert_eq!(registry.wave_start(handle, single, None).unwrap_err().id(), "clinalg:argument:precision");
            registry.release(handle, Kind::WAVE).unwrap();
            assert_eq!(registry.wave_step(handle, 1).unwrap_err().id(), "clinalg:handle:stale");
        }
    }
}

/// One kind of handle stands for boxes, too, with a speed for each point; grids are matrices with a row for each point
/// along x.
#[test]
fn handles_do_as_the_solver_on_boxes() {
    for context in capable::<f64>() {
        let registry = Registry::new();
        let sides = vec![[WaveSide::Free; 2], [WaveSide::Fixed, WaveSide::Absorbing], [WaveSide::Periodic; 2]];
        let params = WaveParams { sides, dt: 0.04, ..WaveParams::new(&[7, 5, 6]) };
        let points = params.total_points();
        let (u, v) = (noise::<f64>(points, 1), noise::<f64>(points, 2));
        let speed: Vec<f64> = (0..points).map(|p| 1.0 + p as f64 / points as f64).collect();
        let medium = Medium { speed: Some(&speed[..]), force: None };
        let fastest = WaveParams { c: speed[points - 1], ..params.clone() };
        let mut wave = Wave::with_medium(Some(context), &fastest, medium).unwrap();
        wave.start(&u, Some(&v)).unwrap();
        wave.step(5).unwrap();
        let handle = registry.wave(context, Precision::F64, &params, Some(&speed)).unwrap();
        assert_eq!(Registry::wave_limit(&params, Some(&speed)).unwrap(), fastest.limit().unwrap());
        let [u, v] = [&u, &v].map(|values| registry.upload_vector(context, values).unwrap());
        registry.wave_start(handle, u, Some(v)).unwrap();
        assert_eq!(registry.wave_step(handle, 5).unwrap().steps, 5);
        assert_eq!(registry.wave_state(handle).unwrap().params, fastest);
        assert_eq!(registry.wave_energy(handle).unwrap(), wave.energy().unwrap());
        let made = registry.wave_displacement(handle, None).unwrap();
        for (handle, kind) in [(made, Kind::Dense), (handle, Kind::Wave)] {
            let info = registry.info(handle).unwrap();
            assert_eq!((info.kind, info.rows, info.cols), (kind, 7, 30));
        }
        assert_eq!(registry.wave_velocity(handle, Some(v)).unwrap(), v);
        let values = |handle| {
            let mut values = vec![0.0; points];
            registry.read(handle, 0, &mut values).unwrap();
            values
        };
        assert_eq!((values(made), values(v)), (displacement(&mut wave), velocity(&mut wave)));
        let named = |params: &WaveParams, speed: Option<&[f64]>, argument: &str| {
            let error = registry.wave(context, Precision::F64, params, speed).unwrap_err().to_string();
            assert!(error.contains(&format!("`{argument}`")), "{error}");
            let error = Registry::wave_limit(params, speed).unwrap_err().to_string();
            assert!(error.contains(&format!("`{argument}`")), "{error}");
        };
        named(&WaveParams { size: vec![1.0, -1.0, 1.0], ..params.clone() }, None, "lengths");
        named(&params, Some(&speed[1..]), "speed");
        named(&params, Some(&[&[f64::NAN], &speed[1..]].concat()), "speed");
    }
}
