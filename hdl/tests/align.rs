//! The byte realigner against its definition, in rust-hdl's own simulator.

use peerlane_hdl::rtl::align::Align;
use peerlane_language::simulate;
use peerlane_language::*;

/// Bits from bytes, lane 0 lowest.
fn pack<const W: usize>(bytes: &[u8]) -> Bits<W> {
    let mut word = Bits::<W>::default();
    for (lane, byte) in bytes.iter().enumerate() {
        for bit in 0..8 {
            word = word.replace_bit(lane * 8 + bit, (byte >> bit) & 1 == 1);
        }
    }
    word
}

struct Job {
    source: usize,
    target: usize,
    bytes: usize,
}

/// Runs jobs back to back, with a stall pattern on both sides; gives the target bytes of each job as
/// (byte lane from the first beat, value).
fn run<const W: usize, const B: usize>(
    jobs: &[Job],
    stall_in: u32,
    stall_out: u32,
) -> Vec<Vec<(usize, u8)>> {
    let mut uut = Align::<W, B>::default();
    uut.clock.connect();
    uut.reset.connect();
    uut.job.connect();
    uut.source.connect();
    uut.target.connect();
    uut.bytes.connect();
    uut.start.connect();
    uut.beat.connect();
    uut.beat_data.connect();
    uut.beat_error.connect();
    uut.out_take.connect();
    uut.connect_all();
    let mut beats = std::collections::VecDeque::new();
    let mut value = 0u8;
    for job in jobs {
        let lanes = (job.source + job.bytes).div_ceil(B);
        let mut bytes = vec![0xEE; lanes * B];
        for byte in bytes.iter_mut().skip(job.source).take(job.bytes) {
            *byte = value;
            value = value.wrapping_add(1);
        }
        beats.extend(bytes.chunks(B).map(<[u8]>::to_vec));
    }
    let mut next_job = 0;
    let mut out = vec![vec![]];
    let mut lane = 0;
    for cycle in 0..4000u32 {
        if out.len() > jobs.len() {
            break;
        }
        let feed = stall_in == 0 || cycle % stall_in != 0;
        let drain = stall_out == 0 || cycle % stall_out != 0;
        uut.job.next = next_job < jobs.len();
        if let Some(job) = jobs.get(next_job) {
            uut.source.next = (job.source as u64).into();
            uut.target.next = (job.target as u64).into();
            uut.bytes.next = (job.bytes as u64).into();
        }
        uut.beat.next = feed && !beats.is_empty();
        if let Some(beat) = beats.front() {
            uut.beat_data.next = pack::<W>(beat);
        }
        uut.out_take.next = drain;
        uut.clock.next = Clock { clk: false };
        assert!(simulate(&mut uut, 50));
        let (took_job, took_beat) = (uut.job_take.val(), uut.beat_take.val());
        if uut.out.val() && drain {
            for b in 0..B {
                if uut.out_enable.val().get_bit(b) {
                    let byte = uut.out_data.val().get_bits::<8>(b * 8).to_u8();
                    out.last_mut().unwrap().push((lane * B + b, byte));
                }
            }
            lane += 1;
            if uut.out_last.val() {
                out.push(vec![]);
                lane = 0;
            }
        }
        uut.clock.next = Clock { clk: true };
        assert!(simulate(&mut uut, 50));
        if took_job {
            next_job += 1;
        }
        if took_beat {
            beats.pop_front();
        }
    }
    assert!(beats.is_empty(), "beats left over");
    out.pop();
    out
}

fn check<const W: usize, const B: usize>(jobs: &[Job], stall_in: u32, stall_out: u32) {
    let got = run::<W, B>(jobs, stall_in, stall_out);
    assert_eq!(got.len(), jobs.len());
    let mut value = 0u8;
    for (job, bytes) in jobs.iter().zip(&got) {
        let want: Vec<_> = (0..job.bytes)
            .map(|i| {
                let v = value;
                value = value.wrapping_add(1);
                (job.target + i, v)
            })
            .collect();
        assert_eq!(
            bytes, &want,
            "source {} target {} bytes {}",
            job.source, job.target, job.bytes
        );
    }
}

#[test]
fn every_pair_of_lanes_at_the_edges_of_a_beat() {
    let mut jobs = vec![];
    for source in 0..16 {
        for target in 0..16 {
            for bytes in [1, 2, 15, 16, 17, 33] {
                jobs.push(Job {
                    source,
                    target,
                    bytes,
                });
            }
        }
    }
    for chunk in jobs.chunks(64) {
        check::<128, 16>(chunk, 0, 0);
    }
}

#[test]
fn back_pressure_on_both_sides() {
    let jobs: Vec<_> = (0..40)
        .map(|i| Job {
            source: (i * 7) % 16,
            target: (i * 5) % 16,
            bytes: 1 + (i * 37) % 100,
        })
        .collect();
    check::<128, 16>(&jobs, 3, 2);
    check::<128, 16>(&jobs, 2, 3);
}

#[test]
fn thirty_two_byte_beats() {
    let jobs: Vec<_> = (0..60)
        .map(|i| Job {
            source: (i * 11) % 32,
            target: (i * 5 + 3) % 32,
            bytes: 1 + (i * 53) % 200,
        })
        .collect();
    check::<256, 32>(&jobs, 4, 5);
}
