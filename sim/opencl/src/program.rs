//! The program that the FPGA is configured with: kernels, and the text that describes them.
//!
//! Sources of the text's forms: version 23 as the open runtime (intel/fpga-runtime-for-opencl) reads it,
//! `acl_auto_configure.cpp`; versions 13 and 14 as compilers 14.1 to 18.1 put it into their packages. Words are
//! separated by blanks, and in version 23 every group is preceded by the number of its words.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::csr::Csr;
use crate::interface::{ROM_BYTES, Rom};
use crate::kernel::{BYTES as KERNEL_BYTES, Kernel, Work};

/// Offset of the memory organisation in the kernel interface, as the text names it.
const ORGANISATION: u32 = 0x18;
/// Largest work-group.
const LARGEST: u32 = i32::MAX as u32;

/// Version of the text about the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Text {
    /// Compilers 14.1 to 15.1. It does not contain the program's hash.
    V13,
    /// Compilers 16.1 to 18.1. It does not contain the program's hash.
    V14,
    /// The present runtime.
    #[default]
    V23,
}

/// A program in the FPGA.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Name of the board, without blanks.
    pub board: String,
    /// Hash by which the runtime recognizes a program: 40 hexadecimal digits.
    pub hash: String,
    /// Addresses of the memory's banks.
    pub banks: Vec<Range<u64>>,
    /// Version of the kernels' registers.
    pub csr: Csr,
    /// Version of the text.
    pub text: Text,
    /// Place of the text.
    pub rom: Rom,
    /// The kernels.
    pub kernels: Vec<Kernel>,
}

/// The reason why a program is not possible.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// A word of the text is empty or has blanks.
    #[error("{what} {word:?} is not a word: it must not be empty or contain blanks")]
    Word {
        /// The kind of word.
        what: &'static str,
        /// The word.
        word: String,
    },
    /// Registers do not have 256 bytes of their own in CRA space.
    #[error(
        "the registers of kernel {name} at {csr:#x} overlap those of another kernel, are not at a multiple \
         of 256 or are outside CRA space: give each kernel its own range below 0x3fff0000"
    )]
    Csr {
        /// The kernel.
        name: String,
        /// The address of its registers.
        csr: u32,
    },
    /// There is no memory.
    #[error("the program has no memory bank: give at least one")]
    NoMemory,
    /// The text does not fit.
    #[error("the text of {bytes} bytes does not fit into the ROM of {ROM_BYTES}: use `Rom::Cra`")]
    Text {
        /// Its length.
        bytes: usize,
    },
}

impl Program {
    /// Makes a program with one kernel of each kind, for a board with this memory. Its registers have version 5 and its
    /// text version 23.
    pub fn of_all_kinds(board: &str, hash: &str, memory: u64) -> Self {
        let kernel = |name: &str, work, csr| Kernel {
            name: name.to_owned(),
            work,
            csr,
            depth: 1,
        };
        Self {
            board: board.to_owned(),
            hash: hash.to_owned(),
            banks: std::iter::once(0..memory).collect(),
            csr: Csr::default(),
            text: Text::default(),
            rom: Rom::default(),
            kernels: vec![
                kernel("vecadd", Work::VectorAdd, 0x1000),
                kernel("copy", Work::Copy, 0x1100),
                kernel("chatter", Work::Printf, 0x2000),
            ],
        }
    }

    /// Checks whether the program is possible.
    ///
    /// # Errors
    /// [`ProgramError`].
    pub fn check(&self) -> Result<(), ProgramError> {
        let names = self
            .kernels
            .iter()
            .map(|kernel| ("the kernel", &kernel.name));
        let words = [("the board", &self.board), ("the hash", &self.hash)];
        for (what, word) in words.into_iter().chain(names) {
            if word.is_empty() || word.contains(char::is_whitespace) {
                return Err(ProgramError::Word {
                    what,
                    word: word.clone(),
                });
            }
        }
        if self.banks.is_empty() {
            return Err(ProgramError::NoMemory);
        }
        for (index, kernel) in self.kernels.iter().enumerate() {
            let taken = |other: &Kernel| other.csr == kernel.csr;
            if !kernel.csr.is_multiple_of(KERNEL_BYTES)
                || kernel.csr >= 0x3FFF_0000
                || self.kernels[..index].iter().any(taken)
            {
                return Err(ProgramError::Csr {
                    name: kernel.name.clone(),
                    csr: kernel.csr,
                });
            }
        }
        let bytes = self.text().len();
        if self.rom == Rom::Interface && bytes > ROM_BYTES {
            return Err(ProgramError::Text { bytes });
        }
        Ok(())
    }

