//! The map against a second, hand-written list of the promises to hardware and software.
//!
//! A map is printed in the form of the lists below and compared with them as text, so a register that
//! is in only one of the two shows as well as one that differs.

use std::fmt::Write;

use peerlane_regmap::{Block, Content, Map, Register};

/// Blocks: name, bytes of one instance, instances; then their contents. A register: offset, name, width, number and
/// stride; then bits, name, access, values other than 0 after reset, and `=` the enumeration of the bits.
const BLOCKS: &str = "\
csr 0x400 x1
  0x000 MAP_ID 32
    31:0 value ro, constant
  0x004 BUILD_ID 32
    31:0 value ro
  0x008 CAPS0 32
    7:0 version ro, constant
    15:8 channels ro, 1 to 64
    23:16 port_bytes ro, 16 to 32
    31:24 txs_addr_bits ro, 32 to 64
  0x00c CAPS1 32
    7:0 queue_log2 ro
    15:8 att_log2 ro, 8 to 16
    23:16 max_burst_log2 ro
    31:24 mem_addr_bits ro
  0x010 CONTROL 32
    0:0 enable rw
    1:1 irq_enable rw
    8:8 reset pulse
  0x014 STATUS 32
    0:0 write_busy ro
    1:1 read_busy ro
    2:2 read_quarantine ro
    3:3 att_sweep ro
    4:4 completer_busy ro
    5:5 port_dead ro
    6:6 port_lost ro
  0x018 IRQ_STATUS 32
    0:0 completion w1c
    1:1 error w1c
    2:2 refused w1c
  0x01c CAPS2 32
    7:0 reads_log2 ro
    8:8 tagged ro
    9:9 msix ro
    10:10 tlp ro
    13:12 write_granularity_log2 ro, to 2
  0x020 PORT_TIMEOUT 32
    31:0 cycles rw, reset 12500000
  0x024 PORT_PACE 32
    15:0 rate rw
  0x028 QUARANTINE 32
    0:0 drop_owed pulse
  0x02c COUNTER_SNAPSHOT 32
    0:0 take pulse
    1:1 busy ro
  0x030 ATT_OWNER 64
    63:0 channels rw
  0x038 ATT_INVALIDATE 32
    0:0 start pulse
    1:1 busy ro
    2:2 flush pulse
    3:3 failed ro
  0x040 ATT_FLUSH 64
    63:6 address rw
  0x048 LINK 32
    2:0 max_payload ro
    6:4 max_request ro
    15:8 read_tags ro
    23:16 completion_space ro
    24:24 rx_failed ro
  0x04c LINK_REFUSALS 32
    15:0 unsupported ro
    31:16 aborted ro
  0x050 LINK_ERRORS 32
    15:0 poisoned ro
    31:16 malformed ro
  0x054 LINK_LOSSES 32
    15:0 unexpected ro
    31:16 expired ro
  0x058 CAPS3 32
    4:0 inputs ro
    12:8 outputs ro
  0x070 WINDOW 64
    39:16 base rw
  0x080 CHANNEL_SELECT 32
    5:0 channel rw
  0x084 CHANNEL_CONTROL 32
    0:0 accept rw
    1:1 run rw
    2:2 abort rw
  0x088 CHANNEL_STATUS 32
    0:0 write_busy ro
    1:1 read_busy ro
  0x08c CHANNEL_MODERATION 32
    7:0 count wo
    31:16 age wo
  0x090 CHANNEL_RING 64
    0:0 enable wo
    8:4 size_log2 wo, to 15
    63:12 base wo
  0x098 CHANNEL_MEM_BASE 32
    27:0 page wo
  0x09c CHANNEL_MEM_END 32
    28:0 page wo
  0x0a0 STREAM_SELECT 32
    3:0 stream wo
    4:4 to_logic wo
  0x0a4 STREAM_CONTROL 32
    0:0 enable wo
    13:8 channel wo
  0x0a8 STREAM_LIMIT 32
    15:0 cycles wo
  0x0ac STREAM_STATUS 32
    0:0 open ro
    31:16 waiting ro
  0x100 WRITE_BYTES counter
  0x108 WRITE_REQUESTS counter
  0x110 WRITE_DESCRIPTORS counter
  0x118 WRITE_FAULTS counter
  0x120 WRITE_ATT_FAULTS counter
  0x128 WRITE_TIMEOUTS counter
  0x140 READ_BYTES counter
  0x148 READ_REQUESTS counter
  0x150 READ_DESCRIPTORS counter
  0x158 READ_FAULTS counter
  0x160 READ_ATT_FAULTS counter
  0x168 READ_TIMEOUTS counter
  0x180 WRITE_BUSY counter
  0x188 READ_BUSY counter
  0x190 STALL_TXS counter
  0x198 STALL_TAGS counter
  0x1a0 STALL_CREDITS counter
  0x1a8 STALL_MEM_READ counter
  0x1b0 STALL_MEM_WRITE counter
  0x1b8 RECORDS counter
  0x1c0 IRQS counter
