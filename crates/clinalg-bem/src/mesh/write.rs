//! Results on a surface as VTK files.

use std::fmt::Write as _;
use std::path::Path;

use clinalg::{Error, Result};

use super::Mesh;

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
        let mut text = String::from(
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"0.1\">\n<UnstructuredGrid>\n",
        );
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">",
            self.nodes.len(),
            self.triangles.len()
        );
        text.push_str("<Points>\n<DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">\n");
        for [x, y, z] in &self.nodes {
            let _ = writeln!(text, "{x:e} {y:e} {z:e}");
        }
        text.push_str(
            "</DataArray>\n</Points>\n<Cells>\n<DataArray type=\"Int64\" Name=\"connectivity\" format=\"ascii\">\n",
        );
        for [a, b, c] in &self.triangles {
            let _ = writeln!(text, "{a} {b} {c}");
        }
        text.push_str("</DataArray>\n<DataArray type=\"Int64\" Name=\"offsets\" format=\"ascii\">\n");
        for k in 1..=self.triangles.len() {
            let _ = writeln!(text, "{}", 3 * k);
        }
        text.push_str("</DataArray>\n<DataArray type=\"UInt8\" Name=\"types\" format=\"ascii\">\n");
        text.push_str(&"5\n".repeat(self.triangles.len()));
        text.push_str("</DataArray>\n</Cells>\n");
        for (section, on_nodes) in [("PointData", true), ("CellData", false)] {
            let _ = writeln!(text, "<{section}>");
            for field in fields.iter().filter(|f| matches!(f, Field::Nodes(..)) == on_nodes) {
                let (name, values) = field.parts();
                let _ = writeln!(text, "<DataArray type=\"Float64\" Name=\"{name}\" format=\"ascii\">");
                for value in values {
                    let _ = writeln!(text, "{value:e}");
                }
                text.push_str("</DataArray>\n");
            }
            let _ = writeln!(text, "</{section}>");
        }
        text.push_str("</Piece>\n</UnstructuredGrid>\n</VTKFile>\n");
        let path = path.as_ref();
        std::fs::write(path, text).map_err(|source| Error::Io { path: path.to_owned(), source })
    }
}
