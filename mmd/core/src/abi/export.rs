//! The symbols of the extension: `peerlane_ext.h`, which a test compares with this text.

/// The symbols of the extension.
#[doc(hidden)]
#[macro_export]
macro_rules! extension {
    ($mmd:ident) => {
        use $crate::{
            Direction, Events, Find, Notify, cl_bool, cl_device_id, cl_event, cl_int, cl_mem,
            cl_mem_flags, cl_peer_memory_peerlane, cl_uint, cl_ulong,
        };

        $crate::symbols! {
            clCreatePeerMemoryFromDmaBufPeerlane(
                device: cl_device_id, flags: cl_mem_flags, fd: c_int, offset: usize, size: usize,
                errcode_ret: *mut cl_int
            ) -> cl_peer_memory_peerlane {
                $mmd.peer_from_dma_buf(device, flags, fd, offset, size, errcode_ret)
            }
            clCreatePeerMemoryFromPointerPeerlane(
                device: cl_device_id, flags: cl_mem_flags, pointer: *mut c_void, size: usize,
                buffer_id: cl_ulong, errcode_ret: *mut cl_int
            ) -> cl_peer_memory_peerlane {
                $mmd.peer_from_pointer(device, flags, pointer, size, buffer_id, errcode_ret)
            }
            clCreatePeerMemoryFromMemObjectPeerlane(
                device: cl_device_id, flags: cl_mem_flags, memobj: cl_mem, errcode_ret: *mut cl_int
            ) -> cl_peer_memory_peerlane {
                $mmd.peer_from_mem_object(device, flags, memobj, errcode_ret)
            }
            clReleasePeerMemoryPeerlane(memory: cl_peer_memory_peerlane) -> cl_int {
                $mmd.release_peer(memory)
            }
            clCopyBufferToPeerPeerlane(
                src_buffer: cl_mem, dst_memory: cl_peer_memory_peerlane, src_offset: usize,
                dst_offset: usize, size: usize, blocking: cl_bool, num_events_in_wait_list: cl_uint,
                event_wait_list: *const cl_event, event: *mut cl_event
            ) -> cl_int {{
                let count = num_events_in_wait_list;
                let events = Events { blocking, count, list: event_wait_list, event };
                let (from, to) = ((src_buffer, src_offset), (dst_memory, dst_offset));
                $mmd.copy_buffer(Direction::FromFpga, from, to, size, events)
            }}
            clCopyPeerToBufferPeerlane(
                src_memory: cl_peer_memory_peerlane, dst_buffer: cl_mem, src_offset: usize,
                dst_offset: usize, size: usize, blocking: cl_bool, num_events_in_wait_list: cl_uint,
                event_wait_list: *const cl_event, event: *mut cl_event
            ) -> cl_int {{
                let count = num_events_in_wait_list;
                let events = Events { blocking, count, list: event_wait_list, event };
                let (from, to) = ((src_memory, src_offset), (dst_buffer, dst_offset));
                $mmd.copy_buffer(Direction::ToFpga, to, from, size, events)
            }}
            clGetBufferAddressPeerlane(
                device: cl_device_id, buffer: cl_mem, address: *mut cl_ulong
            ) -> cl_int { $mmd.buffer_address(device, buffer, address) }
            clCopyAddressToPeerPeerlane(
                src_address: cl_ulong, dst_memory: cl_peer_memory_peerlane, dst_offset: usize,
                size: usize, pfn_notify: Option<Notify>, user_data: *mut c_void
            ) -> cl_int {{
                let (to, notify) = ((dst_memory, dst_offset), (pfn_notify, user_data));
                $mmd.copy_address(Direction::FromFpga, src_address, to, size, notify)
            }}
            clCopyPeerToAddressPeerlane(
                src_memory: cl_peer_memory_peerlane, dst_address: cl_ulong, src_offset: usize,
                size: usize, pfn_notify: Option<Notify>, user_data: *mut c_void
            ) -> cl_int {{
                let (from, notify) = ((src_memory, src_offset), (pfn_notify, user_data));
                $mmd.copy_address(Direction::ToFpga, dst_address, from, size, notify)
            }}
            clSetOpenCLPeerlane(pfn_find: Option<Find>) -> cl_int { $mmd.set_opencl(pfn_find) }
            clGetErrorTextPeerlane(error: cl_int) -> *const c_char { $mmd.error_text(error) }
        }
    };
}
