//! Binds loaded libraries to each other, and to nothing else.
//!
//! A vendor library calls its own `cl*` functions by name, and the process has others of these names: the loader's. Its
//! helpers call it back without having been linked with it. So each entry of their offset tables whose symbol one of
//! these libraries defines is set to that definition: `RTLD_DEEPBIND` for these files alone. All other entries stay as
//! the dynamic linker has bound them. That includes names of the C and C++ libraries, which a vendor library may define
//! as well: memory of one `malloc` must go to the `free` of the same library.
//!
//! Not reached: calls by the constructors, `dlsym(RTLD_DEFAULT, ...)`, and files that other libraries bring along
//! without being named.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::io;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A loaded file (`struct link_map` of `link.h`, the part that programs may know).
#[repr(C)]
struct LinkMap {
    address: usize,
    name: *const c_char,
    dynamic: *const [usize; 2],
}

/// `RTLD_DL_LINKMAP` of `dlfcn.h`.
const LINK_MAP: c_int = 2;

unsafe extern "C" {
    /// dladdr1(3).
    fn dladdr1(
        address: *const c_void,
        info: *mut libc::Dl_info,
        extra: *mut *mut c_void,
        flags: c_int,
    ) -> c_int;
}

// Tags of the dynamic section (System V ABI, "Dynamic Section").
const DT_PLTRELSZ: usize = 2;
const DT_STRTAB: usize = 5;
const DT_SYMTAB: usize = 6;
const DT_RELA: usize = 7;
const DT_RELASZ: usize = 8;
const DT_JMPREL: usize = 23;

/// R_X86_64_64, R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT (AMD64 ABI, table 4.9): a word that is the
/// symbol's address and the addend.
const ADDRESSES: [u32; 3] = [1, 6, 7];

/// Libraries that a process shares: the C library, and those that C++ needs.
const SHARED: [&CStr; 4] = [
    c"libc.so.6",
    c"libstdc++.so.6",
    c"libgcc_s.so.1",
    c"libm.so.6",
];

/// The loaded ones of these libraries.
struct Shared(Vec<*mut c_void>);

impl Shared {
    fn of_this_process() -> Self {
        let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD;
        // SAFETY: nothing is loaded.
        let handles = SHARED.map(|name| unsafe { libc::dlopen(name.as_ptr(), flags) });
        Self(handles.into_iter().filter(|h| !h.is_null()).collect())
    }

    fn defines(&self, name: &CStr) -> bool {
        // SAFETY: handles of libraries that are loaded.
        (self.0.iter()).any(|handle| unsafe { !libc::dlsym(*handle, name.as_ptr()).is_null() })
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        for handle in &self.0 {
            // SAFETY: opened once more above.
            unsafe { libc::dlclose(*handle) };
        }
    }
}

/// The parts of a loaded file that are needed.
struct Loaded {
    handle: *mut c_void,
    map: *const LinkMap,
    symbols: *const libc::Elf64_Sym,
    names: *const c_char,
    relocations: [(*const libc::Elf64_Rela, usize); 2],
    /// The range that the dynamic linker has made read-only (`PT_GNU_RELRO`): first byte and length.
    closed: (usize, usize),
}

/// Binds the libraries to each other. The handles stay open for ever.
pub(crate) fn rebind(handles: &[*mut c_void]) -> Result<(), String> {
    let mut all = Vec::new();
    for handle in handles {
        // SAFETY: handles of libraries that stay loaded.
        let loaded = unsafe { Loaded::of(*handle) };
        all.push(loaded.ok_or("the dynamic linker has no information about a library")?);
    }
    let shared = Shared::of_this_process();
    for (index, library) in all.iter().enumerate() {
        let others = || {
            (all.iter().enumerate())
                .filter(|(i, _)| *i != index)
                .map(|(_, l)| l)
        };
        library.open_closed(libc::PROT_READ | libc::PROT_WRITE)?;
        // SAFETY: the tables of a loaded file; the addresses are those of the symbols' definitions.
        unsafe {
            for (slot, name, addend) in library.entries() {
                let own = library.defines(name);
                let found = own.or_else(|| others().find_map(|l| l.defines(name)));
                if let Some(to) = found.filter(|_| !shared.defines(name)) {
                    // Threads that constructors have started may call through it.
                    AtomicUsize::from_ptr(slot).store(to.wrapping_add(addend), Relaxed);
                }
            }
        }
        library.open_closed(libc::PROT_READ)?;
    }
    Ok(())
}

