//! Tests of the module above.

mod complex;

use proptest::prelude::*;

use super::write::write;
use super::*;

fn parse(text: &str) -> Result<MatrixMarket> {
    read_from(text.as_bytes(), "t.mtx")
}

/// The message without the file's name: `line: reason`.
fn fault(text: impl AsRef<[u8]>) -> String {
    let error = read_from(text.as_ref(), "t.mtx").unwrap_err();
    assert_eq!(error.id(), "clinalg:file:format", "{error}");
    error.to_string().strip_prefix("t.mtx:").unwrap().to_owned()
}

fn coordinate(rest: &str) -> String {
    format!("%%MatrixMarket matrix coordinate {rest}")
}

#[test]
fn coordinate_real_general() {
    let a = parse(&coordinate("real general\n% a comment\n\n 3  4 3\n1 1 1.5\n\n%c\n 3 4\t-2e-3 \n2 1 .5\n")).unwrap();
    assert_eq!((a.rows, a.cols, a.symmetry), (3, 4, Symmetry::General));
    assert_eq!(a.storage, Storage::Coordinate(vec![(0, 0, 1.5), (2, 3, -2e-3), (1, 0, 0.5)]));
    let csr = a.to_csr_parts::<f32>().unwrap();
    assert_eq!((csr.offsets, csr.indices, csr.values), (vec![0, 1, 2, 3], vec![0, 0, 3], vec![1.5, 0.5, -2e-3]));
}

#[test]
fn header_in_any_case_line_ends_and_no_last_line_end() {
    let a = parse("%%matrixmarket MATRIX Coordinate Integer General\r\n%\r\n\r\n2 2 2\r\n1 2 -7\r\n2 2 +8").unwrap();
    assert_eq!(a.to_column_major::<f64>().unwrap(), [0.0, 0.0, -7.0, 8.0]);
}

#[test]
fn pattern_entries_are_one() {
    let a = parse(&coordinate("pattern symmetric\n3 3 2\n2 2\n3 1\n")).unwrap();
    assert_eq!(a.symmetry, Symmetry::Symmetric);
    assert_eq!(a.storage, Storage::Coordinate(vec![(1, 1, 1.0), (2, 0, 1.0), (0, 2, 1.0)]));
}

#[test]
fn symmetric_and_skew_symmetric_are_expanded() {
    let a = parse(&coordinate("real symmetric\n2 2 2\n1 1 4\n2 1 -1\n")).unwrap();
    assert_eq!(a.to_column_major::<f64>().unwrap(), [4.0, -1.0, -1.0, 0.0]);
    let a = parse(&coordinate("integer skew-symmetric\n2 2 1\n2 1 5\n")).unwrap();
    assert_eq!(a.to_column_major::<f64>().unwrap(), [0.0, 5.0, -5.0, 0.0]);
    let a = parse("%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n").unwrap();
    assert_eq!(a.storage, Storage::Array(vec![1.0, 2.0, 3.0, 2.0, 4.0, 5.0, 3.0, 5.0, 6.0]));
    let a = parse("%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n").unwrap();
    assert_eq!(a.storage, Storage::Array(vec![0.0, 1.0, 2.0, -1.0, 0.0, 3.0, -2.0, -3.0, 0.0]));
}

#[test]
fn array_is_read_by_columns() {
    let a = parse("%%MatrixMarket matrix array real general\n% b\n2 3\n1\n0\n3\n4\n-0\n6\n").unwrap();
    assert_eq!(a.to_column_major::<f32>().unwrap(), [1.0, 0.0, 3.0, 4.0, 0.0, 6.0]);
    let csr = a.to_csr_parts::<f64>().unwrap();
    assert_eq!((csr.offsets, csr.indices, csr.values), (vec![0, 2, 4], vec![0, 1, 1, 2], vec![1.0, 3.0, 4.0, 6.0]));
}

#[test]
fn duplicates_are_summed_and_listed_zeros_kept() {
    let a = parse(&coordinate("real general\n2 2 3\n2 2 1\n2 2 2\n1 2 0\n")).unwrap();
    let csr = a.to_csr_parts::<f64>().unwrap();
    assert_eq!((csr.offsets, csr.indices, csr.values), (vec![0, 1, 2], vec![1, 1], vec![0.0, 3.0]));
    assert_eq!(a.to_column_major::<f64>().unwrap(), [0.0, 0.0, 0.0, 3.0]);
}

