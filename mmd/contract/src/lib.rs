//! A model of the FPGA runtime for OpenCL, for tests of board libraries: it makes the runtime's calls in its order,
//! with its values, from its threads.
//!
//! The runtime itself is not part of this crate. Its calls were logged, and read in intel/fpga-runtime-for-opencl
//! v2025.0.
//!
//! - [`Runtime`] makes the calls to any implementation of [`Calls`]: a library that was found and loaded as the runtime
//!   does it ([`Library`]), or a library in the process.
//! - [`checks`] are the checks that every board with kernels must pass.
//! - [`functional`] has tests of a library in the process ([`InProcess`]) over a board that the tests can also access
//!   without the library, a [`Bench`]; [`tests!`] makes the tests of one.
//! - The program `peerlane-loader` makes the calls line by line, for a test outside of the process.

pub mod checks;
mod commands;
pub mod functional;
mod in_process;
mod library;
mod runtime;

pub use in_process::InProcess;
pub use library::{Library, LoadError};
pub use runtime::{
    ARGUMENTS, CSR, DONE, FINISH, Heard, LIMIT, PRINTF, Runtime, STALLED, START, Shared, UNSTALL,
    VERSIONS, Version, WORK, int,
};

use std::ffi::{c_char, c_int, c_void};

/// `aocl_mmd_interrupt_handler_fn`.
pub type InterruptHandler = unsafe extern "C" fn(c_int, *mut c_void);

/// `aocl_mmd_status_handler_fn`.
pub type StatusHandler = unsafe extern "C" fn(c_int, *mut c_void, *mut c_void, c_int);

/// `aocl_mmd_device_interrupt_handler_fn`.
pub type DeviceHandler = unsafe extern "C" fn(c_int, *mut c_void, *mut c_void);

/// The functions of `aocl_mmd.h` that a runtime calls. Their names are without `aocl_mmd_`.
#[allow(
    clippy::missing_safety_doc,
    reason = "it is that of the interface, stated below"
)]
pub trait Calls: Send + Sync {
    /// # Safety
    /// `value` is NULL or good for writes of `room` bytes, `returned` is NULL or good for one of a number.
    unsafe fn get_offline_info(
        &self,
        id: c_int,
        room: usize,
        value: *mut c_void,
        returned: *mut usize,
    ) -> c_int;

    /// # Safety
    /// As [`get_offline_info`](Self::get_offline_info).
    unsafe fn get_info(
        &self,
        handle: c_int,
        id: c_int,
        room: usize,
        value: *mut c_void,
        returned: *mut usize,
    ) -> c_int;

    /// # Safety
    /// `name` is a string that ends with a 0.
    unsafe fn open(&self, name: *const c_char) -> c_int;

    /// Ends the use of a board.
    fn close(&self, handle: c_int) -> c_int;

    /// # Safety
    /// The function can be called with the pointer from any thread until another one is set.
    unsafe fn set_interrupt_handler(
        &self,
        handle: c_int,
        function: Option<InterruptHandler>,
        user: *mut c_void,
    ) -> c_int;

    /// # Safety
    /// As [`set_interrupt_handler`](Self::set_interrupt_handler).
    unsafe fn set_device_interrupt_handler(
        &self,
        handle: c_int,
        function: Option<DeviceHandler>,
        user: *mut c_void,
    ) -> c_int;

    /// # Safety
    /// As [`set_interrupt_handler`](Self::set_interrupt_handler).
    unsafe fn set_status_handler(
        &self,
        handle: c_int,
        function: Option<StatusHandler>,
        user: *mut c_void,
    ) -> c_int;

    /// # Safety
    /// `to` is good for writes of `length` bytes until the transfer has ended, and no other code uses them. The status
    /// handler may be called with `op`.
    unsafe fn read(
        &self,
        handle: c_int,
        op: *mut c_void,
        length: usize,
        to: *mut c_void,
        interface: c_int,
        offset: usize,
    ) -> c_int;

    /// # Safety
    /// `from` is good for reads of `length` bytes until the transfer has ended, and no other code writes them. The
    /// status handler may be called with `op`.
    unsafe fn write(
        &self,
        handle: c_int,
        op: *mut c_void,
        length: usize,
        from: *const c_void,
        interface: c_int,
        offset: usize,
    ) -> c_int;

