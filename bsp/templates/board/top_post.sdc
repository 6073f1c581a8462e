# After the clocks of all components: signals that cross between these groups have synchronisers.
set_clock_groups -asynchronous \
    -group [get_clocks {board_clk system_inst|{{ instance }}|calibration_pll|*}] \
    -group [get_clocks {pcie_refclk system_inst|{{ instance }}|pcie|*}] \
    -group [get_clocks {kernel_refclk system_inst|{{ instance }}|kernel_clock|*}]
{%- for bank in board.memory %} \
    -group [get_clocks { {{- bank.name }}_refclk system_inst|{{ instance }}|{{ bank.name }}|*}]
{%- endfor %}
