# Flash: a component of the second Peerlane reference BSP.
package require -exact qsys 14.0

set_module_property NAME peerlane_net_flash
set_module_property VERSION 1.0
set_module_property DISPLAY_NAME "Flash"
set_module_property GROUP "Peerlane reference"

add_parameter ADDRESS_WIDTH INTEGER 28 "Address bits (bytes)"
set_parameter_property ADDRESS_WIDTH HDL_PARAMETER false

add_fileset synthesis QUARTUS_SYNTH
set_fileset_property synthesis TOP_LEVEL net_flash
add_fileset_file net_flash.v VERILOG PATH net_flash.v TOP_LEVEL_FILE

add_interface clk clock end
add_interface_port clk clk clk Input 1
add_interface reset reset end
set_interface_property reset associatedClock clk
add_interface_port reset reset reset Input 1

add_interface s avalon end
set_interface_property s associatedClock clk
set_interface_property s associatedReset reset
set_interface_property s readLatency 1
set_interface_property s readWaitTime 0
add_interface_port s s_address address Input 26
add_interface_port s s_read read Input 1
add_interface_port s s_readdata readdata Output 32
add_interface_port s s_write write Input 1
add_interface_port s s_writedata writedata Input 32

add_interface pins conduit end
add_interface_port pins pins export Bidir 8
