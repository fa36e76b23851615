//! Results on a surface as VTK files.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use clinalg::io::AtomicFile;
use clinalg::{Error, Result};

use super::{ElementMesh, Mesh, Point};

/// Values on a mesh for [`Mesh::write_vtk`].
#[derive(Debug, Clone, Copy)]
pub enum Field<'a> {
    /// One value a triangle.
    Triangles(&'a str, &'a [f64]),
    /// One value a node.
    Nodes(&'a str, &'a [f64]),
}

impl Field<'_> {
    fn parts(&self) -> (&str, &[f64]) {
        match self {
            Field::Triangles(name, values) | Field::Nodes(name, values) => (name, values),
        }
    }
}

impl Mesh {
    /// Writes the surface and `fields` as a VTK unstructured grid (`.vtu`, ASCII), which ParaView
    /// opens. Names of fields hold no quotation marks or angle brackets.
    ///
    /// # Errors
    /// [`Error::Length`] for a field of another length, [`Error::Io`].
    pub fn write_vtk(&self, path: impl AsRef<Path>, fields: &[Field<'_>]) -> Result<()> {
        for field in fields {
            let expected = match field {
                Field::Triangles(..) => self.triangles.len(),
                Field::Nodes(..) => self.nodes.len(),
            };
            let got = field.parts().1.len();
            if got != expected {
                return Err(Error::Length { argument: "fields", expected, got });
            }
        }
        let cells: Vec<&[u32]> = self.triangles.iter().map(|t| &t[..]).collect();
        let array = |field: &Field<'_>| {
            let (name, values) = field.parts();
            Array { name: name.to_owned(), components: 1, values: values.to_vec() }
        };
        let of = |on_nodes: bool| fields.iter().filter(move |f| matches!(f, Field::Nodes(..)) == on_nodes);
        let text = document(
            &self.nodes,
            &cells,
            &of(true).map(array).collect::<Vec<_>>(),
            &of(false).map(array).collect::<Vec<_>>(),
        );
        save(path.as_ref(), &text)
    }
}

impl ElementMesh {
    /// Writes the boundary elements and vectors on them as [`Mesh::write_vtk`] does: name and one vector per boundary element.
    ///
    /// # Errors
    /// As [`Mesh::write_vtk`].
    pub fn write_vtk(&self, path: impl AsRef<Path>, fields: &[(&str, &[Point])]) -> Result<()> {
        let (expected, path) = (self.boundary(), path.as_ref());
        if let Some((_, values)) = fields.iter().find(|(_, values)| values.len() != expected) {
            return Err(Error::Length { argument: "fields", expected, got: values.len() });
        }
        let cells: Vec<&[u32]> = (0..expected)
            .map(|j| if self.is_triangle(j) { &self.elements[j][..3] } else { &self.elements[j][..] })
            .collect();
        let array = |&(name, values): &(&'_ str, &[Point])| Array {
            name: name.to_owned(),
            components: 3,
            values: values.concat(),
        };
        save(path, &document(&self.nodes, &cells, &[], &fields.iter().map(array).collect::<Vec<_>>()))
    }
}

/// Values on nodes or cells, `components` for each.
struct Array {
    name: String,
    components: usize,
    values: Vec<f64>,
}

/// VTK's numbers of triangles and quadrilaterals.
const TRIANGLE: u8 = 5;
const QUADRILATERAL: u8 = 9;

/// The text of a file. Writing to a string cannot fail.
fn document(nodes: &[Point], cells: &[&[u32]], on_nodes: &[Array], on_cells: &[Array]) -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"0.1\">\n<UnstructuredGrid>\n",
    );
    let _ = writeln!(text, "<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">", nodes.len(), cells.len());
    text.push_str("<Points>\n<DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">\n");
    for [x, y, z] in nodes {
        let _ = writeln!(text, "{x:e} {y:e} {z:e}");
    }
    text.push_str(
        "</DataArray>\n</Points>\n<Cells>\n<DataArray type=\"Int64\" Name=\"connectivity\" format=\"ascii\">\n",
    );
    for cell in cells {
        let _ = writeln!(text, "{}", line(cell));
    }
    text.push_str("</DataArray>\n<DataArray type=\"Int64\" Name=\"offsets\" format=\"ascii\">\n");
    let mut end = 0;
    for cell in cells {
        end += cell.len();
        let _ = writeln!(text, "{end}");
    }
    text.push_str("</DataArray>\n<DataArray type=\"UInt8\" Name=\"types\" format=\"ascii\">\n");
    for cell in cells {
        let _ = writeln!(text, "{}", if cell.len() == 3 { TRIANGLE } else { QUADRILATERAL });
    }
    text.push_str("</DataArray>\n</Cells>\n");
    for (section, arrays) in [("PointData", on_nodes), ("CellData", on_cells)] {
        let _ = writeln!(text, "<{section}>");
        for Array { name, components, values } in arrays {
            let several =
                if *components == 1 { String::new() } else { format!(" NumberOfComponents=\"{components}\"") };
            let _ = writeln!(text, "<DataArray type=\"Float64\" Name=\"{name}\"{several} format=\"ascii\">");
            for value in values.chunks(*components) {
                let words: Vec<String> = value.iter().map(|v| format!("{v:e}")).collect();
                let _ = writeln!(text, "{}", words.join(" "));
            }
            text.push_str("</DataArray>\n");
        }
        let _ = writeln!(text, "</{section}>");
    }
    text.push_str("</Piece>\n</UnstructuredGrid>\n</VTKFile>\n");
    text
}

fn line(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
}

fn save(path: &Path, text: &str) -> Result<()> {
    AtomicFile::write(path, |file| file.write_all(text.as_bytes()))
        .map_err(|source| Error::Io { path: path.to_owned(), source })
}
