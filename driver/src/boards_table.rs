// SPDX-License-Identifier: GPL-2.0

//! Written by `peerlane driver`, do not edit. The boards that this driver is built for.

/// Makes the table of PCI IDs, with each board's place of the block.
macro_rules! board_table {
    ($name:ident) => {
        kernel::pci_device_table!(
            $name,
            $crate::boards::Place,
            [
                (
                    $crate::boards::id(0x1172, 0xab00, u32::MAX, 0x504c),
                    $crate::boards::Place {
                        name: c"peerlane_ref_peerlane",
                        build_id: 0xed9a08ae,
                        bar: 2,
                        csr: 0x3000,
                        chan: 0x20000,
                        att: 0x28000,
                        msix: None,
                        window: Some(0x10000),
                        memory: 0x100000000,
                        clock: 250000000,
                        line: Some($crate::boards::Line { cra: 0x8000, block: 1, kernels: Some(0) }),
                        opencl: $crate::boards::OpenCl {
                            kernels: Some($crate::boards::Range { offset: 0x4000, bytes: 0x4000 }),
                            clock: Some($crate::boards::Range { offset: 0x2000, bytes: 0x800 }),
                            version: None,
                            temperature: None,
                            status: None,
                        },
                    }
                ),
            ]
        );
    };
}
pub(crate) use board_table;