#[test]
fn empty_matrices() {
    for (rows, cols) in [(0, 0), (0, 3), (3, 0), (2, 2)] {
        let a = parse(&coordinate(&format!("real general\n{rows} {cols} 0\n"))).unwrap();
        assert_eq!(a.to_csr_parts::<f64>().unwrap().nnz(), 0);
    }
    for kind in ["general", "symmetric", "skew-symmetric"] {
        let a = parse(&format!("%%MatrixMarket matrix array real {kind}\n0 0\n")).unwrap();
        assert_eq!(a.storage, Storage::Array(vec![]));
    }
    let a = parse("%%MatrixMarket matrix array real skew-symmetric\n1 1\n").unwrap();
    assert_eq!(a.storage, Storage::Array(vec![0.0]));
}

#[test]
fn non_finite_values_are_values() {
    let a = parse("%%MatrixMarket matrix array real general\n5 1\nNaN\ninf\n-Inf\n+infinity\nnan\n").unwrap();
    let v = a.to_column_major::<f64>().unwrap();
    assert!(v[0].is_nan() && v[4].is_nan());
    assert_eq!(v[1..4], [f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY]);
    assert!(a.to_column_major::<f32>().unwrap()[1].is_infinite());
}

#[test]
fn faults_of_the_header() {
    assert_eq!(fault(""), "1: the file is empty");
    let no = "1: no MatrixMarket file: the first line must begin with `%%MatrixMarket`";
    for text in ["\n", "1 2 3\n", "%MatrixMarket matrix coordinate real general\n", "%%MatrixMarketmatrix\n"] {
        assert_eq!(fault(text), no);
    }
    assert_eq!(fault(b"\xff\xfe\x00\n"), no);
    assert_eq!(fault("%%MatrixMarket matrix\n"), "1: the header ends before its format (`coordinate` or `array`)");
    assert_eq!(
        fault("%%MatrixMarket vector coordinate real general\n"),
        "1: `vector` objects are not supported; write a matrix of one column"
    );
    assert_eq!(
        fault("%%MatrixMarket tensor coordinate real general\n"),
        "1: unknown object `tensor` in the header, expected `matrix`"
    );
    assert_eq!(
        fault("%%MatrixMarket matrix csr real general\n"),
        "1: unknown format `csr` in the header, expected `coordinate` or `array`"
    );
    assert_eq!(
        fault(coordinate("double general\n")),
        "1: unknown field `double` in the header, expected `real`, `integer`, `unsigned-integer`, `complex` or `pattern`"
    );
    for field in ["real", "integer", "pattern"] {
        assert_eq!(
            fault(coordinate(&format!("{field} hermitian\n"))),
            "1: a `hermitian` file must be `complex`; a real matrix that equals its transpose is `symmetric`"
        );
    }
    assert_eq!(
        fault(coordinate("real upper\n")),
        "1: unknown symmetry `upper` in the header, expected `general`, `symmetric`, `skew-symmetric` or `hermitian`"
    );
    assert_eq!(
        fault(coordinate("pattern skew-symmetric\n")),
        "1: a pattern file cannot be `skew-symmetric`: its entries have no sign"
    );
    assert_eq!(
        fault("%%MatrixMarket matrix array pattern general\n"),
        "1: an array file cannot be `pattern`: it must list values"
    );
    assert_eq!(fault(coordinate("real general 7\n")), "1: the header has `7` after its symmetry");
    assert_eq!(fault(vec![b'%'; 70_000]), "1: the line is longer than 65536 bytes");
}

