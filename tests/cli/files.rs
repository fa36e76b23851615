//! Files that the program writes: which ones, and what a failure leaves.

use std::collections::BTreeMap;
use std::io::Read;

use super::*;

/// Names and contents of the files of a folder, and of the folders in it.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        all.insert(name, if path.is_dir() { b"a folder".to_vec() } else { std::fs::read(&path).expect("a file") });
    }
    all
}

/// A checkpoint with further words in the command line that it holds.
fn with_arguments(checkpoint: &Path, more: &[String]) {
    let file = std::fs::File::open(checkpoint).expect("a checkpoint");
    let mut archive = zip::ZipArchive::new(file).expect("an archive");
    let out = std::fs::File::create(checkpoint.with_file_name("changed.npz")).expect("a file");
    let mut out = zip::ZipWriter::new(out);
    for k in 0..archive.len() {
        let mut member = archive.by_index(k).expect("a member");
        let (name, mut bytes) = (member.name().to_owned(), Vec::new());
        member.read_to_end(&mut bytes).expect("its content");
        if name == "about.npy" {
            let header = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
            let mut about: Value = serde_json::from_slice(&bytes[header..]).expect("JSON");
            let arguments = about["arguments"].as_array_mut().expect("words");
            arguments.extend(more.iter().map(|word| Value::String(word.clone())));
            let about = serde_json::to_vec(&about).expect("JSON");
            let shape = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({},), }}", about.len());
            bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
            bytes.extend(format!("{shape:<117}\n").bytes());
            bytes.extend(about);
        }
        out.start_file(name, zip::write::SimpleFileOptions::default()).expect("a member");
        std::io::Write::write_all(&mut out, &bytes).expect("its content");
    }
    out.finish().expect("an archive");
    std::fs::rename(checkpoint.with_file_name("changed.npz"), checkpoint).expect("replaced");
}

/// A checkpoint from elsewhere that names `--out` and the like overwrote files by their absolute paths.
#[test]
fn a_foreign_checkpoint_overwrote_files() {
    if !device() {
        return;
    }
    for (line, limit) in [
        ("poisson --n 33 --max-cycles 2", "--max-cycles 3"),
        ("wave --n 17 --steps 4", "--steps 8"),
        ("ode --problem heat2d --n 9 --h 1e-4 --step-limit 4", "--step-limit 8"),
        ("waveform --problem heat2d --n 6 --windows 2 --iteration-limit 1", "--iteration-limit 2"),
        ("solve a.mtx --rhs random --method cg --precond none --max-iterations 1", "--max-iterations 2"),
        ("heat-bem --refine 0 --steps 4 --max-iterations 2", "--max-iterations 3"),
        ("elastodynamics --method gmres --frequencies 1:2:2 --max-iterations 2", "--max-iterations 3"),
    ] {
        let command = line.split(' ').next().expect("a command");
        let (folder, elsewhere) = (folder(), super::folder());
        file(&folder, "a.mtx", SPD);
        words_in(folder.path(), &format!("{line} --checkpoint c.npz"));
        let victim = |name: &str| file(&elsewhere, name, "a file of the user's");
        let more = [
            ["--out".to_owned(), victim("out.npy")],
            ["--series".to_owned(), victim("series.npy")],
            ["--checkpoint".to_owned(), victim("checkpoint.npz")],
            ["--plot-pattern".to_owned(), victim("pattern.png")],
            ["--plot".to_owned(), elsewhere.path().join("plots").display().to_string()],
            ["--vtk".to_owned(), elsewhere.path().join("vtk").display().to_string()],
        ];
        let mut more = more.concat();
        more.push(format!("--graph={}", elsewhere.path().join("graphs").display()));
        with_arguments(&folder.path().join("c.npz"), &more);
        let before = [folder.path(), elsewhere.path()].map(contents);
        let done = words_in(folder.path(), &format!("{command} --resume c.npz {limit}"));
        assert!(done.code < 2, "{line}: {}", done.stderr);
        assert!(done.stderr.contains("--out") && done.stderr.contains("--graph="), "{line}: {}", done.stderr);
        assert!([folder.path(), elsewhere.path()].map(contents) == before, "{line}");
        // What the new command line names is written.
        let done = words_in(folder.path(), &format!("{command} --resume c.npz {limit} --checkpoint new.npz"));
        assert!(done.code < 2 && !done.stderr.contains("--checkpoint"), "{line}: {}", done.stderr);
        assert!(folder.path().join("new.npz").is_file(), "{line}");
    }
}

