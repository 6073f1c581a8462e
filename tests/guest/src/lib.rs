//! The messages between the tests in the guest and the harness on the host: one line of JSON each way, a question of
//! the guest and the harness's answer, over a serial port.
//!
//! The guest cannot see the inside of the board. FPGA memory, faults of the bus and the board's counters belong to the
//! harness, which runs the simulated board.

mod control;

pub use control::{Control, PORT, VARIABLE};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use serde::{Deserialize, Serialize};

/// A question, or a command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// Fill FPGA memory with a [`pattern`]. Answer: [`Reply::Done`].
    FpgaWrite(Stretch),
    /// Compare FPGA memory with a [`pattern`]. Answer: [`Reply::Compared`].
    FpgaCheck(Stretch),
    /// Have the logic at a stream from the logic offer a [`pattern`], after the words that it still has. Answer:
    /// [`Reply::Done`].
    Feed {
        /// The stream's number.
        stream: u32,
        /// Seed of the pattern.
        seed: u64,
        /// Bytes of the pattern, in whole words.
        length: u64,
    },
    /// Inject a fault into the board. Answer: [`Reply::Done`].
    Fault(Fault),
    /// Configure the whole FPGA, as by JTAG, with this program of the simulated board, as JSON. Block and kernels are
    /// then as after power-up, and FPGA memory has lost its content. Answer: [`Reply::Done`].
    Program(String),
    /// Return the board's counters. Answer: [`Reply::Status`].
    Status {},
    /// Return the settings in the block's registers. Answer: [`Reply::Settings`].
    Settings {},
    /// Return the results of configurations over PCIe, the last with the [`core_image`] of a [`pattern`]. Answer:
    /// [`Reply::Programmed`].
    Programmed {
        /// Seed of the pattern.
        seed: u64,
        /// Bytes of the pattern.
        length: u64,
    },
    /// Ask the machine to notify the board's slot that the board is to be taken out, as by its button. Answer:
    /// [`Reply::Done`].
    TakeOut {},
    /// Put the board that was taken out into its slot again. Answer: [`Reply::Done`].
    PutIn {},
    /// Have the port above the board report an error, by QEMU's name of it: `COMP_TIME`. Answer: [`Reply::Done`].
    BusError(String),
    /// From now on the board may touch these physical ranges of guest memory and any memory that the driver allocates.
    /// The first access elsewhere is recorded. An empty list ends the watch. Answer: [`Reply::Strayed`], for the time
    /// since the last list.
    Allow(Vec<Allowed>),
    /// Write text into the test's log. Answer: [`Reply::Done`].
    Log(String),
    /// Report a measured value. Answer: [`Reply::Done`].
    Figure(Figure),
    /// Ask the question about the machine's second board. Answer: that of the question.
    Second(Box<Request>),
}

/// A measured value. It is reported, not judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Name of the measured quantity.
    pub name: String,
    /// The value.
    pub value: f64,
    /// The unit, or the thing that was counted.
    pub unit: String,
}

/// A fault of the board or of the bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Fault {
    /// Read requests of the board are answered in this way, after `skip` good ones, `times` times.
    Reads {
        /// The answer.
        answer: Answer,
        /// Requests before the fault that are answered well.
        skip: u64,
        /// Requests that get the answer.
        times: u64,
    },
    /// The port takes no more data after this number of words.
    StickPort {
        /// Words that it still takes.
        after: u64,
    },
    /// The port takes about one word in a hundred cycles, so that a transfer is under way for long.
    SlowPort {},
    /// Register reads of the guest are answered late, after `skip` prompt ones, `times` times.
    StallRegisters {
        /// Reads before the fault that are answered at once.
        skip: u64,
        /// Reads that are answered late.
        times: u64,
        /// Delay in milliseconds.
        ms: u64,
    },
    /// The FPGA is configured again: the block has lost its state, and the port is as after power-up.
    Configure {},
    /// The FPGA is configured with another block, of this `BUILD_ID`.
    ConfigureOther {
        /// The other block's `BUILD_ID`.
        build_id: u32,
    },
    /// The write doorbell of this channel is rung, and again at each acknowledgement of causes.
    RingWithoutEnd {
        /// The channel.
        channel: u32,
    },
    /// A configuration over PCIe fails.
    Programming(Programming),
    /// The function does not come back from its next reset: all reads give ones from then on. For boards whose FPGA can
    /// be configured over PCIe.
    LostAtReset {},
    /// Only the block's side of FPGA memory is reset.
    ResetMemorySide {},
    /// The FPGA's kernels never end once they have started.
    EndlessKernels {},
    /// FPGA memory is not calibrated, and does not answer, from now on and after each configuration.
    Calibration {
        /// Number of cycles of that state; `null`: for ever.
        after: Option<u64>,
    },
    /// The board's BAR does not answer: reads give ones, writes do nothing.
    Absent {},
    /// The board is dead for good: the bus answers in its place, with ones.
    Kill {},
    /// End all faults.
    Clear {},
}

/// A failure of a configuration over PCIe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Programming {
    /// The FPGA does not become ready.
    NeverReady {},
    /// The FPGA finds an error.
    Error {
        /// Dwords before the error.
        after: u64,
    },
    /// The FPGA does not end the transfer.
    StaysReady {},
    /// The FPGA does not come up.
    NoUserMode {},
    /// The function is gone: all reads give ones.
    Gone {},
}

