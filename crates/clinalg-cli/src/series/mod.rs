//! Solutions over time in files: tables and arrays for programs that compute with them, images for ParaView.

pub(crate) mod csv;
mod images;
mod npy;
mod npz;

use std::path::{Path, PathBuf};

use clinalg::Real;
use clinalg_ode::problems::Problem;

use self::csv::Csv;
use self::images::Images;
use self::npy::Npy;
use self::npz::Npz;
use crate::data::{Lattice, Values, vtk};
use crate::exit::Failure;
use crate::paths::{check_ending, check_folder, check_target, ending};
use crate::processes;

/// What stands in the help of commands that write the solution of a system.
pub(crate) const HELP: &str = "\
--series FILE.csv writes a row for each frame and point: t, the coordinates, all
fields. --series FILE.npy writes one array for NumPy: frames, fields, then the
axes of the grid, z first; FILE.npz an array for each field, with t and the
coordinates. --series FILE.pvd writes FILE-0000.vti, ... as well, which ParaView
opens as an animation; --vtk DIR writes them to DIR. If the integration fails the
files hold the frames before that. A resumed run adds its frames to an earlier file:
what is there is kept up to the first new frame. FILE.npy has no times and takes
another name.";

#[derive(clap::Args)]
pub(crate) struct SeriesArgs {
    /// Write the solution at every frame as a table (.csv), an array (.npy), arrays (.npz) or for ParaView (.pvd)
    #[arg(long, value_name = "FILE")]
    series: Option<PathBuf>,
    /// Write every frame for ParaView into a folder
    #[arg(long, value_name = "DIR")]
    vtk: Option<PathBuf>,
}

impl SeriesArgs {
    /// Whether frames are wanted.
    pub(crate) fn is_given(&self) -> bool {
        self.series.is_some() || self.vtk.is_some()
    }

    /// Opens the files; those in the folder for ParaView begin with `stem`.
    ///
    /// # Errors
    /// Those of [`Series::add`]; [`Failure::File`] for a folder that cannot be made.
    pub(crate) fn open(&self, problem: &Problem, stem: &str, is_resumed: bool) -> Result<Series, Failure> {
        let mut series = Series::new(Content::of_system(problem), is_resumed);
        if let Some(path) = &self.series {
            series.add(path)?;
        }
        if let Some(folder) = &self.vtk {
            check_folder(folder)?;
            let collection = folder.join(format!("{stem}.pvd"));
            series.check_earlier("--vtk", &collection)?;
            series.files.push(collection.display().to_string());
            if processes::writes() {
                series.sinks.push((collection.clone(), Box::new(Images::new(&collection))));
            }
        }
        Ok(series)
    }
}

/// What a frame holds: fields with a value at each point of a grid.
struct Content {
    /// Coordinates of the points along each axis, x first; no axis for a single point.
    axes: Vec<Vec<f64>>,
    fields: Vec<String>,
    /// Whether arrays have an index for the field.
    by_fields: bool,
}

impl Content {
    /// All fields of a system.
    fn of_system(problem: &Problem) -> Content {
        let (system, grid) = (&problem.system, problem.system.grid());
        let shape = if grid.points() == 1 { &[] } else { grid.shape() };
        let stride = |axis: usize| shape[..axis].iter().product::<usize>();
        let along = |axis: usize| (0..shape[axis]).map(|i| grid.position(i * stride(axis))[axis]).collect();
        Content { axes: (0..shape.len()).map(along).collect(), fields: system.fields().to_vec(), by_fields: true }
    }

    fn names(&self) -> Vec<&str> {
        self.fields.iter().map(String::as_str).collect()
    }

    /// Extents of an array of values at the points, slowest first, as in NumPy.
    fn shape(&self) -> Vec<usize> {
        self.axes.iter().rev().map(Vec::len).collect()
    }
}

/// A file, or several, that frames go to.
trait Sink {
    /// Takes the frames of an earlier file at times below `before`; returns these times.
    fn keep_earlier(&mut self, content: &Content, before: f64) -> std::io::Result<Vec<f64>>;
    /// Takes the values of a frame, field by field.
    fn keep(&mut self, content: &Content, t: f64, values: &Values) -> std::io::Result<()>;
    /// Completes the files and puts them in their places.
    fn close(self: Box<Self>, content: &Content) -> std::io::Result<()>;
}