#[test]
fn faults_of_the_size_line() {
    let of = |size: &str| fault(coordinate(&format!("real symmetric\n% comment\n\n{size}")));
    assert_eq!(of(""), "3: the file ends before the size line (`rows columns entries`)");
    assert_eq!(of("3 3\n"), "4: the size line has 2 fields, expected `rows columns entries`");
    assert_eq!(of("3 3 1 1\n"), "4: the size line has 4 fields, expected `rows columns entries`");
    assert_eq!(of("3 -3 1\n"), "4: size `-3` is not a whole number");
    assert_eq!(of("3 3 1.0\n"), "4: size `1.0` is not a whole number");
    assert_eq!(of("3 3 99999999999999999999\n"), "4: size `99999999999999999999` is too large");
    assert_eq!(of("3 4 1\n"), "4: a symmetric matrix must be square, not 3 x 4");
    let array = |size: &str| fault(format!("%%MatrixMarket matrix array real general\n{size}\n"));
    assert_eq!(array("4 1 4"), "2: the size line has 3 fields, expected `rows columns`");
    assert_eq!(array("9999999999 9999999999"), "2: 9999999999 x 9999999999 values are more than can be counted");
}

#[test]
fn faults_of_entries() {
    let of = |entry: &str| fault(coordinate(&format!("real general\n3 4 2\n1 1 1\n%\n{entry}\n")));
    assert_eq!(of("1"), "5: the entry has 1 field, expected 3");
    assert_eq!(of("1 2"), "5: the entry has 2 fields, expected 3");
    assert_eq!(of("1 2 3 4"), "5: the entry has 4 fields, expected 3");
    assert_eq!(of("0 2 3"), "5: row index `0` is outside 1..3");
    assert_eq!(of("4 2 3"), "5: row index `4` is outside 1..3");
    assert_eq!(of("1 5 3"), "5: column index `5` is outside 1..4");
    assert_eq!(of("1 99999999999999999999999 3"), "5: column index `99999999999999999999999` is outside 1..4");
    assert_eq!(of("1 -1 3"), "5: column index `-1` is not a whole number");
    assert_eq!(of("1.0 1 3"), "5: row index `1.0` is not a whole number");
    for damaged in ["abc", "1.2.3", "1e", "0x10", "1,5", "--1", "1e5x"] {
        assert_eq!(of(&format!("1 1 {damaged}")), format!("5: value `{damaged}` is not a number"));
    }
    assert_eq!(of("1 1 -1e400"), "5: value `-1e400` is too large for double precision");
    let long = "9x".repeat(60);
    assert_eq!(of(&format!("1 1 {long}")), format!("5: value `{}...` is not a number", &long[..40]));
    let bytes = [coordinate("real general\n1 1 1\n1 1 ").as_bytes(), b"\xff\n"].concat();
    assert_eq!(fault(bytes), "3: value `\\xff` is not a number");
    for damaged in ["1.5", "nan", "1e3", "-", ""] {
        let expected = match damaged {
            "" => "3: the entry has 2 fields, expected 3".to_owned(),
            _ => format!("3: value `{damaged}` is not an integer"),
        };
        assert_eq!(fault(coordinate(&format!("integer general\n1 1 1\n1 1 {damaged}\n"))), expected);
    }
    assert_eq!(fault(coordinate("pattern general\n2 2 1\n1 1 1\n")), "3: the entry has 3 fields, expected 2");
    assert_eq!(
        fault("%%MatrixMarket matrix array real general\n2 1\n1\n2 3\n"),
        "4: the line has 2 fields, expected one value"
    );
}

#[test]
fn faults_of_symmetry() {
    assert_eq!(
        fault(coordinate("real symmetric\n3 3 3\n1 1 1\n2 1 5\n1 3 2\n")),
        "5: entry (1, 3) lies above the diagonal of a symmetric matrix, entries before it below; list one triangle only, or declare the matrix `general`"
    );
    assert_eq!(
        fault(coordinate("real skew-symmetric\n3 3 2\n1 2 2\n2 1 -2\n")),
        "4: entry (2, 1) lies below the diagonal of a skew-symmetric matrix, entries before it above; list one triangle only, or declare the matrix `general`"
    );
    assert_eq!(
        fault(coordinate("real skew-symmetric\n3 3 1\n2 2 2\n")),
        "3: entry (2, 2) on the diagonal of a skew-symmetric matrix is 2; it must be 0, or left out"
    );
}

