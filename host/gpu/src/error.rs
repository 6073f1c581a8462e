//! Errors of the library, with hints.

use cudarc::driver::sys::CUresult;
use peerlane_host::Fault;

/// Result of the library's calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the library. [`Error::hint`] has a hint for each.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// CUDA's driver library is not there.
    #[error("there is no libcuda.so on this machine")]
    NoCuda,
    /// CUDA's driver is too old.
    #[error("CUDA's driver supports version {}.{} only, not {}.{}", found / 1000, found % 1000 / 10, needed / 1000, needed % 1000 / 10)]
    OldCuda {
        /// The driver's version, as CUDA writes versions: 1000 × major + 10 × minor.
        found: i32,
        /// The oldest version that is enough, in the same form.
        needed: i32,
    },
    /// A call of CUDA's driver failed.
    #[error("{call} failed: {name}")]
    Cuda {
        /// The function.
        call: &'static str,
        /// Its result (`CUresult` of `cuda.h`), as a number: a newer driver has results that older headers lack.
        code: i32,
        /// The result's name, from the driver.
        name: String,
    },
    /// The GPU lets no other device into its memory.
    #[error("the GPU {gpu} gives no other device access to its memory")]
    NoPeers {
        /// The GPU's place on the bus.
        gpu: String,
    },
    /// Bytes that are not in the buffer.
    #[error("{length} bytes at {offset} do not lie in a buffer of {size} bytes")]
    Bounds {
        /// First byte.
        offset: u64,
        /// Bytes.
        length: u64,
        /// Bytes of the buffer.
        size: u64,
    },
    /// Pieces of memory that lie side by side, and that CUDA's driver does not export as one dma-buf.
    #[error(
        "CUDA's driver does not export {length} bytes in {pieces} pieces as one dma-buf: {name}"
    )]
    Pieces {
        /// Bytes.
        length: u64,
        /// Pieces that were mapped side by side.
        pieces: usize,
        /// The driver's result, by name.
        name: String,
    },
    /// A buffer of no bytes.
    #[error("a buffer of 0 bytes")]
    Empty,
    /// The buffer cannot be shared with another API.
    #[error("the buffer cannot be shared with another API: {reason}")]
    NotShareable {
        /// The reason.
        reason: &'static str,
    },
    /// The GPU offers no way to order a peer's writes before work that runs on it.
    #[error("the GPU {gpu} cannot be asked to show a peer's writes to kernels that run")]
    NoFlush {
        /// The GPU's place on the bus.
        gpu: String,
    },
    /// A transfer that a stream started has failed.
    #[error("a transfer of the GPU's queue failed: {0}")]
    Transfer(Fault),
    /// No record of a transfer that a stream started has come in time.
    #[error("a transfer of the GPU's queue has not ended in time")]
    Late,
    /// The stream is another context's.
    #[error("the stream belongs to another CUDA context than the queue")]
    Foreign,
    /// OpenCL lacks a part that the import needs.
    #[error("OpenCL cannot take the buffer: {reason}")]
    OpenCl {
        /// The part that is missing.
        reason: String,
    },
    /// A call of OpenCL failed.
    #[error("{call} failed: OpenCL error {code}")]
    OpenClCall {
        /// The function.
        call: &'static str,
        /// Its error code (CL/cl.h).
        code: i32,
    },
    /// AMD's runtimes are not there, or lack a function.
    #[error("AMD's GPUs cannot be used: {reason}")]
    NoRocm {
        /// The part that is missing.
        reason: String,
    },
    /// A call of HIP or HSA failed.
    #[error("{call} failed: {name}")]
    Rocm {
        /// The function.
        call: &'static str,
        /// Its result (`hipError_t`, `hsa_status_t`), as a number.
        code: i32,
        /// The runtime's description of it.
        name: String,
    },
    /// A GPU's driver has exported a dma-buf that cannot be right.
    #[error("the GPU's dma-buf cannot be right: {reason}")]
    BadExport {
        /// The reason.
        reason: String,
    },
    /// A device has no DirectGMA, or not this part of it.
    #[error("there is no DirectGMA: {reason}")]
    NoDirectGma {
        /// The part that is missing.
        reason: String,
    },
    /// The board's driver takes no bus addresses.
    #[error("the board's driver accepts no bus addresses, and DirectGMA gives only those")]
    BusAddress,
    /// A buffer that was to be resident has no bus address.
    #[error("the GPU's driver has given a buffer of {length} bytes no bus address")]
    NotResident {
        /// Bytes.
        length: u64,
    },
    /// Addresses that DirectGMA cannot store to.
    #[error(
        "DirectGMA cannot store to {length} bytes at bus address {address:#x}, with signals at \
         {marker:#x}: both must begin at multiples of 4096 bytes, and not at 0"
    )]
    Misplaced {
        /// Bus address of the first byte.
        address: u64,
        /// Bus address of the signals.
        marker: u64,
        /// Bytes.
        length: u64,
    },
    /// The stream is being captured.
    #[error("the stream is being captured into a graph")]
    Capturing,
    /// The stream is not being captured, or its graph was invalidated.
    #[error("the stream is not being captured into a graph")]
    NotCapturing,
    /// The board, its driver or the host library failed.
    #[error(transparent)]
    Board(#[from] peerlane_host::Error),
}

