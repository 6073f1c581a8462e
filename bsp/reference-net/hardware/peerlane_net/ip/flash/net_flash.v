// A flash that holds one word.
module net_flash (
  input  wire        clk,
  input  wire        reset,
  input  wire [25:0] s_address,
  input  wire        s_read,
  output reg  [31:0] s_readdata,
  input  wire        s_write,
  input  wire [31:0] s_writedata,
  inout  wire [7:0]  pins
);
  reg [31:0] word;
  always @(posedge clk) begin
    if (s_write) word <= s_writedata;
    s_readdata <= word;
  end
  assign pins = 8'bz;
endmodule