/// A resumed run lost the frames of the run before: it replaced their file, and later asked for another one.
#[test]
fn a_resumed_series_lost_the_frames_of_the_run_before() {
    let wave = "wave --n 17 --backend reference";
    let ode = "ode --problem heat2d --n 9 --h 1e-4 --t-end 1e-3 --frames 5 --variant reference";
    let waveform = "waveform --problem heat2d --n 6 --windows 4";
    let cases = [
        (wave, "--steps 8 --frames 5", "--steps 4 --frames 3", "--series s.csv"),
        (wave, "--steps 8 --frames 5 --precision f32", "--steps 4 --frames 3 --precision f32", "--series s.npz"),
        (wave, "--steps 8 --frames 5", "--steps 4 --frames 3", "--series s.pvd"),
        // One of the frames that the resumed run writes is there already.
        (ode, "--step-limit 200", "--step-limit 6", "--series s.npz --vtk frames"),
        (ode, "--step-limit 200", "--step-limit 4", "--series s.csv"),
        (waveform, "--iteration-limit 1000", "--iteration-limit 5", "--series s.npz"),
    ];
    for (line, whole, part, series) in cases.into_iter().filter(|(line, ..)| *line != waveform || device()) {
        let command = line.split(' ').next().expect("a command");
        let [straight, folder] = [folder(), folder()];
        let want = words_in(straight.path(), &format!("{line} {whole} {series} --json")).json();
        let done = words_in(folder.path(), &format!("{line} {part} {series} --checkpoint c.npz"));
        assert!(done.code < 2, "{line} {series}: {}", done.stderr);
        let before = contents(folder.path());
        assert!(before.get("s.csv") != contents(straight.path()).get("s.csv") || !series.contains("csv"));
        for _ in 0..2 {
            // Twice from the same checkpoint, which replaces the frames of the first time.
            let resumed = words_in(folder.path(), &format!("{command} --resume c.npz {whole} {series} --json")).json();
            assert_eq!(resumed["times"], want["times"], "{line} {series}");
            std::fs::rename(folder.path().join("c.npz"), straight.path().join("c.npz")).expect("moved");
            assert!(
                contents(folder.path()).keys().eq(contents(straight.path()).keys().filter(|name| *name != "c.npz"))
            );
            for (name, bytes) in contents(folder.path()) {
                assert!(contents(straight.path())[&name] == bytes, "{line} {series}: {name}");
            }
            std::fs::rename(straight.path().join("c.npz"), folder.path().join("c.npz")).expect("moved");
        }
        let frames =
            ["s.csv", "s.npz", "s.pvd"].iter().find(|name| folder.path().join(name).is_file()).expect("a file");
        // What holds something else, and what has no times, stays as it is.
        std::fs::write(folder.path().join(frames), "t,x,v\n").expect("written");
        std::fs::write(folder.path().join("s.npy"), "an array").expect("written");
        let before = contents(folder.path());
        for (file, message) in [(*frames, "give another name"), ("s.npy", "a .npy file stores no times")] {
            let done = words_in(folder.path(), &format!("{command} --resume c.npz {whole} --series {file}"));
            assert!(done.code == 2 && done.stderr.contains(message), "{line} {file}: {}", done.stderr);
            assert!(contents(folder.path()) == before, "{line} {file}");
        }
    }
}

