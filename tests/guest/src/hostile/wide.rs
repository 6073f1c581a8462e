//! Stores and loads of more than 8 bytes at once.

use std::arch::asm;

/// Instructions that load or store more than 8 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// `movups`, 16 bytes.
    Sse,
    /// `vmovups`, 32 bytes.
    Avx,
    /// `vmovups`, 64 bytes.
    Avx512,
    /// `movdir64b`, 64 bytes at once, aligned.
    Movdir64b,
}

/// Returns the instructions that this processor and kernel have.
pub(super) fn usable() -> Vec<Way> {
    /// CPUID, leaf 7, ECX (Intel SDM, volume 2, "CPUID").
    const MOVDIR64B: u32 = 1 << 28;
    let features = std::arch::x86_64::__cpuid_count(7, 0).ecx;
    let all = [
        (Way::Sse, true),
        (Way::Avx, is_x86_feature_detected!("avx")),
        (Way::Avx512, is_x86_feature_detected!("avx512f")),
        (Way::Movdir64b, features & MOVDIR64B != 0),
    ];
    let there = all.into_iter().filter(|(_, there)| *there);
    there.map(|(way, _)| way).collect()
}

impl Way {
    /// Returns the number of bytes that the instruction moves.
    pub(super) fn bytes(self) -> usize {
        match self {
            Self::Sse => 16,
            Self::Avx => 32,
            Self::Avx512 | Self::Movdir64b => 64,
        }
    }

    /// Returns whether the instruction stores only where the address is a multiple of these bytes.
    pub(super) fn is_aligned(self) -> bool {
        self == Self::Movdir64b
    }

    /// Stores the first of these words.
    ///
    /// # Safety
    /// The bytes at `to` may be written, and the processor has the instruction.
    pub(super) unsafe fn store(self, to: *mut u8, words: &[u64; 8]) {
        let from = words.as_ptr();
        // SAFETY: by contract. The registers are named, and the words are as many as the longest takes.
        unsafe {
            match self {
                Self::Sse => asm!(
                    "movups {v}, [{from}]", "movups [{to}], {v}",
                    v = out(xmm_reg) _, from = in(reg) from, to = in(reg) to, options(nostack)
                ),
                Self::Avx => asm!(
                    "vmovups ymm0, [{from}]", "vmovups [{to}], ymm0", "vzeroupper",
                    from = in(reg) from, to = in(reg) to, out("xmm0") _, options(nostack)
                ),
                Self::Avx512 => asm!(
                    "vmovups zmm0, [{from}]", "vmovups [{to}], zmm0", "vzeroupper",
                    from = in(reg) from, to = in(reg) to, out("xmm0") _, options(nostack)
                ),
                Self::Movdir64b => asm!(
                    "movdir64b {to}, [{from}]",
                    from = in(reg) from, to = in(reg) to, options(nostack)
                ),
            }
        }
    }

    /// Loads from `from`, and discards the value.
    ///
    /// # Safety
    /// The bytes at `from` may be read, and the processor has the instruction.
    pub(super) unsafe fn load(self, from: *const u8) {
        // SAFETY: by contract.
        unsafe {
            match self {
                Self::Sse => asm!(
                    "movups {v}, [{from}]",
                    v = out(xmm_reg) _, from = in(reg) from, options(nostack)
                ),
                Self::Avx => asm!(
                    "vmovups ymm0, [{from}]", "vzeroupper",
                    from = in(reg) from, out("xmm0") _, options(nostack)
                ),
                // No other instruction loads 64 bytes at once.
                Self::Avx512 | Self::Movdir64b if is_x86_feature_detected!("avx512f") => asm!(
                    "vmovups zmm0, [{from}]", "vzeroupper",
                    from = in(reg) from, out("xmm0") _, options(nostack)
                ),
                Self::Avx512 | Self::Movdir64b => {}
            }
        }
    }
}