    /// Returns the text about the program.
    pub fn text(&self) -> String {
        let words = match self.text {
            Text::V13 => self.old(13),
            Text::V14 => self.old(14),
            Text::V23 => self.present(),
        };
        words.join(" ")
    }

    /// Returns the text of version 23.
    fn present(&self) -> Vec<String> {
        let banks = self.banks.len();
        // Device-private memory; several banks are not interleaved.
        let mut memory = words(&[&"DDR", &2, &banks]);
        if banks > 1 {
            memory.extend(words(&[&ORGANISATION, &0]));
        }
        memory.extend(words(&[&2]));
        for bank in &self.banks {
            memory.extend(words(&[&bank.start, &bank.end]));
        }
        memory.extend(words(&[&0, &"-", &0, &"-"]));
        let mut device = words(&[&self.hash, &self.board, &0, &1]);
        device.extend(counted(memory));
        // Host pipes, whether there are argument names (yes), device globals, CRA ring root, mappings, sideband.
        device.extend(words(&[&0, &0, &1, &0, &0, &1, &0, &0, &0]));
        let mut text = words(&[&23]);
        text.extend(counted(device));
        text.extend(words(&[&self.kernels.len()]));
        for kernel in &self.kernels {
            text.extend(counted(present_kernel(kernel, self.csr)));
        }
        text
    }

    /// Returns the text of versions 13 and 14.
    fn old(&self, version: u32) -> Vec<String> {
        let banks = self.banks.len();
        let mut text = words(&[&version, &self.board, &0, &0, &banks]);
        if banks > 1 {
            text.extend(words(&[&1024]));
        }
        for bank in &self.banks {
            text.extend(words(&[&bank.start, &bank.end]));
        }
        text.extend(words(&[&0, &self.kernels.len()]));
        for kernel in &self.kernels {
            let arguments = arguments(kernel.work);
            text.extend(words(&[&kernel.name, &kernel.csr, &KERNEL_BYTES]));
            // Performance monitor, work-group invariance, lanes, profiling.
            text.extend(words(&[&0, &0, &1, &1, &0, &arguments.len()]));
            for argument in arguments {
                let Argument {
                    space,
                    category,
                    bytes,
                    ..
                } = argument;
                text.extend(words(&[&space, &category, &bytes]));
            }
            text.extend(formats(kernel.work, false));
            // Local memories, required work-group size, largest one.
            text.extend(words(&[&0, &0, &0, &0, &LARGEST]));
            if version == 14 {
                text.extend(words(&[&3]));
            }
        }
        text
    }
}

