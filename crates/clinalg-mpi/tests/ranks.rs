//! Ranks in processes of their own, started by `mpirun` on this host: the program against one device, and what happens where ranks
//! differ, fail or die.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clinalg::multigrid::{Grid, PoissonParams};
use clinalg::team::{Poisson, Team};
use clinalg::{Context, ContextOptions};
use clinalg_mpi::Mpi;
use serde_json::Value;

/// Set in the processes that a test starts from its own program, to what they are to do.
const CHILD: &str = "CLINALG_MPI_TEST_CHILD";

/// The others of a rank that fails or dies end within this time.
const BOUND: Duration = Duration::from_secs(30);

struct Done {
    code: i32,
    stdout: String,
    stderr: String,
    time: Duration,
}

fn finish(command: &mut Command) -> Done {
    let start = Instant::now();
    let out = command.stdin(Stdio::null()).output().expect("the program starts");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let (stdout, stderr) = (text(out.stdout), text(out.stderr));
    Done { code: out.status.code().unwrap_or(-1), stdout, stderr, time: start.elapsed() }
}

impl Done {
    /// The one JSON document of stdout.
    fn json(&self) -> Value {
        assert_eq!(self.code, 0, "{}\n{}", self.stdout, self.stderr);
        let document = self.stdout.find('{').zip(self.stdout.rfind('}')).map(|(from, to)| &self.stdout[from..=to]);
        serde_json::from_str(document.unwrap_or_default()).unwrap_or_else(|error| panic!("{error}\n{}", self.stdout))
    }
}

/// Whether ranks can be started here; the running test is recorded as skipped where not.
fn can_start() -> bool {
    let version = Command::new("mpirun").arg("--version").output();
    let Ok(version) = version else {
        clinalg_testing::skip("there is no mpirun");
        return false;
    };
    if !String::from_utf8_lossy(&version.stdout).contains("Open MPI") {
        clinalg_testing::skip("mpirun is not that of Open MPI, whose options the test uses");
        return false;
    }
    clinalg_testing::found(clinalg::runtime::devices()).is_some()
}

fn mpirun(ranks: usize) -> Command {
    let mut command = Command::new("mpirun");
    command.args(["--oversubscribe", "--allow-run-as-root", "-n", &ranks.to_string()]);
    // Containers may forbid to copy from another process.
    command.env("OMPI_MCA_btl_vader_single_copy_mechanism", "none").env("CLINALG_TUNE_DIR", "");
    command
}

/// The program on so many ranks.
fn program(ranks: usize, line: &str) -> Done {
    finish(mpirun(ranks).arg(env!("CARGO_BIN_EXE_clinalg-mpi")).args(line.split_whitespace()))
}

/// The same command line in one process, on one device.
fn one_device(line: &str) -> Done {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["one_device_in_a_child", "--exact", "--nocapture"]).env(CHILD, line).env("CLINALG_TUNE_DIR", "");
    finish(&mut command)
}

#[test]
fn one_device_in_a_child() {
    let Some(line) = std::env::var_os(CHILD) else { return };
    let line = line.to_string_lossy();
    let words = std::iter::once("clinalg").chain(line.split_whitespace()).map(str::to_owned);
    assert_eq!(clinalg_cli::run(words.collect(), None).code, 0);
}

/// This test program on so many ranks, each with the test `name` alone.
fn children(ranks: usize, name: &str) -> Done {
    let exe = std::env::current_exe().expect("this program");
    finish(mpirun(ranks).arg(exe).args([name, "--exact", "--nocapture"]).env(CHILD, name))
}

fn is_child(name: &str) -> bool {
    std::env::var(CHILD).is_ok_and(|child| child == name)
}

fn numbers(document: &Value, key: &str) -> Vec<f64> {
    document[key].as_array().expect(key).iter().map(|value| value.as_f64().expect(key)).collect()
}

/// Histories of residuals agree to `tolerance` of the first one.
#[track_caller]
fn assert_near(got: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(got.len(), expected.len(), "{got:?}\n{expected:?}");
    for (got, expected) in got.iter().zip(expected) {
        assert!((got - expected).abs() <= tolerance * expected, "{got} instead of {expected}");
    }
}

/// Runs the command on one device and on each number of ranks, with a file for the result; gives documents and files.
fn compare(line: &str, ending: &str, ranks: &[usize], check: impl Fn(&Value, &Value, &Path, &Path)) {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let file = |name: String| folder.path().join(format!("{name}.{ending}"));
    let with_file = |path: &Path| format!("{line} --json --out {}", path.display());
    let one = file("one".into());
    let alone = one_device(&with_file(&one)).json();
    for &count in ranks {
        let several = file(count.to_string());
        let done = program(count, &with_file(&several));
        let document = done.json();
        assert_eq!(document["devices"].as_array().map(Vec::len), Some(count), "{}", done.stdout);
        assert!(document["peak_device_bytes"].as_u64() > Some(0), "{}", done.stdout);
        check(&document, &alone, &several, &one);
    }
}