#[test]
fn too_few_and_too_many_entries() {
    assert_eq!(
        fault(coordinate("real general\n3 3 4\n1 1 1\n2 2 2\n")),
        "4: the file ends here: 2 entries of 4 missing"
    );
    assert_eq!(fault(coordinate("real general\n3 3 3\n1 1 1\n2 2 2")), "4: the file ends here: 1 entry of 3 missing");
    assert_eq!(
        fault(coordinate("real general\n3 3 3\n1 1 1\n2 2")),
        "4: the entry has 2 fields, expected 3; the file ends in this line: 2 entries of 3 missing"
    );
    assert_eq!(
        fault(coordinate("real general\n3 3 1\n1 1 1\n\n2 2 2\n")),
        "5: more entries than the 1 that the size line announces"
    );
    assert_eq!(
        fault("%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n"),
        "7: the file ends here: 1 entry of 6 missing"
    );
    assert_eq!(
        fault("%%MatrixMarket matrix array real general\n1 1\n1\n2\n"),
        "4: more entries than the 1 that the size line announces"
    );
}

#[test]
fn a_size_line_alone_claims_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("huge.mtx");
    for text in [
        coordinate("real symmetric\n9000000000000000000 9000000000000000000 18446744073709551615\n1 1 1\n"),
        "%%MatrixMarket matrix array real symmetric\n4000000000 4000000000\n1\n".to_owned(),
    ] {
        std::fs::write(&path, &text).unwrap();
        assert!(read(&path).unwrap_err().to_string().contains(":3: the file ends here"));
        assert!(fault(text).contains("the file ends here"));
    }
    for sizes in ["3000000000 3000000000 1", "3000000000 1 1", "1 9000000000000000000 1"] {
        let message = fault(coordinate(&format!("real general\n{sizes}\n1 1 1\n")));
        assert!(message.starts_with("2: the size line says ") && message.contains("leave out"), "{message}");
    }
    assert!(fault("%%MatrixMarket matrix array real general\n3000000000 0\n").contains("leave out"));
    let a = parse(&coordinate("real general\n16777216 16777216 0\n")).unwrap();
    assert_eq!(a.to_column_major::<f64>().unwrap_err().id(), "clinalg:argument:value");
}

#[test]
fn a_hole_of_a_terabyte_is_refused_at_its_first_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hole.mtx");
    std::fs::write(&path, coordinate("real symmetric\n9 9 40\n")).unwrap();
    File::options().write(true).open(&path).unwrap().set_len(1 << 40).unwrap();
    assert!(read(&path).unwrap_err().to_string().ends_with(":3: the line is longer than 65536 bytes"));
}

#[test]
fn single_precision_refuses_what_it_cannot_hold() {
    let a = parse(&coordinate("real general\n1 1 1\n1 1 1e39\n")).unwrap();
    assert_eq!(a.to_csr_parts::<f64>().unwrap().values, [1e39]);
    let text = a.to_csr_parts::<f32>().unwrap_err().to_string();
    assert!(text.contains("is 1e39; use double precision, expected values that single precision holds"), "{text}");
    assert_eq!(a.to_column_major::<f32>().unwrap_err().id(), "clinalg:argument:value");
}

