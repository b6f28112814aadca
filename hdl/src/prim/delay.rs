//! A delay of a fixed number of clocks.

use super::{ModuleId, Reg};
use rust_hdl::prelude::*;

/// Delays `d` by `N` clocks. No reset, so that synthesis may use shift-register LUTs.
#[derive(Clone, Debug, LogicBlock)]
pub struct Delay<T: Synth, const N: usize> {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Input.
    pub d: Signal<In, T>,
    /// Input of `N` clocks ago.
    pub q: Signal<Out, T>,
    stage: [Reg<T>; N],
}

impl<T: Synth, const N: usize> Default for Delay<T, N> {
    fn default() -> Self {
        Self {
            id: ModuleId::new(
                format!("rondo_delay_{}x{N}", T::BITS),
                &format!("Delays {} bits by {N} clocks.", T::BITS),
            ),
            clk: Signal::default(),
            d: Signal::default(),
            q: Signal::default(),
            stage: std::array::from_fn(|_| Reg::default()),
        }
    }
}

impl<T: Synth, const N: usize> Logic for Delay<T, N> {
    #[hdl_gen]
    fn update(&mut self) {
        for i in 0..N {
            self.stage[i].clock.next = self.clk.val();
        }
        self.stage[0].d.next = self.d.val();
        for i in 1..N {
            self.stage[i].d.next = self.stage[i - 1].q.val();
        }
        // The last stage is the one output: a loop of one, because an index must be constant.
        for i in (N - 1)..N {
            self.q.next = self.stage[i].q.val();
        }
    }
}