impl Loaded {
    /// # Safety
    /// A handle of a library that stays loaded.
    unsafe fn of(handle: *mut c_void) -> Option<Self> {
        let mut map: *const LinkMap = null();
        let place = (&raw mut map).cast();
        // SAFETY: the caller's promise, and a place for a pointer.
        if unsafe { libc::dlinfo(handle, libc::RTLD_DI_LINKMAP, place) } != 0 {
            return None;
        }
        let mut loaded = Self {
            handle,
            map,
            symbols: null(),
            names: null(),
            relocations: [(null(), 0); 2],
            closed: (0, 0),
        };
        // SAFETY: the dynamic section of a loaded file, which ends with a tag 0. glibc has made
        // addresses of its pointers.
        unsafe {
            let mut entry = (*map).dynamic;
            while (*entry)[0] != 0 {
                let [tag, value] = *entry;
                match tag {
                    DT_SYMTAB => loaded.symbols = value as _,
                    DT_STRTAB => loaded.names = value as _,
                    DT_RELA => loaded.relocations[0].0 = value as _,
                    DT_RELASZ => loaded.relocations[0].1 = value / size_of::<libc::Elf64_Rela>(),
                    DT_JMPREL => loaded.relocations[1].0 = value as _,
                    DT_PLTRELSZ => loaded.relocations[1].1 = value / size_of::<libc::Elf64_Rela>(),
                    _ => {}
                }
                entry = entry.add(1);
            }
        }
        // SAFETY: the callback uses its argument only during this call.
        unsafe { libc::dl_iterate_phdr(Some(find_closed), (&raw mut loaded).cast()) };
        Some(loaded)
    }

    /// Lists the entries with a symbol: place, name of the symbol, addend.
    ///
    /// # Safety
    /// The file stays loaded.
    unsafe fn entries(&self) -> impl Iterator<Item = (*mut usize, &CStr, usize)> {
        let all = self.relocations.iter().flat_map(|(table, length)| {
            // SAFETY: the table has so many.
            (0..*length).map(move |index| unsafe { &*table.add(index) })
        });
        all.filter_map(|entry| {
            let (kind, symbol) = (entry.r_info as u32, (entry.r_info >> 32) as usize);
            if symbol == 0 || !ADDRESSES.contains(&kind) {
                return None;
            }
            // SAFETY: the file's own tables.
            let (base, name) = unsafe {
                let symbol = &*self.symbols.add(symbol);
                let name = CStr::from_ptr(self.names.add(symbol.st_name as usize));
                ((*self.map).address, name)
            };
            let slot = base.wrapping_add(entry.r_offset as usize);
            Some((slot as *mut usize, name, entry.r_addend as usize))
        })
    }

    /// Finds the definition of a symbol in this very file, not in one that it depends on.
    fn defines(&self, name: &CStr) -> Option<usize> {
        // SAFETY: a library that stays loaded.
        let address = unsafe { libc::dlsym(self.handle, name.as_ptr()) };
        if address.is_null() {
            return None;
        }
        let mut info = libc::Dl_info {
            dli_fname: null(),
            dli_fbase: null_mut(),
            dli_sname: null(),
            dli_saddr: null_mut(),
        };
        let mut map = null_mut();
        // SAFETY: places for the answers.
        let found = unsafe { dladdr1(address, &mut info, &mut map, LINK_MAP) } != 0;
        (found && map.cast_const().cast() == self.map).then_some(address as usize)
    }

    /// Sets the protection of the range that the dynamic linker had made read-only.
    fn open_closed(&self, protection: c_int) -> Result<(), String> {
        let (start, length) = self.closed;
        if length == 0 {
            return Ok(());
        }
        // SAFETY: pages of data of this file; reading stays allowed.
        match unsafe { libc::mprotect(start as *mut c_void, length, protection) } {
            0 => Ok(()),
            _ => Err(format!(
                "cannot bind a library: {}",
                io::Error::last_os_error()
            )),
        }
    }
}

/// Finds the `PT_GNU_RELRO` of the file that `data` describes.
unsafe extern "C" fn find_closed(
    info: *mut libc::dl_phdr_info,
    _: usize,
    data: *mut c_void,
) -> c_int {
    // SAFETY: the arguments are those of `Loaded::of` and of the dynamic linker.
    unsafe {
        let (info, loaded) = (&*info, &mut *data.cast::<Loaded>());
        let map = &*loaded.map;
        if info.dlpi_addr as usize != map.address || !std::ptr::eq(info.dlpi_name, map.name) {
            return 0;
        }
        let page = libc::sysconf(libc::_SC_PAGESIZE) as usize;
        for index in 0..usize::from(info.dlpi_phnum) {
            let header = &*info.dlpi_phdr.add(index);
            if header.p_type == libc::PT_GNU_RELRO {
                // The range that glibc makes read-only (`_dl_protect_relro`): whole pages, the last one if it is full.
                let start = map.address.wrapping_add(header.p_vaddr as usize);
                let end = start.wrapping_add(header.p_memsz as usize) / page * page;
                let start = start / page * page;
                loaded.closed = (start, end.saturating_sub(start));
            }
        }
    }
    1
}
