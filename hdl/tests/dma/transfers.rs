//! Data moves, both ways, byte for byte.

use crate::rig::{MIB, Rig, library, same};
use peerlane_hdl::Params;
use peerlane_sim::BoardConfig;
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_first_transfer_each_way() {
    let library = library(&Params::default());
    let mut rig = Rig::new(&library, BoardConfig::default());
    let peer = rig.map_gpu(0, MIB);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut data = vec![0; 4096];
    rng.fill_bytes(&mut data);
    rig.board.ddr_mut().write(0x1000, &data).unwrap();
    rig.transfer(false, peer, 0x1000, 4096);
    let mut got = vec![0; 4096];
    rig.board.gpu_mut().read(0, &mut got).unwrap();
    same("moved", &got, &data);
    rig.transfer(true, peer, 0x8000, 4096);
    rig.board.ddr_mut().read(0x8000, &mut got).unwrap();
    same("moved", &got, &data);
    let _ = rng.random::<u8>();
}