chan 0x1000 x64
  0x000 WRITE_DESC 32 x16 each 4: descriptor
    31:0 value wo
  0x040 WRITE_DOORBELL 32
    15:0 freed wo
  0x080 READ_DESC 32 x16 each 4: descriptor
    31:0 value wo
  0x0c0 READ_DOORBELL 32
    15:0 freed wo
  0x100 QUEUE_FREE 32
    15:0 write ro
    31:16 read ro
  0x104 REFUSED 32
    0:0 write w1c
    1:1 read w1c
att 0x80000 x1
  65536 of att_entry
msix 0x800 x1
  128 of msix_entry
";

/// Records: size, bytes that no member has; a member: offset, name, type, bits that no field has.
const RECORDS: &str = "\
att_entry 8
  0x00 entry u64, not 11:5
    0:0 valid
    1:1 device_read
    2:2 device_write
    4:3 page_size = page_size
    63:12 address
msix_entry 16
  0x00 message_address u64, not 1:0
    63:2 address
  0x08 message_data u32
    31:0 value
  0x0c vector_control u32, not 31:1
    0:0 mask
descriptor 64, not 0x1c..0x40
  0x00 peer u64
    61:0 address
    63:62 page_size = page_size
  0x08 local u64, not 59:40
    39:0 address
    63:60 port = port
  0x10 length u32
    31:0 bytes
  0x14 control u32, not 31:6
    0:0 record
    1:1 irq
    2:2 no_flush
    3:3 urgent
    4:4 after_write
    5:5 after_read
  0x18 cookie u32
    31:0 value
completion 32, not 0x18..0x20
  0x00 cookie u32
    31:0 value
  0x04 status u32, not 7:2 31:24
    0:0 phase
    1:1 direction = direction
    15:8 channel
    23:16 code = status_code
  0x08 bytes_done u32
    31:0 bytes
  0x0c sequence u32
    31:0 value
  0x10 fault_address u64
    63:0 address
";

const ENUMERATIONS: &str = "\
status_code
  0 OK
  1 LENGTH
  2 ATT_BOUNDS
  3 ATT_INVALID
  4 ATT_OWNER
  5 ATT_PERMISSION
  6 ATT_PAGE_SIZE
  7 READ_TIMEOUT
  8 PORT_DOWN
  9 ABORTED
  10 DESCRIPTOR
  11 FLUSH
  12 LOCAL_RANGE
  13 UNSUPPORTED
  14 COMPLETER_ABORT
  15 POISONED
  16 ALIGNMENT
page_size
  0 KIB_4
  1 KIB_64
  2 MIB_2
direction
  0 WRITE
  1 READ
port
  0 MEMORY
  1 STREAM
";