/// Where frames go.
pub(crate) struct Series {
    content: Content,
    sinks: Vec<(PathBuf, Box<dyn Sink>)>,
    /// Whether a run before may have written the files, to which this one adds.
    is_resumed: bool,
    /// What there is to open.
    pub(crate) files: Vec<String>,
    /// Of the frames so far.
    pub(crate) times: Vec<f64>,
}

impl Series {
    fn new(content: Content, is_resumed: bool) -> Series {
        Series { content, sinks: Vec::new(), is_resumed, files: Vec::new(), times: Vec::new() }
    }

    /// The series of one field that `--series` names.
    ///
    /// # Errors
    /// Those of [`Series::add`].
    pub(crate) fn of_field(path: &Path, lattice: &Lattice, name: &str, is_resumed: bool) -> Result<Series, Failure> {
        let content = Content { axes: lattice.axes(), fields: vec![name.to_owned()], by_fields: false };
        let mut series = Series::new(content, is_resumed);
        series.add(path)?;
        Ok(series)
    }

    /// Adds the file that `--series` names.
    ///
    /// # Errors
    /// [`Failure::Usage`] for a name with another extension, and for a file to which a resumed run cannot add its frames;
    /// [`Failure::File`].
    fn add(&mut self, path: &Path) -> Result<(), Failure> {
        let kind = ending(path);
        check_ending("--series", path, &["npy", "npz", "csv", "pvd"])?;
        self.check_earlier("--series", path)?;
        check_target(path)?;
        let names = self.content.names();
        let open = || -> std::io::Result<Box<dyn Sink>> {
            Ok(match kind.as_str() {
                "csv" => Box::new(Csv::new(path, &self.content.axes, &names)?),
                "npy" => Box::new(Npy::new(path)?),
                "npz" => Box::new(Npz::new(path)),
                _ => Box::new(Images::new(path)),
            })
        };
        let sink = if processes::writes() { Some(open().map_err(failure(path))?) } else { None };
        self.sinks.extend(sink.map(|sink| (path.to_owned(), sink)));
        self.files.push(path.display().to_string());
        Ok(())
    }

    /// Fails if a resumed run cannot add its frames to an earlier file.
    ///
    /// # Errors
    /// [`Failure::Usage`].
    fn check_earlier(&self, option: &str, path: &Path) -> Result<(), Failure> {
        if !self.is_resumed || !processes::writes() {
            return Ok(());
        }
        let content = &self.content;
        let image = path.with_file_name(images::file_name(path, 0));
        let earlier = match ending(path).as_str() {
            // The earlier run was killed.
            "pvd" if !path.is_file() && image.is_file() => Err(std::io::Error::other(format!(
                "{} exists, but the .pvd file with the times of the frames does not",
                image.display()
            ))),
            _ if !path.is_file() => Ok(()),
            "npy" => Err(std::io::Error::other("the file exists, and a .npy file stores no times (.npz does)")),
            "npz" => npz::read(path, content).map(drop),
            "csv" => Csv::check(path, &content.axes, &content.names()),
            _ => vtk::read_pvd(path).map(drop),
        };
        earlier.map_err(|reason| {
            Failure::usage(format!(
                "{option} {}: the resumed run cannot add its frames: {reason}; give another name",
                path.display()
            ))
        })
    }

    /// Whether frames are written.
    pub(crate) fn has_files(&self) -> bool {
        !self.files.is_empty()
    }

    /// Writes a frame, given in the system's order in memory.
    ///
    /// # Errors
    /// [`clinalg::Error::Io`].
    pub(crate) fn keep_solution<T: Real>(&mut self, problem: &Problem, t: f64, y: &[T]) -> clinalg::Result<()> {
        if self.sinks.is_empty() {
            self.times.push(t);
            return Ok(());
        }
        self.keep(t, &Values::of(&problem.system.by_fields(y)))
    }

    /// Writes a frame, given field by field.
    ///
    /// # Errors
    /// [`clinalg::Error::Io`].
    pub(crate) fn keep(&mut self, t: f64, values: &Values) -> clinalg::Result<()> {
        let is_first = self.times.is_empty();
        for k in 0..self.sinks.len() {
            let (path, sink) = &mut self.sinks[k];
            let has_earlier = is_first && self.is_resumed && path.is_file();
            let earlier = if has_earlier { sink.keep_earlier(&self.content, t) } else { Ok(Vec::new()) };
            let kept = earlier.and_then(|earlier| {
                if has_earlier {
                    self.times = earlier;
                }
                sink.keep(&self.content, t, values)
            });
            if let Err(source) = kept {
                let path = path.clone();
                // What lacks a frame takes no earlier file's place.
                self.sinks.clear();
                return Err(clinalg::Error::Io { path, source });
            }
        }
        self.times.push(t);
        Ok(())
    }

