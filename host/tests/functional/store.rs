//! Sparse memory for the fake.

use std::collections::HashMap;

const PAGE: u64 = 4096;

/// Bytes at addresses; bytes that were never written are zero.
#[derive(Default)]
pub struct Store(HashMap<u64, Box<[u8]>>);

impl Store {
    /// Calls `f(page, offset in page, offset in range, bytes)` for each page of a range.
    fn each(address: u64, length: usize, mut f: impl FnMut(u64, usize, usize, usize)) {
        let mut done = 0;
        while done < length {
            let at = address + done as u64;
            let offset = (at % PAGE) as usize;
            let bytes = (PAGE as usize - offset).min(length - done);
            f(at / PAGE, offset, done, bytes);
            done += bytes;
        }
    }

    pub fn read(&self, address: u64, bytes: &mut [u8]) {
        Self::each(address, bytes.len(), |page, offset, done, n| {
            let to = &mut bytes[done..done + n];
            match self.0.get(&page) {
                Some(page) => to.copy_from_slice(&page[offset..offset + n]),
                None => to.fill(0),
            }
        });
    }

    pub fn write(&mut self, address: u64, bytes: &[u8]) {
        Self::each(address, bytes.len(), |page, offset, done, n| {
            let from = &bytes[done..done + n];
            // Zeros are not stored into missing pages, so a gibibyte of them costs nothing.
            if self.0.contains_key(&page) || from.iter().any(|byte| *byte != 0) {
                let page = (self.0.entry(page)).or_insert_with(|| vec![0; PAGE as usize].into());
                page[offset..offset + n].copy_from_slice(from);
            }
        });
    }
}
