// A small Txs master to test the models with.
// Registers (word): 0 address low, 1 address high, 2 bursts, 3 words per burst, 4 go (1 write,
// 2 read), 5 status (1 writing, 2 reading), 6 sum of what was read, 7 byte enables of
// single-word requests, 8 interrupt level, 9 which rule to break (0: none).
module toy_txs #(parameter WIDTH = 128, parameter ADDRESS = 64) (
    input  wire               pcie_clk,
    input  wire               pcie_reset,
    input  wire [7:0]         csr_address,
    input  wire               csr_read,
    input  wire               csr_write,
    input  wire [31:0]        csr_writedata,
    input  wire [3:0]         csr_byteenable,
    output reg  [31:0]        csr_readdata,
    output wire [ADDRESS-1:0] txs_address,
    output wire               txs_read,
    output wire               txs_write,
    output wire [WIDTH-1:0]   txs_writedata,
    output wire [WIDTH/8-1:0] txs_byteenable,
    output wire [5:0]         txs_burstcount,
    input  wire               txs_waitrequest,
    input  wire [WIDTH-1:0]   txs_readdata,
    input  wire               txs_readdatavalid,
    output wire               dma_irq
);
    reg [63:0] address;
    reg [31:0] bursts, words, enables;
    reg [63:0] write_at, read_at;
    reg [31:0] write_bursts, read_bursts, beat;
    reg [31:0] expected, received;
    reg [5:0]  left;
    reg        writing, irq;
    reg [3:0]  breaks;
    reg [31:0] sum;
    reg        flip;
    reg        waited;

    assign dma_irq = irq;

    // Requests come from registers that move only when the slave takes them.
    wire write_now = writing && !(breaks == 4'd7 && waited);
    wire read_now  = !writing && read_bursts != 32'd0 && !(breaks == 4'd7 && waited);
    wire middle    = writing && left != words[5:0];
    assign txs_write = write_now && !(breaks == 4'd6 && middle && flip);
    assign txs_read  = (breaks == 4'd5) ? (read_now || write_now)
                     : (breaks == 4'd6 && middle && flip) ? 1'b1 : read_now;
    wire [63:0] at = writing ? write_at : read_at;
    wire [63:0] shown = at + ((breaks == 4'd1 && flip) ? 64'd256 : 64'd0)
                           + ((breaks == 4'd4) ? 64'd8 : 64'd0);
    assign txs_address = shown[ADDRESS-1:0];
    assign txs_burstcount = (breaks == 4'd2) ? 6'd40 : (breaks == 4'd9 && flip) ? words[5:0] ^ 6'd1
                          : words[5:0];
    wire [WIDTH/8-1:0] all = {(WIDTH/8){1'b1}};
    assign txs_byteenable = (words == 32'd1) ? enables[WIDTH/8-1:0]
                          : (breaks == 4'd3 && !writing) ? all << 4
                          : (breaks == 4'd10 && writing && middle) ? all >> 4
                          : all;
    genvar lane;
    generate for (lane = 0; lane < WIDTH/32; lane = lane + 1) begin : lanes
        assign txs_writedata[32*lane +: 32] =
            beat * (WIDTH/32) + lane + ((breaks == 4'd8 && flip) ? 32'd1 : 32'd0);
    end endgenerate

    // Folds a word read to 32 bits; rotating the sum makes the order of the words count.
    integer fold_lane;
    reg [31:0] fold;
    always @* begin
        fold = 32'd0;
        for (fold_lane = 0; fold_lane < WIDTH/32; fold_lane = fold_lane + 1)
            fold = {fold[28:0], fold[31:29]} ^ txs_readdata[32*fold_lane +: 32];
    end

    always @(posedge pcie_clk) begin
        flip <= !flip;
        waited <= (txs_read || txs_write) && txs_waitrequest;
        if (csr_read) begin
            case (csr_address)
                8'd5: csr_readdata <= {30'd0, received != expected, writing};
                8'd6: csr_readdata <= sum;
                8'd2: csr_readdata <= bursts;
                8'd7: csr_readdata <= enables;
                default: csr_readdata <= 32'hDEAD_0000;
            endcase
        end
        if (csr_write) begin
            case (csr_address)
                8'd0: address[31:0] <= csr_writedata;
                8'd1: address[63:32] <= csr_writedata;
                8'd2: bursts <= csr_writedata;
                8'd3: words <= csr_writedata;
                8'd4: begin
                    if (csr_writedata[0]) begin
                        writing <= 1'b1;
                        write_at <= address;
                        write_bursts <= bursts;
                        left <= words[5:0];
                        beat <= 32'd0;
                    end
                    if (csr_writedata[1]) begin
                        read_at <= address;
                        read_bursts <= bursts;
                        expected <= bursts * words;
                        received <= 32'd0;
                        sum <= 32'd0;
                    end
                end
                8'd7: begin
                    if (csr_byteenable[0]) enables[7:0] <= csr_writedata[7:0];
                    if (csr_byteenable[1]) enables[15:8] <= csr_writedata[15:8];
                    if (csr_byteenable[2]) enables[23:16] <= csr_writedata[23:16];
                    if (csr_byteenable[3]) enables[31:24] <= csr_writedata[31:24];
                end
                8'd8: irq <= csr_writedata[0];
                8'd9: breaks <= csr_writedata[3:0];
                default: ;
            endcase
        end
        if (txs_write && !txs_waitrequest) begin
            beat <= beat + 32'd1;
            left <= left - 6'd1;
            if (left == 6'd1) begin
                left <= words[5:0];
                write_at <= write_at + {32'd0, words} * (WIDTH/8);
                write_bursts <= write_bursts - 32'd1;
                if (write_bursts == 32'd1) writing <= 1'b0;
            end
        end
        if (read_now && txs_read && !txs_waitrequest) begin
            read_bursts <= read_bursts - 32'd1;
            read_at <= read_at + {32'd0, words} * (WIDTH/8);
        end
        if (txs_readdatavalid) begin
            received <= received + 32'd1;
            sum <= {sum[30:0], sum[31]} + fold;
        end
        if (pcie_reset) begin
            writing <= 1'b0;
            read_bursts <= 32'd0;
            received <= 32'd0;
            expected <= 32'd0;
            irq <= 1'b0;
            breaks <= 4'd0;
            flip <= 1'b0;
            waited <= 1'b0;
            enables <= 32'hFFFF_FFFF;
        end
    end
endmodule
