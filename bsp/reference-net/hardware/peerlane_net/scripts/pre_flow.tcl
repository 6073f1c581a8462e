# Runs before a compile of the second Peerlane reference BSP.
set sdk $::env(ALTERAOCLSDKROOT)
post_message "Generating the system"
qexec "qsys-generate --synthesis=VERILOG system.qsys"
