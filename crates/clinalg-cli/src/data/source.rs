//! Where the bytes of an array are: behind one another, or in a part of a file that several threads read.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::num::NonZero;
use std::sync::{Mutex, PoisonError};
use std::thread;

use crc32fast::Hasher;

use super::in_threads;

/// Bytes that a thread reads at once, a multiple of those of each element.
const CHUNK: usize = 1 << 18;
/// Fewer bytes are not worth a thread.
const BYTES_PER_THREAD: usize = 1 << 22;
/// More threads wait for the memory.
const MOST_THREADS: usize = 16;

pub(super) enum Source<'a> {
    /// Bytes that come one after the other, such as those of a compressed array.
    Stream(&'a mut dyn Read),
    /// Bytes that stand in a file.
    Part(Part<'a>),
}

impl Read for Source<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize> {
        match self {
            Source::Stream(stream) => stream.read(bytes),
            Source::Part(part) => part.read(bytes),
        }
    }
}

/// Bytes of a file, of which the first have been read.
pub(super) struct Part<'a> {
    file: &'a File,
    start: u64,
    length: u64,
    read: u64,
    hasher: Hasher,
    /// What the hash of all bytes has to be.
    checksum: Option<u32>,
}

impl<'a> Part<'a> {
    pub(super) fn new(file: &'a File, start: u64, length: u64, checksum: Option<u32>) -> Part<'a> {
        Part { file, start, length, read: 0, hasher: Hasher::new(), checksum }
    }

    /// Bytes that have not been read.
    pub(super) fn left(&self) -> u64 {
        self.length - self.read
    }

    /// Fills `out` with the numbers of the elements that are left, of `size` bytes each. `decode` makes the numbers and returns whether they are
    /// what is expected; so does this.
    ///
    /// # Errors
    /// Those of the file; [`ErrorKind::InvalidData`] for another checksum.
    pub(super) fn fill<N: Send>(
        mut self,
        out: &mut [N],
        size: usize,
        decode: impl Fn(&[u8], &mut [N]) -> bool + Sync,
    ) -> Result<bool> {
        let threads = thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS);
        let threads = (out.len() * size / BYTES_PER_THREAD).clamp(1, threads);
        let each = out.len().div_ceil(threads).max(1);
        let (file, first) = (self.file, self.start + self.read);
        let mut done: Vec<_> = out.chunks(each).map(|_| Mutex::new(None)).collect();
        in_threads(threads, out.chunks_mut(each).enumerate(), |(k, out)| {
            let result = read_range(file, first + (k * each * size) as u64, out, size, &decode);
            *done[k].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        });
        let mut is_sound = true;
        for result in &mut done {
            let result = result.get_mut().unwrap_or_else(PoisonError::into_inner).take();
            let (hasher, sound) = result.expect("all ranges were read")?;
            self.hasher.combine(&hasher);
            is_sound &= sound;
        }
        match self.checksum {
            Some(checksum) if checksum != self.hasher.finalize() => {
                Err(Error::new(ErrorKind::InvalidData, "its checksum is another one"))
            }
            _ => Ok(is_sound),
        }
    }
}

impl Read for Part<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize> {
        let count = bytes.len().min(usize::try_from(self.left()).unwrap_or(usize::MAX));
        read_exact_at(self.file, &mut bytes[..count], self.start + self.read)?;
        self.hasher.update(&bytes[..count]);
        self.read += count as u64;
        Ok(count)
    }
}

/// Fills `out` with the elements that begin at a byte of the file. Returns the hash of their bytes, and whether they are what is expected.
fn read_range<N>(
    file: &File,
    mut at: u64,
    out: &mut [N],
    size: usize,
    decode: impl Fn(&[u8], &mut [N]) -> bool,
) -> Result<(Hasher, bool)> {
    let (mut hasher, mut is_sound) = (Hasher::new(), true);
    let mut bytes = vec![0; CHUNK.min(out.len() * size)];
    for out in out.chunks_mut(CHUNK / size) {
        let bytes = &mut bytes[..out.len() * size];
        read_exact_at(file, bytes, at)?;
        at += bytes.len() as u64;
        hasher.update(bytes);
        is_sound &= decode(bytes, out);
    }
    Ok((hasher, is_sound))
}

#[cfg(unix)]
fn read_exact_at(file: &File, bytes: &mut [u8], at: u64) -> Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut bytes: &mut [u8], mut at: u64) -> Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, at)? {
            0 => return Err(ErrorKind::UnexpectedEof.into()),
            count => (bytes, at) = (&mut bytes[count..], at + count as u64),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const START: usize = 7;

    /// A file with these numbers behind other bytes.
    fn file(numbers: &[u32]) -> (File, Vec<u8>) {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[&[1; START][..], &bytes].concat()).unwrap();
        (file, bytes)
    }

    fn decode(bytes: &[u8], out: &mut [u32]) -> bool {
        out.iter_mut().zip(bytes.chunks_exact(4)).for_each(|(v, b)| *v = u32::from_le_bytes(b.try_into().unwrap()));
        !out.contains(&u32::MAX)
    }

    #[test]
    fn threads_read_what_stands_in_the_file() {
        // A remainder for the last thread and the last chunk; the first numbers are read as a stream.
        for count in [3, CHUNK / 4 + 1, 5 * BYTES_PER_THREAD / 4 + 3] {
            let numbers: Vec<u32> = (0..count as u32).collect();
            let (file, bytes) = file(&numbers);
            let mut part = Part::new(&file, START as u64, bytes.len() as u64, Some(crc32fast::hash(&bytes)));
            let mut first = [0; 4];
            part.read_exact(&mut first).unwrap();
            assert_eq!((first, part.left()), ([0; 4], bytes.len() as u64 - 4));
            let mut found = vec![0; count - 1];
            assert!(part.fill(&mut found, 4, decode).unwrap());
            assert_eq!(found, numbers[1..]);
        }
    }

    #[test]
    fn faults_are_found_wherever_they_are() {
        let mut numbers = vec![7; 3 * BYTES_PER_THREAD / 4];
        let mut found = numbers.clone();
        for place in [0, numbers.len() / 2, numbers.len() - 1] {
            let (sound, bytes) = file(&numbers);
            numbers[place] = u32::MAX;
            let (changed, _) = file(&numbers);
            numbers[place] = 7;
            let mut read = |file: &File, checksum| {
                Part::new(file, START as u64, bytes.len() as u64, checksum).fill(&mut found, 4, decode)
            };
            let checksum = Some(crc32fast::hash(&bytes));
            assert!(read(&sound, checksum).unwrap());
            assert!(!read(&changed, None).unwrap());
            assert_eq!(read(&changed, checksum).unwrap_err().kind(), ErrorKind::InvalidData);
            // A file that has become shorter.
            sound.set_len((START + 4 * place) as u64).unwrap();
            assert_eq!(read(&sound, checksum).unwrap_err().kind(), ErrorKind::UnexpectedEof);
        }
    }
}
