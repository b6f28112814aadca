//! The CRC primitive, printed and run in Verilator, against a CRC-32C computed bit by bit.
#![cfg(feature = "cosim")]

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rondo::cosim::as_text;
use rondo::verilog::print_design;
use rondo_hdl::prim::Crc32c;
use rondo_sim::dut::Dut;

/// The polynomial division, bit by bit: the shift register after `bytes`.
fn divide(register: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(register, |mut r, byte| {
        for bit in 0..8 {
            let feedback = (r ^ u32::from(byte >> bit)) & 1;
            r >>= 1;
            if feedback == 1 {
                r ^= 0x82f6_3b78;
            }
        }
        r
    })
}

#[test]
fn beats_with_gaps_have_the_crc_of_their_bytes() {
    assert_eq!(!divide(u32::MAX, b"123456789"), 0xe306_9283);
    let v = as_text(&print_design(&Crc32c::default()).expect("prints"));
    let names: Vec<&str> = v.ports.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["clk", "valid", "first", "data", "crc"]);
    let mut dut = Dut::new(&v, 1, None).expect("Verilator runs");
    let mut rng = SmallRng::seed_from_u64(1);
    let mut register = 0;
    // CRC after the beats of this clock and the three before.
    let mut due = [None; 4];
    for clock in 0..20_000 {
        let valid = clock == 0 || rng.random_range(0..4) != 0;
        let first = clock == 0 || rng.random_range(0..5) == 0;
        let mut beat = [0u8; 64];
        rng.fill(&mut beat[..]);
        if valid {
            register = divide(if first { u32::MAX } else { register }, &beat);
        }
        due.rotate_right(1);
        due[0] = Some(!register);
        let mut row = vec![valid.into(), first.into()];
        row.extend(
            beat.chunks_exact(8)
                .map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes"))),
        );
        let mut outputs = [0];
        dut.step(&row, &mut outputs);
        if let Some(crc) = due[3] {
            assert_eq!(outputs[0], u64::from(crc), "clock {clock}");
        }
    }
}
