//! Solutions over time in files: tables for programs that compute with them, images for ParaView.

pub(crate) mod csv;
pub(crate) mod npy;
mod vti;

use std::path::{Path, PathBuf};

use clinalg::Real;
use clinalg_ode::problems::Problem;

use self::csv::Csv;
use self::npy::Npy;
use self::vti::Images;
use crate::exit::Failure;
use crate::output::{check_folder, check_series, check_target};
use crate::processes;
use crate::system::extension;

/// What stands in the help of commands that write them.
pub(crate) const HELP: &str = "\
--series FILE.csv writes a row for each frame and point: t, the coordinates, all
fields. --series FILE.npy writes one array for NumPy: frames, fields, then the
axes of the grid, z first. --vtk DIR writes DIR/NAME-0000.vti, ... and DIR/NAME.pvd,
which ParaView opens as a film. If the integration fails the files hold the
frames before that. A resumed run writes the frames after its checkpoint, to files
of other names.";

#[derive(clap::Args)]
pub(crate) struct SeriesArgs {
    /// Write the solution at every frame as a table (.csv) or an array (.npy)
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

    /// Opens the files; those of images begin with `stem`.
    ///
    /// # Errors
    /// [`Failure::Usage`] for a name with another extension, and for files that a resumed run would replace;
    /// [`Failure::File`].
    pub(crate) fn open<T: Real>(&self, problem: &Problem, stem: &str, is_resumed: bool) -> Result<Series, Failure> {
        let mut tables: Vec<Box<dyn Sink>> = Vec::new();
        let mut files = Vec::new();
        if !processes::writes() {
            return Ok(Series { sinks: tables, files, times: Vec::new() });
        }
        if let Some(path) = &self.series {
            let kind = extension(path);
            if !matches!(kind.as_deref(), Some("csv" | "npy")) {
                let words = format!("--series {}: the name must end in .csv or .npy", path.display());
                return Err(Failure::usage(words));
            }
            check_series("--series", path, is_resumed)?;
            check_target(path)?;
            let failed = failure(path);
            tables.push(match kind.as_deref() {
                Some("csv") => Box::new(Csv::new(path, problem).map_err(failed)?),
                _ => Box::new(Npy::new(path, problem, T::PRECISION).map_err(failed)?),
            });
            files.push(path.display().to_string());
        }
        if let Some(folder) = &self.vtk {
            check_folder(folder)?;
            let images = Images::new(folder, stem);
            check_series("--vtk", images.collection(), is_resumed)?;
            files.push(images.collection().display().to_string());
            tables.push(Box::new(images));
        }
        Ok(Series { sinks: tables, files, times: Vec::new() })
    }
}

fn failure(path: &Path) -> impl Fn(std::io::Error) -> Failure + use<> {
    let path = path.to_owned();
    move |error| Failure::File { path: path.clone(), reason: error.to_string() }
}

/// Values of a frame, field by field, in the precision of the integration.
enum Values<'a> {
    Single(&'a [f32]),
    Double(&'a [f64]),
}

/// A file, or several, that frames go to.
trait Sink {
    fn keep(&mut self, problem: &Problem, t: f64, values: &Values<'_>) -> std::io::Result<()>;
    /// Completes the files and puts them in their places.
    fn close(self: Box<Self>) -> std::io::Result<()>;
    fn path(&self) -> &Path;
}

/// Where frames go.
pub(crate) struct Series {
    sinks: Vec<Box<dyn Sink>>,
    /// What there is to open.
    pub(crate) files: Vec<String>,
    /// Of the frames so far.
    pub(crate) times: Vec<f64>,
}

impl Series {
    /// Writes a frame, given in the system's order in memory.
    ///
    /// # Errors
    /// [`clinalg::Error::Io`].
    pub(crate) fn keep<T: Real>(&mut self, problem: &Problem, t: f64, y: &[T]) -> clinalg::Result<()> {
        self.times.push(t);
        if self.sinks.is_empty() {
            return Ok(());
        }
        let by_fields = problem.system.by_fields(y);
        // A cast of bytes would need the sealed scalar types; a copy is small beside the writing.
        let (single, double): (Vec<f32>, Vec<f64>);
        let values = match T::PRECISION {
            clinalg::Precision::F32 => {
                single = by_fields.iter().map(|v| v.into_f64() as f32).collect();
                Values::Single(&single)
            }
            clinalg::Precision::F64 => {
                double = by_fields.iter().map(|v| v.into_f64()).collect();
                Values::Double(&double)
            }
        };
        for sink in &mut self.sinks {
            let kept = sink.keep(problem, t, &values);
            kept.map_err(|source| clinalg::Error::Io { path: sink.path().to_owned(), source })?;
        }
        Ok(())
    }

    /// Completes the files.
    ///
    /// # Errors
    /// [`Failure::File`].
    pub(crate) fn finish(mut self) -> Result<(Vec<String>, Vec<f64>), Failure> {
        for sink in std::mem::take(&mut self.sinks) {
            let failed = failure(sink.path());
            sink.close().map_err(failed)?;
        }
        Ok((std::mem::take(&mut self.files), std::mem::take(&mut self.times)))
    }
}

impl Drop for Series {
    fn drop(&mut self) {
        // After an integration that failed; its error is the one to report. Without a frame, earlier files stay.
        if !self.times.is_empty() {
            for sink in std::mem::take(&mut self.sinks) {
                let _ = sink.close();
            }
        }
    }
}
