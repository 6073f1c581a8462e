# Runs after a compile of the second Peerlane reference BSP: sets the kernel clock's PLL, as the SDK does it, and
# packs what `aoc` puts into the .aocx.
set revision [lindex $quartus(args) 2]
post_message "Adjusting the kernel clock"
source $::env(ALTERAOCLSDKROOT)/ip/board/bsp/adjust_plls.tcl
source scripts/pack_fpga_bin.tcl
pack_fpga_bin $revision
