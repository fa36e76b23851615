//! Complex files.

use proptest::prelude::*;

use super::*;

fn c(re: f64, im: f64) -> Complex<f64> {
    Complex::new(re, im)
}

fn array(rest: &str) -> String {
    format!("%%MatrixMarket matrix array complex {rest}")
}

#[test]
fn symmetries_are_expanded() {
    let of = |text: &str| parse(text).unwrap().to_column_major::<Complex<f64>>().unwrap();
    let entries = "2 2 1\n2 1 5 -3\n";
    let symmetric = of(&coordinate(&format!("complex symmetric\n{entries}")));
    assert_eq!(symmetric, [c(0.0, 0.0), c(5.0, -3.0), c(5.0, -3.0), c(0.0, 0.0)]);
    let skew = of(&coordinate(&format!("complex skew-symmetric\n{entries}")));
    assert_eq!(skew, [c(0.0, 0.0), c(5.0, -3.0), c(-5.0, 3.0), c(0.0, 0.0)]);
    let hermitian = of(&coordinate(&format!("Complex Hermitian\n{entries}")));
    assert_eq!(hermitian, [c(0.0, 0.0), c(5.0, -3.0), c(5.0, 3.0), c(0.0, 0.0)]);
    let lower = "2 2\n1 0\n2 3\n4 -0\n";
    assert_eq!(of(&array(&format!("hermitian\n{lower}"))), [c(1.0, 0.0), c(2.0, 3.0), c(2.0, -3.0), c(4.0, 0.0)]);
    assert_eq!(of(&array(&format!("symmetric\n{lower}"))), [c(1.0, 0.0), c(2.0, 3.0), c(2.0, 3.0), c(4.0, 0.0)]);
    assert_eq!(of(&array("hermitian\n0 0\n")), []);
}

#[test]
fn real_files_are_matrices_of_complex_types_and_complex_files_only_of_those() {
    let real = parse(&coordinate("real general\n2 1 1\n2 1 3\n")).unwrap();
    assert!(!real.storage.is_complex() && real.storage.is_sparse());
    assert_eq!(real.to_csr_parts::<Complex<f32>>().unwrap().values, [Complex::new(3.0, 0.0)]);
    for text in [coordinate("complex general\n1 1 1\n1 1 3 0\n"), array("general\n1 1\n3 0\n")] {
        let file = parse(&text).unwrap();
        assert!(file.storage.is_complex());
        let message = file.to_csr_parts::<f64>().unwrap_err().to_string();
        let expected = "a real file, or a complex type for its values";
        assert_eq!(message, format!("argument `matrix` is a complex file, expected {expected}"));
        assert_eq!(file.to_column_major::<f32>().unwrap_err().id(), "clinalg:argument:value");
    }
    let large = parse(&array("general\n1 1\n0 1e39\n")).unwrap();
    assert_eq!(large.to_column_major::<Complex<f32>>().unwrap_err().id(), "clinalg:argument:value");
}

#[test]
fn faults() {
    let of = |entry: &str| fault(coordinate(&format!("complex general\n3 4 2\n1 1 1 0\n%\n{entry}\n")));
    assert_eq!(of("1 2 3"), "5: the entry has 3 fields, expected 4");
    assert_eq!(of("1 2 3 4 5"), "5: the entry has 5 fields, expected 4");
    assert_eq!(of("1 2 3 4i"), "5: value `4i` is not a number");
    assert_eq!(of("1 2 3 1e400"), "5: value `1e400` is too large for double precision");
    let real = "imaginary part; its diagonal is real";
    assert_eq!(
        fault(coordinate("complex hermitian\n3 3 1\n2 2 1 1e-300\n")),
        format!("3: entry (2, 2) of a hermitian matrix has an {real}")
    );
    assert_eq!(
        fault(array("hermitian\n3 3\n1 0\n2 1\n3 1\n4 0\n5 1\n6 2\n")),
        format!("8: entry (3, 3) of a hermitian matrix has an {real}")
    );
    let both = fault(coordinate("complex hermitian\n3 3 2\n2 1 1 0\n1 2 1 0\n"));
    assert!(both.starts_with("4: entry (1, 2) lies above the diagonal of a hermitian matrix"), "{both}");
    assert_eq!(fault(array("hermitian\n3 2\n")), "2: a hermitian matrix must be square, not 3 x 2");
    let line = "the real and the imaginary part of one value";
    assert_eq!(fault(array("general\n1 1\n3\n")), format!("3: the line has 1 field, expected {line}"));
    assert_eq!(fault(array("general\n1 1\n3 4 5\n")), format!("3: the line has 3 fields, expected {line}"));
}

