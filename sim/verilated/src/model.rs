//! An instance of a design.

use std::ffi::{CStr, c_uint, c_void};

use crate::{Direction, Error, Fault, Library, Port, Result};

struct Slot {
    /// Address of a member of the model, which has `storage_bytes(width)` bytes (asserted in the shim).
    pointer: *mut u8,
    width: u32,
}

/// One instance of a design.
///
/// Values have the width of their port: setting a port drops the bits above, like a Verilog assignment, and
/// [`Model::get`] returns the low 64 bits of a wider port.
pub struct Model {
    handle: *mut c_void,
    slots: Box<[Slot]>,
    finished: bool,
    fault: Option<Fault>,
    library: Library,
}

// SAFETY: an instance is the only owner of everything that its pointers lead to (Verilator's context belongs to the
// instance, and is set for the calling thread at every call), and every access needs `&mut self` or reads memory that
// only `&mut self` writes.
unsafe impl Send for Model {}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model")
            .field("top", &self.library.top())
            .field("finished", &self.finished)
            .field("fault", &self.fault)
            .finish()
    }
}

fn mask(width: u32) -> u64 {
    if width >= 64 {
        u64::MAX
    } else {
        (1 << width) - 1
    }
}

impl Library {
    /// Creates an instance whose inputs are zero and settled; uninitialised registers take the same pseudo-random
    /// values every time.
    ///
    /// # Errors
    /// If the design's constructor or an initial block fails.
    pub fn instance(&self) -> Result<Model> {
        self.instance_seeded(1)
    }

    /// Creates an instance whose uninitialised registers depend on `seed`.
    ///
    /// # Errors
    /// As [`Library::instance`].
    pub fn instance_seeded(&self, seed: u32) -> Result<Model> {
        Model::new(self, seed)
    }
}

impl Model {
    pub(crate) fn new(library: &Library, seed: u32) -> Result<Self> {
        let failed = |message: &str| Error::Instance {
            top: library.top().to_owned(),
            message: message.to_owned(),
        };
        // Verilator interprets 0 as "choose one", which would not be repeatable.
        let seed = (seed & 0x7FFF_FFFF).max(1);
        // SAFETY: the function may be called at any time; it reports a failure as null.
        let handle = unsafe { (library.functions().new)(seed) };
        if handle.is_null() {
            return Err(failed("its constructor failed"));
        }
        let mut model = Self {
            handle,
            slots: Box::default(),
            finished: false,
            fault: None,
            library: library.clone(),
        };
        let mut slots = Vec::with_capacity(library.ports().len());
        for (index, port) in library.ports().iter().enumerate() {
            // SAFETY: `handle` is valid; the function returns null for an index outside the table.
            let pointer = unsafe { (library.functions().port)(handle, index as c_uint) };
            if pointer.is_null() {
                return Err(failed("its port table is damaged"));
            }
            slots.push(Slot {
                pointer: pointer.cast(),
                width: port.width,
            });
        }
        model.slots = slots.into_boxed_slice();
        // Inputs start at random values, like registers. A clock that starts at 1 would lose its first edge, so the
        // inputs are set, and the first evaluation, which runs the initial blocks, takes place here.
        for (index, port) in library.ports().iter().enumerate() {
            if port.direction == Direction::Input {
                model.set(Port::new(index), 0);
            }
        }
        model.eval().map_err(|fault| failed(&fault.message))?;
        Ok(model)
    }

    /// Returns the library that this is an instance of.
    pub fn library(&self) -> &Library {
        &self.library
    }

    /// Settles the design for the present values of its inputs.
    ///
    /// # Errors
    /// If the design stops itself; from then on every call returns the same fault.
    pub fn eval(&mut self) -> Result<(), Fault> {
        if self.fault.is_none() {
            // SAFETY: `handle` came from `new` and is freed only in `drop`.
            match unsafe { (self.library.functions().eval)(self.handle) } {
                0 => return Ok(()),
                1 => {
                    self.finished = true;
                    return Ok(());
                }
                _ => {
                    // SAFETY: as above; the text belongs to the instance and is copied here.
                    let text =
                        unsafe { CStr::from_ptr((self.library.functions().fault)(self.handle)) };
                    self.fault = Some(Fault {
                        message: text.to_string_lossy().into_owned(),
                    });
                }
            }
        }
        self.fault.clone().map_or(Ok(()), Err)
    }

    /// Whether the design has called `$finish`.
    pub fn finished(&self) -> bool {
        self.finished
    }

    /// Sets a port to the low bits of `value`; the bits above 64 become zero.
    #[inline]
    pub fn set(&mut self, port: Port, value: u64) {
        let Some(slot) = self.slots.get(port.index()) else {
            return;
        };
        let value = value & mask(slot.width);
        // SAFETY: the member has exactly the size written in each arm (asserted in the shim), and the alignment of its
        // C++ type, which is that of the type written.
        unsafe {
            match slot.width {
                0..=8 => slot.pointer.write(value as u8),
                9..=16 => slot.pointer.cast::<u16>().write(value as u16),
                17..=32 => slot.pointer.cast::<u32>().write(value as u32),
                33..=64 => slot.pointer.cast::<u64>().write(value),
                width => {
                    let words = slot.pointer.cast::<u32>();
                    words.write(value as u32);
                    words.add(1).write((value >> 32) as u32);
                    for index in 2..width.div_ceil(32) as usize {
                        words.add(index).write(0);
                    }
                    // 65 to 95 bits: no bit of a u64 lies above the port, so no mask is needed.
                }
            }
        }
    }

