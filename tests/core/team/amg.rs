//! Algebraic multigrid on a team against one device.

use clinalg::amg::{self, AmgParams, Coarsening, Cycle, Smoother};

use super::*;

const SIDE: usize = 40;

/// All values of a vector.
fn values(x: &team::Vector<f64>) -> Vec<f64> {
    let mut values = vec![0.0; x.len()];
    x.read(&mut values).unwrap();
    x.team().gather(x.partition(), 1, &mut values).unwrap();
    values
}

/// What the hierarchy of a team makes of `r`, and how many of its levels are shared out.
fn applied(team: &Team, parts: &CsrParts<f64>, params: &AmgParams, rows: usize, r: &[f64]) -> (Vec<f64>, usize) {
    let partition = Partition::by_entries(&parts.offsets, &vec![1.0; team.ranks()]).unwrap();
    let mut m = team::Amg::gathered_from(team, parts, &partition, None, params, rows).unwrap();
    let r = team::Vector::from_slice(team, &partition, r).unwrap();
    let mut z = team::Vector::zeros(team, &partition).unwrap();
    m.apply(&r, &mut z).unwrap();
    assert_eq!(m.report().is_some(), team.local().contains(&0));
    (values(&z), m.shared_levels())
}

#[test]
fn a_cycle_on_a_team_is_that_of_one_device() {
    for context in capable::<f64>() {
        let parts = convection(SIDE, 0.0);
        let r = noise::<f64>(parts.rows, 4);
        let whole = Csr::from_parts(context, &parts).unwrap();
        let params = AmgParams::default().coarse_size(30);
        let classical = params.clone().coarsening(Coarsening::Classical);
        let cases = [
            (params.clone(), 100, 2),
            (params.clone(), team::Amg::<f64>::GATHERED, 0),
            (classical.clone(), 300, 2),
            (params.clone().cycle(Cycle::W).smoother(Smoother::L1Jacobi(2)), 500, 1),
            (classical.cycle(Cycle::W).smoother(Smoother::Spai0(1)), 100, 3),
        ];
        for (params, rows, shared) in cases {
            let mut one = amg::Amg::new(&whole, &params).unwrap();
            let (from, mut to) =
                (clinalg::Vector::from_slice(context, &r).unwrap(), clinalg::Vector::zeros(context, r.len()).unwrap());
            one.apply(&from, &mut to).unwrap();
            let (got, levels) = applied(&team(context, 3), &parts, &params, rows, &r);
            let what = format!("{params:?}, gathered from {rows} rows on");
            assert_eq!(levels, shared, "{what}: {}", one.report());
            assert_close(&what, &got, &to.to_vec().unwrap(), |_| 1e-12);
        }
    }
}

#[test]
fn processes_share_a_hierarchy_out() {
    for context in capable::<f64>().take(1) {
        let parts = convection(SIDE, 0.0);
        let r = noise::<f64>(parts.rows, 5);
        let params = AmgParams::default().coarse_size(30);
        let (expected, levels) = applied(&team(context, 3), &parts, &params, 100, &r);
        let all = in_processes(context, 3, |team| applied(team, &parts, &params, 100, &r));
        assert!(all.iter().all(|one| one.1 == levels));
        // Rank 0 has all rows.
        assert_same("processes", &all[0].0, &expected);
        let singular = CsrParts::from_triplets(3, 3, &[(0, 0, 1.0), (1, 1, 0.0), (2, 2, 1.0)]).unwrap();
        let errors = in_processes(context, 3, |team| {
            let partition = Partition::even(3, 3).unwrap();
            team::Amg::<f64>::new(team, &singular, &partition, &params).unwrap_err()
        });
        assert!(errors.iter().all(|error| error.id() == VALUE), "{errors:?}");
    }
}

#[test]
fn conjugate_gradients_of_a_team_take_multigrid() {
    for context in capable::<f64>().take(1) {
        let parts = convection(SIDE, 0.0);
        let n = parts.rows;
        let exact = noise::<f64>(n, 6);
        let mut b = vec![0.0; n];
        oracle(&parts).mv(1.0, &exact, 0.0, &mut b);
        let params = AmgParams::default().coarse_size(30);
        let stopping = Stopping::default().tolerance(1e-12);
        let (team, one) = (team(context, 2), Csr::from_parts(context, &parts).unwrap());
        let partition = Partition::by_entries(&parts.offsets, &[1.0; 2]).unwrap();
        let a = team::Csr::new(&team, &parts, &partition).unwrap();
        let mut m = team::Amg::gathered_from(&team, &parts, &partition, None, &params, 100).unwrap();
        let on_team = team::Vector::from_slice(&team, &partition, &b).unwrap();
        let mut x = a.vector().unwrap();
        let mut cg = Cg::like(&on_team, stopping.clone().into()).unwrap();
        let report = cg.solve(&a, Some(&mut m), &on_team, &mut x).unwrap();
        assert_eq!(report.stop, Stop::Converged);
        assert_close("x", &values(&x), &exact, |_| 1e-10);
        let mut m = amg::Amg::new(&one, &params).unwrap();
        let b = clinalg::Vector::from_slice(context, &b).unwrap();
        let mut x = clinalg::Vector::zeros(context, n).unwrap();
        let mut cg = Cg::new(context, n, stopping.into()).unwrap();
        let expected = cg.solve(&one, Some(&mut m), &b, &mut x).unwrap();
        assert!(report.iterations.abs_diff(expected.iterations) <= 1, "{report}, on one device {expected}");
    }
}

#[test]
fn hierarchies_that_a_team_does_not_share_out_are_refused() {
    for context in capable::<f64>().take(1) {
        let parts = convection(4, 0.0);
        let team = team(context, 2);
        let partition = Partition::even(16, 2).unwrap();
        let params = AmgParams::default();
        let refused = [
            (params.clone().cycle(Cycle::K), "cycle"),
            (params.clone().smoother(Smoother::GaussSeidel(1)), "smoother"),
            (params.clone().single(true), "single"),
            (params.clone().reusable(true), "reusable"),
        ];
        for (params, name) in refused {
            assert_error(team::Amg::<f64>::new(&team, &parts, &partition, &params), VALUE, name);
        }
        let other = Partition::even(15, 2).unwrap();
        assert_error(team::Amg::<f64>::new(&team, &parts, &other, &params), SHAPE, "a");
        let other = Partition::even(16, 3).unwrap();
        assert_error(team::Amg::<f64>::new(&team, &parts, &other, &params), LENGTH, "partition");
        let mut m = team::Amg::<f64>::new(&team, &parts, &partition, &params).unwrap();
        let other = Partition::weighted(16, &[1.0, 3.0]).unwrap();
        let r = team::Vector::zeros(&team, &other).unwrap();
        let mut z = team::Vector::zeros(&team, &partition).unwrap();
        assert_error(m.apply(&r, &mut z), SHAPE, "r");
        let zero = CsrParts::from_triplets(16, 16, &[(0, 0, 1.0)]).unwrap();
        assert_error(team::Amg::<f64>::new(&team, &zero, &partition, &params), VALUE, "a");
    }
}