fn same_bytes(a: &Path, b: &Path) {
    assert!(std::fs::read(a).expect("a file") == std::fs::read(b).expect("a file"), "{} differs", a.display());
}

#[test]
fn poisson_has_the_bits_of_one_device() {
    if std::env::var_os(CHILD).is_some() || !can_start() {
        return;
    }
    for (line, ranks) in
        [("poisson --n 129 --rhs random", &[2, 3][..]), ("poisson --dim 3 --n 33 --rhs random", &[2, 4])]
    {
        compare(line, "npy", ranks, |several, one, u, expected| {
            // Residual norms are summed per rank.
            assert_near(&numbers(several, "residual_history"), &numbers(one, "residual_history"), 1e-12);
            assert_eq!(several["stop"], one["stop"]);
            same_bytes(u, expected);
        });
    }
}

#[test]
fn waves_and_odes_have_the_bits_of_one_device() {
    if std::env::var_os(CHILD).is_some() || !can_start() {
        return;
    }
    compare("wave --n 129 --steps 40 --initial gauss", "npy", &[3], |several, one, u, expected| {
        assert_near(&[several["energy"].as_f64().unwrap()], &[one["energy"].as_f64().unwrap()], 1e-13);
        same_bytes(u, expected);
    });
    compare(
        "ode --problem heat2d --n 32 --method euler --h 1e-4 --t-end 2e-3",
        "mtx",
        &[2],
        |several, one, u, expected| {
            assert_eq!(several["steps"], one["steps"]);
            same_bytes(u, expected);
        },
    );
}

/// Boundary waveforms between the blocks of all ranks, and halos with each rank as a block: the frames, one per window, are bitwise equal to those of
/// one device, in both precisions.
#[test]
fn waveform_relaxation_has_the_bits_of_one_device() {
    if std::env::var_os(CHILD).is_some() || !can_start() {
        return;
    }
    let line = "waveform --problem bruss2d-mix --n 20 --h 1e-4 --steps 6 --windows 2";
    for (more, ranks) in [
        ("--variant block-boundary --block 8x4 --precision f32", &[2, 3, 4][..]),
        ("--variant block-boundary --block 8x4 --iterations 2 --sharing edges-first --balance", &[2]),
        ("--variant device", &[3]),
    ] {
        let alone = more.replace("--balance", "");
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let file = |name: &str| folder.path().join(format!("{name}.npy"));
        let with_file = |more: &str, name: &str| format!("{line} {more} --json --series {}", file(name).display());
        let one = one_device(&with_file(&alone, "one")).json();
        for count in ranks {
            let several = program(*count, &with_file(more, "several")).json();
            assert_eq!(several["devices"].as_array().map(Vec::len), Some(*count));
            assert_eq!(several["max_difference_from_euler"], one["max_difference_from_euler"]);
            assert_eq!(several["times"], one["times"]);
            if !more.contains("device") {
                assert_eq!(several["iterations"], one["iterations"]);
            }
            same_bytes(&file("several"), &file("one"));
        }
    }
}

#[test]
fn conjugate_gradients_agree_with_one_device() {
    if std::env::var_os(CHILD).is_some() || !can_start() {
        return;
    }
    // The Laplacian of 20 x 20 points.
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("a.mtx");
    let (n, mut entries) = (20, Vec::new());
    for k in 0..n * n {
        entries.push(format!("{} {} 4", k + 1, k + 1));
        entries.extend((k % n > 0).then(|| format!("{} {} -1", k + 1, k)));
        entries.extend((k >= n).then(|| format!("{} {} -1", k + 1, k + 1 - n)));
    }
    let head = format!("%%MatrixMarket matrix coordinate real symmetric\n{0} {0} {1}\n", n * n, entries.len());
    std::fs::write(&path, head + &entries.join("\n") + "\n").expect("a file");
    let line = format!("solve {} --method cg --precond jacobi --tol 1e-8", path.display());
    compare(&line, "npy", &[2, 4], |several, one, x, expected| {
        // Dot products are summed per rank, so that recurrences drift apart by rounding.
        assert_near(&numbers(several, "residual_history"), &numbers(one, "residual_history"), 1e-6);
        let values = |path: &Path| -> Vec<f64> {
            let bytes = std::fs::read(path).expect("a file");
            let data = &bytes[bytes.len() - 8 * n * n..];
            data.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
        };
        let largest = values(expected).iter().copied().fold(0.0, f64::max);
        for (x, expected) in values(x).iter().zip(values(expected)) {
            assert!((x - expected).abs() <= 1e-7 * largest, "{x} instead of {expected}");
        }
    });
}