    /// Returns the value of a port; its low 64 bits if it is wider.
    #[inline]
    pub fn get(&self, port: Port) -> u64 {
        let Some(slot) = self.slots.get(port.index()) else {
            return 0;
        };
        // SAFETY: as in `set`; a wide member has at least three words.
        unsafe {
            match slot.width {
                0..=8 => u64::from(slot.pointer.read()),
                9..=16 => u64::from(slot.pointer.cast::<u16>().read()),
                17..=32 => u64::from(slot.pointer.cast::<u32>().read()),
                33..=64 => slot.pointer.cast::<u64>().read(),
                _ => {
                    let words = slot.pointer.cast::<u32>();
                    u64::from(words.read()) | u64::from(words.add(1).read()) << 32
                }
            }
        }
    }

    /// Sets a port from 32-bit words, the least significant first. Missing words are zero; words and bits beyond the
    /// port are dropped.
    pub fn set_words(&mut self, port: Port, words: &[u32]) {
        let word = |index: usize| words.get(index).copied().unwrap_or(0);
        let width = self.width(port);
        if width <= 64 {
            self.set(port, u64::from(word(0)) | u64::from(word(1)) << 32);
            return;
        }
        let Some(slot) = self.slots.get(port.index()) else {
            return;
        };
        let count = width.div_ceil(32) as usize;
        // SAFETY: the member is an array of `count` words (asserted in the shim).
        let target = unsafe { std::slice::from_raw_parts_mut(slot.pointer.cast::<u32>(), count) };
        for (index, target) in target.iter_mut().enumerate() {
            *target = word(index);
        }
        if !width.is_multiple_of(32)
            && let Some(last) = target.last_mut()
        {
            *last &= (1 << (width % 32)) - 1;
        }
    }

    /// Reads a port into 32-bit words, the least significant first. Words beyond the port become zero; a port longer
    /// than `words` is truncated.
    pub fn get_words(&self, port: Port, words: &mut [u32]) {
        let width = self.width(port);
        words.fill(0);
        if width <= 64 {
            let value = self.get(port);
            for (target, word) in words.iter_mut().zip([value as u32, (value >> 32) as u32]) {
                *target = word;
            }
            return;
        }
        for (target, word) in words.iter_mut().zip(self.words(port)) {
            *target = *word;
        }
    }

    /// Returns the words of a port wider than 64 bits, without a copy; empty for a narrower one.
    #[inline]
    pub fn words(&self, port: Port) -> &[u32] {
        match self.slots.get(port.index()) {
            Some(slot) if slot.width > 64 => {
                // SAFETY: the member is an array of this many words (asserted in the shim), and no code writes it while
                // `self` is borrowed.
                unsafe {
                    std::slice::from_raw_parts(
                        slot.pointer.cast::<u32>(),
                        slot.width.div_ceil(32) as usize,
                    )
                }
            }
            _ => &[],
        }
    }

    /// Sets a port from bytes, the least significant first, by the rules of [`Model::set_words`].
    #[inline]
    pub fn set_bytes(&mut self, port: Port, bytes: &[u8]) {
        let Some(slot) = self.slots.get(port.index()) else {
            return;
        };
        if slot.width > 64
            && slot.width.is_multiple_of(32)
            && bytes.len() * 8 == slot.width as usize
        {
            let target = slot.pointer.cast::<u32>();
            for (index, chunk) in bytes.chunks_exact(4).enumerate() {
                let word = u32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]);
                // SAFETY: `bytes` has exactly the size of the member, so `index` lies within it.
                unsafe { target.add(index).write(word) };
            }
            return;
        }
        let words: Vec<u32> = bytes
            .chunks(4)
            .map(|chunk| {
                let mut word = [0; 4];
                word[..chunk.len()].copy_from_slice(chunk);
                u32::from_le_bytes(word)
            })
            .collect();
        self.set_words(port, &words);
    }

    /// Reads a port into bytes, the least significant first, by the rules of
    /// [`Model::get_words`].
    #[inline]
    pub fn get_bytes(&self, port: Port, bytes: &mut [u8]) {
        if self.width(port) <= 64 {
            bytes.fill(0);
            for (target, byte) in bytes.iter_mut().zip(self.get(port).to_le_bytes()) {
                *target = byte;
            }
            return;
        }
        let words = self.words(port);
        let covered = (words.len() * 4).min(bytes.len());
        bytes[covered..].fill(0);
        for (chunk, word) in bytes[..covered].chunks_mut(4).zip(words) {
            let size = chunk.len();
            chunk.copy_from_slice(&word.to_le_bytes()[..size]);
        }
    }

    /// Returns the width of a port in bits; 0 for a handle of another library for which this one has no port.
    #[inline]
    pub fn width(&self, port: Port) -> u32 {
        self.slots.get(port.index()).map_or(0, |slot| slot.width)
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        // SAFETY: `handle` came from `new` and is not used after this.
        unsafe { (self.library.functions().free)(self.handle) };
    }
}
