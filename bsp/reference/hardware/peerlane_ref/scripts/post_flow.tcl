# Runs after a compile of the Peerlane reference BSP: sets the kernel clock's PLL, as the SDK does it.
post_message "Adjusting the kernel clock"
source $::env(ALTERAOCLSDKROOT)/ip/board/bsp/adjust_plls.tcl
