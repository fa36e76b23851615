//! Fields on regular grids as VTK's XML files: image data (`.vti`) and unstructured grids (`.vtu`), compressed with zlib, and
//! collections of them (`.pvd`).
//!
//! The formats: "VTK XML file formats" in VTK's documentation. Arrays stand as raw data behind the XML text, each in blocks
//! that are compressed one by one: three UInt64 (number of blocks, bytes of a block, bytes of the last one if it is shorter),
//! the compressed bytes of each block, then the blocks.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use clinalg::io::AtomicFile;
use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::field::{Lattice, Values};

/// Bytes that are compressed at once.
const BLOCK: usize = 1 << 20;

/// VTK's numbers of quadrilaterals and hexahedra.
const QUADRILATERAL: u8 = 9;
const HEXAHEDRON: u8 = 12;

/// A file in the making.
#[derive(Default)]
struct Document {
    text: String,
    appended: Vec<u8>,
}

impl Document {
    /// An element for an array; its data go behind the text.
    fn array(&mut self, kind: &str, name: &str, components: usize, bytes: &[u8]) -> std::io::Result<()> {
        let _ = writeln!(
            self.text,
            "<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\" format=\"appended\" offset=\"{}\"/>",
            self.appended.len()
        );
        let blocks: Vec<Vec<u8>> = bytes.chunks(BLOCK).map(compressed).collect::<std::io::Result<_>>()?;
        let sizes = [blocks.len(), BLOCK, bytes.len() % BLOCK];
        for size in sizes.into_iter().chain(blocks.iter().map(Vec::len)) {
            self.appended.extend((size as u64).to_le_bytes());
        }
        self.appended.extend(blocks.into_iter().flatten());
        Ok(())
    }

    /// Fields, whose values stand one after the other.
    fn fields(&mut self, names: &[&str], values: &Values) -> std::io::Result<()> {
        let kind = match values {
            Values::F32(_) => "Float32",
            Values::F64(_) => "Float64",
        };
        let _ = writeln!(self.text, "<PointData Scalars=\"{}\">", names[0]);
        let bytes = values.bytes();
        for (name, bytes) in names.iter().zip(bytes.chunks(bytes.len() / names.len())) {
            self.array(kind, name, 1, bytes)?;
        }
        self.text.push_str("</PointData>\n");
        Ok(())
    }

    fn save(self, path: &Path, kind: &str) -> std::io::Result<()> {
        let mut file = AtomicFile::create(path)?;
        write!(
            file,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"{kind}\" version=\"1.0\" byte_order=\"LittleEndian\" \
             header_type=\"UInt64\" compressor=\"vtkZLibDataCompressor\">\n{}<AppendedData encoding=\"raw\">\n_",
            self.text
        )?;
        file.write_all(&self.appended)?;
        file.write_all(b"\n</AppendedData>\n</VTKFile>\n")?;
        file.commit()
    }
}

