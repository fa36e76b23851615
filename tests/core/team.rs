//! Several devices that work on one problem: partitions, exchanges, and the solvers against one device.

#[path = "team/amg.rs"]
mod amg;
mod common;

use std::collections::{HashMap, VecDeque};
use std::ops::{ControlFlow, Range};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use clinalg::multigrid::{self, Backend, Cycle, Grid, PoissonParams, Separable, Smoother};
use clinalg::ops::{Operator, Uniform};
use clinalg::precond::Jacobi;
use clinalg::runtime::devices;
use clinalg::solve::{
    BiCgStab, Cg, CgParams, FlexibleCg, Gmres, GmresParams, Idr, IdrParams, JacobiIteration, JacobiParams,
    KrylovMemory, KrylovVector, Minres, Preconditioner, Report, Resumable, Richardson, Solver, Stop, Stopping,
};
use clinalg::team::{self, Exchange, Message, Network, Partition, Poisson, Received, Reduction, Sent, Team, Wave};
use clinalg::wave::{self, Scheme, WaveParams};
use clinalg::{Buffer, Context, ContextOptions, Csr, CsrParts, Error, KernelFamily, Real, Result};
use common::{
    Noise, assert_close, assert_error, assert_same, capable, child, contexts, eps, in_child, noise, oracle,
    product_bound, sparse,
};

const VALUE: &str = "clinalg:argument:value";
const LENGTH: &str = "clinalg:argument:length";
const INDEX: &str = "clinalg:argument:index";
const SHAPE: &str = "clinalg:argument:shape";

/// A context beside `like`, on its device and of its family.
fn beside(like: &Context) -> Context {
    let options = ContextOptions { family: Some(like.family()), ..ContextOptions::default() };
    Context::new(&devices().unwrap()[like.device().index], &options).unwrap()
}

/// A team of `ranks` contexts on the device of `first`, which is rank 0.
fn team(first: &Context, ranks: usize) -> Team {
    let others = (1..ranks).map(|_| beside(first));
    Team::of_contexts(std::iter::once(first.clone()).chain(others).collect()).unwrap()
}

/// Messages between threads, each of which stands for a process with one rank.
struct Threads {
    rank: usize,
    ranks: usize,
    mail: Arc<Mail>,
}

/// What was sent from one rank to another and has not been received.
type Letters = HashMap<(usize, usize), VecDeque<Vec<u8>>>;

#[derive(Default)]
struct Mail {
    letters: Mutex<Letters>,
    arrived: Condvar,
}

impl Mail {
    fn post(&self, from: usize, to: usize, bytes: &[u8]) {
        self.letters.lock().unwrap().entry((from, to)).or_default().push_back(bytes.to_vec());
        self.arrived.notify_all();
    }

    fn fetch(&self, from: usize, to: usize) -> Vec<u8> {
        let letters = self.letters.lock().unwrap();
        let none =
            |letters: &mut HashMap<_, VecDeque<Vec<u8>>>| letters.get(&(from, to)).is_none_or(VecDeque::is_empty);
        let (mut letters, timeout) = self.arrived.wait_timeout_while(letters, Duration::from_secs(60), none).unwrap();
        assert!(!timeout.timed_out(), "no message from rank {from} to rank {to}");
        letters.get_mut(&(from, to)).and_then(VecDeque::pop_front).unwrap()
    }
}

impl Network for Threads {
    fn ranks(&self) -> usize {
        self.ranks
    }

    fn local(&self) -> Range<usize> {
        self.rank..self.rank + 1
    }

    fn exchange(&self, sent: &[Sent<'_>], received: &mut [Received<'_>]) -> Result<()> {
        for message in sent {
            self.mail.post(message.from, message.to, message.bytes);
        }
        for message in received {
            message.bytes.copy_from_slice(&self.mail.fetch(message.from, message.to));
        }
        Ok(())
    }

    fn all_gather(&self, mine: &[f64]) -> Result<Vec<f64>> {
        let bytes: Vec<u8> = mine.iter().flat_map(|value| value.to_ne_bytes()).collect();
        (0..self.ranks).for_each(|to| self.mail.post(self.rank, to, &bytes));
        let values = |bytes: Vec<u8>| -> Vec<f64> {
            bytes.chunks_exact(8).map(|b| f64::from_ne_bytes(b.try_into().unwrap())).collect()
        };
        Ok((0..self.ranks).flat_map(|from| values(self.mail.fetch(from, self.rank))).collect())
    }
}

