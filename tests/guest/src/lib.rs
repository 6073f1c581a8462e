//! What the tests in the guest and the harness on the host say to each other: one line of
//! JSON each way, a question of the guest's and the harness's answer, over a serial port.
//!
//! The guest cannot look behind the board: FPGA memory, faults of the bus and the board's
//! counters are the harness's, which runs the simulated board.

mod control;

pub use control::{Control, PORT, VARIABLE};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use serde::{Deserialize, Serialize};

/// A question, or an order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// Fill FPGA memory with a [`pattern`]. Answer: [`Reply::Done`].
    FpgaWrite(Stretch),
    /// Compare FPGA memory with a [`pattern`]. Answer: [`Reply::Compared`].
    FpgaCheck(Stretch),
    /// A fault for the board to have. Answer: [`Reply::Done`].
    Fault(Fault),
    /// The whole FPGA is configured, as by JTAG, with this program of the simulated board, as JSON: block and
    /// kernels are as after power-up, and FPGA memory has lost what was in it. Answer: [`Reply::Done`].
    Program(String),
    /// Answer: [`Reply::Status`].
    Status {},
    /// What the block's registers say of how it is set up. Answer: [`Reply::Settings`].
    Settings {},
    /// What came of configurations over PCIe, the last with the [`core_image`] of a [`pattern`]. Answer:
    /// [`Reply::Programmed`].
    Programmed {
        /// Of the pattern.
        seed: u64,
        /// Bytes of the pattern.
        length: u64,
    },
    /// The machine is asked to have the board's slot told that the board is to be taken out, as by its button. Answer:
    /// [`Reply::Done`].
    TakeOut {},
    /// From now on the board may touch these physical ranges of guest memory and, of what
    /// the driver allocates, whatever else: the first access elsewhere is kept. An empty list
    /// ends it. Answer: [`Reply::Strayed`], for the time since the last list.
    Allow(Vec<Allowed>),
    /// Text for the test's log. Answer: [`Reply::Done`].
    Log(String),
    /// Something was measured. Answer: [`Reply::Done`].
    Figure(Figure),
    /// The same of the machine's second board. Answer: that of the question.
    Second(Box<Request>),
}

/// What was measured. It is reported, not judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Of what.
    pub name: String,
    /// How much.
    pub value: f64,
    /// Its unit, or what was counted.
    pub unit: String,
}

/// What goes wrong on the board or on the bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Fault {
    /// Read requests of the board are answered so, after `skip` good ones, `times` times.
    Reads {
        /// How.
        answer: Answer,
        /// Requests that are answered well before.
        skip: u64,
        /// Requests that are not.
        times: u64,
    },
    /// The port takes nothing more after so many words.
    StickPort {
        /// Words that it takes before.
        after: u64,
    },
    /// Register reads of the guest are answered late, after `skip` prompt ones, `times` times.
    StallRegisters {
        /// Reads that are answered at once before.
        skip: u64,
        /// Reads that are not.
        times: u64,
        /// By how much, in milliseconds.
        ms: u64,
    },
    /// Its FPGA is configured anew: nothing is left in the block, and the port is as new.
    Configure {},
    /// The same with another block, of this `BUILD_ID`.
    ConfigureOther {
        /// See above.
        build_id: u32,
    },
    /// The write doorbell of this channel is rung, and again at each acknowledgement of causes.
    RingWithoutEnd {
        /// See above.
        channel: u32,
    },
    /// A configuration over PCIe fails.
    Programming(Programming),
    /// The function does not come back from its next reset: everything reads as ones from then on. Of boards whose FPGA
    /// can be configured over PCIe.
    LostAtReset {},
    /// The block's side of FPGA memory is reset, alone.
    ResetMemorySide {},
    /// The FPGA's kernels never end once they have begun.
    EndlessKernels {},
    /// FPGA memory is not calibrated, and does not answer, from now on and again from each configuration on.
    Calibration {
        /// For so many cycles; `null`: for ever.
        after: Option<u64>,
    },
    /// Its BAR does not answer: reads give ones, writes do nothing.
    Absent {},
    /// The board is dead for good: the bus answers for it, with ones.
    Kill {},
    /// No fault any more.
    Clear {},
}

/// How a configuration over PCIe fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Programming {
    /// The FPGA does not get ready.
    NeverReady {},
    /// It finds an error.
    Error {
        /// After so many dwords.
        after: u64,
    },
    /// It does not end the transfer.
    StaysReady {},
    /// It does not come up.
    NoUserMode {},
    /// The function is gone: everything reads as ones.
    Gone {},
}

/// How a read request of the board is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Answer {
    /// Never.
    Never {},
    /// With the right data, this many nanoseconds of the board's time late.
    Late {
        /// See above.
        ns: u64,
    },
    /// With Unsupported Request.
    Unsupported {},
    /// With Completer Abort.
    Abort {},
    /// With poisoned data.
    Poisoned {},
}

/// A stretch of FPGA memory, and what is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stretch {
    /// First byte in FPGA memory.
    pub address: u64,
    /// Of the [`pattern`].
    pub seed: u64,
    /// Bytes.
    pub length: u64,
}

/// First physical address, bytes, and what the board may do: `"r"`, `"w"` or `"rw"`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowed(pub u64, pub u64, pub String);

/// The answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Reply {
    /// It is done.
    Done {},
    /// The first byte of the stretch that differs, counted from its start; `null`: none does.
    Compared {
        /// See above.
        differs: Option<u64>,
    },
    /// See [`Counters`].
    Status(Counters),
    /// See [`Programmed`].
    Programmed(Programmed),
    /// Registers of the block and its channels, in an order of their own.
    Settings(Vec<u32>),
    /// The first access that was not allowed; `null`: there was none.
    Strayed {
        /// In words.
        access: Option<String>,
    },
    /// It could not be done.
    Failed(String),
}

/// What the board has counted since the guest was started.
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
    /// Bytes that the board has written to memory, records and messages among them.
    pub bytes_written: u64,
    /// Bytes that the board has read from memory.
    pub bytes_read: u64,
}

/// What came of configurations over PCIe.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Programmed {
    /// Transfers of images that were begun.
    pub transfers: u64,
    /// Times that the FPGA came up with one.
    pub configured: u64,
    /// Whether the last image is the one that was asked for.
    pub same: bool,
    /// The first thing that must not be done.
    pub violation: Option<String>,
}

/// The periphery that the board's FPGA has.
pub const PERIPHERY: u32 = 0x5E71_F00D;

/// An image for the core of a simulated board's FPGA: how many dwords it is, the periphery that it is for, content,
/// and the sum of all of them.
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

    /// A longer pattern begins as a shorter one does.
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
