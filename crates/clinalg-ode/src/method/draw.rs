//! Drawings of graphs: Graphviz text and SVG.

use crate::method::graph::{Graph, Op, Value};

/// Fill of the boxes of inputs, right-hand sides, linear combinations and reductions.
const FILLS: [&str; 4] = ["#eeeeee", "#f9d5a7", "#b8d8f0", "#c9e8c1"];

fn fill(op: &Op) -> &'static str {
    match op {
        Op::Input => FILLS[0],
        Op::Rhs { .. } => FILLS[1],
        Op::Lc { .. } => FILLS[2],
        Op::Red { .. } => FILLS[3],
    }
}

/// Width of a character, height of a box, gaps between boxes and between rows, in SVG units.
const CHARACTER: f64 = 7.0;
const BOX: f64 = 26.0;
const GAP: f64 = 18.0;
const ROW: f64 = 64.0;

impl Graph {
    /// The graph in the language of Graphviz: one box per node, one cluster per stage group, dashed edges to the next step.
    pub fn to_dot(&self) -> String {
        let stage_groups = self.stage_groups();
        let last = stage_groups.iter().copied().max().unwrap_or(0);
        let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
        let mut text =
            format!("digraph \"{}\" {{\n  node [shape=box, style=filled, fontname=monospace];\n", quoted(self.name()));
        for stage_group in 0..=last {
            let inside = (0..stage_groups.len()).filter(|k| stage_groups[*k] == stage_group);
            if stage_group > 0 {
                text.push_str(&format!("  subgraph cluster_{stage_group} {{ label=\"stage group {stage_group}\";\n"));
            }
            for k in inside {
                let node = self.node(Value(k));
                text.push_str(&format!(
                    "    n{k} [label=\"{}\", tooltip=\"{}\", fillcolor=\"{}\"];\n",
                    quoted(&node.label),
                    quoted(&self.formula(node)),
                    fill(&node.op)
                ));
            }
            if stage_group > 0 {
                text.push_str("  }\n");
            }
        }
        for (k, node) in self.nodes().iter().enumerate() {
            for read in node.op.reads() {
                text.push_str(&format!("  n{} -> n{k};\n", read.0));
            }
        }
        for (input, value) in self.carries() {
            text.push_str(&format!("  n{} -> n{} [style=dashed, constraint=false];\n", value.0, input.0));
        }
        text.push_str("}\n");
        text
    }

    /// The graph as an SVG picture, a row for each depth; the formula of a node shows when the pointer rests on it.
    pub fn to_svg(&self) -> String {
        // Two rows per stage group keep right-hand sides above what they feed; partial sums go below those they read.
        let mut depth = vec![0; self.nodes().len()];
        for (k, node) in self.nodes().iter().enumerate() {
            depth[k] = node.op.reads().iter().map(|r| depth[r.0] + 1).max().unwrap_or(0);
        }
        let rows = depth.iter().copied().max().unwrap_or(0) + 1;
        let width = |k: usize| self.nodes()[k].label.chars().count() as f64 * CHARACTER + 16.0;
        let row = |r: usize| (0..depth.len()).filter(|k| depth[*k] == r).collect::<Vec<_>>();
        let row_width = |r: usize| row(r).iter().map(|k| width(*k) + GAP).sum::<f64>() + GAP;
        let total = (0..rows).map(row_width).fold(0.0, f64::max);
        let mut centre = vec![(0.0, 0.0); depth.len()];
        for r in 0..rows {
            let mut x = (total - row_width(r)) / 2.0 + GAP;
            for k in row(r) {
                centre[k] = (x + width(k) / 2.0, ROW * r as f64 + ROW / 2.0);
                x += width(k) + GAP;
            }
        }
        let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let height = ROW * rows as f64;
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {total:.0} {height:.0}\" width=\"{total:.0}\" height=\"{height:.0}\" font-family=\"monospace\" font-size=\"12\">\n<title>{}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
            escaped(self.name())
        );
        for (k, node) in self.nodes().iter().enumerate() {
            for read in node.op.reads() {
                let ((x0, y0), (x1, y1)) = (centre[read.0], centre[k]);
                let (from, to, bend) = (y0 + BOX / 2.0, y1 - BOX / 2.0, (y1 - y0) / 3.0);
                text.push_str(&format!(
                    "<path d=\"M{x0:.1} {from:.1} C{x0:.1} {:.1} {x1:.1} {:.1} {x1:.1} {to:.1}\" fill=\"none\" stroke=\"#999999\"/>\n",
                    from + bend,
                    to - bend
                ));
            }
        }
        for (k, node) in self.nodes().iter().enumerate() {
            let (x, y) = centre[k];
            text.push_str(&format!(
                "<g><title>{} = {}</title><rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{BOX}\" rx=\"4\" fill=\"{}\" stroke=\"#444444\"/><text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text></g>\n",
                escaped(&node.label),
                escaped(&self.formula(node)),
                x - width(k) / 2.0,
                y - BOX / 2.0,
                width(k),
                fill(&node.op),
                y + 4.0,
                escaped(&node.label)
            ));
        }
        text.push_str("</svg>\n");
        text
    }
}
