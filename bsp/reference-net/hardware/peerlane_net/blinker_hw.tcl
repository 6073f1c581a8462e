# Blinker: a component of the second Peerlane reference BSP.
package require -exact qsys 14.0

set_module_property NAME peerlane_net_blinker
set_module_property VERSION 1.0
set_module_property DISPLAY_NAME "Blinker"
set_module_property GROUP "Peerlane reference"

add_fileset synthesis QUARTUS_SYNTH
set_fileset_property synthesis TOP_LEVEL net_blinker
add_fileset_file net_blinker.v VERILOG PATH net_blinker.v TOP_LEVEL_FILE

add_interface clk clock end
add_interface_port clk clk clk Input 1
add_interface reset reset end
set_interface_property reset associatedClock clk
add_interface_port reset reset reset Input 1

add_interface leds conduit end
add_interface_port leds leds export Output 4