    /// Completes the files.
    ///
    /// # Errors
    /// [`Failure::File`].
    pub(crate) fn finish(mut self) -> Result<(Vec<String>, Vec<f64>), Failure> {
        for (path, sink) in std::mem::take(&mut self.sinks) {
            // A resumed run that reached no frame leaves earlier files as they are.
            if !(self.is_resumed && self.times.is_empty() && path.is_file()) {
                sink.close(&self.content).map_err(failure(&path))?;
            }
        }
        Ok((std::mem::take(&mut self.files), std::mem::take(&mut self.times)))
    }
}

fn failure(path: &Path) -> impl Fn(std::io::Error) -> Failure + use<> {
    let path = path.to_owned();
    move |error| Failure::file(&path, error)
}

impl Drop for Series {
    fn drop(&mut self) {
        // After a run that failed; its error is the one to report. Without a frame, earlier files stay.
        if !self.times.is_empty() {
            for (_, sink) in std::mem::take(&mut self.sinks) {
                let _ = sink.close(&self.content);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Array;

    #[test]
    fn a_field_is_written_in_each_format() {
        let folder = tempfile::tempdir().unwrap();
        let values = |start: f64| Values::F64((0..4).map(|k| start + f64::from(k)).collect());
        for name in ["s.npy", "s.npz", "s.csv", "s.pvd"] {
            let path = folder.path().join(name);
            let mut series = Series::of_field(&path, &Lattice::unit(2, 2), "u", false).unwrap();
            series.keep(0.0, &values(0.0)).unwrap();
            series.keep(0.5, &values(4.0)).unwrap();
            assert_eq!(series.finish().unwrap(), (vec![path.display().to_string()], vec![0.0, 0.5]));
            match name {
                "s.csv" => {
                    let text = std::fs::read_to_string(path).unwrap();
                    assert!(text.starts_with("t,x,y,u\n0e0,0e0,0e0,0e0\n"), "{text}");
                    assert!(text.ends_with("5e-1,1e0,1e0,7e0\n"), "{text}");
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
        let words = Series::of_field(Path::new("s.hdf5"), &Lattice::unit(2, 2), "u", false).err().unwrap().message();
        assert!(words.contains("--series s.hdf5") && words.contains(".pvd"), "{words}");
    }

    #[test]
    fn fields_of_a_system_are_an_index_of_an_array_or_arrays_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let text = "grid 3 2\nu' = 0\nv' = 0\ninitial u = x\ninitial v = 10*y";
        let problem = clinalg_ode::Description::read(text).unwrap().problem("two", &[]).unwrap();
        for name in ["s.npy", "s.npz", "s.csv", "s.pvd"] {
            let args = SeriesArgs { series: Some(folder.path().join(name)), vtk: None };
            let mut series = args.open(&problem, "two", false).unwrap();
            for t in [0.0, 1.0, 2.0] {
                series.keep_solution(&problem, t, &problem.y0().unwrap()).unwrap();
            }
            series.finish().unwrap();
        }
        let read = |name: &str, array: &str| Array::read(&folder.path().join(name), array, 1000).unwrap();
        let (u, v) = ([0.0, 0.5, 1.0, 0.0, 0.5, 1.0], [0.0, 0.0, 0.0, 10.0, 10.0, 10.0]);
        let all = read("s.npy", "");
        assert_eq!((all.shape, all.values), (vec![3, 2, 2, 3], [u, v, u, v, u, v].concat()));
        let one = read("s.npz", "v");
        assert_eq!((one.shape, one.values), (vec![3, 2, 3], [v, v, v].concat()));
        assert_eq!(read("s.npz", "t").values, [0.0, 1.0, 2.0]);
        assert_eq!(read("s.npz", "x").values, [0.0, 0.5, 1.0]);
        let rows = std::fs::read_to_string(folder.path().join("s.csv")).unwrap();
        assert!(rows.starts_with("t,x,y,u,v\n") && rows.ends_with("\n2e0,1e0,1e0,1e0,1e1\n"), "{rows}");
        let image = std::fs::read(folder.path().join("s-0002.vti")).unwrap();
        let image = String::from_utf8_lossy(&image);
        assert!(
            image.contains("Name=\"u\"") && image.contains("Name=\"v\"") && image.contains("0 2 0 1 0 0"),
            "{image}"
        );
    }
}
