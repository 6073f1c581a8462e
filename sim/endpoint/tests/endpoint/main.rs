//! The endpoint with a client in this process.

mod faults;
mod function;
mod guest;
mod opencl;
mod programming;
mod transfers;
