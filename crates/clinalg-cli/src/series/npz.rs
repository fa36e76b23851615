//! An archive for NumPy: an array for each field, whose first index is the frame, the times and the coordinates.

use std::io::{Error, Result};
use std::path::{Path, PathBuf};

use super::{Content, Sink};
use crate::data::array::{self, Array, Limits, Packing};
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

/// The times and the frames, field by field, of an earlier archive with the same content.
pub(super) fn read(path: &Path, content: &Content) -> Result<(Vec<f64>, Vec<Vec<f64>>)> {
    let array = |name: &str| Array::read_named(path, name, Limits::NONE).map_err(reason);
    let times = array("t")?.values;
    let shape: Vec<usize> = [times.len()].into_iter().chain(content.shape()).collect();
    let mut frames = vec![Vec::new(); times.len()];
    for name in content.names() {
        let field = array(name)?;
        if field.shape != shape {
            return Err(Error::other(format!("array {name} has the shape {:?}, expected {shape:?}", field.shape)));
        }
        let points = content.shape().iter().product();
        frames.iter_mut().zip(field.values.chunks(points)).for_each(|(frame, values)| frame.extend(values));
    }
    Ok((times, frames))
}

fn reason(failure: Failure) -> Error {
    match failure {
        Failure::File { reason, .. } => Error::other(reason),
        other => Error::other(other.message()),
    }
}

impl Sink for Npz {
    fn keep_earlier(&mut self, content: &Content, before: f64) -> Result<Vec<f64>> {
        let (times, frames) = read(&self.path, content)?;
        let earlier = times.iter().take_while(|t| **t < before).count();
        self.times = times[..earlier].to_vec();
        self.frames = frames.into_iter().take(earlier).map(Values::F64).collect();
        Ok(self.times.clone())
    }

    fn keep(&mut self, _: &Content, t: f64, values: &Values) -> Result<()> {
        self.times.push(t);
        // What is read from an archive is in double precision.
        if let (Some(Values::F64(_)), Values::F32(_)) = (self.frames.first(), values) {
            self.frames.iter_mut().for_each(Values::round_to_f32);
        }
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
        array::write_npz(&self.path, Packing::Compressed, &arrays).map_err(reason)
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
