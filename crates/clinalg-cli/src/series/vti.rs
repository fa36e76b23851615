//! Frames as VTK images (`.vti`, XML with the numbers appended in binary), and the collection of them (`.pvd`).

use std::io::{Result, Write};
use std::path::{Path, PathBuf};

use clinalg::io::AtomicFile;
use clinalg_ode::problems::Problem;

use super::{Sink, Values};

pub(super) struct Images {
    collection: PathBuf,
    stem: String,
    frames: Vec<(f64, String)>,
}

impl Images {
    pub(super) fn new(folder: &Path, stem: &str) -> Images {
        Images { collection: folder.join(format!("{stem}.pvd")), stem: stem.to_owned(), frames: Vec::new() }
    }

    /// The file that names all frames.
    pub(super) fn collection(&self) -> &Path {
        &self.collection
    }
}

impl Sink for Images {
    fn keep(&mut self, problem: &Problem, t: f64, values: &Values<'_>) -> Result<()> {
        let name = format!("{}-{:04}.vti", self.stem, self.frames.len());
        if let Some(folder) = self.collection.parent().filter(|folder| !folder.is_dir()) {
            std::fs::create_dir(folder)?;
        }
        let mut file = AtomicFile::create(self.collection.with_file_name(&name))?;
        let system = &problem.system;
        let grid = system.grid();
        let [origin, next] = [grid.position(0), grid.position(grid.points() - 1)];
        let shape = grid.shape();
        let last = |a: usize| shape.get(a).map_or(0, |n| n - 1);
        // From the first to the last point, as many times the spacing as there are points between.
        let spacing = |a: usize| if last(a) == 0 { 1.0 } else { (next[a] - origin[a]) / last(a) as f64 };
        let extent = format!("0 {} 0 {} 0 {}", last(0), last(1), last(2));
        let (kind, size, bytes) = match values {
            Values::Single(_) => ("Float32", 4, values_bytes(values)),
            Values::Double(_) => ("Float64", 8, values_bytes(values)),
        };
        writeln!(
            file,
            "<?xml version=\"1.0\"?>\n\
             <VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n\
             <ImageData WholeExtent=\"{extent}\" Origin=\"{} {} {}\" Spacing=\"{} {} {}\">\n\
             <Piece Extent=\"{extent}\">\n<PointData>",
            origin[0],
            origin[1],
            origin[2],
            spacing(0),
            spacing(1),
            spacing(2)
        )?;
        // Each array has its length in bytes before it.
        let block = grid.points() * size;
        for (k, name) in system.fields().iter().enumerate() {
            let offset = k * (block + 8);
            writeln!(file, "<DataArray type=\"{kind}\" Name=\"{name}\" format=\"appended\" offset=\"{offset}\"/>")?;
        }
        write!(file, "</PointData>\n</Piece>\n</ImageData>\n<AppendedData encoding=\"raw\">\n_")?;
        for field in bytes.chunks(block) {
            file.write_all(&(block as u64).to_le_bytes())?;
            file.write_all(field)?;
        }
        write!(file, "\n</AppendedData>\n</VTKFile>\n")?;
        file.commit()?;
        self.frames.push((t, name));
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        let mut file = AtomicFile::create(&self.collection)?;
        writeln!(file, "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\">\n<Collection>")?;
        for (t, name) in &self.frames {
            writeln!(file, "<DataSet timestep=\"{t:e}\" file=\"{name}\"/>")?;
        }
        writeln!(file, "</Collection>\n</VTKFile>")?;
        file.commit()
    }

    fn path(&self) -> &Path {
        &self.collection
    }
}

fn values_bytes(values: &Values<'_>) -> Vec<u8> {
    match values {
        Values::Single(values) => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
        Values::Double(values) => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
    }
}
