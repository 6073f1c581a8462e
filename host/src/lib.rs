//! Host library: devices, regions, queues and transfers.
