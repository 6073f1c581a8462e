// Copies FPGA memory (mem_rd to mem_wr in bursts of 8 words) and passes the window through to
// mem_win. Registers (word): 0 source, 1 destination, 2 bursts, 3 go (the value is a new one).
module toy_memory (
    input  wire         pcie_clk,
    input  wire         pcie_reset,
    input  wire         clk,
    input  wire         reset,
    input  wire [7:0]   csr_address,
    input  wire         csr_read,
    input  wire         csr_write,
    input  wire [31:0]  csr_writedata,
    input  wire [3:0]   csr_byteenable,
    output reg  [31:0]  csr_readdata,
    output wire [39:0]  mem_rd_address,
    output wire         mem_rd_read,
    output wire [4:0]   mem_rd_burstcount,
    input  wire         mem_rd_waitrequest,
    input  wire [511:0] mem_rd_readdata,
    input  wire         mem_rd_readdatavalid,
    output wire [39:0]  mem_wr_address,
    output wire         mem_wr_write,
    output wire [4:0]   mem_wr_burstcount,
    output wire [511:0] mem_wr_writedata,
    output wire [63:0]  mem_wr_byteenable,
    input  wire         mem_wr_waitrequest,
    input  wire [9:0]   s_nondma_address,
    input  wire         s_nondma_read,
    input  wire         s_nondma_write,
    input  wire [511:0] s_nondma_writedata,
    input  wire [63:0]  s_nondma_byteenable,
    output wire [511:0] s_nondma_readdata,
    output wire         s_nondma_readdatavalid,
    output wire         s_nondma_waitrequest,
    output wire [39:0]  mem_win_address,
    output wire         mem_win_read,
    output wire         mem_win_write,
    output wire [511:0] mem_win_writedata,
    output wire [63:0]  mem_win_byteenable,
    input  wire         mem_win_waitrequest,
    input  wire [511:0] mem_win_readdata,
    input  wire         mem_win_readdatavalid
);
    reg [31:0] source, destination, bursts, go;
    always @(posedge pcie_clk) begin
        if (csr_read) csr_readdata <= (csr_address == 8'd3) ? done_pcie : bursts;
        if (csr_write && csr_byteenable == 4'hF) begin
            case (csr_address)
                8'd0: source <= csr_writedata;
                8'd1: destination <= csr_writedata;
                8'd2: bursts <= csr_writedata;
                8'd3: go <= csr_writedata;
                default: ;
            endcase
        end
        done_meta <= done;
        done_pcie <= done_meta;
        if (pcie_reset) go <= 32'd0;
    end

    // The other registers stand still while go crosses.
    reg [31:0] go_meta, go_clk, done, done_meta, done_pcie;
    reg [31:0] reads, writes;
    reg [7:0]  level, asked;
    reg [39:0] read_at, write_at;
    reg [3:0]  beat;
    reg        busy;
    reg [511:0] fifo [0:63];
    reg [5:0]  head, tail;

    assign mem_rd_address = read_at;
    assign mem_rd_burstcount = 5'd8;
    assign mem_rd_read = busy && reads != 32'd0 && asked <= 8'd56;
    assign mem_wr_address = write_at;
    assign mem_wr_burstcount = 5'd8;
    assign mem_wr_writedata = fifo[tail];
    assign mem_wr_byteenable = 64'hFFFF_FFFF_FFFF_FFFF;
    assign mem_wr_write = busy && level != 8'd0;
    wire taken = mem_wr_write && !mem_wr_waitrequest;
    wire ask   = mem_rd_read && !mem_rd_waitrequest;

    assign mem_win_address = {24'h000001, s_nondma_address[9:0], 6'd0};
    assign mem_win_read = s_nondma_read;
    assign mem_win_write = s_nondma_write;
    assign mem_win_writedata = s_nondma_writedata;
    assign mem_win_byteenable = s_nondma_byteenable;
    assign s_nondma_waitrequest = mem_win_waitrequest;
    assign s_nondma_readdata = mem_win_readdata;
    assign s_nondma_readdatavalid = mem_win_readdatavalid;

    always @(posedge clk) begin
        go_meta <= go;
        go_clk <= go_meta;
        if (!busy && go_clk != done) begin
            busy <= 1'b1;
            reads <= bursts;
            writes <= bursts;
            read_at <= {8'd0, source};
            write_at <= {8'd0, destination};
            beat <= 4'd0;
        end
        if (ask) begin
            reads <= reads - 32'd1;
            read_at <= read_at + 40'd512;
        end
        if (mem_rd_readdatavalid) begin
            fifo[head] <= mem_rd_readdata;
            head <= head + 6'd1;
        end
        if (taken) begin
            tail <= tail + 6'd1;
            beat <= beat + 4'd1;
            if (beat == 4'd7) begin
                beat <= 4'd0;
                write_at <= write_at + 40'd512;
                writes <= writes - 32'd1;
                if (writes == 32'd1) begin
                    busy <= 1'b0;
                    done <= go_clk;
                end
            end
        end
        asked <= asked + (ask ? 8'd8 : 8'd0) - (taken ? 8'd1 : 8'd0);
        level <= level + (mem_rd_readdatavalid ? 8'd1 : 8'd0) - (taken ? 8'd1 : 8'd0);
        if (reset) begin
            busy <= 1'b0;
            done <= 32'd0;
            asked <= 8'd0;
            level <= 8'd0;
            head <= 6'd0;
            tail <= 6'd0;
        end
    end
endmodule
