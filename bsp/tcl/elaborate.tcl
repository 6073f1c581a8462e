# Stands in for Platform Designer's elaboration of a whole system: of a .qsys file, whose components and systems are
# looked for below its directory, or of a script of qsys-script commands.
#
#   tclsh elaborate.tcl SYSTEM.qsys|SCRIPT.tcl [DIRECTORY]...
#
# Prints what Platform Designer would say, one message a line, and a summary. The exit status is 1 if there is an
# error. What is known of the wording stands in checks.tcl, what is known of the vendors' components in
# vendor_kinds.tcl.

set here [file dirname [file normalize [info script]]]
foreach part {qsys system vendor_kinds checks} { source [file join $here $part.tcl] }

set file [file normalize [lindex $argv 0]]
foreach directory [concat [list [file dirname $file]] [lrange $argv 1 end]] { search $directory }
if {[file extension $file] eq ".qsys"} {
    read_qsys $file
    set top [file rootname [file tail $file]]
} else {
    source $file
    set top $current
}
set exported [flatten $top ""]
elaborate
validate_system

array set count {error 0 warning 0}
foreach message $messages {
    lassign $message level element text
    if {[info exists count($level)]} { incr count($level) }
    puts "[string totitle $level]: $element: $text"
}
puts "$top: [dict size $instances] instances, [llength $connections] connections, $count(error) errors, $count(warning) warnings"
exit [expr {$count(error) > 0}]