/// `--plot` and `--vtk` made their folders before options and checkpoint were looked at.
#[test]
fn a_refused_run_made_folders_and_files() {
    let folder = folder();
    let line = "wave --n 17 --steps 4 --backend reference --checkpoint c.npz";
    words_in(folder.path(), line).fine();
    file(&folder, "old.csv", "t,u\n");
    let before = contents(folder.path());
    for line in [
        "wave --resume c.npz --n 33 --plot frames --out u.npy --series s.pvd",
        "ode --problem heat2d --n 9 --h 1e-4 --resume c.npz --vtk frames --plot pictures --series u.npy",
        "ode --problem heat2d --n 9 --resume none.npz --vtk frames --plot pictures --series u.npy",
        "ode --problem heat2d --n 9 --h 1e-4 --t-end 0.001 --method none-such --vtk frames --series old.csv",
    ] {
        let done = words_in(folder.path(), line);
        assert!(done.code >= 2, "{line}: {}", done.stdout);
        assert!(contents(folder.path()) == before, "{line}: {:?}", contents(folder.path()).keys());
    }
}

/// A full disk left neither the previous result nor the new one.
#[cfg(unix)]
#[test]
fn a_full_disk_destroyed_the_previous_result() {
    let folder = folder();
    file(&folder, "sphere.ode", "y' = -y\ny(0) = 1\nt = 0 .. 1\n");
    for (line, files) in [
        ("poisson --n 33 --backend reference --out u.npy", &["u.npy"][..]),
        ("poisson --n 33 --backend reference --out u.npz", &["u.npz"]),
        ("poisson --n 33 --backend reference --out u.csv", &["u.csv"]),
        ("poisson --n 33 --backend reference --out u.vti", &["u.vti"]),
        ("poisson --n 33 --backend reference --out u.vtu", &["u.vtu"]),
        ("poisson --n 33 --backend reference --plot u.png", &["u.png", "u-convergence.png"]),
        ("poisson --n 33 --backend reference --plot u.svg", &["u.svg", "u-convergence.svg"]),
        ("poisson --n 33 --backend reference --max-cycles 1 --checkpoint c.npz", &["c.npz"]),
        ("wave --n 17 --steps 8 --backend reference --series s.npz", &["s.npz"]),
        ("wave --n 17 --steps 8 --backend reference --series s.pvd", &["s.pvd", "s-0000.vti"]),
        ("ode --problem heat2d --n 17 --variant reference --h 1e-4 --t-end 1e-3 --series u.csv", &["u.csv"]),
        ("ode --problem heat2d --n 17 --variant reference --h 1e-4 --t-end 1e-3 --series u.npy", &["u.npy"]),
        ("ode --problem heat2d --n 17 --variant reference --h 1e-4 --t-end 1e-3 --out x.mtx", &["x.mtx"]),
    ] {
        for name in files {
            file(&folder, name, "the previous result");
        }
        let before = contents(folder.path());
        // One block; without the signal that ends a process at the limit.
        let shell = "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\"";
        let program = env!("CARGO_BIN_EXE_clinalg");
        let mut command = Command::new("sh");
        command.current_dir(folder.path()).args(["-c", shell, program]).args(line.split_whitespace());
        let done = finish(command.env("CLINALG_TUNE_DIR", ""));
        assert_eq!(done.code, 5, "{line}: {}{}", done.stdout, done.stderr);
        assert!(!done.stderr.contains("ZipWriter"), "{line}: {}", done.stderr);
        assert!(contents(folder.path()) == before, "{line}: {:?}", contents(folder.path()).keys());
        assert_eq!(words_in(folder.path(), line).code % 2, words_in(folder.path(), line).code, "{line}");
        for name in files {
            assert_ne!(std::fs::read(folder.path().join(name)).unwrap(), b"the previous result", "{line}: {name}");
            std::fs::remove_file(folder.path().join(name)).unwrap();
        }
    }
}

/// `ode --out x.npy` wrote the text of MatrixMarket.
#[test]
fn results_were_written_in_another_format_than_their_name_says() {
    let folder = folder();
    let ode = "ode --problem heat2d --n 9 --variant reference --h 1e-4 --t-end 1e-3";
    for (name, begin) in [("x.npy", &b"\x93NUMPY"[..]), ("x.mtx", b"%%MatrixMarket"), ("x.mat", b"MATLAB 5.0")] {
        words_in(folder.path(), &format!("{ode} --out {name}")).fine();
        assert!(std::fs::read(folder.path().join(name)).unwrap().starts_with(begin), "{name}");
    }
    file(&folder, "a.mtx", SPD);
    for line in [ode, "solve a.mtx", "poisson --n 17 --backend reference", "wave --n 17 --steps 8 --backend reference"]
    {
        for name in ["y.foo", "y"] {
            let done = words_in(folder.path(), &format!("{line} --out {name}"));
            assert!(done.code == 2 && done.stderr.contains(&format!("--out {name}: the ")), "{line}: {}", done.stderr);
            assert!(!folder.path().join(name).exists(), "{line}");
        }
    }
}

