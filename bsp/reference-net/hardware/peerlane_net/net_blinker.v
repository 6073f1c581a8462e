// Shows that the configuration clock runs.
module net_blinker (
  input  wire        clk,
  input  wire        reset,
  output wire [3:0]  leds
);
  reg [27:0] count;
  always @(posedge clk) count <= reset ? 28'd0 : count + 28'd1;
  assign leds = count[27:24];
endmodule
