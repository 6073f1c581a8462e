// Top of {{ board.name }}: the device's pins, the reset after configuration, and the system.
module top (
{%- for port in ports %}
  {{ port.direction.verilog() }} wire {{ port.range() }} {{ port.name }}{% if !loop.last %},{% endif %}
{%- endfor %}
);
  // Reserved bits with their required values, and low power states off
  // (V-Series Avalon-MM DMA user guide 683514, "Test Signals").
  localparam [31:0] TEST_IN = 32'h0000_0088;

  // Configuration leaves the registers at 0; so the board is in reset for 1024 cycles.
  reg  [10:0] cycles;
  wire        reset_n = cycles[10];

  initial cycles = 11'd0;
  always @(posedge board_clk) begin
    if (!reset_n) cycles <= cycles + 11'd1;
  end

  system system_inst (
{%- for (signal, to) in signals %}
    .{{ signal }} ({{ to }}){% if !loop.last %},{% endif %}
{%- endfor %}
  );
endmodule
