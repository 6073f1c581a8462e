// Top of the Peerlane reference BSP: the ports of a board that does not exist, and the system.
module top (
  input  wire        board_clk,
  input  wire        board_reset_n,
  input  wire        kernel_refclk,
  input  wire        link_refclk,
  input  wire        link_perst_n,
  input  wire [7:0]  link_rx,
  output wire [7:0]  link_tx,
  input  wire        ddr_refclk,
  input  wire        ddr_rzq
);
  system system_inst (
    .board_clk_clk               (board_clk),
    .board_reset_reset_n         (board_reset_n),
    .kernel_refclk_clk           (kernel_refclk),
    .link_refclk_clk             (link_refclk),
    .link_npor_npor              (link_perst_n),
    .link_npor_pin_perst         (link_perst_n),
    .link_serial_rx_in0          (link_rx[0]),
    .link_serial_rx_in1          (link_rx[1]),
    .link_serial_rx_in2          (link_rx[2]),
    .link_serial_rx_in3          (link_rx[3]),
    .link_serial_rx_in4          (link_rx[4]),
    .link_serial_rx_in5          (link_rx[5]),
    .link_serial_rx_in6          (link_rx[6]),
    .link_serial_rx_in7          (link_rx[7]),
    .link_serial_tx_out0         (link_tx[0]),
    .link_serial_tx_out1         (link_tx[1]),
    .link_serial_tx_out2         (link_tx[2]),
    .link_serial_tx_out3         (link_tx[3]),
    .link_serial_tx_out4         (link_tx[4]),
    .link_serial_tx_out5         (link_tx[5]),
    .link_serial_tx_out6         (link_tx[6]),
    .link_serial_tx_out7         (link_tx[7]),
    .ddr_refclk_clk              (ddr_refclk),
    .ddr_oct_rzqin               (ddr_rzq)
  );
endmodule