/// Small files with a right outcome, from reports about other readers.
#[test]
fn valid_matrices_were_refused_or_misread() {
    if !device() {
        return;
    }
    let folder = folder();
    let header = "%%MatrixMarket matrix coordinate";
    let vector = |values: &[f64]| {
        let lines: String = values.iter().map(|value| format!("{value}\n")).collect();
        format!("%%MatrixMarket matrix array real general\n{} 1\n{lines}", values.len())
    };
    for (name, matrix, rhs, want) in [
        // SciPy's word for uint32 and uint64: [1 1 0; 0 4 2; 4 0 1].
        (
            "unsigned",
            format!("{header} unsigned-integer general\n3 3 6\n1 1 1\n1 2 1\n2 2 4\n2 3 2\n3 1 4\n3 3 1\n"),
            [1.0, 4.0, 6.0],
            [1.0, 0.0, 2.0],
        ),
        // A mark of the byte order, capitals, CR LF, blanks and numbers as C and Fortran read them.
        (
            "mark",
            format!(
                "\u{feff}{}\r\n\r\n 3\t3 3\r\n% a\r\n  1 1 +4\r\n2 2 12.\r\n3 3 .5\r\n   ",
                header.to_uppercase() + " REAL General"
            ),
            [4.0, 24.0, 0.5],
            [1.0, 2.0, 1.0],
        ),
        // The upper triangle of [4 1 0; 1 3 0; 0 0 2], and then the lower one.
        ("upper", format!("{header} real symmetric\n3 3 4\n1 1 4\n1 2 1\n2 2 3\n3 3 2\n"), [5.0, 4.0, 2.0], [1.0; 3]),
        ("lower", format!("{header} real symmetric\n3 3 4\n1 1 4\n2 1 1\n2 2 3\n3 3 2\n"), [5.0, 4.0, 2.0], [1.0; 3]),
    ] {
        let (matrix, rhs) = (file(&folder, "a.mtx", &matrix), file(&folder, "b.mtx", &vector(&rhs)));
        let x = folder.path().join("x.mtx");
        words(&format!("solve {matrix} --rhs {rhs} --out {} --tol 1e-12", x.display())).fine();
        assert!(array(&x).iter().zip(want).all(|(x, want)| (x - want).abs() < 1e-9), "{name}: {:?}", array(&x));
    }
    // [0 -3; 3 0] (2, -1) = (3, 6), with zeros stored on the diagonal and without.
    let rhs = file(&folder, "b.mtx", &vector(&[3.0, 6.0]));
    for entries in ["1\n2 1 3\n", "2\n2 1 3\n2 2 0\n", "3\n1 1 0.0\n2 1 3\n2 2 -0\n", "1\n1 2 -3\n"] {
        let matrix = file(&folder, "a.mtx", &format!("{header} real skew-symmetric\n2 2 {entries}"));
        let x = folder.path().join("x.mtx");
        words(&format!("solve {matrix} --rhs {rhs} --out {} --tol 1e-12", x.display())).fine();
        assert!(array(&x).iter().zip([2.0, -1.0]).all(|(x, want)| (x - want).abs() < 1e-9), "{entries}");
    }
    // [6 1-2i; 1+2i 5] (1, i) = (8 + i, 1 + 7i), by its lower and by its upper triangle.
    let rhs = "%%MatrixMarket matrix array complex general\n2 1\n8 1\n1 7\n";
    let rhs = file(&folder, "b.mtx", rhs);
    for entry in ["2 1 1 2", "1 2 1 -2"] {
        let matrix = file(&folder, "a.mtx", &format!("{header} complex hermitian\n2 2 3\n1 1 6 0\n{entry}\n2 2 5 0\n"));
        let x = folder.path().join("x.mtx");
        words(&format!("solve {matrix} --rhs {rhs} --out {} --tol 1e-12", x.display())).fine();
        let text = std::fs::read_to_string(&x).expect("written");
        let x: Vec<f64> = text.lines().skip(2).flat_map(str::split_whitespace).map(|v| v.parse().unwrap()).collect();
        assert!(x.iter().zip([1.0, 0.0, 0.0, 1.0]).all(|(x, want)| (x - want).abs() < 1e-9), "{entry}: {x:?}");
    }
    // Sparse logical, declared as doubles and stored as bytes: the lower triangle of ones; diagonals that leave the matrix: diag(2, 4, 8).
    for (matrix, rhs, nnz) in [
        (data("readers/sparse_logical.mat"), file(&folder, "b.mtx", &vector(&[1.0, 2.0, 3.0])), 6),
        (data("readers/diagonals.npz"), data("readers/diagonals_b.npy"), 3),
    ] {
        let x = folder.path().join("x.mtx");
        let report = words(&format!("solve {matrix} --rhs {rhs} --out {} --tol 1e-12 --json", x.display())).json();
        assert_eq!(report["nnz"], nnz, "{matrix}");
        assert!(array(&x).iter().all(|x| (x - 1.0).abs() < 1e-9), "{matrix}: {:?}", array(&x));
    }
}

