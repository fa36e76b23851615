//! Files that results are written to; the name decides the format.

use std::io::Write;
use std::path::{Path, PathBuf};

use clinalg::io::AtomicFile;

use super::array::{self, Content, Packing};
use super::field::{Lattice, Values};
use super::vtk;
use crate::exit::Failure;
use crate::paths::{check_ending, check_target, ending};
use crate::processes;

/// Names of coordinates.
pub(crate) const AXES: [&str; 3] = ["x", "y", "z"];

/// A file for one field.
pub(crate) struct Target {
    path: PathBuf,
}

impl Target {
    /// # Errors
    /// [`Failure::Usage`] for an unknown extension, [`Failure::File`] where the file cannot be written.
    pub(crate) fn new(option: &str, path: &Path) -> Result<Target, Failure> {
        check_ending(option, path, &["npy", "npz", "csv", "vti", "vtu"])?;
        check_target(path)?;
        Ok(Target { path: path.to_owned() })
    }

    /// Writes the field `name`.
    pub(crate) fn write(&self, lattice: &Lattice, name: &str, values: &Values) -> Result<(), Failure> {
        let path = &self.path;
        if !processes::writes() {
            return Ok(());
        }
        match ending(path).as_str() {
            "npy" => array::write_npy(path, &lattice.shape(), values),
            "npz" => {
                let axes: Vec<Values> = lattice.axes().into_iter().map(Values::F64).collect();
                let mut arrays = vec![(name, Content::Numbers { shape: lattice.shape(), values })];
                arrays.extend(
                    AXES.iter()
                        .zip(&axes)
                        .map(|(axis, values)| (*axis, Content::Numbers { shape: vec![values.len()], values })),
                );
                array::write_npz(path, Packing::Compressed, &arrays)
            }
            "csv" => {
                let axes = lattice.axes();
                let written = AtomicFile::write(path, |file| {
                    write_names(file, None, &axes, &[name])?;
                    write_rows(file, None, &axes, 1, values)
                });
                written.map_err(|error| Failure::file(path, error))
            }
            "vti" => vtk::write_vti(path, &lattice.axes(), &[name], values).map_err(|error| Failure::file(path, error)),
            _ => vtk::write_vtu(path, lattice, name, values).map_err(|error| Failure::file(path, error)),
        }
    }
}

/// Writes the first line of a table: names of the time where there is one, of coordinates and of fields.
pub(crate) fn write_names(
    file: &mut dyn Write,
    time: Option<&str>,
    axes: &[Vec<f64>],
    fields: &[&str],
) -> std::io::Result<()> {
    let names: Vec<&str> =
        time.into_iter().chain(AXES[..axes.len()].iter().copied()).chain(fields.iter().copied()).collect();
    writeln!(file, "{}", names.join(","))
}

/// Writes a row for each point: the time where there is one, the coordinates, the values of so many fields, which stand one
/// after the other. Numbers have the fewest digits that give the same number again.
pub(crate) fn write_rows(
    file: &mut dyn Write,
    time: Option<f64>,
    axes: &[Vec<f64>],
    fields: usize,
    values: &Values,
) -> std::io::Result<()> {
    let points = values.len() / fields;
    for point in 0..points {
        let mut before = "";
        if let Some(t) = time {
            write!(file, "{t:e}")?;
            before = ",";
        }
        let mut rest = point;
        for axis in axes {
            write!(file, "{before}{:e}", axis[rest % axis.len()])?;
            rest /= axis.len();
            before = ",";
        }
        for field in 0..fields {
            write!(file, "{before}{}", values.text(field * points + point))?;
            before = ",";
        }
        writeln!(file)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::Array;
    use super::*;

    #[test]
    fn fields_are_written_in_each_format() {
        let folder = tempfile::tempdir().unwrap();
        let lattice = Lattice::unit(2, 2);
        let values = |start: f64| Values::F64((0..4).map(|k| start + f64::from(k)).collect());
        for name in ["u.npy", "u.npz"] {
            let target = Target::new("--out", &folder.path().join(name)).unwrap();
            target.write(&lattice, "u", &values(1.0)).unwrap();
            let want = Array { shape: vec![2, 2], values: vec![1.0, 2.0, 3.0, 4.0] };
            assert_eq!(Array::read(&target.path, "u", 4).unwrap(), want);
        }
        let target = Target::new("--out", &folder.path().join("u.csv")).unwrap();
        target.write(&lattice, "u", &Values::F32(vec![0.1, 2.0, 3.0, 4.0])).unwrap();
        let text = std::fs::read_to_string(&target.path).unwrap();
        assert_eq!(text, "x,y,u\n0e0,0e0,1e-1\n1e0,0e0,2e0\n0e0,1e0,3e0\n1e0,1e0,4e0\n");
        let words = Target::new("--out", Path::new("u.hdf5")).err().unwrap().message();
        assert!(words.contains("--out u.hdf5") && words.contains(".vtu"), "{words}");
    }
}
