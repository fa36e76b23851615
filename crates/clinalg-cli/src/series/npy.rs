//! One array of all frames for NumPy.

use std::io::{Result, Seek, SeekFrom, Write};
use std::path::Path;

use clinalg::io::AtomicFile;

use super::{Content, Sink};
use crate::data::{Values, npy};

/// Frames, fields where they have an index, then the axes of the grid from the slowest: an array in C order.
pub(super) struct Npy {
    file: AtomicFile,
    /// That of the frames so far.
    dtype: &'static str,
    frames: usize,
}

/// Bytes before the numbers, a multiple of 64; room for the shape and a number of frames of any length.
const HEADER: usize = 192;

impl Npy {
    pub(super) fn new(path: &Path) -> Result<Npy> {
        let mut file = AtomicFile::create(path)?;
        // The header is written when the number of frames is known.
        file.write_all(&[0; HEADER])?;
        Ok(Npy { file, dtype: "<f8", frames: 0 })
    }
}

impl Sink for Npy {
    fn keep_earlier(&mut self, _: &Content, _: f64) -> Result<Vec<f64>> {
        unreachable!("a resumed run does not begin where there is a file without times")
    }

    fn keep(&mut self, _: &Content, _: f64, values: &Values) -> Result<()> {
        self.frames += 1;
        self.dtype = values.dtype();
        self.file.write_all(&values.bytes())
    }

    fn close(mut self: Box<Self>, content: &Content) -> Result<()> {
        let fields = content.by_fields.then_some(content.fields.len());
        let shape: Vec<usize> = [self.frames].into_iter().chain(fields).chain(content.shape()).collect();
        self.file.seek(SeekFrom::Start(0))?;
        npy::write_header(&mut self.file, self.dtype, &shape, HEADER)?;
        self.file.commit()
    }
}