#[test]
fn what_cannot_run_in_processes_is_refused_once() {
    if std::env::var_os(CHILD).is_some() || !can_start() {
        return;
    }
    for (line, words) in [
        ("bench", "start it with `clinalg`, without mpirun"),
        ("poisson --backend reference", "start `clinalg` in one process"),
        ("poisson --n 100", "65 and 129"),
        ("waveform --n 10 --variant point", "--variant block-boundary or --variant device"),
    ] {
        let done = program(2, line);
        assert_eq!(done.code, 2, "{line}: {}", done.stderr);
        assert_eq!(done.stderr.matches(words).count(), 1, "{line}: {}", done.stderr);
    }
}

#[test]
fn ranks_with_other_arguments_are_named() {
    if std::env::var_os(CHILD).is_some() || !can_start() {
        return;
    }
    let program = env!("CARGO_BIN_EXE_clinalg-mpi");
    let line = ["poisson", "--n", "65"];
    let mut command = mpirun(1);
    command.arg(program).args(line).args([":", "-n", "1", program]).args(line).args(["--precision", "f32"]);
    let done = finish(&mut command);
    assert_eq!(done.code, 2, "{}", done.stderr);
    let message = "rank 1 of the team, device `of host ";
    assert!(done.stderr.contains(message) && done.stderr.contains("`--precision` is f32"), "{}", done.stderr);
}

#[test]
fn a_rank_of_another_version_is_named() {
    const NAME: &str = "a_rank_of_another_version_is_named";
    if is_child(NAME) {
        let mpi = Mpi::start().unwrap();
        let version = if clinalg_cli::Processes::rank(&mpi) == 1 { "9.9.9" } else { "0.1.0" };
        let error = mpi.agree(version, &["program".to_owned()]).unwrap_err();
        mpi.end(None).unwrap();
        assert!(error.to_string().contains("rank 1") && error.to_string().contains("`version` is 9.9.9"), "{error}");
    } else if std::env::var_os(CHILD).is_none() && can_start() {
        let done = children(2, NAME);
        assert_eq!(done.code, 0, "{}\n{}", done.stdout, done.stderr);
    }
}

/// Rank 1 of two ends by `end` in mid-solve; what rank 0 gets.
fn solve_while_rank_1(end: fn(&Mpi)) -> (Mpi, Option<clinalg::Error>) {
    let mpi = Mpi::start().unwrap();
    mpi.agree("0.1.0", &[]).unwrap();
    let context = Context::new(&clinalg::runtime::devices().unwrap()[0], &ContextOptions::default()).unwrap();
    let network = mpi.connect(&context.device().name).unwrap();
    let team = Team::with_network(vec![context], Box::new(network)).unwrap();
    let n = 129;
    let params = PoissonParams { tolerance: 0.0, max_cycles: 1000, ..PoissonParams::default() };
    let mut poisson = Poisson::<f64>::new(&team, &Grid::square(n), &params).unwrap();
    let (f, mut u) = (vec![1.0; n * n], vec![0.0; n * n]);
    let rank = team.local().start;
    let error = poisson.solve_with(&f, &mut u, &mut |cycle, _| {
        if rank == 1 && cycle == 2 {
            end(&mpi);
        }
        std::ops::ControlFlow::Continue(())
    });
    (mpi, error.err())
}

#[test]
fn the_others_of_a_rank_that_dies_name_it() {
    const NAME: &str = "the_others_of_a_rank_that_dies_name_it";
    if is_child(NAME) {
        let _ = ctrl(clinalg_mpi::signalled);
        let (mpi, error) = solve_while_rank_1(|_| std::process::abort());
        let error = error.expect("rank 1 dies");
        println!("rank 0 says: {} {error}", error.id());
        let _ = mpi.end(Some((error.id(), "")));
        std::process::exit(4);
    } else if std::env::var_os(CHILD).is_none() && can_start() {
        let done = children(2, NAME);
        assert!(done.code != 0 && done.time < BOUND, "{} after {:?}", done.code, done.time);
        let message = "rank 0 says: clinalg:team:lost rank 1 of the team, device `";
        assert!(done.stdout.contains(message), "{}\n{}", done.stdout, done.stderr);
        assert!(done.stdout.contains("its process has ended"), "{}\n{}", done.stdout, done.stderr);
    }
}

