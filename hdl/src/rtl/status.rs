//! The register map's status codes, as constants of a block.

use crate::generated::constants::status_code;
use rust_hdl::prelude::*;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:ident),* $(,)?) => {
        /// A field of this type, by the name of `status`, gives a block the codes: `self.status.port_down.val()`. In
        /// the Verilog are those that it uses.
        #[derive(Clone, Debug)]
        pub struct Status {
            $($(#[$doc])* pub $name: Constant<Bits<4>>,)*
        }

        impl Default for Status {
            fn default() -> Self {
                Self { $($name: Constant::new(status_code::$code.into()),)* }
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
    ok = OK,
    /// No length, or beyond the FPGA memory.
    length = LENGTH,
    /// Beyond the ATT.
    att_bounds = ATT_BOUNDS,
    /// An entry that is not valid.
    att_invalid = ATT_INVALID,
    /// An entry of another channel.
    att_owner = ATT_OWNER,
    /// An entry that does not permit the direction.
    att_permission = ATT_PERMISSION,
    /// An entry of another page size.
    att_page_size = ATT_PAGE_SIZE,
    /// A read that was not answered in time.
    read_timeout = READ_TIMEOUT,
    /// The port carries nothing.
    port_down = PORT_DOWN,
    /// Stopped by an abort.
    aborted = ABORTED,
    /// A descriptor that is not well formed.
    descriptor = DESCRIPTOR,
    /// A flush read that has failed.
    flush = FLUSH,
    /// Outside the channel's range of FPGA memory.
    local_range = LOCAL_RANGE,
}
