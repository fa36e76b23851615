//! Coordinate files of real numbers in memory, read by several threads.

use super::read::{Field, is_plausible, is_repeated, number, parse_header, tokens, whole};
use super::{MatrixMarket, Storage, Symmetry};
use crate::runtime::host;

/// Fewer bytes than this are not worth a thread.
const BYTES_PER_THREAD: usize = 1 << 19;

/// Entries with their positions.
type Entries = Vec<(usize, usize, f64)>;

/// What the lines of a file's body must be.
#[derive(Clone, Copy)]
struct Body {
    rows: usize,
    cols: usize,
    field: Field,
    symmetry: Symmetry,
}

/// Bytes of a file's beginning that tell whether [`read`] is for it.
pub(super) const HEAD: usize = 1 << 16;
/// Longest line that entries have, on average, in a file that is read as a whole.
const LONG_LINE: u64 = 256;

/// Whether a file of so many bytes that begins like this is worth reading as a whole: not a hole of a terabyte.
pub(super) fn is_for(head: &[u8], bytes: u64) -> bool {
    let plausible = |entries: usize| bytes / LONG_LINE <= entries as u64;
    bytes >= 2 * BYTES_PER_THREAD as u64 && begin(head).is_some_and(|(_, entries, _)| plausible(entries))
}

/// What the first lines of a coordinate file of real numbers say, the number of entries, and what follows.
fn begin(text: &[u8]) -> Option<(Body, usize, &[u8])> {
    let (first, mut rest) = line(text);
    let header = String::from_utf8_lossy(first).to_ascii_lowercase();
    let (array, field, symmetry) = parse_header(&header).ok()?;
    if array || field == Field::Complex {
        return None;
    }
    let sizes = loop {
        let (next, after) = line(rest);
        if after.is_empty() {
            return None;
        }
        rest = after;
        if next.iter().find(|byte| !byte.is_ascii_whitespace()).is_some_and(|&byte| byte != b'%') {
            break next;
        }
    };
    let sizes: Vec<usize> = tokens(sizes).map(|token| whole(token).ok()).collect::<Option<_>>()?;
    let [rows, cols, entries] = sizes[..] else { return None };
    let is_possible = (symmetry == Symmetry::General || rows == cols) && is_plausible(rows, cols, entries);
    let is_possible = is_possible && !is_repeated(rows, cols, entries);
    is_possible.then_some((Body { rows, cols, field, symmetry }, entries, rest))
}

/// The matrix, or `None` where the file is of another kind, is short, or is not as it should be: then the sequential reader says why.
pub(super) fn read(text: &[u8]) -> Option<MatrixMarket> {
    if text.len() < 2 * BYTES_PER_THREAD {
        return None;
    }
    let (body, entries, rest) = begin(text)?;
    let Body { rows, cols, symmetry, .. } = body;
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(host::MOST_THREADS);
    let parts = (rest.len() / BYTES_PER_THREAD).clamp(1, threads);
    let copies = if symmetry == Symmetry::General { 1 } else { 2 };
    // The shortest line takes four bytes.
    let room = entries.min(rest.len() / 4).checked_mul(copies)?;
    let pieces = cut(rest, parts);
    let (own, others) = pieces.split_first()?;
    let (all, read) = std::thread::scope(|scope| {
        let parse = |piece, room| move || body.parse(piece, room);
        // A thread that cannot be made leaves its work to this one.
        let others: Vec<_> =
            others.iter().map(|&piece| (piece, host::spawn(scope, parse(piece, room / parts + 1)))).collect();
        let first = body.parse(own, room);
        others.into_iter().fold(first, |found, (piece, thread)| {
            let (mut all, read) = found?;
            let (more, count) = match thread {
                Some(thread) => thread.join().ok()??,
                None => body.parse(piece, room / parts + 1)?,
            };
            all.extend_from_slice(&more);
            Some((all, read + count))
        })
    })?;
    if read != entries {
        return None;
    }
    Some(MatrixMarket { rows, cols, symmetry, storage: Storage::Coordinate(all) })
}

/// The first line without its end, and what follows.
fn line(text: &[u8]) -> (&[u8], &[u8]) {
    match text.iter().position(|&byte| byte == b'\n') {
        Some(end) => (&text[..end], &text[end + 1..]),
        None => (text, &[]),
    }
}

/// About equal parts that end with lines.
fn cut(text: &[u8], parts: usize) -> Vec<&[u8]> {
    let mut pieces = Vec::with_capacity(parts);
    let mut start = 0;
    for part in 1..=parts {
        let near = (text.len() / parts * part).max(start);
        let end = match text[near..].iter().position(|&byte| byte == b'\n') {
            Some(more) if part < parts => near + more + 1,
            _ => text.len(),
        };
        pieces.push(&text[start..end]);
        start = end;
    }
    pieces
}

impl Body {
    /// The entries of some lines, mirror images included, and the number of lines.
    fn parse(&self, text: &[u8], room: usize) -> Option<(Entries, usize)> {
        let mut out = Vec::new();
        out.try_reserve(room).ok()?;
        let mut read = 0;
        let mut rest = text;
        while !rest.is_empty() {
            let (i, after) = token(rest);
            if i.first().is_none_or(|&byte| byte == b'%') {
                rest = line(rest).1;
                continue;
            }
            let (j, after) = token(after);
            let (value, after) = if self.field == Field::Pattern { (&b"1"[..], after) } else { token(after) };
            let (nothing, after) = token(after);
            if !nothing.is_empty() {
                return None;
            }
            rest = after.get(1..).unwrap_or_default();
            let (i, j) = (whole(i).ok()?.checked_sub(1)?, whole(j).ok()?.checked_sub(1)?);
            if i >= self.rows || j >= self.cols || value.is_empty() {
                return None;
            }
            let value = number(value, self.field).ok()?;
            read += 1;
            out.push((i, j, value));
            if self.symmetry != Symmetry::General {
                if i < j || i == j && self.symmetry == Symmetry::SkewSymmetric {
                    return None;
                }
                if i != j {
                    out.push((j, i, self.symmetry.mirrored(value)));
                }
            }
        }
        Some((out, read))
    }
}

/// The next token of the line, empty at its end, and what follows: at the end of the line, its end.
fn token(text: &[u8]) -> (&[u8], &[u8]) {
    let is_blank = |byte: u8| byte != b'\n' && byte.is_ascii_whitespace();
    let start = text.iter().position(|&byte| !is_blank(byte)).unwrap_or(text.len());
    let text = &text[start..];
    let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
    text.split_at(end)
}
