use super::*;
use std::os::unix::fs::FileExt;

const BOTH: Rights = Rights {
    read: true,
    write: true,
};

fn file(pages: u64) -> File {
    let file = tempfile::tempfile().unwrap();
    file.set_len(pages * 4096).unwrap();
    file
}

fn share(file: &File, offset: u64) -> Option<(File, u64)> {
    Some((file.try_clone().unwrap(), offset))
}

#[test]
fn accesses_reach_the_files_bytes() {
    let file = file(4);
    let mut memory = Memory::new(None);
    memory
        .map(0x10_0000, 0x2000, BOTH, share(&file, 0x1000))
        .unwrap();
    // Every alignment, and every length up to a bit more than two words.
    for at in 0..16_u64 {
        for bytes in 1..20_usize {
            let data: Vec<u8> = (0..bytes)
                .map(|n| (at as usize * 7 + n * 3) as u8 + 1)
                .collect();
            file.write_all_at(&[0; 64], 0x1000).unwrap();
            assert!(memory.write(0x10_0000 + at, &data));
            let mut found = [0; 64];
            file.read_exact_at(&mut found, 0x1000).unwrap();
            let mut expected = [0; 64];
            expected[at as usize..][..bytes].copy_from_slice(&data);
            assert_eq!(found, expected);
            let mut read = vec![0; bytes];
            assert!(memory.read(0x10_0000 + at, &mut read));
            assert_eq!(read, data);
        }
    }
}

#[test]
fn a_mapping_ends_where_the_client_says() {
    let file = file(4);
    let mut memory = Memory::new(None);
    memory.map(0x8000, 0x1000, BOTH, share(&file, 0)).unwrap();
    assert!(memory.write(0x8FFC, &[1; 4]));
    assert!(!memory.write(0x8FFD, &[1; 4]));
    assert!(!memory.write(0x7FFF, &[1; 2]));
    assert_eq!(memory.target(0x8FFF), Some(Target::Host));
    assert_eq!(memory.target(0x9000), None);
    assert_eq!(memory.ledger().unmapped_total, 2);
    // Neither an overlap, nor a range outside of the file.
    assert!(memory.map(0x8FFF, 1, BOTH, None).is_err());
    assert!(memory.map(0x7000, 0x1001, BOTH, None).is_err());
    assert!(memory.map(0x9000, 0x4001, BOTH, share(&file, 0)).is_err());
    assert!(memory.map(u64::MAX, 2, BOTH, None).is_err());
    memory
        .map(0x9000, 0x1000, BOTH, share(&file, 0x3000))
        .unwrap();
    memory.unmap(0x8000, 0x1000);
    assert!(!memory.write(0x8000, &[1]));
    assert!(memory.write(0x9000, &[1]));
    memory.unmap_all();
    assert!(!memory.write(0x9000, &[1]));
}

#[test]
fn rights_are_kept() {
    let file = file(2);
    let mut memory = Memory::new(None);
    let (read, write) = (
        Rights {
            read: true,
            write: false,
        },
        Rights {
            read: false,
            write: true,
        },
    );
    memory.map(0x0000, 0x1000, read, share(&file, 0)).unwrap();
    memory
        .map(0x1000, 0x1000, write, share(&file, 0x1000))
        .unwrap();
    memory.map(0x2000, 0x1000, BOTH, None).unwrap();
    assert!(memory.read(0, &mut [0]) && !memory.write(0, &[1]));
    assert!(!memory.read(0x1000, &mut [0]) && memory.write(0x1000, &[1]));
    assert!(!memory.read(0x2000, &mut [0]) && !memory.write(0x2000, &[1]));
}

#[test]
fn the_gpu_is_known_by_its_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("gpu");
    std::fs::write(&path, [0; 4096]).unwrap();
    let memory = Memory::new(Some(FileId::at(&path).unwrap()));
    let gpu = File::options().read(true).write(true).open(&path).unwrap();
    memory.map(0, 4096, BOTH, share(&gpu, 0)).unwrap();
    memory.map(4096, 4096, BOTH, share(&file(1), 0)).unwrap();
    assert_eq!(memory.target(0), Some(Target::Gpu));
    assert_eq!(memory.target(4096), Some(Target::Host));
    memory.map(8192, 4096, BOTH, None).unwrap();
    let mapped = memory.mapped();
    assert_eq!(mapped.gpu, Ranges::from(0..4096));
    assert_eq!(mapped.host, Ranges::from(4096..8192));
    assert!(FileId::at(&dir.path().join("none")).is_err());
}

#[test]
fn as_many_mappings_as_an_iommu_makes() {
    // More than Linux permits a process by default (vm.max_map_count is 65530).
    let file = file(16);
    let mut memory = Memory::new(None);
    for page in 0..70_000_u64 {
        let shared = share(&file, page % 16 * 4096);
        memory.map(page * 4096, 4096, BOTH, shared).unwrap();
    }
    assert!(memory.write(69_999 * 4096, &[1; 256]));
    assert_eq!(memory.files.lock().unwrap().0.len(), 1);
    memory.unmap_all();
    drop(memory.files.lock().unwrap().open(file, true).unwrap());
    assert_eq!(memory.files.lock().unwrap().0.len(), 1);
}
