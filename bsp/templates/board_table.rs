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
                // {{ board.name }}
                (
                    $crate::boards::id({{ "{:#06x}"|format(board.vendor) }}, {{ "{:#06x}"|format(board.device) }}),
                    $crate::boards::Place {
                        bar: {{ board.bar }},
                        csr: {{ "{:#x}"|format(board.csr) }},
                        chan: {{ "{:#x}"|format(board.chan) }},
                        att: {{ "{:#x}"|format(board.att) }},
{%- match board.window %}
{%- when Some with (offset) %}
                        window: Some({{ "{:#x}"|format(offset) }}),
{%- when None %}
                        window: None,
{%- endmatch %}
                        memory: {{ "{:#x}"|format(board.memory) }},
                        clock: {{ board.clock }},
                    }
                ),
{%- endfor %}
            ]
        );
    };
}
pub(crate) use board_table;
