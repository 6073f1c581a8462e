# After the clocks of all components.
set_clock_groups -asynchronous \
    -group {config_clk} \
    -group [get_clocks {pcie_refclk system_inst|board|endpoint|*}] \
    -group [get_clocks {kernel_refclk system_inst|board|kernel_pll|*}] \
    -group [get_clocks {bank_a_refclk system_inst|board|bank_a|*}] \
    -group [get_clocks {bank_b_refclk system_inst|board|bank_b|*}]
set_false_path -from [get_registers {*|board|cross_to_endpoint|*}] -to [get_ports leds*]
