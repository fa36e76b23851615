//! Entries of the blocks.

use std::f64::consts::LN_2;

use clinalg::runtime::{Arg, Buffer, Kernel, Range};
use clinalg::{Real, Result};

use super::super::space::{LANES, Touching};
use super::{HeatOperator, MOMENTS, POINTWISE, PROCESSOR, START, START_BLOCKS, count, launch};
use crate::quadrature::{Contact, sauter_schwab};

impl<T: Real> HeatOperator<T> {
    /// Computes blocks 0 and 1.
    pub(super) fn fill_start(&self) -> Result<()> {
        let shared = &*self.shared;
        let context = &shared.context;
        let (mesh, params) = (&shared.mesh, &shared.params);
        let kept = self.steps.min(START_BLOCKS);
        let (alpha, step) = (Arg::real::<T>(params.alpha), Arg::real::<T>(params.step()));
        let mut args = shared.geometry(self.kind);
        args.extend([shared.nodes.arg(), alpha, step, count(0), count(kept)]);
        args.extend([count(self.first), count(self.rows), count(0), count(kept), self.start.arg()]);
        let range = match self.is_cpu() {
            true => Range::d2([1, self.rows], [1, 1]),
            false => Range::d2([self.stride(), self.rows], [64, 4]),
        };
        launch(context, self.kernel(&START, "fill_start"), range, &args)?;

        let touching = Touching::new(mesh, self.kind, self.first..self.first + self.rows);
        let mut rules: Vec<T> = Vec::new();
        let mut starts = vec![0];
        for contact in [Contact::Vertex, Contact::Edge, Contact::Coincident] {
            for p in sauter_schwab(contact, params.singular_order) {
                rules.extend([p.x[1], p.x[2], p.y[1], p.y[2], p.weight].map(T::from_f64));
            }
            starts.push(rules.len() as u32 / 5);
        }
        let pairs = touching.pairs.len() / 3;
        let targets = touching.entries.len() / 2;
        if targets == 0 {
            return context.finish();
        }
        let sums = Buffer::<T>::zeroed(context, 2 * self.kind.slots() * pairs)?;
        let pair_buffer = Buffer::from_slice(context, &touching.pairs)?;
        let (rules, starts) = (Buffer::from_slice(context, &rules)?, Buffer::from_slice(context, &starts)?);
        let local = if self.is_cpu() { 1 } else { 64 };
        let args = [
            shared.shapes.arg(),
            Arg::size(mesh.triangles().len()),
            shared.corners.arg(),
            pair_buffer.arg(),
            Arg::size(pairs),
            rules.arg(),
            starts.arg(),
            alpha,
            sums.arg(),
        ];
        launch(context, self.kernel(&START, "sum_singular"), Range::d1(pairs, local), &args)?;
        let entries = Buffer::from_slice(context, &touching.entries)?;
        let sources = Buffer::from_slice(context, &touching.sources)?;
        let offsets = Buffer::from_slice(context, &touching.offsets)?;
        let args = [
            entries.arg(),
            sources.arg(),
            offsets.arg(),
            Arg::size(targets),
            Arg::size(pairs),
            sums.arg(),
            step,
            Arg::size(self.stride()),
            Arg::size(kept),
            Arg::size(0),
            Arg::size(kept),
            self.start.arg(),
        ];
        launch(context, self.kernel(&START, "add_singular"), Range::d1(targets, local), &args)?;
        // The buffers above go now.
        context.finish()
    }

    /// Computes the later blocks below `blocks` of `rows` rows from the `first` one here on into `values`, which then have no others.
    pub(super) fn fill(&self, first: usize, rows: usize, values: &Buffer<T>, blocks: usize) -> Result<()> {
        let Some(later) = &self.later else { return Ok(()) };
        let shared = &*self.shared;
        let alpha = shared.params.alpha;
        let wanted = |first: usize, has: usize| has.min(blocks.saturating_sub(first));
        let run = |kernels: [Kernel; 2], mut args: Vec<Arg>, start: usize, wanted: usize| {
            args.extend([count(start), count(wanted)]);
            args.extend([count(self.first + first), count(rows), count(START_BLOCKS), count(blocks - START_BLOCKS)]);
            args.push(values.arg());
            let [gpu, cpu] = kernels;
            let (kernel, lanes) = if self.is_cpu() { (cpu.with(PROCESSOR), LANES) } else { (gpu, 1) };
            launch(&shared.context, kernel, self.entries(rows, lanes), &args)
        };
        let points = &later.pointwise;
        if wanted(START_BLOCKS, points.blocks) > 0 {
            let mut args = shared.geometry(self.kind);
            args.extend([Arg::real::<T>(points.scale), Arg::real::<T>(alpha), points.tables.arg()]);
            args.extend([count(points.cells), points.cuts.arg(), Arg::real::<T>(later.reach)]);
            let kernels =
                ["fill_blocks_pointwise_gpu", "fill_blocks_pointwise_cpu"].map(|name| self.kernel(&POINTWISE, name));
            run(kernels, args, START_BLOCKS, wanted(START_BLOCKS, points.blocks))?;
        }
        for part in [&later.paired, &later.whole] {
            let wanted = wanted(part.first, part.blocks);
            if wanted == 0 {
                continue;
            }
            let mut args = shared.geometry(self.kind);
            let names = if std::ptr::eq(part, &later.paired) {
                args.extend([part.limits.arg(), later.ranges.arg(), part.nodes.arg(), part.degrees.arg()]);
                args.extend([shared.of_triangles.centres.arg(), count(shared.of_triangles.stride)]);
                ["fill_blocks_paired_gpu", "fill_blocks_paired_cpu"]
            } else {
                let second = 4.0 * alpha * LN_2 * part.scale;
                args.extend([Arg::real::<T>(part.scale), Arg::real::<T>(alpha), Arg::real::<T>(second)]);
                args.extend([later.ranges.arg(), part.nodes.arg(), later.factors.arg()]);
                args.extend([part.degrees.arg(), Arg::real::<T>(part.width)]);
                ["fill_blocks_gpu", "fill_blocks_cpu"]
            };
            let kernels = names.map(|name| self.kernel(&MOMENTS, name).with(&[("DEGREE", later.degree)]));
            run(kernels, args, part.first, wanted)?;
        }
        Ok(())
    }
}
