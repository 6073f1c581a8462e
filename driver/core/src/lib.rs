//! The driver's logic: ATT allocator, descriptors, records. no_std.
