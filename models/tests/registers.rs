//! Invariants of the register map, and the meaning of an access.

use proptest::prelude::*;
use rondo_models::registers::{
    at, counter_slot, index_of, target, Build, Field, Half, Kind, Live, Maximum, Refusal, Register,
    RegisterFile, Step, Written, AMOUNTS, COMMANDS, CONTROLS, COUNTER_SLOTS, MAP, MAPPED_BYTES,
    PULSES, PULSE_SLOT, STATUSES, WIDES, WINDOW_BYTES,
};
use std::collections::BTreeSet;

const BUILD: Build = Build {
    git_hash: 0x1234_5678,
    git_dirty: true,
    paths: 4,
    window_log2: 7,
    flows_log2: 4,
    transmit_slots_log2: 9,
    receive_slots_log2: 8,
    slot_beats_log2: 6,
};

const LIVE: Live = Live {
    status: [7; STATUSES],
    wide: [0x1_ffff_ffff; WIDES],
};

fn registers() -> impl Iterator<Item = &'static Register> {
    MAP.iter().flat_map(|b| b.registers)
}

fn address(name: &str) -> u16 {
    let register = registers().find(|r| r.name == name);
    register.expect("a register").offset as u16
}

#[test]
fn nothing_overlaps_and_everything_is_aligned() {
    let mut end = 0;
    for b in MAP {
        assert_eq!(b.offset, b.registers[0].offset, "{}", b.name);
        for r in b.registers {
            assert_eq!(r.offset % (4 * r.words()), 0, "{} is not aligned", r.name);
            assert!(r.offset >= end, "{} overlaps, or is out of order", r.name);
            end = r.offset + 4 * r.words();
        }
    }
    assert!(end <= MAPPED_BYTES && MAPPED_BYTES <= WINDOW_BYTES);
}

#[test]
fn names_are_unique_and_everything_is_documented() {
    let upper = |n: &str| {
        n.bytes()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == b'_')
    };
    let lower = |n: &str| {
        n.bytes()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_')
    };
    let mut names = BTreeSet::new();
    for b in MAP {
        assert!(lower(b.name) && b.doc.ends_with('.'), "{}", b.name);
        assert!(names.insert(b.name.to_uppercase()), "{} twice", b.name);
        for r in b.registers {
            assert!(upper(r.name) && r.doc.ends_with('.'), "{}", r.name);
            assert!(names.insert(r.name.into()), "{} twice", r.name);
            let mut fields = BTreeSet::new();
            for f in r.fields {
                assert!(lower(f.name) && !f.doc.is_empty(), "{}.{}", r.name, f.name);
                assert!(fields.insert(f.name), "{}.{} twice", r.name, f.name);
                let mut values = BTreeSet::new();
                for v in f.values {
                    assert!(lower(v.name) && !v.doc.is_empty(), "{}.{}", r.name, v.name);
                    assert!(
                        values.insert(v.value) && v.value < 1 << f.bits,
                        "{}",
                        v.name
                    );
                }
            }
        }
    }
}

/// Bounds hold in the smallest and in the largest design.
#[test]
fn fields_fit_and_resets_are_allowed() {
    let large = Build {
        paths: 16,
        flows_log2: 10,
        receive_slots_log2: 12,
        slot_beats_log2: 8,
        ..BUILD
    };
    let small = Build {
        paths: 1,
        flows_log2: 1,
        ..BUILD
    };
    for r in registers() {
        assert_eq!(r.fields.is_empty(), r.words() == 2, "{}", r.name);
        let mut taken = 0;
        for f in r.fields {
            assert!(f.bits > 0 && f.low + f.bits <= 32, "{}.{}", r.name, f.name);
            assert_eq!(taken & f.mask(), 0, "{}.{} overlaps", r.name, f.name);
            assert!(f.mask() > taken, "{}.{} is out of order", r.name, f.name);
            taken |= f.mask();
            for build in [small, BUILD, large] {
                let maximum = f.maximum.of(&build);
                assert!(maximum <= f.mask() >> f.low, "{}.{}", r.name, f.name);
                assert!(f.minimum <= maximum, "{}.{}", r.name, f.name);
                if r.kind == Kind::Control {
                    assert!(
                        (f.minimum..=maximum).contains(&f.reset),
                        "{}.{}",
                        r.name,
                        f.name
                    );
                }
            }
            let written = matches!(r.kind, Kind::Control | Kind::Command);
            assert!(written || !f.is_bounded(), "{}.{}", r.name, f.name);
            assert!(
                matches!(r.kind, Kind::Control | Kind::Constant) || f.reset == 0,
                "{}.{}",
                r.name,
                f.name
            );
        }
        let bounded = r.fields.iter().any(Field::is_bounded);
        assert!(
            !bounded || r.fields.len() == 1,
            "{}: bounds beside a field",
            r.name
        );
    }
}