/// Answer to a read request of the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Answer {
    /// No answer.
    Never {},
    /// The right data, but late by this time.
    Late {
        /// Nanoseconds of the board's time.
        ns: u64,
    },
    /// Unsupported Request.
    Unsupported {},
    /// Completer Abort.
    Abort {},
    /// Poisoned data.
    Poisoned {},
}

/// A stretch of FPGA memory with its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stretch {
    /// First byte in FPGA memory.
    pub address: u64,
    /// Seed of the [`pattern`].
    pub seed: u64,
    /// Bytes.
    pub length: u64,
}

/// First physical address, number of bytes, and the access that the board may make: `"r"`, `"w"` or `"rw"`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowed(pub u64, pub u64, pub String);

/// An answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Reply {
    /// The command was carried out.
    Done {},
    /// Result of a comparison.
    Compared {
        /// The first byte of the stretch that differs, counted from its start; `null`: all are equal.
        differs: Option<u64>,
    },
    /// See [`Counters`].
    Status(Counters),
    /// See [`Programmed`].
    Programmed(Programmed),
    /// Registers of the block and its channels, in an order of their own.
    Settings(Vec<u32>),
    /// The result of a watch.
    Strayed {
        /// Description of the first access that was not allowed; `null`: there was none.
        access: Option<String>,
    },
    /// The request failed, with this reason.
    Failed(String),
}

/// Counters of the board since the guest was started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counters {
    /// Writes to the pages of channels, each of 1 to 8 bytes.
    pub page_writes: u64,
    /// Reads of the pages of channels.
    pub page_reads: u64,
    /// Writes to other registers.
    pub other_writes: u64,
    /// Reads of other registers.
    pub other_reads: u64,
    /// Interrupt messages.
    pub interrupts: u64,
    /// Resets of the function.
    pub resets: u64,
    /// Bytes that the board has written to memory, including records and messages.
    pub bytes_written: u64,
    /// Bytes that the board has read from memory.
    pub bytes_read: u64,
}

/// Results of configurations over PCIe.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Programmed {
    /// Transfers of images that were begun.
    pub transfers: u64,
    /// Times that the FPGA came up with an image.
    pub configured: u64,
    /// Whether the last image is the one that was asked for.
    pub same: bool,
    /// The first violation of the protocol.
    pub violation: Option<String>,
}

/// The periphery of the board's FPGA.
pub const PERIPHERY: u32 = 0x5E71_F00D;

/// Makes an image for the core of a simulated board's FPGA: the number of its dwords, the periphery that it is for,
/// content, and the sum of all of them.
pub fn core_image(content: &[u8], periphery: u32) -> Vec<u8> {
    let mut content = content.to_vec();
    content.resize(content.len().next_multiple_of(4), 0);
    let dwords = content.len() as u32 / 4 + 3;
    let head = [dwords.to_le_bytes(), periphery.to_le_bytes()].concat();
    let mut image = [head, content].concat();
    let words = image.chunks_exact(4).map(|word| {
        let mut bytes = [0; 4];
        bytes.copy_from_slice(word);
        u32::from_le_bytes(bytes)
    });
    let sum = words.fold(0_u32, u32::wrapping_add);
    image.extend(sum.to_le_bytes());
    image
}

/// Fills bytes with the stream of ChaCha8 seeded with `seed`, from its start.
pub fn pattern(seed: u64, bytes: &mut [u8]) {
    ChaCha8Rng::seed_from_u64(seed).fill_bytes(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(request: &Request) -> String {
        serde_json::to_string(request).unwrap()
    }

    #[test]
    fn requests_are_lines_of_json() {
        let stretch = Stretch {
            address: 16,
            seed: 7,
            length: 3,
        };
        assert_eq!(
            line(&Request::FpgaWrite(stretch)),
            r#"{"fpga_write":{"address":16,"seed":7,"length":3}}"#
        );
        assert_eq!(line(&Request::Status {}), r#"{"status":{}}"#);
        assert_eq!(line(&Request::Log("a\nb".into())), r#"{"log":"a\nb"}"#);
        let fault = Request::Fault(Fault::Reads {
            answer: Answer::Never {},
            skip: 1,
            times: 2,
        });
        assert_eq!(
            line(&fault),
            r#"{"fault":{"reads":{"answer":{"never":{}},"skip":1,"times":2}}}"#
        );
        let allowed = Request::Allow(vec![Allowed(4096, 8192, "rw".into())]);
        assert_eq!(line(&allowed), r#"{"allow":[[4096,8192,"rw"]]}"#);
        assert_eq!(
            serde_json::from_str::<Request>(&line(&allowed)).unwrap(),
            allowed
        );
        let second = Request::Second(Box::new(Request::Status {}));
        assert_eq!(line(&second), r#"{"second":{"status":{}}}"#);
    }

    #[test]
    fn counters_may_be_missing() {
        let reply = r#"{"status":{"interrupts":3,"page_writes":9}}"#;
        let counters = Counters {
            interrupts: 3,
            page_writes: 9,
            ..Default::default()
        };
        assert_eq!(
            serde_json::from_str::<Reply>(reply).unwrap(),
            Reply::Status(counters)
        );
        assert!(serde_json::from_str::<Reply>(r#"{"fine":{}}"#).is_err());
    }

    /// Checks that a longer pattern begins with a shorter one.
    #[test]
    fn patterns_are_streams() {
        let (mut short, mut long) = ([0; 13], [0; 64]);
        pattern(5, &mut short);
        pattern(5, &mut long);
        assert_eq!(short, long[..13]);
        pattern(6, &mut short);
        assert_ne!(short, long[..13]);
    }
}
