//! Frames as VTK images (`.vti`), and the collection of them (`.pvd`).

use std::io::Result;
use std::path::{Path, PathBuf};

use super::{Content, Sink};
use crate::data::{Values, vtk};

pub(super) struct Images {
    collection: PathBuf,
    frames: Vec<(f64, String)>,
}

impl Images {
    pub(super) fn new(collection: &Path) -> Images {
        Images { collection: collection.to_owned(), frames: Vec::new() }
    }
}

/// The name of the image of a frame, in the folder of its collection.
pub(super) fn file_name(collection: &Path, frame: usize) -> String {
    format!("{}-{frame:04}.vti", collection.file_stem().unwrap_or_default().to_string_lossy())
}

impl Sink for Images {
    fn keep_earlier(&mut self, _: &Content, before: f64) -> Result<Vec<f64>> {
        self.frames = vtk::read_pvd(&self.collection)?;
        self.frames.retain(|(t, _)| *t < before);
        Ok(self.frames.iter().map(|(t, _)| *t).collect())
    }

    fn keep(&mut self, content: &Content, t: f64, values: &Values) -> Result<()> {
        let name = file_name(&self.collection, self.frames.len());
        let folder = self.collection.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            std::fs::create_dir(folder)?;
        }
        vtk::write_vti(&self.collection.with_file_name(&name), &content.axes, &content.names(), values)?;
        self.frames.push((t, name));
        Ok(())
    }

    fn close(self: Box<Self>, _: &Content) -> Result<()> {
        vtk::write_pvd(&self.collection, &self.frames)
    }
}