/// Checks that a range lies in a buffer of so many bytes.
pub(crate) fn within(offset: u64, length: u64, size: u64) -> Result<()> {
    match offset.checked_add(length) {
        Some(end) if end <= size => Ok(()),
        _ => Err(Error::Bounds {
            offset,
            length,
            size,
        }),
    }
}

impl Error {
    /// Whether the only cause is a lack of memory, or of room in a BAR.
    pub(crate) fn lacks_room(&self) -> bool {
        match self {
            Self::Cuda { code, .. } => *code == CUresult::CUDA_ERROR_OUT_OF_MEMORY as i32,
            // hipErrorOutOfMemory, HSA_STATUS_ERROR_OUT_OF_RESOURCES.
            Self::Rocm { code, .. } => [2, 0x1008].contains(code),
            // CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_RESOURCES, CL_OUT_OF_HOST_MEMORY.
            Self::OpenClCall { code, .. } => [-4, -5, -6].contains(code),
            Self::NotResident { .. } => true,
            _ => false,
        }
    }

    /// Returns a hint: how to fix the error, in one sentence or two.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoCuda => {
                "Install the GPU's driver. Without an NVIDIA GPU, transfers through host memory need none."
            }
            Self::OldCuda { .. } => "Install a newer driver of the GPU.",
            Self::Cuda { call, code, .. } => cuda_hint(call, *code),
            Self::NoPeers { .. } => {
                "Transfer through host memory: this GPU, its driver or a virtual machine lacks GPUDirect RDMA."
            }
            Self::Bounds { .. } => "Name bytes inside the buffer.",
            Self::Pieces { .. } => {
                "Register each piece by itself, or use memory in one piece: with PyTorch, turn \
                 expandable_segments off (PYTORCH_CUDA_ALLOC_CONF). Pieces must belong to one GPU, \
                 and be made with the same properties."
            }
            Self::Empty => "Ask for one byte at least.",
            Self::NotShareable { .. } => {
                "Use memory that is made by cuMemCreate, on a GPU that has virtual memory management."
            }
            Self::NoFlush { .. } => {
                "Launch the kernel after the transfer has ended: a launch alone orders it after \
                 the transfer."
            }
            Self::Transfer(_) => {
                "Look at the fault. The work that was enqueued after the step has run in spite of \
                 it."
            }
            Self::Late => {
                "The board may still execute it: stop the queue before the memory is used for \
                 something else. Or other steps used the queue for so long, or the board was \
                 started again and has refused the doorbell: then open another device."
            }
            Self::Foreign => "Make the stream in the context of the queue's GPU.",
            Self::Capturing => {
                "Use the call for a stream that is captured, which requires a promise about the graph."
            }
            Self::NotCapturing => {
                "Use the call for a stream that runs its work at once, or begin the capture first \
                 (cuStreamBeginCapture)."
            }
            Self::OpenCl { .. } => {
                "Use a GPU driver whose OpenCL has cl_khr_external_memory_opaque_fd, or copy through host memory, by clEnqueueReadBuffer and clEnqueueWriteBuffer."
            }
            Self::NoRocm { .. } => {
                "Install ROCm's HIP and HSA runtimes (libamdhip64.so, libhsa-runtime64.so.1). Without them copy by OpenCL and host memory."
            }
            Self::Rocm { code, .. } => rocm_hint(*code),
            Self::BadExport { .. } => {
                "Move data through host memory, and report it with the versions of ROCm and of the kernel."
            }
            Self::NoDirectGma { .. } => {
                "Use dma-bufs of the GPU's memory, which ROCm exports, or copy through host \
                 memory. DirectGMA is for FirePro and Radeon Pro cards whose driver has it turned \
                 on."
            }
            Self::BusAddress => {
                "Use dma-bufs of the GPU's memory, which ROCm exports, have the GPU push into the \
                 board's window, or copy through host memory."
            }
            Self::NotResident { .. } => {
                "Ask for less, or give DirectGMA a larger aperture in the settings of the GPU's driver."
            }
            Self::Misplaced { .. } => {
                "Read the address of the board's BAR in its file resource in sysfs, and add the \
                 window's offset in the BAR."
            }
            Self::OpenClCall { .. } => "Look the code up in CL/cl.h.",
            Self::Board(error) => error.hint(),
        }
    }
}

