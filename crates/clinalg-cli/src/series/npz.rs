//! An archive for NumPy: an array for each field, whose first index is the frame, the times and the coordinates.

use std::io::Result;
use std::path::{Path, PathBuf};

use super::{Content, Sink};
use crate::data::array::{self, Packing};
use crate::data::{AXES, Values};
use crate::exit::Failure;

pub(super) struct Npz {
    path: PathBuf,
    times: Vec<f64>,
    frames: Vec<Values>,
}

impl Npz {
    pub(super) fn new(path: &Path) -> Npz {
        Npz { path: path.to_owned(), times: Vec::new(), frames: Vec::new() }
    }
}

impl Sink for Npz {
    fn keep(&mut self, _: &Content, t: f64, values: &Values) -> Result<()> {
        self.times.push(t);
        self.frames.push(values.clone());
        Ok(())
    }

    fn close(self: Box<Self>, content: &Content) -> Result<()> {
        let shape: Vec<usize> = [self.times.len()].into_iter().chain(content.shape()).collect();
        let names = content.names();
        let mut arrays: Vec<(&str, Vec<usize>, Values)> = Vec::new();
        for (field, name) in names.iter().enumerate() {
            arrays.push((name, shape.clone(), joined(&self.frames, field, names.len())));
        }
        for (name, line) in std::iter::once("t").chain(AXES).zip(std::iter::once(&self.times).chain(&content.axes)) {
            // A field can have the name of a coordinate.
            if !names.contains(&name) {
                arrays.push((name, vec![line.len()], Values::F64(line.clone())));
            }
        }
        let arrays: Vec<_> = arrays
            .iter()
            .map(|(name, shape, values)| (*name, array::Content::Numbers { shape: shape.clone(), values }))
            .collect();
        array::write_npz(&self.path, Packing::Compressed, &arrays).map_err(|error| match error {
            Failure::File { reason, .. } => std::io::Error::other(reason),
            other => std::io::Error::other(other.message()),
        })
    }
}

/// One of `fields` fields of all frames, which have one precision.
fn joined(frames: &[Values], field: usize, fields: usize) -> Values {
    let part = |len: usize| field * (len / fields)..(field + 1) * (len / fields);
    match frames.first() {
        Some(Values::F32(_)) => Values::F32(
            frames.iter().flat_map(|f| if let Values::F32(v) = f { &v[part(v.len())] } else { &[] }).copied().collect(),
        ),
        _ => Values::F64(
            frames.iter().flat_map(|f| if let Values::F64(v) = f { &v[part(v.len())] } else { &[] }).copied().collect(),
        ),
    }
}
