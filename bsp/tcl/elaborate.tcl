# Mock of Platform Designer's elaboration of a whole system: of a .qsys file, whose components and systems are
# searched below its directory, or of a script of qsys-script commands.
#
#   tclsh elaborate.tcl SYSTEM.qsys|SCRIPT.tcl [DIRECTORY]... [-interfaces]
#
# Prints the messages that Platform Designer would print, one a line, and a summary. The exit status is 1 if there is an
# error. The known texts are in checks.tcl, the known vendors' components in vendor_kinds.tcl, hard_kinds.tcl and
# sdk_kinds.tcl. An unknown component is a note: it may be one of Quartus. With -interfaces it also prints the elaborated
# interfaces, one a line:
#   unknown INSTANCE / interface INSTANCE.NAME TYPE SIDE / property INSTANCE.NAME NAME VALUE
#   port INSTANCE.NAME ROLE DIRECTION WIDTH / span INSTANCE.NAME BYTES / slave MASTER SLAVE BASE SPAN

set here [file dirname [file normalize [info script]]]
foreach part {qsys system vendor_kinds hard_kinds sdk_kinds checks} { source [file join $here $part.tcl] }

set file [file normalize [lindex $argv 0]]
set shows [expr {[lindex $argv end] eq "-interfaces"}]
foreach directory [concat [list [file dirname $file]] [lrange $argv 1 end-$shows]] { search $directory }
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

proc show_interfaces {} {
    global model unknown instances
    dict for {instance record} $instances {
        if {[info exists unknown($instance)] && [dict size $model($instance)] == 0} { puts "unknown $instance" }
        dict for {name about} $model($instance) {
            set full $instance.$name
            puts "interface $full [dict get $about type] [dict get $about side]"
            dict for {property value} [dict get $about properties] { puts "property $full $property $value" }
            dict for {role port} [dict get $about ports] { puts "port $full $role $port" }
            switch "[dict get $about type] [dict get $about side]" {
                "avalon start" { foreach slave [slaves_of $full] { puts "slave $full [lrange $slave 0 2]" } }
                "avalon end" { puts "span $full [reach $about]" }
            }
        }
    }
}
if {$shows} { show_interfaces }

array set count {error 0 warning 0}
foreach message $messages {
    lassign $message level element text
    if {[info exists count($level)]} { incr count($level) }
    puts "[string totitle $level]: $element: $text"
}
puts "$top: [dict size $instances] instances, [llength $connections] connections, $count(error) errors, $count(warning) warnings"
exit [expr {$count(error) > 0}]