/// Files that are to be refused, with what is wrong and where.
#[test]
fn unreadable_matrices_are_errors_that_name_the_fault() {
    let folder = folder();
    let header = "%%MatrixMarket matrix coordinate real";
    let both = format!("{header} symmetric\n2 2 4\n1 1 4\n1 2 1\n2 1 1\n2 2 3\n");
    let diagonal = format!("{header} skew-symmetric\n2 2 2\n2 1 3\n2 2 1\n");
    // Version 4 of MATLAB's format: little-endian doubles, 1 x 1, real, the name `A`.
    let version_4: Vec<u8> =
        [0u32, 1, 1, 0, 2].iter().flat_map(|v| v.to_le_bytes()).chain(*b"A\0").chain(1f64.to_le_bytes()).collect();
    let old = folder.path().join("old.mat");
    std::fs::write(&old, version_4).unwrap();
    for (path, needles) in [
        (file(&folder, "both.mtx", &both), &["both.mtx:5", "(2, 1)", "one triangle"][..]),
        (file(&folder, "diagonal.mtx", &diagonal), &["diagonal.mtx:4", "(2, 2)", "must be 0"]),
        (file(&folder, "percent.mtx", "%MatrixMarket matrix coordinate real general\n"), &["percent.mtx:1"]),
        (file(&folder, "two.mtx", &format!("{header} general\n3 3\n1 1 1\n")), &["two.mtx:2"]),
        (old.display().to_string(), &["version 4", "save -v7"]),
        // Solutions of 0 x n systems were written with n rows and no column.
        (data("readers/empty.mat"), &["empty.mat", "0 x 1", "nothing to solve"]),
        (file(&folder, "no_rows.mtx", &format!("{header} general\n0 3 0\n")), &["0 x 3", "nothing to solve"]),
    ] {
        let done = without_opencl(&format!("solve {path}"));
        assert_eq!(done.code, 5, "{path}: {}", done.stderr);
        assert!(needles.iter().all(|needle| done.stderr.contains(needle)), "{path}: {}", done.stderr);
    }
}