    /// Copies the board's memory.
    fn copy(
        &self,
        handle: c_int,
        op: *mut c_void,
        length: usize,
        interface: c_int,
        from: usize,
        to: usize,
    ) -> c_int;

    /// Calls `program`, or `reprogram`, which has no mode: the one that the library has for its runtimes.
    ///
    /// # Safety
    /// `image` is good for reads of `size` bytes.
    unsafe fn program(&self, handle: c_int, image: *mut c_void, size: usize, mode: c_int) -> c_int;
}

/// Effect of a programming on the FPGA and its memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Programming {
    /// The memory keeps its contents.
    Keeps,
    /// The memory loses its contents.
    Loses,
    /// The image is not loaded.
    Fails,
    /// The image is loaded into another board's FPGA, which the programmer does not report as an error.
    Elsewhere,
}

/// A board under test. It has a kernel whose registers have version 5 and are at [`CSR`]: it adds two arrays of ints,
/// as many as the first global size, into a third array.
pub trait Bench: Sync {
    /// Loads a library with the board. It lives as long as the process, as a library does. Each call acts as another
    /// program.
    fn load(&self) -> &'static InProcess;

    /// Returns the board's name.
    fn name(&self) -> &str;

    /// Returns its place on the bus.
    fn bus(&self) -> &str;

    /// Returns its temperature, in degrees Celsius.
    fn degrees(&self) -> f32;

    /// Returns the autodiscovery text in its ROM, of version 23.
    fn text(&self) -> String;

    /// Reads FPGA memory.
    fn memory_read(&self, address: u64, bytes: &mut [u8]);

    /// Writes FPGA memory.
    fn memory_write(&self, address: u64, bytes: &[u8]);

    /// Returns how often the kernels were reset.
    fn resets(&self) -> u64;

    /// Returns an image with the same kernel and another text. Each number gives another image.
    fn image(&self, number: u8) -> Vec<u8>;

    /// Sets the effect of later programmings.
    fn set_programming(&self, how: Programming);

    /// Returns how often it was programmed.
    fn programmed(&self) -> u64;

    /// Whether transfers take so long that a test should make only small ones.
    fn is_slow(&self) -> bool;

    /// Opens the board as the runtime does.
    fn open(&self) -> Runtime {
        let opened = Runtime::open(self.load(), self.name(), Version(24.2));
        opened.expect("the board is free").0
    }
}

/// Makes the tests of a kind of board, with these attributes, from a function that makes such a board.
#[macro_export]
macro_rules! tests {
    ($(#[$attribute:meta])* $new:path) => {
        $crate::tests! { @ [$(#[$attribute])*] $new;
            contexts_of_every_version_open
            every_field_is_answered_within_its_room
            a_kernel_runs_and_launches_again_with_what_changed
            nothing_is_called_before_a_handler_is_set_or_after_a_close
            a_handler_that_is_at_work_has_the_board_until_it_returns
            a_program_is_loaded_with_memory_kept_or_restored
            a_program_that_cannot_be_loaded_closes_the_board
            a_program_that_another_board_got_is_none
            all_alignments_and_sizes
            memory_is_copied_on_the_board
            eight_threads_share_a_board
            a_board_has_one_user_and_handles_are_its_own
            signals_are_the_applications
            the_status_handler_of_the_beginning_is_called
            the_rows_of_a_command_end_together
            an_operation_is_anothers_when_it_has_ended
            a_row_that_is_refused_is_no_end
            host_memory_that_is_written_back_to_itself_is_there
            host_memory_at_a_low_address_is_not_fpga_memory
            host_memory_of_a_board_that_was_closed_is_there_too
        }
    };
    (@ $attributes:tt $new:path; $($name:ident)*) => {
        $($crate::tests! { @@ $attributes $new; $name })*
    };
    (@@ [$($attribute:tt)*] $new:path; $name:ident) => {
        #[test]
        $($attribute)*
        fn $name() {
            $crate::functional::$name(&$new());
        }
    };
}