#[test]
fn every_register_has_its_index() {
    let ported = |r: &&Register| !matches!(r.kind, Kind::Constant | Kind::Built);
    let names: Vec<&str> = registers().filter(ported).map(|r| r.name).collect();
    assert_eq!(at::ALL.iter().map(|a| a.0).collect::<Vec<_>>(), names);
    let mut slots = BTreeSet::new();
    let mut counts = [0; 6];
    for r in registers() {
        for half in 0..r.words() {
            let t = target((r.offset + 4 * half) as u16 + 3).expect("mapped");
            assert_eq!(t.register, r);
            assert_eq!(t.half == Half::High, half == 1);
            assert_eq!(t.index, index_of(r.name));
        }
        if let Kind::Counter(step) = r.kind {
            assert!(
                slots.insert(counter_slot(step, index_of(r.name))),
                "{}",
                r.name
            );
        }
        counts[match r.kind {
            Kind::Control => 0,
            Kind::Command => 1,
            Kind::Status => 2,
            Kind::Wide => 3,
            Kind::Counter(Step::Pulse) => 4,
            Kind::Counter(Step::Amount) => 5,
            Kind::Constant | Kind::Built => continue,
        }] += 1;
    }
    assert_eq!(
        counts,
        [CONTROLS, COMMANDS, STATUSES, WIDES, PULSES, AMOUNTS]
    );
    const { assert!(AMOUNTS <= PULSE_SLOT && PULSE_SLOT + PULSES <= COUNTER_SLOTS) };
    assert_eq!(target(0x00c0).map(|t| t.register.name), Some("FLOW"));
    assert_eq!(target(0x001c), None);
    assert_eq!(target(0x4000), None);
}

#[test]
fn resets_and_constants_read_back() {
    let mut file = RegisterFile::new(BUILD);
    let mut read = |name| file.read(address(name), &LIVE);
    assert_eq!(read("MAGIC"), Ok(u32::from_be_bytes(*b"RNDO")));
    assert_eq!(read("VERSION"), Ok(0x0100_0000));
    assert_eq!(read("GIT_HASH"), Ok(0x1234_5678));
    assert_eq!(read("GIT_DIRTY"), Ok(1));
    assert_eq!(read("SHAPE"), Ok(0x0689_4704));
    assert_eq!(read("CLOCK_KHZ"), Ok(250_000));
    assert_eq!(read("MTU"), Ok(4096));
    assert_eq!(read("PORT_BASE"), Ok(0xc000));
    assert_eq!(read("UDP_PORT"), Ok(4793));
    assert_eq!(read("OCCUPIED"), Ok(7));
    assert_eq!(read("COMMAND"), Err(Refusal::WriteOnly));
    assert_eq!(file.read(0xfffc, &LIVE), Err(Refusal::Unmapped));
}

