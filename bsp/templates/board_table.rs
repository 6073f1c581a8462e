// SPDX-License-Identifier: GPL-2.0

//! Written by `peerlane driver`, do not edit. The boards that this driver is built for.

/// Makes the table of PCI IDs, with each board's place of the block.
macro_rules! board_table {
    ($name:ident) => {
        kernel::pci_device_table!(
            $name,
            $crate::boards::Place,
            [
{%- for board in boards %}
{%- if let Some(stream) = board.stream %}
                // A TLP port: {{ stream }}.
{%- endif %}
                (
                    $crate::boards::id({{ "{:#06x}"|format(board.vendor) }}, {{ "{:#06x}"|format(board.device) }}, {{ crate::driver::subsystem_id(board.subsystem.0) }}, {{ crate::driver::subsystem_id(board.subsystem.1) }}),
                    $crate::boards::Place {
                        name: c{{ "{:?}"|format(board.name) }},
                        build_id: {{ "{:#010x}"|format(board.build_id) }},
                        bar: {{ board.slaves.bar }},
                        csr: {{ "{:#x}"|format(board.slaves.csr) }},
                        chan: {{ "{:#x}"|format(board.slaves.chan) }},
                        att: {{ "{:#x}"|format(board.slaves.att) }},
                        msix: {{ crate::driver::offset(board.slaves.msix) }},
                        window: {{ crate::driver::offset(board.slaves.window) }},
                        memory: {{ "{:#x}"|format(board.memory) }},
                        clock: {{ board.clock }},
                        line: {{ crate::driver::line(board.line) }},
                        opencl: $crate::boards::OpenCl {
                            kernels: {{ crate::driver::range(board.opencl.kernels) }},
                            clock: {{ crate::driver::range(board.opencl.clock) }},
                            version: {{ crate::driver::range(board.opencl.version) }},
                            temperature: {{ crate::driver::range(board.opencl.temperature) }},
                            status: {{ crate::driver::range(board.opencl.status) }},
                        },
                    }
                ),
{%- endfor %}
            ]
        );
    };
}
pub(crate) use board_table;
