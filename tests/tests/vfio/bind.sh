# Binds the board to vfio-pci, and runs the test. Set before: board_id, user_mib, locked_down, iommufd, test.

fail() {
	echo "the machine cannot be set up: $*"
	exit 1
}

# Prints the address of the PCI device with this vendor and device.
device() {
	for path in /sys/bus/pci/devices/*; do
		if [ "$(cat $path/vendor) $(cat $path/device)" = "$1" ]; then
			echo ${path##*/}
		fi
	done
}

# Binds the device at this address to vfio-pci, and gives it to the user.
bind() {
	path=/sys/bus/pci/devices/$1
	[ -e $path/iommu_group ] || fail "$1 is in no IOMMU group: the kernel has not switched the IOMMU on"
	# The port above, which has no access control, may be in the group: its driver maps no memory.
	for other in $path/iommu_group/devices/*; do
		case ${other##*/}:$(cat $other/class) in
		$1:* | *:0x0604*) ;;
		*) fail "$1 shares its IOMMU group with ${other##*/}" ;;
		esac
	done
	echo vfio-pci >$path/driver_override
	echo $1 >/sys/bus/pci/drivers_probe || fail "vfio-pci refuses $1; the kernel's log has the reason"
	[ -e /sys/bus/pci/drivers/vfio-pci/$1 ] || fail "vfio-pci has not taken $1"
	node=/dev/vfio/$(group $1)
	if [ "$iommufd" ]; then
		[ ! -e $node ] || fail "the kernel has groups of VFIO: $node"
		# The command finds the node.
		peerlane bind $1 --user $(if [ "$user_mib" ]; then echo 1000; else echo 0; fi) || fail "peerlane bind"
		return
	fi
	[ -e $node ] || fail "vfio-pci has $1, but there is no $node"
	if [ "$user_mib" ]; then chown 1000 $node; fi
}

# Prints the IOMMU group of the device at this address.
group() {
	basename "$(readlink /sys/bus/pci/devices/$1/iommu_group)"
}

boards=$(device "$board_id")
[ "$boards" ] || fail "no PCI device is a board ($board_id)"
board=${boards%%[!0-9a-f:.]*}
gpu=$(device "0x1af4 0x1110")
[ "$gpu" ] || fail "no PCI device is the mock GPU"
for each in $boards; do
	bind $each
done
group=$(group $board)
gpu_group=$(group $gpu)
type=$(cat /sys/kernel/iommu_groups/$group/type)
[ "$type" = DMA ] || fail "the IOMMU is not strict: the board's group has the type $type"
dmesg | grep -q 'DMAR-IR: Enabled IRQ remapping' || fail "the IOMMU does not map interrupts"

if [ "$locked_down" ]; then
	mount -t securityfs securityfs /sys/kernel/security
	state=$(cat /sys/kernel/security/lockdown)
	case $state in
	*\[integrity\]*) ;;
	*) fail "the kernel is not locked down: $state" ;;
	esac
	bind $gpu
else
	# Programs map its memory by sysfs.
	echo 1 >/sys/bus/pci/devices/$gpu/enable
	if [ "$user_mib" ]; then chown 1000 /sys/bus/pci/devices/$gpu/resource2; fi
fi

export board gpu group gpu_group
# The mock of GDRCopy takes that BAR for a GPU's memory.
export PEERLANE_GDRAPI=/lib/libfakegdr.so
export PEERLANE_FAKE_GDR=/sys/bus/pci/devices/$gpu/resource2
export PEERLANE_FAKE_GDR_BUSY=/tmp/gdr-busy
if [ "$user_mib" ]; then
	mkdir /etc
	echo 'user:x:1000:1000::/:/bin/sh' >/etc/passwd
	chmod 1777 /tmp
	# The line to the test.
	chown 1000 /dev/ttyS1
	ulimit -l $((user_mib * 1024))
	su user -c "sh -e $test"
else
	sh -e $test
fi