#[test]
fn writes_outside_the_rules_are_refused_and_change_nothing() {
    let mut file = RegisterFile::new(BUILD);
    let before = file.clone();
    let mut refused = |name, data, strobe, why| {
        assert_eq!(file.write(address(name), data, strobe), Err(why), "{name}");
        assert_eq!(file, before, "{name}");
    };
    refused("MAGIC", 0, 15, Refusal::ReadOnly);
    refused("TX_BYTES", 0, 15, Refusal::ReadOnly);
    refused("ENABLE", 4, 15, Refusal::Reserved);
    refused("MTU", 4095, 15, Refusal::Reserved);
    refused("MTU", 0, 15, Refusal::OutOfBounds);
    refused("MTU", 4160, 15, Refusal::OutOfBounds);
    refused("MTU", 64, 3, Refusal::Partial);
    refused("FLOW", 16, 15, Refusal::OutOfBounds);
    refused("PATH_INDEX", 4, 15, Refusal::OutOfBounds);
    refused("REORDER_LIMIT", 0, 15, Refusal::OutOfBounds);
    refused("REORDER_LIMIT", 257, 15, Refusal::OutOfBounds);
    refused("COMMAND", 0, 15, Refusal::OutOfBounds);
    refused("COMMAND", 3, 15, Refusal::OutOfBounds);
    refused("HEARTBEAT", 1, 1, Refusal::Partial);
}

#[test]
fn parts_of_an_unbounded_register_may_be_written() {
    let mut file = RegisterFile::new(BUILD);
    let scratch = address("SCRATCH");
    let index = at::SCRATCH;
    let value = |value| Ok(Written::Control { index, value });
    assert_eq!(file.write(scratch, 0x1122_3344, 15), value(0x1122_3344));
    assert_eq!(file.write(scratch, 0xaabb_ccdd, 0b0101), value(0x11bb_33dd));
    assert_eq!(file.write(scratch, 0, 0), value(0x11bb_33dd));
    // Reserved bits count only where their byte is written.
    assert_eq!(
        file.write(address("ENABLE"), 0xffff_ff03, 1),
        Ok(Written::Control {
            index: at::ENABLE,
            value: 3
        })
    );
    assert_eq!(file.read(scratch, &LIVE), Ok(0x11bb_33dd));
}

#[test]
fn the_high_word_belongs_to_the_low_word_read_before() {
    let mut file = RegisterFile::new(BUILD);
    let low = address("TX_BYTES");
    for _ in 0..65_537 {
        file.count(Step::Amount, at::TX_BYTES, u16::MAX);
    }
    assert_eq!(file.read(low, &LIVE), Ok(u32::MAX));
    file.count(Step::Amount, at::TX_BYTES, 1);
    assert_eq!(file.read(low + 4, &LIVE), Ok(0));
    assert_eq!(file.read(low, &LIVE), Ok(0));
    assert_eq!(file.read(low + 4, &LIVE), Ok(1));
    // The clock's high word is another one's.
    let time = address("TIME");
    assert_eq!(file.read(time, &LIVE), Ok(u32::MAX));
    assert_eq!(file.read(time + 4, &LIVE), Ok(1));
    assert_eq!(file.read(low + 4, &LIVE), Ok(1));
}

proptest! {
    /// Whatever is written, controls stay within masks and bounds.
    #[test]
    fn controls_stay_within_their_bounds(writes in prop::collection::vec((0u16..0x400, any::<u32>(), 0u8..16, 0u32..32), 200)) {
        let mut file = RegisterFile::new(BUILD);
        for (address, data, strobe, shift) in writes {
            let _ = file.write(address, data >> shift, strobe);
        }
        let controls = registers().filter(|r| r.kind == Kind::Control);
        for (r, value) in controls.zip(file.controls()) {
            prop_assert_eq!(value & !r.mask(), 0);
            if let Some((minimum, maximum)) = r.bounds(&BUILD) {
                prop_assert!((minimum..=maximum).contains(value), "{}", r.name);
            }
        }
    }
}

#[test]
fn bounds_follow_the_design() {
    let jumbo = Build {
        slot_beats_log2: 8,
        ..BUILD
    };
    assert_eq!(Maximum::SlotBeats.of(&jumbo), 144);
    assert_eq!(Maximum::SlotBeats.of(&BUILD), 64);
    assert_eq!(Maximum::LastFlow.of(&BUILD), 15);
    assert_eq!(Maximum::ReceiveSlots.of(&BUILD), 256);
}