fn words(words: &[&dyn std::fmt::Display]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

/// Puts the number of its words in front of a group.
fn counted(group: Vec<String>) -> Vec<String> {
    let mut counted = vec![group.len().to_string()];
    counted.extend(group);
    counted
}

/// An argument as the texts describe it.
struct Argument {
    /// 0 none, 2 global, 3 constant.
    space: u32,
    /// 0 a value, 1 a memory object.
    category: u32,
    bytes: u32,
    alignment: u32,
    name: String,
    kind: &'static str,
}

fn arguments(work: Work) -> Vec<Argument> {
    let pointer = |index| Argument {
        space: 2,
        category: 1,
        bytes: 8,
        alignment: 1024,
        name: format!("arg{index}"),
        kind: "int*",
    };
    let hidden = |name: &str, category, bytes| Argument {
        space: 0,
        category,
        bytes,
        alignment: 1,
        name: name.to_owned(),
        kind: "0",
    };
    match work {
        Work::VectorAdd => (0..3).map(pointer).collect(),
        Work::Copy => (0..2).map(pointer).collect(),
        Work::Printf => vec![
            Argument {
                space: 0,
                category: 0,
                bytes: 4,
                alignment: 4,
                name: "arg0".to_owned(),
                kind: "int",
            },
            hidden("printf_buffer_start", 1, 8),
            hidden("printf_buffer_size", 0, 4),
        ],
    }
}

/// Returns the formats of a kernel's lines. With `sized`, each has its number of words.
fn formats(work: Work, sized: bool) -> Vec<String> {
    match (work, sized) {
        (Work::Printf, true) => words(&[&1, &2, &0, &"line\\20%d\\0a"]),
        (Work::Printf, false) => words(&[&1, &0, &"line\\20%d\\0a"]),
        (_, true) => words(&[&0, &0]),
        (_, false) => words(&[&0]),
    }
}

fn present_kernel(kernel: &Kernel, csr: Csr) -> Vec<String> {
    let depth = if csr == Csr::V3 { 0 } else { kernel.depth };
    let arguments = arguments(kernel.work);
    let mut text = words(&[&kernel.name, &kernel.csr, &KERNEL_BYTES, &depth]);
    // Performance monitor (2), work-group and work-item invariance, lanes, words of profile.
    text.extend(words(&[&0, &0, &1, &0, &1, &0, &arguments.len()]));
    for argument in arguments {
        let Argument {
            space,
            category,
            bytes,
            alignment,
            name,
            kind,
        } = argument;
        // Buffer locations, type qualifier; name, type; access qualifier, streaming.
        let group = words(&[
            &space, &category, &bytes, &alignment, &0, &0, &name, &kind, &0, &0,
        ]);
        text.extend(counted(group));
    }
    text.extend(formats(kernel.work, true));
    // Local memories, required work-group size, largest one (a value), dimensions, global offset, SYCL,
    // streaming control.
    text.extend(words(&[&0, &0, &0, &0, &0, &1, &LARGEST, &3, &1, &0, &0]));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "0123456789abcdef0123456789abcdef01234567";

    fn program() -> Program {
        Program::of_all_kinds("sim_board", HASH, 1 << 31)
    }

    #[test]
    fn the_text_that_the_open_runtime_reads() {
        // Written by a separate program, whose texts the open runtime accepts.
        let expected = "23 24 0123456789abcdef0123456789abcdef01234567 sim_board 0 1 10 DDR 2 1 2 0 2147483648 \
            0 - 0 - 0 0 1 0 0 1 0 0 0 3 57 vecadd 4096 256 1 0 0 1 0 1 0 3 10 2 1 8 1024 0 0 arg0 int* 0 0 10 2 \
            1 8 1024 0 0 arg1 int* 0 0 10 2 1 8 1024 0 0 arg2 int* 0 0 0 0 0 0 0 0 0 1 2147483647 3 1 0 0 46 \
            copy 4352 256 1 0 0 1 0 1 0 2 10 2 1 8 1024 0 0 arg0 int* 0 0 10 2 1 8 1024 0 0 arg1 int* 0 0 0 0 0 \
            0 0 0 0 1 2147483647 3 1 0 0 59 chatter 8192 256 1 0 0 1 0 1 0 3 10 0 0 4 4 0 0 arg0 int 0 0 10 0 1 \
            8 1 0 0 printf_buffer_start 0 0 0 10 0 0 4 1 0 0 printf_buffer_size 0 0 0 1 2 0 line\\20%d\\0a 0 0 \
            0 0 0 1 2147483647 3 1 0 0";
        assert_eq!(program().text(), expected);
        assert_eq!(program().check(), Ok(()));
    }

    #[test]
    fn texts_of_the_compilers_of_the_time() {
        let mut program = program();
        program.text = Text::V13;
        program.kernels.remove(1);
        let text = "13 sim_board 0 0 1 0 2147483648 0 2 \
            vecadd 4096 256 0 0 1 1 0 3 2 1 8 2 1 8 2 1 8 0 0 0 0 0 2147483647 \
            chatter 8192 256 0 0 1 1 0 3 0 0 4 0 1 8 0 0 4 1 0 line\\20%d\\0a 0 0 0 0 2147483647";
        assert_eq!(program.text(), text);
        program.text = Text::V14;
        program.kernels.clear();
        program.banks = vec![0..1 << 30, 1 << 30..1 << 31];
        assert_eq!(
            program.text(),
            "14 sim_board 0 0 2 1024 0 1073741824 1073741824 2147483648 0 0"
        );
    }

    #[test]
    fn several_banks_have_an_organisation() {
        let mut program = program();
        program.kernels.clear();
        program.banks = vec![0..1 << 30, 1 << 30..1 << 31];
        let text = program.text();
        let memory = " 1 14 DDR 2 2 24 0 2 0 1073741824 1073741824 2147483648 0 - 0 - ";
        assert!(text.contains(memory), "{text}");
    }

    #[test]
    fn impossible_programs_are_refused() {
        let refused = |change: &dyn Fn(&mut Program)| {
            let mut program = program();
            change(&mut program);
            program.check().unwrap_err()
        };
        let word = refused(&|program| program.board = "two words".to_owned());
        assert!(matches!(
            word,
            ProgramError::Word {
                what: "the board",
                ..
            }
        ));
        for csr in [0x1000, 0x1180, 0x3FFF_0000] {
            let error = refused(&|program| program.kernels[2].csr = csr);
            assert!(matches!(error, ProgramError::Csr { csr: at, .. } if at == csr));
        }
        assert_eq!(
            refused(&|program| program.banks.clear()),
            ProgramError::NoMemory
        );
        let long = refused(&|program| program.kernels[0].name = "k".repeat(5000));
        assert!(matches!(long, ProgramError::Text { bytes } if bytes > 5000));
    }
}
