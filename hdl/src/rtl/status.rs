//! The register map's status codes, as constants of a block.

use peerlane_core::regs::StatusCode;
use peerlane_language::*;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:ident),* $(,)?) => {
        /// A field of this type, by the name of `status`, gives a block the codes: `self.status.port_down.val()`. In
        /// the Verilog are those that it uses.
        #[derive(Clone, Debug)]
        pub struct Status {
            $($(#[$doc])* pub $name: Constant<Bits<5>>,)*
        }

        impl Default for Status {
            fn default() -> Self {
                Self { $($name: Constant::new((StatusCode::$code as u64).into()),)* }
            }
        }

        impl Logic for Status {
            fn update(&mut self) {}
            fn connect(&mut self) {}
        }

        impl Block for Status {
            fn connect_all(&mut self) {}
            fn update_all(&mut self) {}
            fn has_changed(&self) -> bool {
                false
            }
            fn accept(&self, name: &str, probe: &mut dyn Probe) {
                probe.visit_start_namespace(name, self);
                $(self.$name.accept(stringify!($name), probe);)*
                probe.visit_end_namespace(name, self);
            }
        }
    };
}

codes! {
    /// Every byte was moved.
    ok = Ok,
    /// No length, or beyond the FPGA memory.
    length = Length,
    /// Beyond the ATT.
    att_bounds = AttBounds,
    /// An entry that is not valid.
    att_invalid = AttInvalid,
    /// An entry of another channel.
    att_owner = AttOwner,
    /// An entry that does not permit the direction.
    att_permission = AttPermission,
    /// An entry of another page size.
    att_page_size = AttPageSize,
    /// A read that was not answered in time.
    read_timeout = ReadTimeout,
    /// The port carries nothing.
    port_down = PortDown,
    /// Stopped by an abort.
    aborted = Aborted,
    /// A descriptor that is not well formed.
    descriptor = Descriptor,
    /// A flush read that has failed.
    flush = Flush,
    /// Outside the channel's range of FPGA memory.
    local_range = LocalRange,
    /// A write that does not begin and end at whole dwords, at a port that writes no others.
    alignment = Alignment,
}
