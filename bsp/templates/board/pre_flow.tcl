# Runs before a compile: makes the system's Verilog.
post_message "Generating the system"
qexec "qsys-generate --synthesis=VERILOG system.qsys"