#[test]
fn files_that_cannot_be_opened() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("none").join("a.mtx");
    assert_eq!(read(&missing).unwrap_err().id(), "clinalg:file:io");
    assert_eq!(read(folder.path()).unwrap_err().id(), "clinalg:file:io");
    assert_eq!(write_array(&missing, 1, 1, &[1.0]).unwrap_err().id(), "clinalg:file:io");
    assert_eq!(write_array(folder.path(), 1, 1, &[1.0]).unwrap_err().id(), "clinalg:file:io");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn written_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mtx");
    let a = CsrParts::from_triplets(2, 3, &[(0, 1, 0.1), (1, 2, -1e300), (1, 0, 2.0)]).unwrap();
    write_coordinate(&path, &a).unwrap();
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        coordinate("real general\n2 3 3\n1 2 0.1\n2 1 2.0\n2 3 -1e300\n")
    );
    write_array(&path, 3, 1, &[1.5f32, f32::NAN, -f32::INFINITY]).unwrap();
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        "%%MatrixMarket matrix array real general\n3 1\n1.5\nNaN\n-inf\n"
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_refused_matrix_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mtx");
    write_array(&path, 1, 1, &[1.0]).unwrap();
    let broken = CsrParts { rows: 1, cols: 1, offsets: vec![0, 1], indices: vec![3], values: vec![1.0] };
    assert_eq!(write_coordinate(&path, &broken).unwrap_err().id(), "clinalg:argument:index");
    assert_eq!(write_array(&path, 2, 2, &[1.0]).unwrap_err().id(), "clinalg:argument:length");
    let fails = |_: &mut crate::io::AtomicFile| Err(std::io::Error::other("full"));
    assert_eq!(write(&path, fails).unwrap_err().id(), "clinalg:file:io");
    assert_eq!(read(&path).unwrap().storage, Storage::Array(vec![1.0]));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_files_are_not_private() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let (real, link, plain) = (folder.path().join("a.mtx"), folder.path().join("b.mtx"), folder.path().join("c"));
    std::fs::write(&real, "old").unwrap();
    std::fs::write(&plain, "").unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    write_array(&link, 1, 1, &[2.0]).unwrap();
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!(read(&real).unwrap().storage, Storage::Array(vec![2.0]));
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode();
    assert_eq!(mode(&real), mode(&plain));
    write_array("/dev/null", 1, 1, &[2.0]).unwrap();
    assert!(!Path::new("/dev/null").metadata().unwrap().is_file());
}

/// Any bit pattern, with NaN made the one that files know.
fn any_value() -> impl Strategy<Value = f64> {
    any::<u64>().prop_map(f64::from_bits).prop_map(|v| if v.is_nan() { f64::NAN } else { v })
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|v| v.to_bits()).collect()
}

const VALID: &str = "%%MatrixMarket matrix coordinate real symmetric\n% comment\n4 4 5\n1 1 4.25\n2 1 -1e-3\n\n2 2 nan\n4 3 7\n4 4 .5\n";

proptest! {
    #[test]
    fn coordinate_round_trip(
        (rows, cols, entries) in (1usize..20, 1usize..20).prop_flat_map(|(rows, cols)| {
            (Just(rows), Just(cols), prop::collection::btree_map((0..rows, 0..cols), any_value(), 0..40))
        })
    ) {
        let entries: Vec<_> = entries.into_iter().map(|((i, j), v)| (i, j, v)).collect();
        let a = CsrParts::from_triplets(rows, cols, &entries).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mtx");
        write_coordinate(&path, &a).unwrap();
        let back = read(&path).unwrap().to_csr_parts::<f64>().unwrap();
        prop_assert_eq!(bits(&a.values), bits(&back.values));
        prop_assert_eq!((a.rows, a.cols, a.offsets, a.indices), (back.rows, back.cols, back.offsets, back.indices));
    }

    #[test]
    fn array_round_trip(values in prop::collection::vec(any_value(), 0..40)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("b.mtx");
        write_array(&path, values.len(), 1, &values).unwrap();
        let back = read(&path).unwrap().to_column_major::<f64>().unwrap();
        prop_assert_eq!(bits(&values), bits(&back));
    }

    #[test]
    fn single_precision_round_trip(raw in prop::collection::vec(any::<u32>(), 0..40)) {
        // Subnormal numbers, which devices may replace by 0, are refused.
        let is_kept = |v: &f32| !v.is_nan() && !v.is_subnormal();
        let values: Vec<f32> = raw.into_iter().map(f32::from_bits).filter(is_kept).collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("b.mtx");
        write_array(&path, 1, values.len(), &values).unwrap();
        let back = read(&path).unwrap().to_column_major::<f32>().unwrap();
        prop_assert_eq!(values.iter().map(|v| v.to_bits()).collect::<Vec<_>>(), back.iter().map(|v| v.to_bits()).collect::<Vec<_>>());
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(read_from(&bytes[..], "t.mtx").is_err());
        let header: &[&[u8]] = &[b"%%MatrixMarket matrix coordinate real general\n3 3 4\n", b"%%MatrixMarket matrix array real symmetric\n3 3\n", b"%%MatrixMarket matrix array complex hermitian\n3 3\n"];
        for header in header {
            let _ = read_from(&[header, &bytes[..]].concat()[..], "t.mtx");
        }
    }

    #[test]
    fn mutated_files_never_panic(
        edits in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(&b"0123456789 \n\r%-+.enainf\x00\xff"[..]), 0..3u8), 1..6),
        cut in any::<prop::sample::Index>(),
        whole in any::<bool>(),
    ) {
        let mut bytes = VALID.as_bytes().to_vec();
        for (at, byte, kind) in edits {
            let at = at.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => drop(bytes.remove(at)),
            }
        }
        if !whole {
            bytes.truncate(cut.index(bytes.len()));
        }
        let lines = bytes.split(|&b| b == b'\n').count();
        match read_from(&bytes[..], "t.mtx") {
            Ok(a) if a.rows < 1000 => a.to_csr_parts::<f64>().unwrap().check().unwrap(),
            Ok(_) => {}
            Err(Error::Format { line, .. }) => prop_assert!((1..=lines).contains(&line)),
            Err(other) => prop_assert!(false, "{}", other),
        }
    }

    #[test]
    fn a_cut_file_is_an_error_on_its_last_line(cut in 0..VALID.len() - ".5\n".len()) {
        // Only a cut inside the last entry's value can go unseen.
        match read_from(&VALID.as_bytes()[..cut], "t.mtx") {
            Err(Error::Format { line, .. }) => prop_assert_eq!(line, VALID[..cut].lines().count().max(1)),
            other => prop_assert!(false, "{:?}", other),
        }
    }
}

