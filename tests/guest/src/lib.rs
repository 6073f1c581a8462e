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
    /// Answer: [`Reply::Status`].
    Status {},
    /// From now on the board may touch these physical ranges of guest memory and, of what
    /// the driver allocates, whatever else: the first access elsewhere is kept. An empty list
    /// ends it. Answer: [`Reply::Strayed`], for the time since the last list.
    Allow(Vec<Allowed>),
    /// Text for the test's log. Answer: [`Reply::Done`].
    Log(String),
    /// Something was measured. Answer: [`Reply::Done`].
    Figure(Figure),
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
    /// The block's side of FPGA memory is reset, alone.
    ResetMemorySide {},
    /// Its BAR does not answer: reads give ones, writes do nothing.
    Absent {},
    /// The board is dead for good: the bus answers for it, with ones.
    Kill {},
    /// No fault any more.
    Clear {},
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
    /// Bytes that the board has written to memory, records and messages among them.
    pub bytes_written: u64,
    /// Bytes that the board has read from memory.
    pub bytes_read: u64,
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
