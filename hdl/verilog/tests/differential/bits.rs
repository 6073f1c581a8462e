//! Values of several ports side by side, in 32-bit words.

use num_bigint::BigUint;

/// A row of bits; the first value pushed has the lowest bits.
#[derive(Default)]
pub struct Packed {
    words: Vec<u32>,
    length: usize,
}

impl Packed {
    pub fn push(&mut self, value: &BigUint, width: usize) {
        self.words.resize((self.length + width).div_ceil(32), 0);
        for bit in 0..width {
            if value.bit(bit as u64) {
                let at = self.length + bit;
                self.words[at / 32] |= 1 << (at % 32);
            }
        }
        self.length += width;
    }

    pub fn bytes(&self) -> impl Iterator<Item = u8> + '_ {
        self.words.iter().flat_map(|w| w.to_le_bytes())
    }
}

/// The value of `width` bits from bit `at` of words in little-endian bytes.
pub fn unpack(bytes: &[u8], at: usize, width: usize) -> BigUint {
    let mut value = BigUint::ZERO;
    for bit in 0..width {
        let at = at + bit;
        value.set_bit(bit as u64, bytes[at / 8] >> (at % 8) & 1 == 1);
    }
    value
}