/// `--precision f32` turned small values into zeros, solved another system and called it converged.
#[test]
fn values_too_small_for_single_precision_became_zeros() {
    let folder = folder();
    let npy = |name: &str, values: &[f64]| {
        let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({},), }}", values.len());
        let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        bytes.extend(format!("{header:<117}\n").bytes());
        bytes.extend(values.iter().flat_map(|v| v.to_le_bytes()));
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.display().to_string()
    };
    let matrix =
        |value: &str| format!("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 {value}\n2 2 {value}\n");
    let vector = |value: &str| format!("%%MatrixMarket matrix array real general\n2 1\n{value}\n{value}\n");
    let one = file(&folder, "one.mtx", &matrix("1"));
    for (matrix, rhs, value) in [
        (one.clone(), file(&folder, "b60.mtx", &vector("1e-60")), "1e-60"),
        (one.clone(), file(&folder, "b45.mtx", &vector("1e-45")), "1e-45"),
        (one.clone(), file(&folder, "b40.mtx", &vector("-1e-40")), "-1e-40"),
        (one.clone(), file(&folder, "b39.mtx", &vector("1e39")), "1e39"),
        (one.clone(), npy("b.npy", &[1.0, 1e-60]), "1e-60"),
        (file(&folder, "a.mtx", &matrix("1e-50")), "ones".into(), "1e-50"),
    ] {
        let done = without_opencl(&format!("solve {matrix} --rhs {rhs} --precision f32"));
        assert_eq!(done.code, 5, "{value}: {}{}", done.stdout, done.stderr);
        assert!(done.stderr.contains(value) && done.stderr.contains("precision"), "{}", done.stderr);
    }
}

/// The program with less than 300 MB of address space.
#[cfg(unix)]
fn with_little_memory(folder: &Path, line: &str) -> Done {
    let shell = "ulimit -v 300000; exec \"$0\" \"$@\"";
    let mut command = Command::new("sh");
    command.current_dir(folder).args(["-c", shell, env!("CARGO_BIN_EXE_clinalg")]).args(line.split_whitespace());
    finish(command.env("CLINALG_TUNE_DIR", "").env("OCL_ICD_VENDORS", "/nonexistent").env_remove("CLINALG_DEVICE"))
}

