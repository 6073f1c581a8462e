// Top of the second Peerlane reference BSP: the ports of a board that does not exist, and the system.
module top (
  input  wire        config_clk,
  input  wire        board_reset_n,
  input  wire        kernel_refclk,
  input  wire        pcie_refclk,
  input  wire        pcie_perst_n,
  input  wire [7:0]  pcie_rx,
  output wire [7:0]  pcie_tx,
  input  wire        bank_a_refclk,
  input  wire        bank_a_rzq,
  input  wire        bank_b_refclk,
  input  wire        bank_b_rzq,
  inout  wire [7:0]  flash,
  inout  wire [7:0]  sensors,
  output wire [3:0]  leds
);
  wire reset;

  cvp_update_reset update_reset (
    .in  (~board_reset_n),
    .out (reset)
  );

  system system_inst (
    .config_clk_clk           (config_clk),
    .board_reset_reset_n      (~reset),
    .kernel_pll_refclk_clk    (kernel_refclk),
    .pcie_refclk_clk          (pcie_refclk),
    .pcie_npor_npor           (pcie_perst_n),
    .pcie_npor_pin_perst      (pcie_perst_n),
    .pcie_serial_rx_in0       (pcie_rx[0]),
    .pcie_serial_rx_in1       (pcie_rx[1]),
    .pcie_serial_rx_in2       (pcie_rx[2]),
    .pcie_serial_rx_in3       (pcie_rx[3]),
    .pcie_serial_rx_in4       (pcie_rx[4]),
    .pcie_serial_rx_in5       (pcie_rx[5]),
    .pcie_serial_rx_in6       (pcie_rx[6]),
    .pcie_serial_rx_in7       (pcie_rx[7]),
    .pcie_serial_tx_out0      (pcie_tx[0]),
    .pcie_serial_tx_out1      (pcie_tx[1]),
    .pcie_serial_tx_out2      (pcie_tx[2]),
    .pcie_serial_tx_out3      (pcie_tx[3]),
    .pcie_serial_tx_out4      (pcie_tx[4]),
    .pcie_serial_tx_out5      (pcie_tx[5]),
    .pcie_serial_tx_out6      (pcie_tx[6]),
    .pcie_serial_tx_out7      (pcie_tx[7]),
    .bank_a_refclk_clk        (bank_a_refclk),
    .bank_a_oct_rzqin         (bank_a_rzq),
    .bank_b_refclk_clk        (bank_b_refclk),
    .bank_b_oct_rzqin         (bank_b_rzq),
    .flash_export             (flash),
    .sensors_export           (sensors),
    .leds_export              (leds)
  );
endmodule
