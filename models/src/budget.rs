//! The paper's hardware cost model (§5, Appendix D): 1 cycle an add, 3 a multiply, 16 a divide.

/// Cycles a packet of path selection over `paths` paths, the pick included.
pub const fn per_packet_cycles(paths: u32) -> u32 {
    6 * paths + 1
}

/// Least and most cycles a flow of one control update: ARCC at 35 to 45 a path, and the skips.
pub const fn per_update_cycles(paths: u32) -> (u32, u32) {
    let skips = 5 * paths * (paths - 1) / 2;
    (35 * paths + skips, 45 * paths + skips)
}

/// HPCC with one path, cycles an ACK, by the same model.
pub const HPCC_CYCLES: u32 = 180;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_paths_are_the_papers_numbers() {
        assert_eq!(per_packet_cycles(4), 25);
        assert_eq!(per_update_cycles(4), (170, 210));
    }
}
