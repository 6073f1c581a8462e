// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;
use std::string::ToString;

fn range(offset: u64, bytes: u64) -> Option<Range> {
    Some(Range { offset, bytes })
}

/// Makes the OpenCL side of the DE5-Net, as in its public BAR map.
fn opencl() -> OpenCl {
    OpenCl {
        kernels: range(0x4000, 0x4000),
        clock: range(0xc000, 0x800),
        version: range(0xcfc0, 4),
        temperature: range(0xcff0, 4),
        status: range(0xcfe0, 4),
    }
}

const LINE: Line = Line {
    cra: 0,
    block: 1,
    kernels: Some(0),
};

const PLACES: Places = Places {
    csr: 0xc800,
    chan: 0x2_0000,
    att: 0x2_8000,
    msix: None,
    window: Some(0x1_0000),
};

const BLOCK: Capabilities = Capabilities {
    version: 1,
    channels: 8,
    port_bytes: 16,
    txs_addr_bits: 64,
    queue_log2: 10,
    att_log2: 12,
    max_burst_log2: 9,
    mem_addr_bits: 32,
    reads_log2: 5,
    tagged: false,
    msix: false,
    tlp: false,
    write_granularity: 4,
    streams: crate::streams::Counts {
        inputs: 0,
        outputs: 0,
    },
};

fn judged(line: Option<&Line>, opencl: &OpenCl) -> Result<(), std::string::String> {
    check(line, opencl, &PLACES, &BLOCK, 0x4_0000).map_err(|error| error.to_string())
}

#[test]
fn a_board_as_it_is_known_is_taken() {
    assert_eq!(judged(Some(&LINE), &opencl()), Ok(()));
    assert_eq!(judged(None, &OpenCl::default()), Ok(()));
    assert!(!OpenCl::default().is_there());
}

/// A holder of the OpenCL side would reach slaves that it overlaps.
#[test]
fn what_lies_over_something_else_is_refused() {
    let said = |opencl: OpenCl| judged(Some(&LINE), &opencl).unwrap_err();
    let long = OpenCl {
        clock: range(0xc000, 0x1000),
        ..opencl()
    };
    assert_eq!(
        said(long),
        "csr (0x400 bytes at 0xc800) overlaps the kernels' clock (0x1000 bytes at 0xc000)"
    );
    let low = OpenCl {
        kernels: range(0x3ffc, 0x4000),
        ..opencl()
    };
    assert_eq!(
        said(low),
        "the hard IP's registers (0x4000 bytes at 0x0) overlaps the kernels' interface (0x4000 bytes at 0x3ffc)"
    );
    let outside = OpenCl {
        temperature: range(u64::MAX, 4),
        ..opencl()
    };
    assert!(said(outside).contains("does not lie in the BAR"));
    let table = OpenCl {
        kernels: range(0x2_8000, 0x4000),
        ..opencl()
    };
    assert!(said(table).starts_with("att "));
    let status = OpenCl {
        status: range(0xcff2, 4),
        ..opencl()
    };
    assert!(said(status).contains("uniphy_status (0x4 bytes at 0xcff2)"));
}

#[test]
fn enabled_lines_are_bits_of_a_register() {
    assert_eq!((LINE.status(), LINE.enable()), (0x40, 0x50));
    assert_eq!((LINE.enabled(false), LINE.enabled(true)), (2, 3));
    assert_eq!(LINE.kernels_mask(), 1);
    let alone = Line {
        cra: 0x8000,
        block: 15,
        kernels: None,
    };
    assert_eq!(alone.enable(), 0x8050);
    assert_eq!((alone.enabled(true), alone.kernels_mask()), (1 << 15, 0));
}

#[test]
fn places_of_an_area_stay_inside() {
    let opencl = opencl();
    assert_eq!(opencl.place(Area::Clock, 0x7fc, 4), Some(0xc7fc..0xc800));
    assert_eq!(opencl.place(Area::Clock, 0x7fd, 4), None);
    assert_eq!(opencl.place(Area::Kernels, u64::MAX, 2), None);
    assert_eq!(opencl.place(Area::Version, 0, 4), Some(0xcfc0..0xcfc4));
    assert_eq!(opencl.place(Area::Status, 0, 4), Some(0xcfe0..0xcfe4));
    assert_eq!(opencl.kernels_reset(), Some(0x4030));
    assert_eq!(OpenCl::default().place(Area::Clock, 0, 0), None);
}

/// A page that holds something else, too, would be mapped with it.
#[test]
fn only_whole_pages_are_mapped() {
    assert!(opencl().is_mappable(4096));
    assert!(!opencl().is_mappable(0x8000));
    let off = OpenCl {
        kernels: range(0x4800, 0x4000),
        ..opencl()
    };
    assert!(!off.is_mappable(4096));
    assert!(!OpenCl::default().is_mappable(4096));
}

#[test]
fn heads_and_tails_are_accesses_of_their_own() {
    let of = |offset, bytes| accesses(offset, bytes).collect::<std::vec::Vec<_>>();
    assert_eq!(of(8, 8), [(8, 4), (12, 4)]);
    assert_eq!(of(5, 13), [(5, 1), (6, 2), (8, 4), (12, 4), (16, 2)]);
    assert_eq!(of(3, 1), [(3, 1)]);
    assert_eq!(of(2, 1), [(2, 1)]);
    assert_eq!(of(4, 7), [(4, 4), (8, 2), (10, 1)]);
    assert_eq!(of(9, 0), []);
    for (offset, bytes) in (0..8).flat_map(|offset| (0..20).map(move |bytes| (offset, bytes))) {
        let mut next = offset;
        for (at, length) in accesses(offset, bytes) {
            assert!(at == next && at % length == 0, "{offset} {bytes}");
            next += length;
        }
        assert_eq!(next, offset + bytes);
    }
}

#[test]
fn an_access_that_reads_ones_is_seen_among_others() {
    assert!(reads_as_ones(8, &[0xff; 4]));
    assert!(reads_as_ones(8, &[0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]));
    assert!(reads_as_ones(5, &[0xff, 1, 1]));
    assert!(!reads_as_ones(8, &[0xff, 0xff, 0xff, 0xfe]));
    // Of two accesses.
    assert!(!reads_as_ones(8, &[0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0]));
    assert!(!reads_as_ones(8, &[]));
}

/// A second store to a reset waits for ever.
#[test]
fn a_reset_is_read_behind_each_store_to_it() {
    for (area, reset) in [(Area::Kernels, 0x30_u64), (Area::Clock, 0x110)] {
        for (offset, bytes) in [
            (0_i64, 4),
            (0, 1),
            (3, 1),
            (4, 4),
            (0xf, 1),
            (-1, 2),
            (-8, 64),
        ] {
            let found = area.read_behind(reset.wrapping_add_signed(offset), bytes);
            assert_eq!(found, Some(reset), "{area:?} {offset} {bytes}");
        }
        for (offset, bytes) in [(-1_i64, 1), (0x10, 4), (-4, 4), (0, 0)] {
            let found = area.read_behind(reset.wrapping_add_signed(offset), bytes);
            assert_eq!(found, None, "{area:?} {offset} {bytes}");
        }
        assert_eq!(area.read_behind(u64::MAX, 1), None);
    }
    assert_eq!(Area::Version.read_behind(0, 4), None);
}
