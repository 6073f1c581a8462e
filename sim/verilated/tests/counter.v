// A small design with a port of every storage size of Verilator's.
module counter (
    input  wire         clk,
    input  wire         reset,
    input  wire [6:0]   step,
    input  wire [511:0] wide_in,
    input  wire [64:0]  odd_in,
    output reg  [11:0]  total,
    output wire [31:0]  doubled,
    output wire [39:0]  shifted,
    output reg  [511:0] wide_out,
    output wire [64:0]  odd_out,
    output reg  [31:0]  uninitialised,
    output wire         odd__name
);
    always @(posedge clk) begin
        if (reset) begin
            total <= 12'd0;
        end else begin
            total <= total + {5'd0, step};
            uninitialised <= uninitialised;
        end
        wide_out <= ~wide_in;
        if (!reset && step == 7'd99) $stop;
        if (!reset && step == 7'd98) $finish;
    end
    assign doubled = {19'd0, total, 1'b0};
    assign shifted = {total, 28'd0};
    assign odd_out = odd_in ^ 65'h1_0000_0000_0000_0001;
    assign odd__name = total[0];
endmodule