/// Runs `work` on a team of `ranks` processes, each a thread with one context on the device of `like`.
fn in_processes<R: Send>(like: &Context, ranks: usize, work: impl Fn(&Team) -> R + Sync) -> Vec<R> {
    let mail = Arc::new(Mail::default());
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..ranks)
            .map(|rank| {
                let network = Threads { rank, ranks, mail: mail.clone() };
                let work = &work;
                scope.spawn(move || work(&Team::with_network(vec![beside(like)], Box::new(network)).unwrap()))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Rows around those of each rank, at most `most` on either side.
fn around(partition: &Partition, most: usize, noise: &mut Noise) -> Vec<Range<usize>> {
    (0..partition.ranks())
        .map(|rank| {
            let own = partition.range(rank);
            own.start.saturating_sub(noise.below(most + 1))..(own.end + noise.below(most + 1)).min(partition.rows())
        })
        .collect()
}

#[test]
fn rows_of_all_processes_are_gathered_at_rank_0() {
    for context in contexts().iter().take(1) {
        let partition = Partition::weighted(10, &[1.0, 2.0, 1.0]).unwrap();
        let all: Vec<f64> = (0..20).map(f64::from).collect();
        let gathered = in_processes(context, 3, |team| {
            let own = partition.range(team.local().start);
            let mut values = vec![-1.0; 20];
            values[2 * own.start..2 * own.end].copy_from_slice(&all[2 * own.start..2 * own.end]);
            let before = values.clone();
            team.gather(&partition, 2, &mut values).unwrap();
            assert!(team.local().start == 0 || values == before);
            assert_error(team.gather(&partition, 3, &mut values), LENGTH, "values");
            assert_error(team.gather_ranges(&[0..2, 1..3, 3..4], &mut values), VALUE, "ranges");
            assert_eq!(team.has_gpu(), context.family() == KernelFamily::Gpu);
            values
        });
        assert_eq!(gathered[0], all);
    }
}

#[test]
fn partitions_share_all_rows_out() {
    let mut noise = Noise::new(1);
    for case in 0..300 {
        let rows = 1 + noise.below(200);
        let ranks = 1 + noise.below(rows.min(9));
        let weights: Vec<f64> = (0..ranks).map(|_| 0.1 + noise.below(50) as f64).collect();
        let offsets: Vec<usize> = std::iter::once(0)
            .chain((0..rows).scan(0, |sum, _| {
                *sum += noise.below(20);
                Some(*sum)
            }))
            .collect();
        let partitions = [
            Partition::even(rows, ranks),
            Partition::weighted(rows, &weights),
            Partition::by_entries(&offsets, &weights),
        ];
        for partition in partitions.map(Result::unwrap) {
            assert_eq!((partition.rows(), partition.ranks()), (rows, ranks), "case {case}");
            let owners: Vec<usize> = (0..rows).map(|row| partition.owner(row)).collect();
            for (row, &owner) in owners.iter().enumerate() {
                assert!(partition.range(owner).contains(&row), "case {case}, row {row}");
            }
            // In order, and none without a row.
            assert!(owners.is_sorted() && (0..ranks).all(|rank| owners.contains(&rank)), "case {case}");
            assert_eq!(Partition::from_starts(partition.starts().to_vec()).unwrap(), partition);
        }
        let even = Partition::even(rows, ranks).unwrap();
        let lengths = || (0..ranks).map(|rank| even.range(rank).len());
        assert!(lengths().max().unwrap() - lengths().min().unwrap() <= 1, "case {case}: {even:?}");
    }
}

#[test]
fn partitions_follow_entries_and_weights() {
    // A hundred rows of one entry and one of a hundred.
    let offsets: Vec<usize> = (0..=100).chain([200]).collect();
    let partition = Partition::by_entries(&offsets, &[1.0, 1.0]).unwrap();
    let work = |rank: usize| partition.range(rank).map(|row| offsets[row + 1] - offsets[row] + 2).sum::<usize>();
    assert!(work(0).abs_diff(work(1)) <= 4, "{partition:?}");
    assert_eq!(Partition::weighted(100, &[1.0, 3.0]).unwrap().starts(), [0, 25, 100]);
    assert_error(Partition::even(3, 4), VALUE, "ranks");
    assert_error(Partition::even(3, 0), VALUE, "ranks");
    assert_error(Partition::weighted(3, &[1.0, 0.0]), VALUE, "weights");
    assert_error(Partition::weighted(3, &[1.0, f64::NAN]), VALUE, "weights");
    assert_error(Partition::by_entries(&[], &[1.0]), LENGTH, "offsets");
    assert_error(Partition::from_starts(vec![0]), LENGTH, "starts");
    assert_error(Partition::from_starts(vec![1, 2]), INDEX, "starts");
    assert_error(Partition::from_starts(vec![0, 3, 3]), INDEX, "starts");
}

/// Row r has the values `width * r` to `width * r + width - 1` where its owner stores it, and -1 elsewhere.
fn own_rows(team: &Team, partition: &Partition, stored: &[Range<usize>], width: usize) -> Vec<Buffer<f64>> {
    let value = |rank: usize, row: usize, i: usize| match partition.range(rank).contains(&row) {
        true => (row * width + i) as f64,
        false => -1.0,
    };
    let part = |rank: usize| -> Vec<f64> {
        stored[rank].clone().flat_map(|row| (0..width).map(move |i| value(rank, row, i))).collect()
    };
    let contexts = team.contexts().iter().zip(team.local());
    contexts.map(|(context, rank)| Buffer::from_slice(context, &part(rank)).unwrap()).collect()
}

/// Each value that a rank stores is its owner's after an exchange of halos; a gather brings all to one rank and a scatter back.
fn exchanges(team: &Team, seed: u64) {
    let mut noise = Noise::new(seed);
    for case in 0..6 {
        let rows = team.ranks() + noise.below(40);
        let width = 1 + noise.below(4);
        let weights: Vec<f64> = (0..team.ranks()).map(|_| 1.0 + noise.below(5) as f64).collect();
        let partition = Partition::weighted(rows, &weights).unwrap();
        let stored = around(&partition, rows, &mut noise);
        let all: Vec<f64> = (0..rows * width).map(|k| k as f64).collect();
        let mut parts = own_rows(team, &partition, &stored, width);
        let messages = Message::halos(&partition, &stored, width).unwrap();
        let mut exchange = Exchange::new(team, &messages).unwrap();
        let sent: usize = messages.iter().filter(|m| team.local().contains(&m.from)).map(|m| m.len).sum();
        assert_eq!((exchange.len(), exchange.is_empty()), (sent, sent == 0));
        for round in 0..2 {
            exchange.run(&mut parts).unwrap();
            for (part, rank) in parts.iter().zip(team.local()) {
                let want = &all[stored[rank].start * width..stored[rank].end * width];
                assert_eq!(part.to_vec().unwrap(), want, "case {case}, round {round}, rank {rank} of {partition:?}");
            }
        }
        let root = noise.below(team.ranks());
        let whole = |rank: usize| if rank == root { rows * width } else { 0 };
        let mut wholes: Vec<Buffer<f64>> = (team.contexts().iter().zip(team.local()))
            .map(|(context, rank)| Buffer::zeroed(context, whole(rank)).unwrap())
            .collect();
        let parts = own_rows(team, &partition, &stored, width);
        let mut gather = Exchange::new(team, &Message::gather(&partition, &stored, width, root).unwrap()).unwrap();
        drop(gather.begin(&parts.iter().map(Into::into).collect::<Vec<_>>()).unwrap());
        gather.finish(&mut wholes.iter_mut().map(Into::into).collect::<Vec<_>>()).unwrap();
        for (part, rank) in wholes.iter().zip(team.local()) {
            assert_eq!(part.to_vec().unwrap(), all[..whole(rank)], "case {case}, gathered by rank {root}");
        }
        let mut scatter = Exchange::new(team, &Message::scatter(&stored, width, root).unwrap()).unwrap();
        let mut parts = parts;
        drop(scatter.begin(&wholes.iter().map(Into::into).collect::<Vec<_>>()).unwrap());
        scatter.finish(&mut parts.iter_mut().map(Into::into).collect::<Vec<_>>()).unwrap();
        for (part, rank) in parts.iter().zip(team.local()) {
            let want = &all[stored[rank].start * width..stored[rank].end * width];
            assert_eq!(part.to_vec().unwrap(), want, "case {case}, scattered by rank {root}");
        }
    }
}

/// Reductions are taken in the order of the ranks.
fn reductions(team: &Team) {
    let parts: Vec<Vec<f64>> = team.local().map(|rank| vec![1.0, [1e16, 1.0, -1e16, 1.0][rank % 4]]).collect();
    let in_order = (0..team.ranks()).map(|rank| [1e16, 1.0, -1e16, 1.0][rank % 4]).fold(0.0, |a, b| a + b);
    assert_eq!(team.all_reduce(Reduction::Sum, &parts).unwrap(), [team.ranks() as f64, in_order]);
    let parts: Vec<Vec<f64>> = team.local().map(|rank| vec![rank as f64]).collect();
    assert_eq!(team.all_reduce(Reduction::Max, &parts).unwrap(), [(team.ranks() - 1) as f64]);
    let parts: Vec<Vec<f64>> = team.local().map(|rank| vec![if rank == 0 { f64::NAN } else { 1.0 }]).collect();
    assert!(team.all_reduce(Reduction::Max, &parts).unwrap()[0].is_nan());
    assert_eq!(team.all_reduce(Reduction::Sum, &vec![vec![]; team.local().len()]).unwrap(), [0.0; 0]);
    assert_error(team.all_reduce(Reduction::Sum, &[]), LENGTH, "parts");
}

#[test]
fn every_value_is_its_owners() {
    for context in contexts().iter().take(1) {
        for ranks in [1, 2, 3, 5] {
            let team = team(context, ranks);
            exchanges(&team, ranks as u64);
            reductions(&team);
        }
        // The same over messages between processes.
        in_processes(context, 3, |team| {
            exchanges(team, 3);
            reductions(team);
        });
    }
}

#[test]
fn exchanges_that_do_not_fit_are_refused() {
    for context in contexts().iter().take(1) {
        let team = team(context, 2);
        let partition = Partition::even(6, 2).unwrap();
        assert_error(Message::halos(&partition, &[0..2, 2..4, 4..6], 1), LENGTH, "stored");
        assert_error(Message::halos(&partition, &[0..2, 3..6], 1), VALUE, "stored");
        assert_error(Message::halos(&partition, &[0..3, 3..7], 1), VALUE, "stored");
        assert_error(Message::gather(&partition, &[0..3, 3..6], 1, 2), VALUE, "root");
        assert_error(Message::scatter(&[0..3, 3..6], 1, 2), VALUE, "root");
        let messages = Message::halos(&partition, &[0..4, 2..6], 1).unwrap();
        let beyond = Message { to: 2, ..messages[0] };
        assert_error(Exchange::<f32>::new(&team, &[beyond]).map(drop), INDEX, "messages");
        let mut exchange = Exchange::<f32>::new(&team, &messages).unwrap();
        let short = [0, 1].map(|k: usize| Buffer::<f32>::zeroed(&team.contexts()[k], 3).unwrap());
        assert_error(exchange.begin(&[(&short[0]).into()]).map(drop), LENGTH, "sources");
        // What is wrong on a rank names it.
        let sources = short.each_ref().map(|part| part.into());
        let error = exchange.begin(&sources[..]).and_then(|_| {
            let mut short = [0, 1].map(|k: usize| Buffer::<f32>::zeroed(&team.contexts()[k], 1).unwrap());
            exchange.finish(&mut short.each_mut().map(|part| part.into()))
        });
        let error = error.unwrap_err();
        assert!(matches!(&error, Error::Rank { .. }) && error.to_string().starts_with("rank "), "{error}");
        assert_eq!((error.id(), error.cause().id()), (VALUE, VALUE));
    }
}

#[test]
fn teams_take_each_device_once() {
    for context in contexts().iter().take(1) {
        let all = devices().unwrap();
        let options = ContextOptions::default();
        let device = &all[context.device().index];
        assert_error(Team::new(&[device.clone(), device.clone()], &options), VALUE, "devices");
        let index = context.device().index;
        let error = Team::select(&format!("{index},{index}"), &options).unwrap_err();
        assert!(error.to_string().contains("twice"), "{error}");
        assert_eq!(Team::select("all", &options).unwrap().ranks(), all.len());
        assert_eq!(Team::select("0,no such device", &options).unwrap_err().id(), "clinalg:device:notFound");
        assert_error(Team::new(&[], &options), VALUE, "contexts");
        assert_error(Team::of_contexts(vec![context.clone(), context.clone()]), VALUE, "contexts");
        let network = Threads { rank: 1, ranks: 2, mail: Arc::default() };
        assert_error(Team::with_network(vec![context.clone(), beside(context)], Box::new(network)), VALUE, "contexts");
        let team = team(context, 2);
        assert!(team.same(&team.clone()) && format!("{team:?}").contains("ranks: 2"));
        team.finish().unwrap();
    }
}

#[test]
fn devices_of_one_driver_make_a_team() {
    const NAME: &str = "devices_of_one_driver_make_a_team";
    if !in_child() {
        if contexts().iter().any(|context| context.device().platform.contains("Portable Computing Language")) {
            child(NAME, &[("POCL_DEVICES", "pthread pthread pthread")]);
        } else {
            clinalg_testing::skip("three devices are made of PoCL");
        }
        return;
    }
    let team = Team::select("0,1,2", &ContextOptions::default()).unwrap();
    exchanges(&team, 7);
}

/// Data of a problem on so many points, with boundary values.
fn problem<T: Real>(points: usize) -> (Vec<T>, Vec<T>) {
    (noise(points, 3), noise(points, 4))
}

/// Histories of one device and of a team: sums of squares in another order.
fn assert_same_history(what: &str, got: &[f64], want: &[f64], tolerance: f64) {
    assert_eq!(got.len(), want.len(), "{what}");
    for (got, want) in got.iter().zip(want) {
        assert!((got - want).abs() <= tolerance * want, "{what}: {got:e}, wanted {want:e}");
    }
}

/// The solution after some cycles has the bits of one device, its history but for the order of sums.
fn poisson_is_that_of_one_device<T: Real>(
    context: &Context,
    weights: &[f64],
    gather: usize,
    grid: &Grid,
    params: &PoissonParams,
) {
    let n = grid.points()[0];
    let what = format!("{:?}, {weights:?}, gathered at {gather}, {params:?}, {:?}", grid.points(), context.family());
    let (f, start) = problem::<T>(grid.len());
    let mut want = start.clone();
    let mut one = multigrid::Poisson::<T>::new(context, grid, params).unwrap();
    let expected = one.solve(&f, &mut want).unwrap();
    let team = team(context, weights.len());
    let mut poisson = Poisson::<T>::with_gather_side(&team, grid, params, weights, gather).unwrap();
    assert_eq!(poisson.grid(), grid);
    assert_eq!((poisson.params(), poisson.partition().rows(), poisson.local_rows()), (params, n, 0..n));
    // Twice: nothing is left of the first solve.
    for _ in 0..2 {
        let mut u = start.clone();
        let report = poisson.solve(&f, &mut u).unwrap();
        assert_same(&what, &u, &want);
        assert_eq!((report.cycles, report.levels, report.stop), (expected.cycles, expected.levels, expected.stop));
        assert_same_history(&what, &report.history, &expected.history, 1e-12_f64.max(8.0 * eps::<T>()));
    }
}

#[test]
fn poisson_on_strips_has_the_bits_of_one_device() {
    let square = Grid::square(65);
    let short = PoissonParams { max_cycles: 2, tolerance: 0.0, ..PoissonParams::default() };
    for context in capable::<f64>() {
        let check = poisson_is_that_of_one_device::<f64>;
        check(context, &[1.0, 1.0], 9, &square, &short);
        check(context, &[1.0, 3.0, 2.0], 17, &square, &PoissonParams { cycle: Cycle::Full, ..short });
        if context.family() == KernelFamily::Cpu || clinalg_testing::long() {
            check(context, &[1.0], 17, &square, &short);
            check(context, &[1.0; 5], 5, &Grid::square(33), &PoissonParams { cycle: Cycle::W, ..short });
            let jacobi = PoissonParams { smoother: Smoother::Jacobi, pre: 0, post: 3, shift: 7.0, ..short };
            check(context, &[2.0, 1.0], 9, &square, &PoissonParams { cycle: Cycle::Full, ..jacobi });
            check(context, &[2.0, 1.0], 33, &square, &PoissonParams { pre: 3, post: 0, ..short });
            check(context, &[1.0, 1.0], 3, &Grid::square(5), &short);
            poisson_is_that_of_one_device::<f32>(context, &[1.0, 2.0], 9, &square, &short);
        }
        // To the end, and with strips long enough for several bands.
        check(context, &[1.0, 1.0], 65, &Grid::square(257), &PoissonParams::default());
    }
}

#[test]
fn poisson_on_slabs_has_the_bits_of_one_device() {
    let cube = Grid::cube(33);
    let short = PoissonParams { max_cycles: 2, tolerance: 0.0, ..PoissonParams::default() };
    for context in capable::<f64>() {
        let check = poisson_is_that_of_one_device::<f64>;
        check(context, &[1.0, 1.0], 9, &cube, &short);
        check(context, &[1.0, 3.0, 2.0], 9, &cube, &PoissonParams { cycle: Cycle::Full, ..short });
        if context.family() == KernelFamily::Cpu || clinalg_testing::long() {
            let jacobi = PoissonParams { smoother: Smoother::Jacobi, pre: 0, post: 3, shift: 7.0, ..short };
            check(context, &[2.0, 1.0], 5, &cube, &PoissonParams { cycle: Cycle::Full, ..jacobi });
            check(context, &[1.0; 4], 9, &Grid::cube(17), &PoissonParams { cycle: Cycle::W, ..short });
            check(context, &[1.0, 1.0], 3, &Grid::cube(5), &short);
            poisson_is_that_of_one_device::<f32>(context, &[1.0, 2.0], 9, &cube, &short);
        }
        // To the end.
        check(context, &[1.0, 1.0], 17, &cube, &PoissonParams::default());
    }
}

#[test]
fn separable_problems_have_the_bits_of_one_device() {
    for (context, (n, dim)) in capable::<f64>().flat_map(|context| [(33, 2), (17, 3)].map(|size| (context, size))) {
        let sine: Vec<f64> = (0..n).map(|i| (0.1 * (i * (n - 1 - i)) as f64).sin()).collect();
        let [f, exact] = [20.0, 1.0].map(|scale| Separable::new(scale, &vec![&sine[..]; dim]).unwrap());
        let (grid, params) = (Grid::new(&vec![n; dim]), PoissonParams::default());
        let f_values = f.vector::<f64>(context).unwrap().to_vec().unwrap();
        let mut expected = vec![0.0; f_values.len()];
        multigrid::Poisson::new(context, &grid, &params).unwrap().solve(&f_values, &mut expected).unwrap();
        let device = clinalg::Vector::from_slice(context, &expected).unwrap();
        let error = exact.error_max(&device).unwrap();
        for errors in [
            in_processes(context, 2, |team| separable_error(team, &grid, &f, &exact)),
            vec![separable_error(&team(context, 3), &grid, &f, &exact)],
        ] {
            assert!(errors.iter().all(|&other| other == error), "{errors:?}, {error:e} on {context:?}");
        }
        let mut poisson = Poisson::<f64>::new(&team(context, 2), &grid, &params).unwrap();
        // What an earlier solve has left makes no difference.
        poisson.load(&vec![1.0; expected.len()], &vec![1.0; expected.len()]).unwrap();
        poisson.load_separable(&f).unwrap();
        poisson.iterate(&mut |_, _| ControlFlow::Continue(())).unwrap();
        let mut got = vec![0.0; expected.len()];
        poisson.store(&mut got).unwrap();
        assert_same(&format!("{n} points, {dim} dimensions on {context:?}"), &got, &expected);
        let other = Separable::new(1.0, &vec![&sine[1..]; dim]).unwrap();
        assert_error(poisson.load_separable(&other), SHAPE, "f");
        assert_error(poisson.error_max(&other), SHAPE, "exact");
    }
}

/// Each device of a team makes the numbers of its strip, and nothing is read but what is picked.
#[test]
fn random_right_sides_and_values_on_sides_have_the_bits_of_one_device() {
    let numbers = Uniform::new(5, -1.0..1.0).unwrap();
    for (context, (n, dim)) in capable::<f64>().flat_map(|context| [(33, 2), (17, 3)].map(|size| (context, size))) {
        let (grid, params) = (Grid::new(&vec![n; dim]), PoissonParams::default());
        let (mut f, mut start) = (vec![0.0; grid.len()], vec![0.0; grid.len()]);
        numbers.fill_host(&mut f);
        // The sides keep these values; the others are the initial guess.
        numbers.skip(17).fill_host(&mut start);
        let mut expected = start.clone();
        multigrid::Poisson::new(context, &grid, &params).unwrap().solve(&f, &mut expected).unwrap();
        let norm = |values: &[f64]| values.iter().map(|v| v * v).sum::<f64>().sqrt();
        let points: Vec<usize> = (0..grid.len()).step_by(7).rev().collect();
        let work = |team: &Team| {
            let mut poisson = Poisson::<f64>::new(team, &grid, &params).unwrap();
            let mut f = |points: Range<usize>, f: &mut clinalg::Vector<f64>| numbers.skip(points.start).fill(f);
            let mut u = |points: Range<usize>, u: &mut clinalg::Vector<f64>| u.write(&start[points]);
            poisson.load_with(&mut f, &mut u).unwrap();
            poisson.iterate(&mut |_, _| ControlFlow::Continue(())).unwrap();
            (poisson.pick(&points).unwrap(), poisson.norms().unwrap())
        };
        let picked: Vec<f64> = points.iter().map(|&point| expected[point]).collect();
        for (got, norms) in [in_processes(context, 2, work), vec![work(&team(context, 3))]].concat() {
            assert_same(&format!("{n} points, {dim} dimensions on {context:?}"), &got, &picked);
            for (got, want) in norms.into_iter().zip([norm(&f), norm(&expected)]) {
                assert!((got - want).abs() <= 1e-14 * want, "{got} instead of {want}");
            }
        }
        let poisson = Poisson::<f64>::new(&team(context, 2), &grid, &params).unwrap();
        assert_error(poisson.pick(&[grid.len()]), VALUE, "points");
    }
}

/// The error of the solution that a team computes, the same in all processes.
fn separable_error(team: &Team, grid: &Grid, f: &Separable, exact: &Separable) -> f64 {
    let mut poisson = Poisson::<f64>::new(team, grid, &PoissonParams::default()).unwrap();
    poisson.load_separable(f).unwrap();
    poisson.iterate(&mut |_, _| ControlFlow::Continue(())).unwrap();
    poisson.error_max(exact).unwrap()
}

/// Shares follow what devices get done; one of the two takes four times as long here.
#[test]
fn measured_shares_give_the_bits_of_one_device() {
    for context in capable::<f64>().take(1) {
        let pair = team(context, 2);
        let slow = |rank: usize, _: &Context| {
            std::thread::sleep(Duration::from_millis(30 + 90 * rank as u64));
            Ok(())
        };
        let weights = pair.measure(slow).unwrap();
        assert!(weights[0] == 1.0 && (0.15..0.6).contains(&weights[1]), "{weights:?}");
        let (grid, params) =
            (Grid::square(65), PoissonParams { max_cycles: 2, tolerance: 0.0, ..PoissonParams::default() });
        poisson_is_that_of_one_device::<f64>(context, &weights, 9, &grid, &params);
        let (f, start) = problem::<f64>(65 * 65);
        let (mut want, mut got) = (start.clone(), start);
        multigrid::Poisson::new(context, &grid, &params).unwrap().solve(&f, &mut want).unwrap();
        Poisson::balanced(&pair, &grid, &params).unwrap().solve(&f, &mut got).unwrap();
        assert_same("balanced", &got, &want);
        let error = pair.measure(|rank, _| if rank == 1 { Err(Error::value("x", "y", "z")) } else { Ok(()) });
        assert!(matches!(error.unwrap_err(), Error::Rank { rank: 1, .. }));
    }
}

/// Displacement and velocity after some steps have the bits of one device.
fn wave_is_that_of_one_device<T: Real>(context: &Context, weights: &[f64], between: usize, n: usize) {
    let what = format!("{weights:?}, {between} steps between exchanges, n {n}, {:?}", context.family());
    let (start, velocity) = problem::<T>(n * n);
    let params = WaveParams::square(n);
    let params = WaveParams { dt: params.dt_of(0.6), ..params };
    let mut one = wave::Wave::<T>::new(context, &params).unwrap();
    let mut many = Wave::<T>::weighted(&team(context, weights.len()), &params, weights, between).unwrap();
    let (mut got, mut want) = (vec![T::zero(); n * n], vec![T::zero(); n * n]);
    for v in [Some(&velocity[..]), None] {
        one.start(&start, v).unwrap();
        many.start(&start, v).unwrap();
        for steps in [0, 1, 7, 20] {
            one.step(steps).unwrap();
            many.step(steps).unwrap();
            one.displacement(&mut want).unwrap();
            many.displacement(&mut got).unwrap();
            assert_same(&what, &got, &want);
            one.velocity(&mut want).unwrap();
            many.velocity(&mut got).unwrap();
            assert_same(&what, &got, &want);
            let (got, want) = (many.energy().unwrap(), one.energy().unwrap());
            for (got, want) in [(got.kinetic, want.kinetic), (got.potential, want.potential)] {
                assert!((got - want).abs() <= n as f64 * eps::<T>() * want, "{what}: {got:e}, wanted {want:e}");
            }
        }
        assert_eq!((many.steps(), many.time()), (one.steps(), one.time()));
    }
}

/// A wave that devices start and judge themselves: displacement and error have the bits of one device.
#[test]
fn separable_waves_on_strips_have_the_bits_of_one_device() {
    for context in capable::<f64>() {
        let n = 41;
        let sine: Vec<f64> = (0..n).map(|i| if i == 0 || i == n - 1 { 0.0 } else { (0.3 * i as f64).sin() }).collect();
        let shape = Separable::new(2.0, &[&sine, &sine]).unwrap();
        let params = WaveParams::square(n);
        let params = WaveParams { dt: params.dt_of(0.6), ..params };
        let speed: Vec<f64> = noise(n * n, 3);
        let mut one = wave::Wave::<f64>::new(context, &params).unwrap();
        one.start_separable(&shape, Some(&speed)).unwrap();
        one.step(7).unwrap();
        let (mut expected, mut got) = (vec![0.0; n * n], vec![1.0; n * n]);
        one.displacement(&mut expected).unwrap();
        let error = one.error_max(&shape).unwrap();
        assert_eq!(error, shape.error_max_host(&expected).unwrap());
        // Waves reach the halos of two steps three times.
        let mut many = Wave::<f64>::weighted(&team(context, 3), &params, &[1.0, 2.0, 1.0], 2).unwrap();
        many.start_separable(&shape, Some(&speed)).unwrap();
        many.step(7).unwrap();
        many.displacement(&mut got).unwrap();
        assert_same(&format!("displacement on {context:?}"), &got, &expected);
        assert_eq!(many.error_max(&shape).unwrap(), error, "{context:?}");
        let errors = in_processes(context, 2, |team| {
            let mut wave = Wave::<f64>::new(team, &params).unwrap();
            wave.start_separable(&shape, Some(&speed)).unwrap();
            wave.step(7).unwrap();
            wave.error_max(&shape).unwrap()
        });
        assert_eq!(errors, [error; 2], "{context:?}");
        let other = Separable::new(1.0, &[&sine, &sine[1..]]).unwrap();
        assert_error(many.start_separable(&other, None), SHAPE, "u");
        assert_error(many.start_separable(&shape, Some(&speed[1..])), LENGTH, "v");
        assert_error(many.error_max(&other), SHAPE, "exact");
    }
}

#[test]
fn waves_on_strips_have_the_bits_of_one_device() {
    for context in capable::<f64>() {
        wave_is_that_of_one_device::<f64>(context, &[1.0, 1.0], 8, 65);
        if context.family() == KernelFamily::Cpu || clinalg_testing::long() {
            wave_is_that_of_one_device::<f64>(context, &[1.0], 3, 20);
            wave_is_that_of_one_device::<f64>(context, &[3.0, 1.0, 1.0], 1, 30);
            wave_is_that_of_one_device::<f32>(context, &[1.0, 2.0], 16, 200);
        }
    }
}

/// A solution over messages between processes: each has its own rows of it.
#[test]
fn processes_give_the_bits_of_one_device() {
    for context in capable::<f64>().take(1) {
        let (n, grid) = (65, Grid::square(65));
        let params = PoissonParams { max_cycles: 2, tolerance: 0.0, cycle: Cycle::Full, ..PoissonParams::default() };
        let (f, start) = problem::<f64>(n * n);
        let mut want = start.clone();
        let expected = multigrid::Poisson::new(context, &grid, &params).unwrap().solve(&f, &mut want).unwrap();
        in_processes(context, 3, |team| {
            let mut poisson = Poisson::with_gather_side(team, &grid, &params, &[1.0; 3], 17).unwrap();
            let mut u = start.clone();
            let report = poisson.solve(&f, &mut u).unwrap();
            let own = poisson.local_rows();
            assert_eq!(own, poisson.partition().range(team.local().start));
            assert_same("own rows", &u[own.start * n..own.end * n], &want[own.start * n..own.end * n]);
            assert_same_history("processes", &report.history, &expected.history, 1e-12);
        });
    }
}

#[test]
fn problems_that_a_team_does_not_solve_are_refused() {
    for context in contexts().iter().take(1) {
        // Other tests use the memory of `context` at the same time.
        let team = team(&beside(context), 4);
        let (square, params) = (Grid::square(65), PoissonParams::default());
        let on = |grid: &Grid| Poisson::<f32>::new(&team, grid, &params).map(drop);
        let poisson = |params: PoissonParams| Poisson::<f32>::new(&team, &square, &params).map(drop);
        let message = assert_error(on(&Grid::cube(5)), VALUE, "ranks");
        assert!(message.contains("at most 3") && message.contains("planes"), "{message}");
        assert_error(poisson(PoissonParams { mixed_precision: true, ..params }), VALUE, "mixed_precision");
        assert_error(poisson(PoissonParams { backend: Backend::Matrix, ..params }), VALUE, "backend");
        assert_error(poisson(PoissonParams { order: 4, ..params }), VALUE, "points");
        assert_error(poisson(PoissonParams { diffusion: [2.0, 1.0, 1.0], ..params }), VALUE, "points");
        for (grid, nearest) in [(Grid::square(64), ["33", "65"]), (Grid::cube(100), ["65", "129"])] {
            let message = assert_error(on(&grid), VALUE, "points");
            assert!(nearest.iter().all(|nearest| message.contains(nearest)), "{message}");
            assert_error(Poisson::<f32>::balanced(&team, &grid, &params).map(drop), VALUE, "points");
        }
        for grid in
            [Grid::square(3), Grid::new(&[65, 33]), square.clone().size(&[2.0, 1.0]), square.clone().periodic(0)]
        {
            assert_error(on(&grid), VALUE, "points");
        }
        assert_error(poisson(PoissonParams { shift: -1.0, ..params }), VALUE, "shift");
        // More ranks than there are rows to share out.
        let message = assert_error(on(&Grid::square(5)), VALUE, "ranks");
        assert!(message.contains("at most 3"), "{message}");
        assert_error(Poisson::<f32>::weighted(&team, &square, &params, &[1.0; 3]).map(drop), LENGTH, "weights");
        assert_error(
            Poisson::<f32>::weighted(&team, &square, &params, &[1.0, -1.0, 1.0, 1.0]).map(drop),
            VALUE,
            "weights",
        );
        let mut small = Poisson::<f32>::new(&team, &Grid::square(17), &params).unwrap();
        assert_error(small.solve(&[0.0; 3], &mut [0.0; 289]), LENGTH, "f");
        assert_error(small.solve(&[0.0; 289], &mut [0.0; 3]), LENGTH, "u");
        let params = WaveParams { dt: 0.01, ..WaveParams::square(3) };
        let wave = |params: WaveParams| Wave::<f32>::new(&team, &params).map(drop);
        assert_error(wave(params.clone()), VALUE, "ranks");
        assert_error(
            wave(WaveParams { scheme: Scheme::Implicit, points: vec![65; 2], ..params.clone() }),
            VALUE,
            "scheme",
        );
        assert_error(wave(WaveParams { backend: Backend::Reference, ..params.clone() }), VALUE, "backend");
        for points in [vec![33, 17], vec![17; 3]] {
            assert_error(wave(WaveParams { dt: 0.01, ..WaveParams::new(&points) }), VALUE, "points");
        }
        let params = WaveParams { points: vec![33; 2], ..params };
        assert_error(Wave::<f32>::weighted(&team, &params, &[1.0; 4], 0).map(drop), VALUE, "steps");
        assert_error(Wave::<f32>::new(&team, &params).unwrap().start(&[0.0; 3], None), LENGTH, "u");
        // A grid that one device cannot hold: the error names it, and nothing is left behind.
        let live = |team: &Team| team.contexts().iter().map(|context| context.memory().live_bytes).sum::<u64>();
        let before = live(&team);
        let error = Poisson::<f32>::new(&team, &Grid::square((1 << 26) + 1), &PoissonParams::default()).unwrap_err();
        assert_eq!(error.id(), "clinalg:device:memory", "{error}");
        assert!(error.to_string().contains("rank 0 of the team, device `"), "{error}");
        assert_eq!(live(&team), before);
    }
}

/// Products of a matrix on a team against the sequential ones.
fn products<T: Real>(context: &Context, a: &CsrParts<T>, partition: &Partition) {
    let team = team(context, partition.ranks());
    let x = noise::<T>(a.cols, 5);
    let (mut want, zeros) = (vec![T::zero(); a.rows], vec![T::zero(); a.rows]);
    oracle(a).mv(T::one(), &x, T::zero(), &mut want);
    let matrix = team::Csr::new(&team, a, partition).unwrap();
    let on_team = team::Vector::from_slice(&team, partition, &x).unwrap();
    let mut y = matrix.vector().unwrap();
    // The second product uses the same memory.
    for _ in 0..2 {
        y.fill(T::nan()).unwrap();
        matrix.apply(T::one(), &on_team, T::zero(), &mut y).unwrap();
    }
    let mut got = zeros.clone();
    y.read(&mut got).unwrap();
    let bound = |i| product_bound(a, T::one(), &x, T::zero(), &zeros, i);
    assert_close(&format!("{partition:?}"), &got, &want, bound);
    let norm = want.iter().map(|v| v.into_f64().powi(2)).sum::<f64>().sqrt();
    assert!((y.norm2().unwrap() - norm).abs() <= 64.0 * eps::<T>() * norm);
    assert_eq!((y.len(), y.is_empty(), y.local_rows()), (a.rows, false, 0..a.rows));
}

#[test]
fn products_on_a_team_are_those_of_one_device() {
    for context in capable::<f64>() {
        let banded = sparse::<f64>(300, 300, 3, |i| i % 5);
        let empty = CsrParts::<f64>::from_triplets(7, 7, &[]).unwrap();
        let blocks: Vec<_> = (0..40).map(|i| (i, i / 10 * 10 + (i + 3) % 10, 1.5)).collect();
        let blocks = CsrParts::<f64>::from_triplets(40, 40, &blocks).unwrap();
        products(context, &banded, &Partition::by_entries(&banded.offsets, &[1.0, 2.0, 1.0]).unwrap());
        // No rank needs anything; some need nothing and one all.
        products(context, &blocks, &Partition::even(40, 4).unwrap());
        products(context, &blocks, &Partition::from_starts(vec![0, 5, 10, 40]).unwrap());
        products(context, &empty, &Partition::even(7, 7).unwrap());
        products(context, &banded, &Partition::even(300, 1).unwrap());
        products(context, &sparse::<f32>(50, 50, 4, |_| 50), &Partition::even(50, 3).unwrap());
    }
}

/// The 5-point matrix with a convection that makes it unsymmetric, on `side` by `side` points.
fn convection(side: usize, wind: f64) -> CsrParts<f64> {
    let mut entries = Vec::new();
    for k in 0..side * side {
        let (i, j) = (k % side, k / side);
        entries.push((k, k, 4.0 + 0.1 * (k % 3) as f64));
        let neighbours = [(i > 0, k.wrapping_sub(1), 1.0 + wind), (i + 1 < side, k + 1, 1.0 - wind)];
        let others = [(j > 0, k.wrapping_sub(side), 1.0), (j + 1 < side, k + side, 1.0)];
        let there = neighbours.into_iter().chain(others).filter(|(there, ..)| *there);
        entries.extend(there.map(|(_, column, weight)| (k, column, -weight)));
    }
    CsrParts::from_triplets(side * side, side * side, &entries).unwrap()
}

const METHODS: [&str; 6] = ["cg", "flexible cg", "minres", "bicgstab", "idr", "gmres"];

/// A Krylov method for vectors like this one.
fn krylov<V: KrylovVector<Scalar = f64>>(name: &str, vector: &V, stopping: Stopping) -> Box<dyn Resumable<f64, V>> {
    match name {
        "cg" => Box::new(Cg::like(vector, stopping.into()).unwrap()),
        "flexible cg" => Box::new(FlexibleCg::like(vector, stopping.into()).unwrap()),
        "minres" => Box::new(Minres::like(vector, stopping.into()).unwrap()),
        "bicgstab" => Box::new(BiCgStab::like(vector, stopping.into()).unwrap()),
        "idr" => Box::new(Idr::like(vector, IdrParams::from(stopping)).unwrap()),
        _ => Box::new(Gmres::like(vector, GmresParams::from(stopping).restart(20)).unwrap()),
    }
}

#[test]
fn iterative_methods_solve_on_a_team() {
    for context in capable::<f64>() {
        let n = 20 * 20;
        let exact = noise::<f64>(n, 6);
        for (wind, names) in [(0.0, &METHODS[..]), (0.4, &METHODS[3..])] {
            let parts = convection(20, wind);
            let mut b = vec![0.0; n];
            oracle(&parts).mv(1.0, &exact, 0.0, &mut b);
            let team = team(context, 3);
            let partition = Partition::by_entries(&parts.offsets, &[1.0; 3]).unwrap();
            let a = team::Csr::new(&team, &parts, &partition).unwrap();
            let on_team = team::Vector::from_slice(&team, &partition, &b).unwrap();
            let whole = Csr::from_parts(context, &parts).unwrap();
            let b = clinalg::Vector::from_slice(context, &b).unwrap();
            let stopping = Stopping::default().tolerance(1e-12);
            for (name, preconditioned) in names.iter().flat_map(|&name| [(name, false), (name, true)]) {
                let mut x = a.vector().unwrap();
                let mut jacobi = Jacobi::like(&x, &parts.diagonal()).unwrap();
                let m = preconditioned.then_some(&mut jacobi as &mut dyn Preconditioner<f64, team::Vector<f64>>);
                let report = krylov(name, &x, stopping.clone()).solve(&a, m, &on_team, &mut x).unwrap();
                let what = format!("{name}, wind {wind}, preconditioned {preconditioned}: {report}");
                assert_eq!(report.stop, Stop::Converged, "{what}");
                let mut got = vec![0.0; n];
                x.read(&mut got).unwrap();
                assert_close(&what, &got, &exact, |_| 1e-9);
                let mut x = clinalg::Vector::zeros(context, n).unwrap();
                let mut jacobi = Jacobi::like(&x, &parts.diagonal()).unwrap();
                let m = preconditioned.then_some(&mut jacobi as &mut dyn Preconditioner<f64>);
                let expected = krylov(name, &x, stopping.clone()).solve(&whole, m, &b, &mut x).unwrap();
                // Rounding grows along the iteration.
                assert_same_history(&what, &report.history[..8], &expected.history[..8], 1e-9);
                assert!(report.iterations.abs_diff(expected.iterations) <= 3, "{what}, on one device {expected}");
            }
        }
    }
}

/// Without a preconditioner or with the inverse of the diagonal, Richardson iteration is that of one device; so is
/// Jacobi iteration.
#[test]
fn stationary_iterations_solve_on_a_team() {
    for context in capable::<f64>().take(1) {
        let parts = convection(8, 0.2);
        let (n, partition) = (parts.rows, Partition::even(parts.rows, 3).unwrap());
        let team = team(context, 3);
        let (a, whole) =
            (team::Csr::new(&team, &parts, &partition).unwrap(), Csr::from_parts(context, &parts).unwrap());
        let right = noise::<f64>(n, 9);
        let b = team::Vector::from_slice(&team, &partition, &right).unwrap();
        let right = clinalg::Vector::from_slice(context, &right).unwrap();
        let stopping = || Stopping::default().tolerance(1e-6).max_iterations(1000);
        let (diagonal, mut x, mut y) =
            (parts.diagonal(), a.vector().unwrap(), clinalg::Vector::zeros(context, n).unwrap());
        let mut m = Jacobi::like(&x, &diagonal).unwrap();
        let report = Richardson::like(&x, stopping().into()).unwrap().solve(&a, Some(&mut m), &b, &mut x).unwrap();
        let mut m = Jacobi::like(&y, &diagonal).unwrap();
        let mut richardson = Richardson::like(&y, stopping().into()).unwrap();
        let expected = richardson.solve(&whole, Some(&mut m), &right, &mut y).unwrap();
        assert_eq!((report.stop, report.iterations), (Stop::Converged, expected.iterations), "{report}");
        assert_same_history("Richardson", &report.history, &expected.history, 1e-8);
        x.fill(0.0).unwrap();
        y.fill(0.0).unwrap();
        let params = JacobiParams::from(stopping());
        let report = JacobiIteration::like(&x, &diagonal, params.clone()).unwrap().solve(&a, None, &b, &mut x).unwrap();
        let mut jacobi = JacobiIteration::like(&y, &diagonal, params).unwrap();
        let expected = jacobi.solve(&whole, None, &right, &mut y).unwrap();
        assert_eq!((report.stop, report.iterations), (Stop::Converged, expected.iterations), "{report}");
        assert_same_history("Jacobi", &report.history, &expected.history, 1e-8);
    }
}

/// alpha A x + beta y with rows that refer to values of other ranks.
#[test]
fn products_of_a_team_are_added_to_y() {
    for context in capable::<f64>().take(1) {
        let parts = convection(6, 0.3);
        let (n, team) = (parts.rows, team(context, 4));
        let partition = Partition::weighted(n, &[1.0, 2.0, 1.0, 3.0]).unwrap();
        let a = team::Csr::new(&team, &parts, &partition).unwrap();
        let (x, y) = (noise::<f64>(n, 1), noise::<f64>(n, 2));
        let on_team = team::Vector::from_slice(&team, &partition, &x).unwrap();
        let mut z = team::Vector::from_slice(&team, &partition, &y).unwrap();
        a.apply(-2.0, &on_team, 0.5, &mut z).unwrap();
        let (mut got, mut want) = (vec![0.0; n], y);
        z.read(&mut got).unwrap();
        oracle(&parts).mv(-2.0, &x, 0.5, &mut want);
        assert_close("alpha A x + beta y", &got, &want, |_| 1e-13);
    }
}

/// Every process of a team stops at the same iteration, also when it is asked to stop, and continues to the bits of a
/// solve that is not ended.
#[test]
fn all_processes_stop_and_continue_at_the_same_iteration() {
    let Some(context) = capable::<f64>().next() else { return };
    let parts = convection(12, 0.0);
    let right = noise::<f64>(parts.rows, 3);
    for name in METHODS {
        let solved = in_processes(context, 3, |team| {
            let partition = Partition::even(parts.rows, 3).unwrap();
            let a = team::Csr::new(team, &parts, &partition).unwrap();
            let b = team::Vector::from_slice(team, &partition, &right).unwrap();
            let run = |memory: &mut KrylovMemory<f64>, last: usize| -> (Report, Vec<f64>) {
                let mut x = a.vector().unwrap();
                let mut solver = krylov(name, &b, Stopping::default().tolerance(1e-9));
                let mut progress = |k, _| if k < last { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
                let report = solver.solve_from(memory, &a, None, &b, &mut x, &mut progress).unwrap();
                let mut values = vec![0.0; parts.rows];
                x.read(&mut values).unwrap();
                (report, values[x.local_rows()].to_vec())
            };
            let whole = run(&mut KrylovMemory::default(), usize::MAX);
            let mut memory = KrylovMemory::default();
            let (stopped, _) = run(&mut memory, 5);
            assert_eq!((stopped.stop, stopped.iterations, memory.is_empty()), (Stop::Cancelled, 5, false), "{name}");
            let (continued, x) = run(&mut memory, usize::MAX);
            assert!(continued == whole.0 && x == whole.1, "{name}: {continued}, without a stop {}", whole.0);
            continued
        });
        assert!(solved.iter().all(|report| report.stop == Stop::Converged && *report == solved[0]), "{name}");
    }
}

#[test]
fn systems_without_a_solution_end_with_a_reason() {
    for context in capable::<f64>().take(1) {
        let team = team(context, 2);
        let partition = Partition::even(4, 2).unwrap();
        let run = |entries: &[(usize, usize, f64)], b: [f64; 4], params: CgParams| {
            let parts = CsrParts::from_triplets(4, 4, entries).unwrap();
            let a = team::Csr::new(&team, &parts, &partition).unwrap();
            let b = team::Vector::from_slice(&team, &partition, &b).unwrap();
            let mut x = a.vector().unwrap();
            let report = Cg::like(&b, params).unwrap().solve(&a, None, &b, &mut x).unwrap();
            (report, x.norm2().unwrap())
        };
        let diagonal = |values: [f64; 4]| [0, 1, 2, 3].map(|i: usize| (i, i, values[i]));
        let identity = diagonal([1.0; 4]);
        let params = CgParams::default();
        assert_eq!(
            run(&diagonal([1.0, -1.0, 1.0, -2.0]), [0.0, 1.0, 0.0, 1.0], params.clone()).0.stop,
            Stop::Indefinite
        );
        assert_eq!(run(&identity, [1.0, f64::NAN, 1.0, 1.0], params.clone()).0.stop, Stop::NotFinite);
        assert_eq!(run(&identity, [1.0, 1.0, f64::INFINITY, 1.0], params.clone()).0.stop, Stop::NotFinite);
        let (report, norm) = run(&identity, [0.0; 4], params.clone());
        assert_eq!((report.stop, report.iterations, norm), (Stop::Converged, 0, 0.0));
        // Squares out of range.
        for size in [1e-200, 1e200] {
            let (report, norm) = run(&diagonal([1.0, 2.0, 3.0, 4.0]), [size; 4], params.clone());
            assert_eq!(report.stop, Stop::Converged, "{report}");
            assert!((norm / size - (1.0 + 0.25 + 1.0 / 9.0 + 1.0 / 16.0_f64).sqrt()).abs() < 1e-9, "{norm:e}");
        }
        let limited = params.clone().max_iterations(1);
        let (report, _) = run(&diagonal([1.0, 2.0, 3.0, 4.0]), [1.0; 4], limited);
        assert_eq!((report.stop, report.iterations), (Stop::IterationLimit, 1));
        // What does not belong together.
        let other = Partition::from_starts(vec![0, 1, 4]).unwrap();
        let parts = CsrParts::from_triplets(4, 4, &identity).unwrap();
        let a = team::Csr::new(&team, &parts, &partition).unwrap();
        let (mut x, y) = (a.vector().unwrap(), team::Vector::<f64>::zeros(&team, &other).unwrap());
        assert_error(a.apply(1.0, &y, 0.0, &mut x), SHAPE, "x");
        let message = assert_error(x.update(1.0, &y, 1.0), SHAPE, "x");
        assert!(message.contains("[0, 1, 4]"), "{message}");
        let elsewhere = Team::of_contexts(vec![beside(context), beside(context)]).unwrap();
        let y = team::Vector::<f64>::zeros(&elsewhere, &partition).unwrap();
        assert_error(x.copy_from(&y), "clinalg:argument:context", "source");
        assert_error(team::Vector::<f64>::zeros(&team, &Partition::even(4, 3).unwrap()), LENGTH, "partition");
        assert_error(team::Csr::new(&team, &parts, &Partition::even(5, 2).unwrap()), SHAPE, "a");
        assert_error(Gmres::like(&x, GmresParams::default().restart(0)), VALUE, "restart");
        let mut cg = Cg::like(&team::Vector::zeros(&team, &other).unwrap(), params).unwrap();
        let b = a.vector().unwrap();
        assert_error(cg.solve(&a, None, &b, &mut x), SHAPE, "b");
    }
}

/// -Laplace u + w . grad u by upwind differences on n x n unknowns, times h^2; w = peclet (1, 1/2).
fn upwind(n: usize, peclet: f64) -> CsrParts<f64> {
    let (x, y) = (peclet / (n as f64 + 1.0), 0.5 * peclet / (n as f64 + 1.0));
    let mut entries = Vec::new();
    for k in 0..n * n {
        let (i, j) = (k % n, k / n);
        entries.push((k, k, 4.0 + x + y));
        let before = [(i > 0, k.wrapping_sub(1), -1.0 - x), (j > 0, k.wrapping_sub(n), -1.0 - y)];
        let after = [(i + 1 < n, k + 1, -1.0), (j + 1 < n, k + n, -1.0)];
        entries.extend(before.into_iter().chain(after).filter(|e| e.0).map(|(_, column, value)| (k, column, value)));
    }
    CsrParts::from_triplets(n * n, n * n, &entries).unwrap()
}

/// |b - A x| and |x| by sequential arithmetic.
fn residual(a: &CsrParts<f64>, b: &[f64], x: &[f64]) -> (f64, f64) {
    let mut r = b.to_vec();
    oracle(a).mv(-1.0, x, 1.0, &mut r);
    let norm = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
    (norm(&r), norm(x))
}

/// The end of a solve is judged as on one device, where the tests of `solvers.rs` have the same cases.
#[test]
fn an_end_is_judged_as_on_one_device() {
    for context in capable::<f64>().take(1) {
        let team = team(context, 2);
        let partition = |a: &CsrParts<f64>| Partition::by_entries(&a.offsets, &[1.0, 2.0]).unwrap();
        // With the residual as shadow, BiCGStab's residual rises by eight orders and a coefficient vanishes after 11 iterations.
        let parts = upwind(32, 1e5);
        let (n, rows) = (parts.rows, partition(&parts));
        let ones = vec![1.0; n];
        let a = team::Csr::new(&team, &parts, &rows).unwrap();
        let b = team::Vector::from_slice(&team, &rows, &ones).unwrap();
        let mut solver = BiCgStab::like(&b, Stopping::default().tolerance(1e-10).into()).unwrap();
        let mut x = a.vector().unwrap();
        let report = solver.solve(&a, None, &b, &mut x).unwrap();
        assert!(report.stop == Stop::Converged && report.iterations <= 150, "{report}");
        // Of eight iterations it returns the best, which has no larger residual than the start.
        solver.stopping_mut().max_iterations = 8;
        x.fill(0.0).unwrap();
        let report = solver.solve(&a, None, &b, &mut x).unwrap();
        let mut got = vec![0.0; n];
        x.read(&mut got).unwrap();
        assert_eq!(report.stop, Stop::IterationLimit, "{report}");
        assert!(report.history.iter().any(|&r| r > 100.0) && report.relative_residual <= 1.0, "{report}");
        let (r, _) = residual(&parts, &ones, &got);
        assert!((r / (n as f64).sqrt() - report.relative_residual).abs() <= 1e-9, "{r:e}, {report}");

        // A tolerance far below the precision: the solvers stop where a backward stable solution would.
        let parts = convection(12, 0.0);
        let (n, rows) = (parts.rows, partition(&parts));
        let a = team::Csr::new(&team, &parts, &rows).unwrap();
        let exact = noise::<f64>(n, 8);
        let b = team::Vector::from_slice(&team, &rows, &exact).unwrap();
        let tight = Stopping::default().tolerance(1e-3 * eps::<f64>()).max_iterations(5000);
        for name in ["cg", "bicgstab", "gmres"] {
            let mut x = a.vector().unwrap();
            let report = match name {
                "gmres" => {
                    Gmres::like(&b, GmresParams::from(tight.clone()).restart(60)).unwrap().solve(&a, None, &b, &mut x)
                }
                _ => krylov(name, &b, tight.clone()).solve(&a, None, &b, &mut x),
            };
            let report = report.unwrap();
            assert_eq!(report.stop, Stop::RoundingFloor, "{name}: {report}");
            let mut got = vec![0.0; n];
            x.read(&mut got).unwrap();
            let (r, size) = residual(&parts, &exact, &got);
            // 9 bounds the norm of A.
            let stable = eps::<f64>() * (9.0 * size + exact.iter().map(|v| v * v).sum::<f64>().sqrt());
            assert!(r <= 16.0 * stable, "{name}: {r:e}, eps (|A||x| + |b|) {stable:e}");
        }
        let words = assert_error(
            Jacobi::like(&team::Vector::zeros(&team, &Partition::even(3, 2).unwrap()).unwrap(), &[1.0, 0.0, 2.0]),
            VALUE,
            "diagonal",
        );
        assert!(words.contains("row 2 (counted from 1)"), "{words}");
    }
}