#[test]
fn exponents_of_fortran() {
    let a = parse("%%MatrixMarket matrix array real general\n4 1\n1.5D+02\n-2d-1\n3.D0\n4E1\n").unwrap();
    assert_eq!(a.to_column_major::<f64>().unwrap(), [150.0, -0.2, 3.0, 40.0]);
    assert_eq!(fault("%%MatrixMarket matrix array real general\n1 1\n1D2D3\n"), "3: value `1D2D3` is not a number");
}

#[test]
fn several_threads_read_what_one_reads() {
    // Comments, blank lines, blanks at either end of a line, CR LF and every kind of number, in about 3 MB.
    let n = 60_000;
    for (kind, is_pattern) in [("real general", false), ("real symmetric", false), ("pattern symmetric", true)] {
        let mut text = format!("%%MatrixMarket matrix coordinate {kind}\n% comment\n\n{n} {n} {}\n", 2 * n - 1);
        for i in 1..=n {
            let value = |k: usize| match k % 4 {
                _ if is_pattern => String::new(),
                0 => format!(" {:.16e}", (k as f64).sin()),
                1 => format!("\t-{k}.25D-3"),
                2 => format!("  {k}"),
                _ => " nan".to_owned(),
            };
            let end = if i % 3 == 0 { " \r\n" } else { "\n" };
            text += &format!("{i} {i}{}{end}", value(i));
            if i > 1 {
                text += &format!("  {i} {}{}\n", i - 1, value(i + 1));
            }
            if i % 1000 == 0 {
                text += "% more\n\n";
            }
        }
        let bits = |m: MatrixMarket| match m.storage {
            Storage::Coordinate(entries) => {
                entries.into_iter().map(|(i, j, v)| (i, j, v.to_bits())).collect::<Vec<_>>()
            }
            other => panic!("{other:?}"),
        };
        let whole = parallel::read(text.as_bytes()).expect("a sound file");
        assert_eq!(bits(whole), bits(read_from(text.as_bytes(), "a.mtx").unwrap()), "{kind}");
        // What is wrong is left to the reader that counts lines.
        for wrong in ["1 1", "1 1 1 1", &format!("{} 1 1", n + 1), "0 1 1", "x"] {
            assert!(parallel::read(format!("{text}{wrong}\n").as_bytes()).is_none(), "{wrong}");
        }
        let cut = &text[..text.len() - 40];
        assert_eq!(read_bytes(cut.as_bytes(), "a.mtx").unwrap_err().id(), "clinalg:file:format");
    }
}