/// Small compressed files were inflated as a whole, to gigabytes, before a line or a shape was looked at.
#[cfg(unix)]
#[test]
fn compressed_zeros_filled_the_memory() {
    use std::io::Write;

    /// Bytes that each file is inflated to.
    const SIZE: usize = 512 << 20;
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let zeros = vec![0; 1 << 20];
    let repeat = |out: &mut dyn Write, piece: &[u8]| {
        (0..SIZE / piece.len()).try_for_each(|_| out.write_all(piece)).expect("written");
    };
    let gz = |name: &str, header: &str, piece: &[u8]| {
        let file = std::fs::File::create(at(name)).expect("a file");
        let mut out = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        out.write_all(header.as_bytes()).expect("written");
        repeat(&mut out, piece);
        out.finish().expect("written");
    };
    let header = "%%MatrixMarket matrix coordinate real general\n";
    gz("line.mtx.gz", header, &zeros);
    gz("blank.mtx.gz", header, &b"\n".repeat(1 << 20));
    gz("comments.mtx.gz", &format!("{header}2 2 2\n1 1 1\n"), &b"%\r\n".repeat(1 << 20));
    let entries = b"1 1 1\n".repeat(1 << 17);
    gz("repeated.mtx.gz", &format!("{header}3 3 89478485\n"), &entries);
    gz("large.mtx.gz", &format!("{header}20000 20000 89478485\n"), &entries);
    // A matrix of 3 x 3 with 67 million values, and one whose offsets say the same.
    let array = |kind: &str, count: usize| {
        let text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({count},), }}");
        let mut header = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        header.extend(format!("{text:<117}\n").bytes());
        header
    };
    for (name, last) in [("data.npz", 3_i64), ("offsets.npz", (SIZE / 8) as i64)] {
        let mut out = zip::ZipWriter::new(std::fs::File::create(at(name)).expect("a file"));
        let options = zip::write::SimpleFileOptions::default().compression_level(Some(1));
        let mut member = |name: &str, header: Vec<u8>, content: &[u8], bomb: bool| {
            out.start_file(format!("{name}.npy"), options).expect("a member");
            out.write_all(&header).expect("written");
            out.write_all(content).expect("written");
            if bomb {
                repeat(&mut out, &zeros);
            }
        };
        let numbers = |all: &[i64]| all.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
        let format = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        let text = "{'descr': '|S3', 'fortran_order': False, 'shape': (), }";
        member("format", [format, format!("{text:<117}\n").into_bytes()].concat(), b"csr", false);
        member("shape", array("<i8", 2), &numbers(&[3, 3]), false);
        member("indptr", array("<i8", 4), &numbers(&[0, 1, 2, last]), false);
        member("indices", array("<i8", 3), &numbers(&[0, 1, 2]), false);
        member("data", array("<f8", SIZE / 8), &[], true);
        out.finish().expect("an archive");
    }
    // A full matrix of zeros, and a sparse one of 3 x 3 with 67 million row indices, in MATLAB's format.
    let word = |out: &mut Vec<u8>, all: &[u32]| out.extend(all.iter().flat_map(|v| v.to_le_bytes()));
    let side = 8192_u32;
    for (name, class, extent) in [("full.mat", 6, side), ("sparse.mat", 5, 3)] {
        let mut element = Vec::new();
        word(&mut element, &[14, SIZE as u32 + 48, 6, 8, class, 0, 5, 8, extent, extent, 1 | 1 << 16]);
        element.extend(b"A\0\0\0");
        word(&mut element, &[9, SIZE as u32]);
        let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(&element).expect("written");
        repeat(&mut packed, &zeros);
        let packed = packed.finish().expect("written");
        let mut file = b"MATLAB 5.0 MAT-file".to_vec();
        file.resize(124, b' ');
        file.extend([0, 1, b'I', b'M']);
        word(&mut file, &[15, packed.len() as u32]);
        file.extend(packed);
        std::fs::write(at(name), file).expect("a file");
    }
    for (name, needle) in [
        ("line.mtx.gz", "the line is longer"),
        ("blank.mtx.gz", "blank.mtx.gz:536870913: the file ends before the size line"),
        ("comments.mtx.gz", "the file ends here: 1 entry of 2 missing"),
        ("repeated.mtx.gz", "positions of the matrix"),
        ("large.mtx.gz", "bytes of memory"),
        ("data.npz", "expected at most 3"),
        ("offsets.npz", "data"),
        ("full.mat", "bytes of memory"),
        ("sparse.mat", "row indices"),
    ] {
        let bytes = at(name).metadata().expect("a file").len();
        assert!(bytes < SIZE as u64 / 100, "{name} has {bytes} bytes");
        let done = with_little_memory(folder.path(), &format!("solve {name}"));
        assert_eq!(done.code, 5, "{name}: {}{}", done.stdout, done.stderr);
        assert!(done.stderr.contains(name) && done.stderr.contains(needle), "{name}: {}", done.stderr);
    }
}

/// Inputs without an end were read until the memory was full.
#[cfg(unix)]
#[test]
fn devices_without_an_end_filled_the_memory() {
    let folder = folder();
    for ending in ["mtx", "mtx.gz", "npy", "npz", "mat", "csv", "toml", "ode", "off", "stl", "obj", "msh"] {
        let link = folder.path().join(format!("zero.{ending}"));
        std::os::unix::fs::symlink("/dev/zero", link).expect("a link");
    }
    file(&folder, "a.mtx", SPD);
    for line in [
        "solve /dev/zero",
        "solve zero.mtx",
        "solve zero.mtx.gz",
        "solve zero.npy",
        "solve zero.npz",
        "solve zero.mat",
        "solve a.mtx --rhs /dev/zero",
        "solve a.mtx --options /dev/zero",
        "solve a.mtx --options zero.toml",
        "solve --resume zero.npz",
        "ode zero.ode",
        "poisson --n 33 --backend reference --f zero.csv",
        "poisson --n 33 --backend reference --f zero.npy",
        "heat-bem --mesh zero.off",
        "heat-bem --mesh zero.msh",
        "heat-bem --points zero.csv",
    ] {
        let done = with_little_memory(folder.path(), line);
        assert!([2, 5].contains(&done.code), "{line}: {} {}{}", done.code, done.stdout, done.stderr);
        assert!(
            !done.stderr.contains("copy it again") || line.contains("npz") || line.contains("gz"),
            "{}",
            done.stderr
        );
    }
}
