//! Configuration of the hard IP, of the link, and of the settings that software makes.

use super::RootConfig;

/// Credits of a type; `None`: without a limit.
#[derive(Debug, Clone, Copy)]
pub struct Grant {
    /// Headers.
    pub headers: Option<u32>,
    /// Units of 16 bytes.
    pub data: Option<u32>,
}

impl Grant {
    /// No packet may leave.
    pub const NOTHING: Self = Self {
        headers: Some(0),
        data: Some(0),
    };
    /// All packets may leave.
    pub const ENDLESS: Self = Self {
        headers: None,
        data: None,
    };
}

/// Configuration of the hard IP, of the link, and of the settings that software makes.
#[derive(Debug, Clone)]
pub struct HipConfig {
    /// Max Payload Size in bytes, of the function and of packets to it.
    pub payload: u32,
    /// Max Read Request Size in bytes.
    pub request: u32,
    /// Extended Tag Field Enable.
    pub extended: bool,
    /// Bus Master Enable.
    pub master: bool,
    /// Completion Timeout Disable.
    pub patient: bool,
    /// MSI-X Enable and Function Mask.
    pub msix: (bool, bool),
    /// Address and data of the function's MSI capability, if MSI is enabled.
    pub msi: Option<(u64, u16)>,
    /// Bus and device.
    pub id: u16,
    /// Cycles for which a word of the configuration is shown: 4 or 8. In the first of them a bit may still be that of
    /// the previous word.
    pub word_cycles: u64,
    /// Bytes that the link carries in 256 cycles, in each direction; 0: any number.
    pub rate: u64,
    /// Chance in percent of a cycle in which the hard IP is not ready.
    pub not_ready: u8,
    /// Chance in percent of a cycle without a beat for the design.
    pub gaps: u8,
    /// Credits of posted packets that are granted at first.
    pub posted: Grant,
    /// Credits of reads that are granted at first.
    pub reads: Grant,
    /// Credits of completions that are granted at first.
    pub replies: Grant,
    /// Cycles from a reset until the link is up (`dlup`). Until then the credits are those of the previous link.
    pub training: u64,
    /// Cycles until the credits that a packet took are granted again.
    pub credit_delay: u64,
    /// Chance in a thousand, each cycle, that the hard IP sends a packet of its own.
    pub own: u64,
    /// Whether `tx_cons_cred_sel` makes the pins of the credits show the consumed ones. Without
    /// `use_tx_cons_cred_sel_hwtcl` it is not connected.
    pub shows_consumed: bool,
    /// Completions and units of 16 bytes that its buffer has room for.
    pub space: (u32, u32),
    /// Whether completions whose tag the hard IP does not know are passed on instead of dropped.
    pub lets_strays_through: bool,
    /// The other end.
    pub root: RootConfig,
    /// Seed of all random numbers.
    pub seed: u64,
}

impl Default for HipConfig {
    fn default() -> Self {
        Self {
            payload: 256,
            request: 512,
            extended: true,
            master: true,
            patient: false,
            msix: (false, false),
            msi: None,
            id: 0x0300,
            word_cycles: 8,
            rate: 0,
            not_ready: 0,
            gaps: 0,
            posted: Grant {
                headers: Some(64),
                data: Some(1024),
            },
            reads: Grant {
                headers: Some(64),
                data: None,
            },
            // As for a root complex (section 2.6.1).
            replies: Grant::ENDLESS,
            training: 40,
            credit_delay: 40,
            own: 0,
            shows_consumed: true,
            // Setting Low with a payload of 256 bytes (683093, "RX Buffer Allocation Selections Available by Interface
            // Type").
            space: (195, 781),
            lets_strays_through: false,
            root: RootConfig::default(),
            seed: 1,
        }
    }
}
