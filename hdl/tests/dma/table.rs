//! The end of the largest table.

use crate::rig::{Descriptor, RECORD, Rig, library, page_code};
use peerlane_hdl::Params;
use peerlane_sim::{Access, BoardConfig};

const ATT_BOUNDS: u8 = 2;
const HOST: u64 = 0x1_4000_0000;

/// With 65,536 entries of 2 MiB the address of the first byte after the table has one bit more than any in it. That
/// byte is not in entry 0.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn behind_the_last_entry_is_nothing() {
    let params = Params {
        att_log2: 16,
        ..Params::default()
    };
    let mut rig = Rig::new(&library(&params), BoardConfig::default());
    let last = (1u64 << params.att_log2) - 1;
    for shift in [12, 16, 21] {
        let size = 1u64 << shift;
        for (entry, page) in [(0, HOST), (last, HOST + 2 * size)] {
            rig.board.bus_mut().allow(page..page + size, Access::Both);
            rig.entry(entry as u32, page | page_code(shift) << 3 | 0b111);
        }
        let region = page_code(shift) << 62;
        let end = region | (last + 1) << shift;
        for read in [false, true] {
            for (before, length) in [(256u32, 512u32), (16, 20), (4, 70_000), (100, 100)] {
                rig.queue(
                    read,
                    Descriptor {
                        peer: end - u64::from(before),
                        local: 0,
                        length,
                        control: RECORD,
                        cookie: length,
                    },
                );
                let record = rig.wait(100_000);
                let want = if length > before {
                    (ATT_BOUNDS, before, end)
                } else {
                    (0, length, 0)
                };
                assert_eq!((record.code, record.bytes, record.fault), want, "2^{shift}");
            }
        }
    }
}
