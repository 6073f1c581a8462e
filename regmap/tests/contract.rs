//! The map against a second, hand-written list of what hardware and software were told.

use peerlane_regmap::{Content, Map};

/// Block, register, offset, width, count, then the fields as `name access bits reset`.
type Line = (
    &'static str,
    &'static str,
    u64,
    u32,
    u64,
    &'static [(&'static str, &'static str, u32, u32, u64)],
);

const REGISTERS: &[Line] = &[
    ("csr", "MAP_ID", 0x000, 32, 1, &[("value", "ro", 31, 0, 0)]),
    (
        "csr",
        "BUILD_ID",
        0x004,
        32,
        1,
        &[("value", "ro", 31, 0, 0)],
    ),
    (
        "csr",
        "CAPS0",
        0x008,
        32,
        1,
        &[
            ("version", "ro", 7, 0, 0),
            ("channels", "ro", 15, 8, 0),
            ("port_bytes", "ro", 23, 16, 0),
            ("txs_addr_bits", "ro", 31, 24, 0),
        ],
    ),
    (
        "csr",
        "CAPS1",
        0x00C,
        32,
        1,
        &[
            ("queue_log2", "ro", 7, 0, 0),
            ("att_log2", "ro", 15, 8, 0),
            ("max_burst_log2", "ro", 23, 16, 0),
            ("mem_addr_bits", "ro", 31, 24, 0),
        ],
    ),
    (
        "csr",
        "CONTROL",
        0x010,
        32,
        1,
        &[
            ("enable", "rw", 0, 0, 0),
            ("irq_enable", "rw", 1, 1, 0),
            ("reset", "pulse", 8, 8, 0),
        ],
    ),
    (
        "csr",
        "STATUS",
        0x014,
        32,
        1,
        &[
            ("write_busy", "ro", 0, 0, 0),
            ("read_busy", "ro", 1, 1, 0),
            ("read_quarantine", "ro", 2, 2, 0),
            ("att_sweep", "ro", 3, 3, 0),
            ("completer_busy", "ro", 4, 4, 0),
        ],
    ),
    (
        "csr",
        "IRQ_STATUS",
        0x018,
        32,
        1,
        &[
            ("completion", "w1c", 0, 0, 0),
            ("error", "w1c", 1, 1, 0),
            ("refused", "w1c", 2, 2, 0),
        ],
    ),
    (
        "csr",
        "READ_TIMEOUT",
        0x020,
        32,
        1,
        &[("cycles", "rw", 31, 0, 12_500_000)],
    ),
    (
        "csr",
        "ATT_OWNER",
        0x024,
        32,
        1,
        &[("channels", "rw", 7, 0, 1)],
    ),
    (
        "csr",
        "QUARANTINE",
        0x028,
        32,
        1,
        &[("drop_owed", "pulse", 0, 0, 0)],
    ),
    (
        "csr",
        "COUNTER_SNAPSHOT",
        0x02C,
        32,
        1,
        &[("take", "pulse", 0, 0, 0)],
    ),
    ("csr", "WINDOW", 0x070, 64, 1, &[("base", "rw", 39, 16, 0)]),
    (
        "csr",
        "WRITE_BYTES",
        0x080,
        64,
        1,
        &[("value", "ro", 63, 0, 0)],
    ),
    (
        "csr",
        "WRITE_REQUESTS",
        0x088,
        64,
        1,
        &[("value", "ro", 63, 0, 0)],
    ),
    (
        "csr",
        "READ_BYTES",
        0x090,
        64,
        1,
        &[("value", "ro", 63, 0, 0)],
    ),
    (
        "csr",
        "READ_REQUESTS",
        0x098,
        64,
        1,
        &[("value", "ro", 63, 0, 0)],
    ),
    ("csr", "RECORDS", 0x0A0, 64, 1, &[("value", "ro", 63, 0, 0)]),
    (
        "csr",
        "STALL_TXS",
        0x0A8,
        64,
        1,
        &[("value", "ro", 63, 0, 0)],
    ),
    (
        "csr",
        "STALL_TAGS",
        0x0B0,
        64,
        1,
        &[("value", "ro", 63, 0, 0)],
    ),
    (
        "csr",
        "STALL_MEM",
        0x0B8,
        64,
        1,
        &[("value", "ro", 63, 0, 0)],
    ),
    ("csr", "IRQS", 0x0C0, 64, 1, &[("value", "ro", 63, 0, 0)]),
    ("csr", "FAULTS", 0x0C8, 64, 1, &[("value", "ro", 63, 0, 0)]),
    (
        "csr",
        "RING",
        0x200,
        64,
        64,
        &[
            ("enable", "wo", 0, 0, 0),
            ("size_log2", "wo", 8, 4, 0),
            ("base", "wo", 63, 12, 0),
        ],
    ),
    (
        "chan",
        "WRITE_DESC",
        0x000,
        32,
        16,
        &[("value", "wo", 31, 0, 0)],
    ),
    (
        "chan",
        "WRITE_DOORBELL",
        0x040,
        32,
        1,
        &[("value", "wo", 31, 0, 0)],
    ),
    (
        "chan",
        "READ_DESC",
        0x080,
        32,
        16,
        &[("value", "wo", 31, 0, 0)],
    ),
    (
        "chan",
        "READ_DOORBELL",
        0x0C0,
        32,
        1,
        &[("value", "wo", 31, 0, 0)],
    ),
    (
        "chan",
        "QUEUE_FREE",
        0x100,
        32,
        1,
        &[("write", "ro", 15, 0, 0), ("read", "ro", 31, 16, 0)],
    ),
    (
        "chan",
        "REFUSED",
        0x104,
        32,
        1,
        &[("write", "w1c", 0, 0, 0), ("read", "w1c", 1, 1, 0)],
    ),
];

