# Runs after a compile: sets the kernels' PLL, as the SDK does it, and packs the files that `aoc` puts into the .aocx.
post_message "Adjusting the kernel clock"
source $::env(ALTERAOCLSDKROOT)/ip/board/bsp/adjust_plls.tcl
qexec "aocl binedit fpga.bin create"
qexec "aocl binedit fpga.bin add .acl.sof top.sof"
