//! Files that results are written to; the name decides the format.

use std::io::Write;
use std::path::{Path, PathBuf};

use clinalg::io::AtomicFile;

use super::array::{self, Content, Packing, failure};
use super::field::{Lattice, Values};
use super::vtk;
use crate::exit::Failure;
use crate::output::{check_series, check_target};
use crate::processes;

/// A format of a field on a grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Npy,
    Npz,
    Csv,
    Vti,
    Vtu,
}

/// The format by the extension.
fn format(path: &Path) -> Option<Format> {
    Some(match array::extension(path).as_str() {
        "npy" => Format::Npy,
        "npz" => Format::Npz,
        "csv" => Format::Csv,
        "vti" => Format::Vti,
        "vtu" => Format::Vtu,
        _ => return None,
    })
}

/// Names of coordinates.
const AXES: [&str; 3] = ["x", "y", "z"];

/// A file for one field.
pub(crate) struct Target {
    path: PathBuf,
    format: Format,
}

impl Target {
    /// # Errors
    /// [`Failure::Usage`] for an unknown extension, [`Failure::File`] where the file cannot be written.
    pub(crate) fn new(option: &str, path: &Path) -> Result<Target, Failure> {
        let Some(format) = format(path) else {
            let words = format!("{option} {}: the name must end in .npy, .npz, .csv, .vti or .vtu", path.display());
            return Err(Failure::usage(words));
        };
        check_target(path)?;
        Ok(Target { path: path.to_owned(), format })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the field `name`.
    pub(crate) fn write(&self, lattice: &Lattice, name: &str, values: &Values) -> Result<(), Failure> {
        let path = &self.path;
        if !processes::writes() {
            return Ok(());
        }
        match self.format {
            Format::Npy => array::write_npy(path, &lattice.shape(), values),
            Format::Npz => {
                let axes: Vec<Values> = (0..lattice.dim()).map(|axis| Values::F64(lattice.coordinates(axis))).collect();
                let mut arrays = vec![(name, Content::Numbers { shape: lattice.shape(), values })];
                arrays.extend(
                    AXES.iter()
                        .zip(&axes)
                        .map(|(axis, values)| (*axis, Content::Numbers { shape: vec![values.len()], values })),
                );
                array::write_npz(path, Packing::Compressed, &arrays)
            }
            Format::Csv => write_csv(path, lattice, &[], name, &[values]),
            Format::Vti => vtk::write_vti(path, lattice, name, values),
            Format::Vtu => vtk::write_vtu(path, lattice, name, values),
        }
    }
}

/// Writes a row per time and point: the time where there are times, the coordinates, the value.
fn write_csv(path: &Path, lattice: &Lattice, times: &[f64], name: &str, frames: &[&Values]) -> Result<(), Failure> {
    let write = || -> std::io::Result<()> {
        let mut file = AtomicFile::create(path)?;
        let axes: Vec<Vec<f64>> = (0..lattice.dim()).map(|axis| lattice.coordinates(axis)).collect();
        let time = if times.is_empty() { "" } else { "t," };
        writeln!(file, "{time}{},{name}", AXES[..axes.len()].join(","))?;
        for (frame, values) in frames.iter().enumerate() {
            for k in 0..values.len() {
                if let Some(t) = times.get(frame) {
                    write!(file, "{t:e},")?;
                }
                let mut rest = k;
                for axis in &axes {
                    write!(file, "{:e},", axis[rest % axis.len()])?;
                    rest /= axis.len();
                }
                writeln!(file, "{}", values.text(k))?;
            }
        }
        file.commit()
    };
    write().map_err(|error| failure(path, error))
}

/// A file, or with VTK files around a collection, for a field at several times.
pub(crate) struct SeriesTarget {
    path: PathBuf,
    format: SeriesFormat,
    lattice: Lattice,
    name: &'static str,
    times: Vec<f64>,
    /// The fields, one after the other; a collection needs none of them again.
    frames: Vec<Values>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SeriesFormat {
    Npy,
    Npz,
    Csv,
    Pvd,
}

impl SeriesTarget {
    /// The file that `--series` names.
    ///
    /// # Errors
    /// As [`Target::new`]; [`Failure::Usage`] for a file that a resumed run would replace.
    pub(crate) fn new(
        path: &Path,
        lattice: Lattice,
        name: &'static str,
        is_resumed: bool,
    ) -> Result<SeriesTarget, Failure> {
        let format = match array::extension(path).as_str() {
            "npy" => SeriesFormat::Npy,
            "npz" => SeriesFormat::Npz,
            "csv" => SeriesFormat::Csv,
            "pvd" => SeriesFormat::Pvd,
            _ => {
                let words = format!("--series {}: the name must end in .npy, .npz, .csv or .pvd", path.display());
                return Err(Failure::usage(words));
            }
        };
        check_series("--series", path, is_resumed)?;
        check_target(path)?;
        Ok(SeriesTarget { path: path.to_owned(), format, lattice, name, times: Vec::new(), frames: Vec::new() })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Adds the field at `time`.
    pub(crate) fn add(&mut self, time: f64, values: Values) -> Result<(), Failure> {
        if !processes::writes() {
            return Ok(());
        }
        if self.format == SeriesFormat::Pvd {
            let path = self.path.with_file_name(self.frame(self.times.len()));
            vtk::write_vti(&path, &self.lattice, self.name, &values)?;
        } else {
            self.frames.push(values);
        }
        self.times.push(time);
        Ok(())
    }

    /// The file of a frame of a collection.
    fn frame(&self, frame: usize) -> String {
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy();
        format!("{stem}-{frame:04}.vti")
    }

    /// Writes what was added.
    pub(crate) fn finish(self) -> Result<PathBuf, Failure> {
        if !processes::writes() {
            return Ok(self.path);
        }
        let path = &self.path;
        let shape: Vec<usize> = [self.times.len()].into_iter().chain(self.lattice.shape()).collect();
        match self.format {
            SeriesFormat::Npy => array::write_npy(path, &shape, &joined(&self.frames))?,
            SeriesFormat::Npz => {
                let (values, times) = (joined(&self.frames), Values::F64(self.times.clone()));
                let axes: Vec<Values> =
                    (0..self.lattice.dim()).map(|axis| Values::F64(self.lattice.coordinates(axis))).collect();
                let line = |values| Content::Numbers { shape: vec![Values::len(values)], values };
                let mut arrays = vec![(self.name, Content::Numbers { shape, values: &values }), ("t", line(&times))];
                arrays.extend(AXES.iter().zip(&axes).map(|(axis, values)| (*axis, line(values))));
                array::write_npz(path, Packing::Compressed, &arrays)?;
            }
            SeriesFormat::Csv => {
                let frames: Vec<&Values> = self.frames.iter().collect();
                write_csv(path, &self.lattice, &self.times, self.name, &frames)?;
            }
            SeriesFormat::Pvd => {
                let files: Vec<_> = self.times.iter().enumerate().map(|(k, &time)| (time, self.frame(k))).collect();
                vtk::write_pvd(path, &files)?;
            }
        }
        Ok(self.path)
    }
}

/// All frames in one array; they have one precision.
fn joined(frames: &[Values]) -> Values {
    match frames.first() {
        Some(Values::F32(_)) => Values::F32(
            frames.iter().flat_map(|f| if let Values::F32(v) = f { &v[..] } else { &[] }).copied().collect(),
        ),
        _ => Values::F64(
            frames.iter().flat_map(|f| if let Values::F64(v) = f { &v[..] } else { &[] }).copied().collect(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Array;
    use super::*;

    #[test]
    fn fields_and_series_are_written_in_each_format() {
        let folder = tempfile::tempdir().unwrap();
        let lattice = Lattice::unit(2, 2);
        let values = |start: f64| Values::F64((0..4).map(|k| start + f64::from(k)).collect());
        for name in ["u.npy", "u.npz"] {
            let target = Target::new("--out", &folder.path().join(name)).unwrap();
            target.write(&lattice, "u", &values(1.0)).unwrap();
            let want = Array { shape: vec![2, 2], values: vec![1.0, 2.0, 3.0, 4.0] };
            assert_eq!(Array::read(target.path(), "u", 4).unwrap(), want);
        }
        let target = Target::new("--out", &folder.path().join("u.csv")).unwrap();
        target.write(&lattice, "u", &Values::F32(vec![0.1, 2.0, 3.0, 4.0])).unwrap();
        let text = std::fs::read_to_string(target.path()).unwrap();
        assert_eq!(text, "x,y,u\n0e0,0e0,1e-1\n1e0,0e0,2e0\n0e0,1e0,3e0\n1e0,1e0,4e0\n");
        for name in ["s.npy", "s.npz", "s.csv", "s.pvd"] {
            let mut series = SeriesTarget::new(&folder.path().join(name), lattice.clone(), "u", false).unwrap();
            series.add(0.0, values(0.0)).unwrap();
            series.add(0.5, values(4.0)).unwrap();
            let path = series.finish().unwrap();
            match name {
                "s.csv" => {
                    assert!(std::fs::read_to_string(path).unwrap().ends_with("5e-1,1e0,1e0,7e0\n"));
                }
                "s.pvd" => {
                    let text = std::fs::read_to_string(path).unwrap();
                    assert!(text.contains("timestep=\"5e-1\" part=\"0\" file=\"s-0001.vti\""), "{text}");
                    assert!(folder.path().join("s-0001.vti").is_file());
                }
                _ => {
                    let array = Array::read(&path, "u", 8).unwrap();
                    assert_eq!((array.shape, array.values[7]), (vec![2, 2, 2], 7.0));
                }
            }
        }
        let words = Target::new("--out", Path::new("u.hdf5")).err().unwrap().message();
        assert!(words.contains("--out u.hdf5") && words.contains(".vtu"), "{words}");
    }
}
