#!/bin/busybox sh
# The machine's first program: runs the test's script and powers off.
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mount -t debugfs debugfs /sys/kernel/debug
# The line to the test: no echo, no waiting for whole lines. Parameters that the kernel does not know are variables here.
control=${PEERLANE_CONTROL:-/dev/ttyS1}
stty -F $control raw -echo
# From here on the kernel says everything on the console.
dmesg -n 8

sh /script
status=$?

# A kernel that looks for memory that nobody has any more does so when it is told to, and leaves out
# what is younger than 5 s (mm/kmemleak.c, MSECS_MIN_AGE), and what has changed since it last looked.
leaks=/sys/kernel/debug/kmemleak
if [ -e $leaks ]; then
	sleep 6
	echo scan >$leaks
	echo scan >$leaks
	head -n 200 $leaks
fi

# To the test: peerlane-vm reads it in vm.rs.
echo "{\"script\":$status}" >$control
poweroff -f