fn compressed(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// Writes image data (`.vti`): fields, one after the other, at evenly spaced points with these coordinates along each axis.
pub(crate) fn write_vti(path: &Path, axes: &[Vec<f64>], names: &[&str], values: &Values) -> std::io::Result<()> {
    let last = [0, 1, 2].map(|axis| axes.get(axis).map_or(0, |x| x.len() - 1));
    let extent = format!("0 {} 0 {} 0 {}", last[0], last[1], last[2]);
    let [x, y, z] = [0, 1, 2].map(|axis| axes.get(axis).map_or(0.0, |x| x[0]));
    let spacing = |axis: usize| match last[axis] {
        0 => 1.0,
        last => (axes[axis][last] - axes[axis][0]) / last as f64,
    };
    let [hx, hy, hz] = [0, 1, 2].map(spacing);
    let mut document = Document::default();
    let _ = writeln!(
        document.text,
        "<ImageData WholeExtent=\"{extent}\" Origin=\"{x} {y} {z}\" Spacing=\"{hx:e} {hy:e} {hz:e}\">\n<Piece Extent=\"{extent}\">"
    );
    document.fields(names, values)?;
    document.text.push_str("</Piece>\n</ImageData>\n");
    document.save(path, "ImageData")
}

/// Writes an unstructured grid (`.vtu`) of quadrilaterals or hexahedra.
pub(crate) fn write_vtu(path: &Path, lattice: &Lattice, name: &str, values: &Values) -> std::io::Result<()> {
    let [nx, ny, nz] = [0, 1, 2].map(|axis| lattice.points(axis));
    let flat = lattice.dim() == 2;
    let axis = |axis: usize| if axis < lattice.dim() { lattice.coordinates(axis) } else { vec![0.0] };
    let [x, y, z] = [axis(0), axis(1), axis(2)];
    let mut points = Vec::with_capacity(24 * lattice.len());
    for (c, b, a) in product(nz, ny, nx) {
        [x[a], y[b], z[c]].iter().for_each(|v| points.extend(v.to_le_bytes()));
    }
    // The corners of a cell, around its lower and then its upper face.
    let around = [(0, 0), (1, 0), (1, 1), (0, 1)];
    let corners: Vec<usize> = match flat {
        true => around.iter().map(|(a, b)| b * nx + a).collect(),
        false => (0..2).flat_map(|c| around.map(|(a, b)| (c * ny + b) * nx + a)).collect(),
    };
    let layers = if flat { 1 } else { nz - 1 };
    let cells = (nx - 1) * (ny - 1) * layers;
    let mut connectivity = Vec::with_capacity(8 * corners.len() * cells);
    for (c, b, a) in product(layers, ny - 1, nx - 1) {
        let first = (c * ny + b) * nx + a;
        corners.iter().for_each(|corner| connectivity.extend(((first + corner) as i64).to_le_bytes()));
    }
    let offsets: Vec<u8> = (1..=cells).flat_map(|k| ((k * corners.len()) as i64).to_le_bytes()).collect();
    let kinds = vec![if flat { QUADRILATERAL } else { HEXAHEDRON }; cells];

    let mut document = Document::default();
    let _ = writeln!(
        document.text,
        "<UnstructuredGrid>\n<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{cells}\">",
        lattice.len()
    );
    document.fields(&[name], values)?;
    document.text.push_str("<Points>\n");
    document.array("Float64", "Points", 3, &points)?;
    document.text.push_str("</Points>\n<Cells>\n");
    document.array("Int64", "connectivity", 1, &connectivity)?;
    document.array("Int64", "offsets", 1, &offsets)?;
    document.array("UInt8", "types", 1, &kinds)?;
    document.text.push_str("</Cells>\n</Piece>\n</UnstructuredGrid>\n");
    document.save(path, "UnstructuredGrid")
}

/// All triples below the three counts, the last fastest.
fn product(c: usize, b: usize, a: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    (0..c).flat_map(move |c| (0..b).flat_map(move |b| (0..a).map(move |a| (c, b, a))))
}

/// Writes a collection (`.pvd`) of the files of a series beside it, each with its time.
pub(crate) fn write_pvd(path: &Path, files: &[(f64, String)]) -> std::io::Result<()> {
    let mut text = String::from(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"LittleEndian\">\n<Collection>\n",
    );
    for (time, name) in files {
        let name = name.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
        let _ = writeln!(text, "<DataSet timestep=\"{time:e}\" part=\"0\" file=\"{name}\"/>");
    }
    text.push_str("</Collection>\n</VTKFile>\n");
    AtomicFile::write(path, |file| file.write_all(text.as_bytes()))
}

/// The files of a collection that [`write_pvd`] wrote, with their times.
pub(crate) fn read_pvd(path: &Path) -> std::io::Result<Vec<(f64, String)>> {
    let text = std::fs::read_to_string(path)?;
    if !text.contains("<VTKFile type=\"Collection\"") {
        return Err(std::io::Error::other("it is not a collection of VTK"));
    }
    let value = |line: &str, name: &str| Some(line.split_once(&format!("{name}=\""))?.1.split_once('"')?.0.to_owned());
    let file = |line: &str| {
        let name = value(line, "file")?.replace("&lt;", "<").replace("&quot;", "\"").replace("&amp;", "&");
        Some((value(line, "timestep")?.parse().ok()?, name))
    };
    let lines = text.lines().filter(|line| line.starts_with("<DataSet "));
    lines
        .map(|line| file(line).ok_or_else(|| std::io::Error::other(format!("`{line}` has no time or no file"))))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    /// The arrays behind the text, by the description of the format.
    fn arrays(bytes: &[u8]) -> Vec<Vec<u8>> {
        let mark = b"<AppendedData encoding=\"raw\">\n_";
        let start = bytes.windows(mark.len()).position(|w| w == mark).unwrap() + mark.len();
        let text = String::from_utf8_lossy(&bytes[..start]).into_owned();
        let offsets = text.split("offset=\"").skip(1).map(|rest| rest.split('"').next().unwrap().parse::<usize>());
        let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
        offsets
            .map(|offset| {
                let head = start + offset.unwrap();
                let (blocks, size, last) = (number(head), number(head + 8), number(head + 16));
                let mut at = head + 24 + 8 * blocks;
                let mut array = Vec::new();
                for block in 0..blocks {
                    let length = number(head + 24 + 8 * block);
                    let before = array.len();
                    flate2::read::ZlibDecoder::new(&bytes[at..at + length]).read_to_end(&mut array).unwrap();
                    let full = block + 1 < blocks || last == 0;
                    assert_eq!(array.len() - before, if full { size } else { last });
                    at += length;
                }
                array
            })
            .collect()
    }

    #[test]
    fn arrays_are_those_of_the_grid() {
        let folder = tempfile::tempdir().unwrap();
        let numbers =
            |bytes: &[u8]| bytes.chunks(8).map(|v| i64::from_le_bytes(v.try_into().unwrap())).collect::<Vec<_>>();
        let square = Lattice::unit(3, 2);
        let values = Values::F64((0..9).map(f64::from).collect());
        let path = folder.path().join("u.vti");
        write_vti(&path, &square.axes(), &["u"], &values).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(arrays(&bytes), [values.bytes()]);
        assert!(String::from_utf8_lossy(&bytes).contains("Spacing=\"5e-1 5e-1 1e0\""));
        let path = folder.path().join("u.vtu");
        write_vtu(&path, &square, "u", &values).unwrap();
        let [field, points, cells, offsets, kinds] = arrays(&std::fs::read(&path).unwrap()).try_into().unwrap();
        assert_eq!((field, points.len(), kinds), (values.bytes(), 9 * 24, vec![QUADRILATERAL; 4]));
        assert_eq!(numbers(&cells)[12..], [4, 5, 8, 7]);
        assert_eq!(numbers(&offsets), [4, 8, 12, 16]);
        let cube = Lattice::unit(3, 3);
        write_vtu(&path, &cube, "u", &Values::F32(vec![0.5; 27])).unwrap();
        let [_, _, cells, _, kinds] = arrays(&std::fs::read(&path).unwrap()).try_into().unwrap();
        assert_eq!((numbers(&cells)[56..].to_vec(), kinds.len()), (vec![13, 14, 17, 16, 22, 23, 26, 25], 8));
        // More than one block, the last of them full.
        let long = Lattice::unit(512, 2);
        let values = Values::F64(vec![1.5; 512 * 512]);
        write_vti(&path, &long.axes(), &["u"], &values).unwrap();
        assert_eq!(arrays(&std::fs::read(&path).unwrap()), [values.bytes()]);
    }
}
