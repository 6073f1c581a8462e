// A word that the host writes and reads.
module net_mailbox (
  input  wire        clk,
  input  wire        reset,
  input  wire [3:0] s_address,
  input  wire        s_read,
  output reg  [31:0] s_readdata,
  input  wire        s_write,
  input  wire [31:0] s_writedata
);
  reg [31:0] word;
  always @(posedge clk) begin
    if (s_write) word <= s_writedata;
    s_readdata <= word;
  end
endmodule
