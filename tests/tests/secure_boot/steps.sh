# A computer is started twice: before and after the key of DKMS is enrolled. Set before: board_id, password.

fail() {
	echo "FAIL $*"
	exit 1
}

# Runs a command, whatever its exit status, whose output must have a text.
says() {
	text=$1
	shift
	said=$("$@" 2>&1) || :
	echo "$said"
	case $said in
	*"$text"*) ;;
	*) fail "$* does not say: $text" ;;
	esac
}

# Loads a module that the kernel must refuse, for this reason.
refused() {
	if said=$(insmod /modules/$1.ko 2>&1); then fail "$1 was loaded"; fi
	case $said in
	*'Key was rejected by service'*) ;;
	*) fail "$1: $said" ;;
	esac
	dmesg | tail -n 5 | grep -q "Loading of $2 is rejected" || fail "$1: the log has another reason"
}

# Puts a module where DKMS installs it.
installed() {
	cp /modules/$1.ko /lib/modules/$(uname -r)/updates/dkms/peerlane.ko
}

# Runs doctor, which must report a reason why the driver is not loaded.
doctor_says() {
	says "driver: wrong: the driver peerlane is not loaded: $1" peerlane doctor --no-probes
}

module=/lib/modules/$(uname -r)/updates/dkms/peerlane.ko
certificate=/var/lib/dkms/mok.pub
variables=/sys/firmware/efi/efivars
mkdir -p ${module%/*} ${certificate%/*}
cp /srv/mok.pub $certificate
mount -t efivarfs efivarfs $variables
mount -t securityfs securityfs /sys/kernel/security
says 'SecureBoot enabled' mokutil --sb-state
says '[integrity]' cat /sys/kernel/security/lockdown

board=
for path in /sys/bus/pci/devices/*; do
	if [ "$(cat $path/vendor) $(cat $path/device)" = "$board_id" ]; then board=${path##*/}; fi
done
[ "$board" ] || fail "no PCI device is a board ($board_id)"
# The state in which the firmware leaves the board.
cat /sys/bus/pci/devices/$board/resource
od -An -tx2 -j4 -N2 /sys/bus/pci/devices/$board/config

refused unsigned 'unsigned module'
installed unsigned
doctor_says "Secure Boot is on, and $module is not signed"
refused other 'module with unavailable key'
installed signed

# A variable that no one else uses: it stays as the computer is started again.
started=$variables/PeerlaneTest-5d1bd1a8-1a0e-4a5b-9d3c-6f1a1a4f7c55
if [ ! -e $started ]; then
	refused signed 'module with unavailable key'
	says 'is not enrolled' mokutil --test-key $certificate
	doctor_says "Secure Boot is on, and the kernel accepts $module only if its signing key is enrolled"

	# Without the module: vfio-pci is signed by Debian.
	peerlane install-board /srv/peerlane.board
	peerlane bind $board --user 0
	peerlane-guest vfio --filter vfio.library.both_directions_at_once
	says 'doctor: nothing is wrong' peerlane doctor
	peerlane unbind $board

	printf '%s\n%s\n' $password $password | mokutil --import $certificate
	doctor_says "Secure Boot is on, and the key of $module is enrolled at the next start"
	printf '\007\000\000\000\001' >$started
	echo 'refused, and the request made'
	reboot -f
fi

says 'is already enrolled' mokutil --test-key $certificate
doctor_says "$module is installed, and Secure Boot knows the key $certificate"
peerlane install-board /srv/peerlane.board
insmod $module memory_pool_mib=16
[ -e /sys/bus/pci/drivers/peerlane/$board ] || fail "the driver has not taken the board"
peerlane-guest library --filter library.both_directions_at_once
says "$board is ready" peerlane doctor
peerlane-guest programming --filter programming.rights_locked_down
says 'no process may load kernels into its FPGA' peerlane doctor --no-probes
rmmod peerlane
echo 'enrolled and accepted'