#[test]
fn registers() {
    let map = Map::load();
    let there: usize = map.blocks.iter().map(|b| b.registers().len()).sum();
    assert_eq!(there, REGISTERS.len());
    for (block, name, offset, width, count, fields) in REGISTERS {
        let registers = map.block(block).unwrap().registers();
        let register = registers.iter().find(|r| r.name == *name).unwrap();
        let shape = (register.offset, register.width, register.count);
        assert_eq!(shape, (*offset, *width, *count), "{name}");
        let there: Vec<_> = (register.fields.iter())
            .map(|f| (f.name.as_str(), f.access.name(), f.msb(), f.lsb, f.reset))
            .collect();
        assert_eq!(there, *fields, "{name}");
    }
}

#[test]
fn blocks() {
    let map = Map::load();
    let shapes: Vec<_> = (map.blocks.iter())
        .map(|b| (b.name.as_str(), b.size, b.count))
        .collect();
    assert_eq!(
        shapes,
        [("csr", 1024, 1), ("chan", 4096, 64), ("att", 8 << 16, 1)]
    );
    let table = Content::Table {
        record: "att_entry".into(),
        entries: 1 << 16,
    };
    assert_eq!(map.block("att").unwrap().content, table);
}

#[test]
fn records() {
    let map = Map::load();
    let lines: Vec<String> = map
        .records
        .iter()
        .flat_map(|r| {
            let head = format!("{} {}", r.name, r.size);
            let members = r.members.iter().flat_map(|m| {
                let head = format!("  {:#x} {} u{}", m.offset, m.name, m.width);
                let fields =
                    (m.fields.iter()).map(|f| format!("    {}:{} {}", f.msb(), f.lsb, f.name));
                std::iter::once(head).chain(fields).collect::<Vec<_>>()
            });
            std::iter::once(head).chain(members).collect::<Vec<_>>()
        })
        .collect();
    let expected = "\
att_entry 8
  0x0 entry u64
    0:0 valid
    1:1 device_read
    2:2 device_write
    4:3 page_size
    63:12 address
descriptor 64
  0x0 peer u64
    61:0 address
    63:62 page_size
  0x8 local u64
    39:0 address
    63:60 port
  0x10 length u32
    31:0 bytes
  0x14 control u32
    0:0 record
    1:1 irq
    2:2 no_flush
  0x18 cookie u32
    31:0 value
completion 32
  0x0 cookie u32
    31:0 value
  0x4 status u32
    0:0 phase
    1:1 direction
    15:8 channel
    23:16 code
  0x8 bytes_done u32
    31:0 bytes
  0xc sequence u32
    31:0 value
  0x10 fault_address u64
    63:0 address";
    assert_eq!(lines.join("\n"), expected);
}

#[test]
fn codes() {
    let map = Map::load();
    let codes: Vec<_> = (map.enumeration("status_code").unwrap().variants.iter())
        .map(|v| (v.value, v.name.as_str()))
        .collect();
    assert_eq!(
        codes,
        [
            (0, "OK"),
            (1, "LENGTH"),
            (2, "ATT_BOUNDS"),
            (3, "ATT_INVALID"),
            (4, "ATT_OWNER"),
            (5, "ATT_PERMISSION"),
            (6, "ATT_PAGE_SIZE"),
            (7, "READ_TIMEOUT"),
            (8, "READ_PORT_DOWN"),
            (9, "ABORTED"),
            (10, "DESCRIPTOR"),
            (11, "FLUSH"),
        ]
    );
}
