# Clocks of the Peerlane reference BSP.
create_clock -name board_clk -period 20.000 [get_ports board_clk]
create_clock -name kernel_refclk -period 20.000 [get_ports kernel_refclk]
create_clock -name ddr_refclk -period 20.000 [get_ports ddr_refclk]
create_clock -name link_refclk -period 10.000 [get_ports link_refclk]
derive_pll_clocks
derive_clock_uncertainty

set_clock_groups -asynchronous \
    -group {board_clk} \
    -group [get_clocks {link_refclk system_inst|acl_iface|host_link|*}] \
    -group [get_clocks {kernel_refclk system_inst|acl_iface|kernel_clock|*}] \
    -group [get_clocks {ddr_refclk system_inst|acl_iface|ddr|*}]
