# A mock of Quartus that knows only commands which Quartus has. Its settings are empty; it makes the
# files that a compile and an export make.
package provide ::quartus::project 1.0
package provide ::quartus::flow 1.0
proc project_open {p option revision} { puts "open $p $revision" }
proc project_close {} { puts close }
proc export_assignments {} { puts save }
proc post_message {m} { puts "message $m" }
proc set_global_assignment {args} { puts "set $args" }
proc get_global_assignment {args} { return $::env(IMPORT) }
proc make {file} { set f [open $file w]; puts $f new; close $f }
proc execute_flow {what} {
    puts "flow $what"
    if {$::env(FAILS) eq "compile"} { error "Quartus: timing not met" }
    if {$::env(FAILS) ne "persona"} { make base.root_partition.personax }
    make fpga.bin
}
proc execute_module {option tool more args} {
    puts "module $args"
    if {[regexp {export=(\S+)} $args all file]} { make $file }
}
proc exec {args} { puts "exec $args"; make [lindex $args 2] }
array set quartus [list args [lrange $argv 1 end]]
source [lindex $argv 0]