/// Calls `handler` on SIGTERM.
fn ctrl(handler: fn()) -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(handler)
}

#[test]
fn the_others_of_a_rank_that_fails_get_its_error() {
    const NAME: &str = "the_others_of_a_rank_that_fails_get_its_error";
    if is_child(NAME) {
        let (mpi, error) = solve_while_rank_1(|mpi| {
            mpi.end(Some(("clinalg:device:memory", "no room for it"))).unwrap();
            std::process::exit(0);
        });
        let error = error.expect("rank 1 fails");
        assert_eq!(error.id(), "clinalg:device:memory");
        assert!(
            error.to_string().contains("rank 1 of the team") && error.to_string().contains("no room for it"),
            "{error}"
        );
        // Every later call ends with the same error.
        assert_eq!(mpi.connect("x").unwrap_err().to_string(), error.to_string());
        println!("rank 0 is right");
        let _ = mpi.end(Some((error.id(), "")));
        std::process::exit(0);
    } else if std::env::var_os(CHILD).is_none() && can_start() {
        let done = children(2, NAME);
        assert!(done.time < BOUND, "{:?}", done.time);
        assert!(done.stdout.contains("rank 0 is right"), "{}\n{}", done.stdout, done.stderr);
    }
}

/// A rank that lives but does not continue, as where its device hangs, is named by all others after the time that the variable says: also by rank 3, which
/// waits for rank 2.
#[test]
fn the_others_of_a_rank_that_hangs_name_it() {
    const NAME: &str = "the_others_of_a_rank_that_hangs_name_it";
    if is_child(NAME) {
        let (mpi, error) = solve_while_rank_1(|_| {
            std::thread::sleep(Duration::from_secs(8));
            std::process::exit(0);
        });
        let error = error.expect("rank 1 hangs");
        println!("another rank says: {} {error}", error.id());
        let _ = mpi.end(Some((error.id(), "")));
        std::process::exit(0);
    } else if std::env::var_os(CHILD).is_none() && can_start() {
        let exe = std::env::current_exe().expect("this program");
        let mut command = mpirun(4);
        command.arg(exe).args([NAME, "--exact", "--nocapture"]).env(CHILD, NAME).env("CLINALG_MPI_TIMEOUT", "3");
        let done = finish(&mut command);
        assert!(done.time < BOUND, "{:?}", done.time);
        let message = "another rank says: clinalg:team:lost rank 1 of the team, device `";
        assert_eq!(done.stdout.matches(message).count(), 3, "{}\n{}", done.stdout, done.stderr);
        assert_eq!(
            done.stdout.matches("for 3 s; its process or device hangs").count(),
            3,
            "{}\n{}",
            done.stdout,
            done.stderr
        );
    }
}

#[test]
fn a_timeout_that_is_no_time_is_refused() {
    if std::env::var_os(CHILD).is_some() || !can_start() {
        return;
    }
    for text in ["0", "-1", "soon", "nan", "1e300"] {
        let mut command = mpirun(1);
        command.arg(env!("CARGO_BIN_EXE_clinalg-mpi")).args(["poisson", "--n", "9"]).env("CLINALG_MPI_TIMEOUT", text);
        let done = finish(&mut command);
        assert!(done.code == 4 && done.stderr.contains("CLINALG_MPI_TIMEOUT"), "{text}: {}", done.stderr);
    }
}

/// A file that only one rank can read: the other one says which rank fails.
#[test]
fn a_file_that_one_rank_lacks_is_reported_by_the_first() {
    if std::env::var_os(CHILD).is_some() || !can_start() {
        return;
    }
    let [with, without] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let matrix = "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 2\n2 2 3\n";
    std::fs::write(with.path().join("a.mtx"), matrix).unwrap();
    let (program, line) = (env!("CARGO_BIN_EXE_clinalg-mpi"), ["solve", "a.mtx", "--json"]);
    let mut command = mpirun(1);
    command.arg("-wdir").arg(with.path()).arg(program).args(line);
    command.args([":", "-n", "1", "-wdir"]).arg(without.path()).arg(program).args(line);
    let done = finish(&mut command);
    assert!(done.code != 0 && done.time < BOUND, "{} after {:?}", done.code, done.time);
    let message = "clinalg: rank 0: rank 1 of the team, device `";
    assert!(done.stderr.contains(message) && done.stderr.contains("a.mtx"), "{}", done.stderr);
    assert!(done.stdout.contains("clinalg:file:io"), "{}", done.stdout);
}
