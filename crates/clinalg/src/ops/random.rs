//! Random numbers and fingerprints that are the same on every device.

use std::ops::Range;

use num_traits::Zero;

use super::reduce::REDUCE_GROUPS_PER_UNIT;
use crate::runtime::kernels::random;
use crate::runtime::{self, In, KernelFamily, Out};
use crate::{Buffer, Context, Error, Precision, Result, Scalar, Vector};

/// The increment of SplitMix64.
const INCREMENT: u64 = 0x9e37_79b9_7f4a_7c15;

/// Uniform random numbers, each a function of the seed and its position, so that every device and the host produce the same
/// ones.
///
/// Number i, counted from 0, is output i of the generator SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, "Fast splittable
/// pseudorandom number generators", 2014), of which `f64` takes the high 53 bits and `f32` the high 24. A complex element
/// takes two numbers, the first for the real part.
///
/// ```
/// use clinalg::{Context, ops::Uniform};
///
/// let numbers = Uniform::new(7, -1.0..1.0)?;
/// let on_device = numbers.vector::<f32>(&Context::global()?, 1000)?.to_vec()?;
/// let mut on_host = vec![0.0; 1000];
/// numbers.fill_host(&mut on_host);
/// assert_eq!(on_device, on_host);
/// # Ok::<(), clinalg::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Uniform {
    seed: u64,
    low: f64,
    width: f64,
}

impl Uniform {
    /// Numbers in a range; rounding can give its end.
    ///
    /// # Errors
    /// [`Error::Value`] unless the length of the range is a power of two, such as 2 or 0.5: products are then exact, so that
    /// results agree with and without fused multiply-add. The length has to be from 2^-100 to 2^100, the start at most
    /// 2^100 in magnitude.
    pub fn new(seed: u64, range: Range<f64>) -> Result<Uniform> {
        let width = range.end - range.start;
        let (least, most) = (2.0_f64.powi(-100), 2.0_f64.powi(100));
        let is_power = (least..=most).contains(&width) && width.to_bits() << 12 == 0;
        if !is_power || range.start.is_nan() || range.start.abs() > most {
            return Err(Error::value(
                "range",
                "a power of two as its length",
                format!("from {} to {}", range.start, range.end),
            ));
        }
        Ok(Uniform { seed, low: range.start, width })
    }

    /// The numbers after the first `count`: those of a part of a longer vector.
    ///
    /// ```
    /// use clinalg::ops::Uniform;
    ///
    /// let numbers = Uniform::new(7, -1.0..1.0)?;
    /// let (mut all, mut rest) = (vec![0.0; 5], vec![0.0; 2]);
    /// numbers.fill_host(&mut all);
    /// numbers.skip(3).fill_host(&mut rest);
    /// assert_eq!(rest, all[3..]);
    /// # Ok::<(), clinalg::Error>(())
    /// ```
    pub fn skip(&self, count: usize) -> Uniform {
        // The seed and the position enter as their sum.
        Uniform { seed: self.seed.wrapping_add((count as u64).wrapping_mul(INCREMENT)), ..*self }
    }

    /// The first `len` numbers as a vector.
    ///
    /// # Errors
    /// As [`Uniform::fill`].
    pub fn vector<T: Scalar>(&self, context: &Context, len: usize) -> Result<Vector<T>> {
        let mut out = Vector::uninit(context, len)?;
        self.fill(&mut out)?;
        Ok(out)
    }

    /// Fills a vector with the first numbers.
    ///
    /// # Errors
    /// [`Error::NoFp64`] if T is in double precision and the device has none; [`Error::Allocation`].
    pub fn fill<T: Scalar>(&self, out: &mut Vector<T>) -> Result<()> {
        let (context, n) = (out.context(), out.len() * T::COMPONENTS);
        if n == 0 {
            return Ok(());
        }
        let (low, width) = (T::Real::from_f64(self.low), T::Real::from_f64(self.width));
        // Kernels' `ulong` arguments are passed as `usize`.
        let (seed, out) = (self.seed as usize, Out::parts(out.buffer()));
        random::Program::<T::Real>::new().fill_uniform(context, share(context, n), n, seed, low, width, out)
    }

    /// Fills an array on the host with the first numbers.
    pub fn fill_host<T: Scalar>(&self, out: &mut [T]) {
        let (low, width) = (T::Real::from_f64(self.low), T::Real::from_f64(self.width));
        let mut position = 0;
        let mut next = || {
            let bits = splitmix(self.seed, position);
            position += 1;
            // Integers of so few bits, and their quotients by powers of two, are exact.
            let unit = match T::PRECISION {
                Precision::F64 => (bits >> 11) as f64 / (1_u64 << 53) as f64,
                Precision::F32 => (bits >> 40) as f64 / (1_u64 << 24) as f64,
            };
            low + width * T::Real::from_f64(unit)
        };
        for value in out {
            let re = next();
            *value = T::from_parts(re, if T::IS_COMPLEX { next() } else { T::Real::zero() });
        }
    }
}

/// Output `position` of SplitMix64.
fn splitmix(seed: u64, position: u64) -> u64 {
    let mut z = seed.wrapping_add(position.wrapping_add(1).wrapping_mul(INCREMENT));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A 64-bit hash of the elements. Vectors of one type and length that agree bit for bit have equal fingerprints, where all
/// NaNs count as equal and 0 and -0 differ; others differ except with a probability of about 2^-64. Only partial sums are
/// copied to the host.
///
/// # Errors
/// [`Error::Allocation`], and those of the device.
pub fn fingerprint<T: Scalar>(x: &Vector<T>) -> Result<u64> {
    let (context, n) = (x.context(), x.len() * T::COMPONENTS);
    if n == 0 {
        return Ok(0);
    }
    let range = share(context, n);
    let partial = Buffer::zeroed(context, range.items())?;
    let program = random::Program::<T::Real>::new();
    program.fingerprint(context, range, n, In::parts(x.buffer()), Out::shared(&partial))?;
    Ok(partial.to_vec()?.into_iter().fold(0, u64::wrapping_add))
}

/// Enough work-items to saturate the memory bandwidth; each processes several elements of a long vector.
fn share(context: &Context, n: usize) -> runtime::Range {
    match context.family() {
        KernelFamily::Gpu => {
            let local = context.local();
            runtime::Range::d1(n.div_ceil(local).min(context.units() * REDUCE_GROUPS_PER_UNIT) * local, local)
        }
        KernelFamily::Cpu => runtime::Range::d1(context.chunks().min(n), 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_splitmix64() {
        // From the reference implementation by S. Vigna with the seed 1234567.
        let expected =
            [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821];
        assert_eq!([0, 1, 2, 3, 4].map(|position| splitmix(1234567, position)), expected);
    }

    #[test]
    fn ranges_have_a_power_of_two_as_their_length() {
        assert!(Uniform::new(1, -1.0..1.0).is_ok() && Uniform::new(1, 1.0..1.5).is_ok());
        for (low, high) in
            [(0.0, 3.0), (1.0, 1.0), (1.0, 0.0), (f64::NAN, 1.0), (0.0, f64::INFINITY), (0.0, 2.0_f64.powi(200))]
        {
            assert!(Uniform::new(1, low..high).is_err(), "{low} {high}");
        }
    }
}