/// Prints into a `String`, which cannot fail.
macro_rules! put {
    ($text:expr, $($rest:tt)*) => { write!($text, $($rest)*).unwrap() };
}

/// Reports whether a register is a counter. All counters look the same: 64 bits that software reads.
fn is_counter(register: &Register) -> bool {
    let [value] = &register.fields[..] else {
        return false;
    };
    let shape = (register.width, register.count, value.lsb, value.width);
    let plain = value.reset == 0 && value.constant.is_none() && value.enumeration.is_none();
    shape == (64, 1, 0, 64) && value.name == "value" && value.access.name() == "ro" && plain
}

fn print_register(text: &mut String, register: &Register) {
    put!(text, "  {:#05x} {} ", register.offset, register.name);
    if is_counter(register) {
        put!(text, "counter\n");
        return;
    }
    put!(text, "{}", register.width);
    if register.count > 1 {
        put!(text, " x{} each {}", register.count, register.stride);
    }
    if let Some(record) = &register.record {
        put!(text, ": {record}");
    }
    put!(text, "\n");
    for field in &register.fields {
        let access = field.access.name();
        put!(
            text,
            "    {}:{} {} {access}",
            field.msb(),
            field.lsb,
            field.name
        );
        if field.constant.is_some() {
            put!(text, ", constant");
        }
        if field.reset != 0 {
            put!(text, ", reset {}", field.reset);
        }
        match (field.min, field.max) {
            (Some(min), Some(max)) => put!(text, ", {min} to {max}"),
            (Some(min), None) => put!(text, ", from {min}"),
            (None, Some(max)) => put!(text, ", to {max}"),
            (None, None) => {}
        }
        if let Some(meaning) = &field.enumeration {
            put!(text, " = {meaning}");
        }
        put!(text, "\n");
    }
}

fn print_block(text: &mut String, block: &Block) {
    put!(text, "{} {:#x} x{}\n", block.name, block.size, block.count);
    match &block.content {
        Content::Registers(registers) => {
            registers.iter().for_each(|r| print_register(text, r));
        }
        Content::Table { record, entries } => put!(text, "  {entries} of {record}\n"),
    }
}

/// Compares line by line, so that the message is about the first difference.
#[track_caller]
fn same(there: &str, list: &str) {
    for (number, (there, list)) in there.lines().zip(list.lines()).enumerate() {
        assert_eq!(there, list, "line {} of the list", number + 1);
    }
    assert_eq!(there, list);
}

#[test]
fn blocks_and_registers() {
    let mut text = String::new();
    for block in &Map::load().blocks {
        print_block(&mut text, block);
    }
    same(&text, BLOCKS);
}

#[test]
fn records() {
    let mut text = String::new();
    for record in &Map::load().records {
        put!(text, "{} {}", record.name, record.size);
        for range in &record.reserved {
            put!(text, ", not {:#x}..{:#x}", range.start, range.end);
        }
        put!(text, "\n");
        for member in &record.members {
            let (name, width) = (&member.name, member.width);
            put!(text, "  {:#04x} {name} u{width}", member.offset);
            for (index, bits) in member.reserved.iter().enumerate() {
                let comma = if index == 0 { ", not" } else { "" };
                put!(text, "{comma} {}:{}", bits.end - 1, bits.start);
            }
            put!(text, "\n");
            for field in &member.fields {
                put!(text, "    {}:{} {}", field.msb(), field.lsb, field.name);
                if let Some(meaning) = &field.enumeration {
                    put!(text, " = {meaning}");
                }
                put!(text, "\n");
            }
        }
    }
    same(&text, RECORDS);
}

#[test]
fn enumerations() {
    let mut text = String::new();
    for enumeration in &Map::load().enums {
        put!(text, "{}\n", enumeration.name);
        for variant in &enumeration.variants {
            put!(text, "  {} {}\n", variant.value, variant.name);
        }
    }
    same(&text, ENUMERATIONS);
}