/// Files that SciPy wrote, and their values from NumPy, see `tests/core/data/market.py`.
#[test]
fn files_of_scipy() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/core/data/market");
    let expected: serde_json::Value = serde_json::from_reader(File::open(folder.join("values.json")).unwrap()).unwrap();
    let mut files = 0;
    for (name, matrix) in expected.as_object().unwrap().iter().filter(|(_, matrix)| matrix.is_object()) {
        let values: Vec<Complex<f64>> = matrix["values"]
            .as_array()
            .unwrap()
            .iter()
            .map(|v| v.as_str().unwrap().split_once(' ').unwrap())
            .map(|(re, im)| c(re.parse().unwrap(), im.parse().unwrap()))
            .collect();
        let shape = [&matrix["shape"][0], &matrix["shape"][1]].map(|n| n.as_u64().unwrap() as usize);
        let read = read(folder.join(format!("{name}.mtx"))).unwrap();
        let symmetry = match name.split_once('_').unwrap().1 {
            "symmetric" => Symmetry::Symmetric,
            "skew" => Symmetry::SkewSymmetric,
            "hermitian" => Symmetry::Hermitian,
            _ => Symmetry::General,
        };
        assert_eq!(([read.rows, read.cols], read.symmetry), (shape, symmetry), "{name}");
        assert_eq!((read.storage.is_complex(), read.storage.is_sparse()), (true, name.starts_with("coordinate")));
        let values = match name.as_str() {
            // SciPy writes the fewest digits that give back a value in single precision.
            "coordinate_single" => {
                let single: Vec<_> = values.iter().map(|z| Complex::new(z.re as f32, z.im as f32)).collect();
                assert_eq!(read.to_column_major::<Complex<f32>>().unwrap(), single, "{name}");
                read.to_column_major::<Complex<f64>>().unwrap()
            }
            _ => values,
        };
        assert_eq!(read.to_column_major::<Complex<f64>>().unwrap(), values, "{name}");
        let sparse = read.to_csr_parts::<Complex<f64>>().unwrap();
        assert_eq!(sparse.to_dense().unwrap(), values, "{name}");
        // Written with the same symmetry, the file says the same again.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mtx");
        write_coordinate_as(&path, symmetry, &sparse).unwrap();
        assert_eq!(super::read(&path).unwrap().to_csr_parts::<Complex<f64>>().unwrap(), sparse, "{name}");
        write_array_as(&path, symmetry, shape[0], shape[1], &values).unwrap();
        let again = super::read(&path).unwrap();
        assert_eq!((again.symmetry, again.storage), (symmetry, Storage::ComplexArray(values)), "{name}");
        files += 1;
    }
    assert_eq!(files, 9);
}

#[test]
fn written_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mtx");
    let text = || std::fs::read_to_string(&path).unwrap();
    let entries = [(0, 0, c(2.0, 0.0)), (0, 1, c(0.1, 1.0)), (1, 0, c(0.1, -1.0))];
    let a = CsrParts::from_triplets(2, 2, &entries).unwrap();
    write_coordinate(&path, &a).unwrap();
    assert_eq!(text(), coordinate("complex general\n2 2 3\n1 1 2.0 0.0\n1 2 0.1 1.0\n2 1 0.1 -1.0\n"));
    write_coordinate_as(&path, Symmetry::Hermitian, &a).unwrap();
    assert_eq!(text(), coordinate("complex hermitian\n2 2 2\n1 1 2.0 0.0\n2 1 0.1 -1.0\n"));
    write_array(&path, 1, 2, &[Complex::new(1.5f32, f32::NAN), Complex::new(-0.0, f32::INFINITY)]).unwrap();
    assert_eq!(text(), array("general\n1 2\n1.5 NaN\n-0.0 inf\n"));
    write_array_as(&path, Symmetry::SkewSymmetric, 2, 2, &[0.0, 3.0, -3.0, 0.0]).unwrap();
    assert_eq!(text(), "%%MatrixMarket matrix array real skew-symmetric\n2 2\n3.0\n");
}

#[test]
fn a_matrix_without_the_symmetry_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mtx");
    let values = [c(1.0, 0.0), c(0.0, 2.0), c(0.0, -2.0), c(1.0, 0.0)];
    let a = CsrParts::from_dense(2, 2, &values).unwrap();
    write_array_as(&path, Symmetry::Hermitian, 2, 2, &values).unwrap();
    let message = write_array_as(&path, Symmetry::Symmetric, 2, 2, &values).unwrap_err().to_string();
    assert_eq!(
        message,
        "argument `a` is a matrix with 0+2i at (2, 1) and 0-2i at (1, 2), expected a symmetric matrix, or the symmetry `general`"
    );
    assert!(write_coordinate_as(&path, Symmetry::Symmetric, &a).is_err());
    assert!(write_coordinate_as(&path, Symmetry::SkewSymmetric, &a).is_err());
    // An entry without its mirror image.
    let half = CsrParts::from_triplets(2, 2, &[(1, 0, c(0.0, 2.0))]).unwrap();
    assert!(write_coordinate_as(&path, Symmetry::Hermitian, &half).is_err());
    assert!(write_coordinate_as(&path, Symmetry::Hermitian, &half.transpose().unwrap()).is_err());
    let real = write_array_as(&path, Symmetry::Hermitian, 1, 1, &[1.0]).unwrap_err().to_string();
    let expected = "`symmetric` for a real matrix that equals its transpose";
    assert_eq!(real, format!("argument `symmetry` is `hermitian`, expected {expected}"));
    let wide = write_array_as(&path, Symmetry::Symmetric, 1, 2, &[1.0, 1.0]).unwrap_err().to_string();
    assert_eq!(wide, "argument `symmetry` is `symmetric`, expected `general` for a matrix of 1 x 2");
    // The file is still the first.
    assert_eq!(read(&path).unwrap().to_column_major::<Complex<f64>>().unwrap(), values);
}

proptest! {
    #[test]
    fn array_round_trip(values in prop::collection::vec((any_value(), any_value()), 0..40)) {
        let values: Vec<_> = values.into_iter().map(|(re, im)| c(re, im)).collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("b.mtx");
        write_array(&path, values.len(), 1, &values).unwrap();
        let back = read(&path).unwrap().to_column_major::<Complex<f64>>().unwrap();
        let parts = |values: &[Complex<f64>]| bits(&values.iter().flat_map(|z| [z.re, z.im]).collect::<Vec<_>>());
        prop_assert_eq!(parts(&values), parts(&back));
    }
}