/// Returns the hint for a result of a call of CUDA's.
fn cuda_hint(call: &str, code: i32) -> &'static str {
    let is = |results: &[CUresult]| results.iter().any(|result| *result as i32 == code);
    if is(&[CUresult::CUDA_ERROR_OUT_OF_MEMORY]) {
        "Free GPU memory, or ask for less. Where an address range is to be exported, the GPU's BAR1 may be full."
    } else if is(&[
        CUresult::CUDA_ERROR_NO_DEVICE,
        CUresult::CUDA_ERROR_INVALID_DEVICE,
    ]) {
        "Name a GPU that nvidia-smi lists, and look at CUDA_VISIBLE_DEVICES."
    } else if call == "cuMemHostRegister" {
        // Only calls that map registers report this: the code that registers host memory goes on without it.
        MAP_REGISTERS
    } else if is(&[CUresult::CUDA_ERROR_NOT_SUPPORTED]) {
        "Use the open kernel modules of the GPU's driver: only they export dma-bufs."
    } else if is(&[CUresult::CUDA_ERROR_INVALID_VALUE]) {
        "Name memory that this process got from cuMemAlloc or cuMemCreate, with gpuDirectRDMACapable."
    } else {
        "Look at the result's description in the manual of CUDA's driver API."
    }
}

/// Hint of the condition under which NVIDIA's driver maps another device's registers into CUDA. The key is one of its
/// registry, which the module's parameter `NVreg_RegistryDwords` has (NVSHMEM's installation guide, on IBGDA).
const MAP_REGISTERS: &str = "Run it as an administrator, or have NVIDIA's module permit every \
                             process to map other devices' registers: put `options nvidia \
                             NVreg_RegistryDwords=\"PeerMappingOverride=1;\"` into a file of \
                             /etc/modprobe.d, and load the module again. Otherwise let the host \
                             start transfers (Queue).";

/// Returns the hint for a result of HIP's (hip_runtime_api.h) or HSA's (hsa.h, hsa_ext_amd.h), whose numbers are far
/// apart.
fn rocm_hint(code: i32) -> &'static str {
    match code {
        // hipErrorOutOfMemory.
        2 => "Free GPU memory, or ask for less.",
        // hipErrorNoDevice, hipErrorInvalidDevice.
        100 | 101 => {
            "Name a GPU that rocminfo lists, look at HIP_VISIBLE_DEVICES, and become a member of the groups render and video."
        }
        // HSA_STATUS_ERROR_INVALID_ALLOCATION, hipErrorInvalidValue, hipErrorNotFound.
        0x1003 | 1 | 500 => {
            "Name memory that this process got from hipMalloc, and that was not freed."
        }
        // HSA_STATUS_ERROR_INVALID_AGENT.
        0x1004 => "Name a GPU's memory: host memory is registered by its address.",
        // HSA_STATUS_ERROR_OUT_OF_RESOURCES, HSA_STATUS_ERROR.
        0x1008 | 0x1000 => {
            "Use a newer kernel, whose amdgpu exports dma-bufs (amdkfd's interface from version 1.12 on), or copy through host memory."
        }
        _ => "Look at the result's description in ROCm's headers.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CUDA has the same results for registers that it does not map, and for memory that it does not export.
    #[test]
    fn a_hint_is_for_the_call() {
        let hint = |call, code| {
            let name = String::new();
            Error::Cuda { call, code, name }.hint()
        };
        // CUDA_ERROR_NOT_SUPPORTED, _INVALID_VALUE and _NOT_PERMITTED of cuda.h.
        for code in [801, 1, 800] {
            let told = hint("cuMemHostRegister", code);
            let option = "options nvidia NVreg_RegistryDwords=\"PeerMappingOverride=1;\"";
            assert!(
                told.contains("administrator") && told.contains(option),
                "{told}"
            );
        }
        assert!(hint("cuMemGetHandleForAddressRange", 801).contains("open kernel modules"));
        assert!(hint("cuMemHostRegister", 2).contains("Free GPU memory"));
    }

    #[test]
    fn a_version_reads_as_cuda_writes_it() {
        let error = Error::OldCuda {
            found: 11_040,
            needed: 12_010,
        };
        assert_eq!(
            error.to_string(),
            "CUDA's driver supports version 11.4 only, not 12.1"
        );
    }
}
