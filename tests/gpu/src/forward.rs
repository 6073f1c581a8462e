//! Methods that a context forwards to the context that it contains.

/// Implements all of [`peerlane_host::Context`] except `register`, `unregister`, `open_channel` and methods with a
/// default.
macro_rules! forward {
    ($self:ident => $to:expr) => {
        fn name(&$self) -> String {
            $to.name()
        }
        fn info(&$self) -> &peerlane_host::peerlane_core::uapi::Info {
            $to.info()
        }
        fn memory(
            &$self,
            kind: peerlane_host::MemoryKind,
            bytes: usize,
        ) -> peerlane_host::Result<peerlane_host::Memory> {
            $to.memory(kind, bytes)
        }
        fn keep(&$self, handle: u32, memory: Box<dyn std::any::Any + Send + Sync>) {
            $to.keep(handle, memory)
        }
        fn flush(&$self, handle: u32) -> peerlane_host::Result<()> {
            $to.flush(handle)
        }
        fn flush_unread(&$self, handle: u32) -> peerlane_host::Result<()> {
            $to.flush_unread(handle)
        }
        fn allocate(
            &$self,
            wanted: &mut peerlane_host::peerlane_core::uapi::Allocate,
        ) -> peerlane_host::Result<()> {
            $to.allocate(wanted)
        }
        fn free(&$self, flags: u32) -> peerlane_host::Result<[u64; 2]> {
            $to.free(flags)
        }
        fn post(
            &$self,
            direction: peerlane_host::Direction,
            descriptor: &[u32; peerlane_host::peerlane_core::descriptor::DWORDS],
            freed: u16,
        ) -> u32 {
            $to.post(direction, descriptor, freed)
        }
        fn ring_again(&$self, direction: peerlane_host::Direction, freed: u16) -> u32 {
            $to.ring_again(direction, freed)
        }
        fn stream(
            &$self,
            stream: &mut peerlane_host::peerlane_core::uapi::Stream,
        ) -> peerlane_host::Result<()> {
            $to.stream(stream)
        }
        fn queue_free(&$self) -> [u32; 2] {
            $to.queue_free()
        }
        fn take_refused(&$self) -> bool {
            $to.take_refused()
        }
        fn status(&$self, slot: u32) -> u32 {
            $to.status(slot)
        }
        fn record(&$self, slot: u32) -> [u32; peerlane_host::peerlane_core::record::DWORDS] {
            $to.record(slot)
        }
        fn query(&$self) -> peerlane_host::Result<peerlane_host::peerlane_core::uapi::Query> {
            $to.query()
        }
        fn await_event(
            &$self,
            limit: Option<std::time::Duration>,
        ) -> peerlane_host::Result<bool> {
            $to.await_event(limit)
        }
        fn now(&$self) -> std::time::Duration {
            $to.now()
        }
        fn pause(&$self) {
            $to.pause();
        }
        fn stop(&$self, drain: std::time::Duration) -> peerlane_host::Result<bool> {
            $to.stop(drain)
        }
        fn moderate(
            &$self,
            moderation: peerlane_host::Moderation,
        ) -> peerlane_host::Result<()> {
            $to.moderate(moderation)
        }
    };
}
