# Clocks of the second Peerlane reference BSP.
create_clock -name config_clk -period 20.000 [get_ports config_clk]
create_clock -name kernel_refclk -period 20.000 [get_ports kernel_refclk]
create_clock -name bank_a_refclk -period 10.000 [get_ports bank_a_refclk]
create_clock -name bank_b_refclk -period 10.000 [get_ports bank_b_refclk]
create_clock -name pcie_refclk -period 10.000 [get_ports pcie_refclk]
derive_pll_clocks
derive_clock_uncertainty
