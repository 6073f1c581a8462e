# Oscillators of {{ board.name }}, with periods in nanoseconds.
{%- for (name, period) in clocks %}
create_clock -name {{ name }} -period {{ period }} [get_ports {{ name }}]
{%- endfor %}
derive_pll_clocks
derive_clock_uncertainty
