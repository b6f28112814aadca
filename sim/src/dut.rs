//! A compiled model, loaded.

use crate::{verilator, SimError, Verilog};
use libloading::{Library, Symbol};
use std::ffi::{c_int, c_void};
use std::path::Path;
use verilated::vcd::{Vcd, VcdC};

type Handle = *mut c_void;
type New = unsafe extern "C" fn(c_int) -> Handle;
type Delete = unsafe extern "C" fn(Handle);
type Trace = unsafe extern "C" fn(Handle, *mut VcdC);
type Settle = unsafe extern "C" fn(Handle, *const u64, *mut u64);
type Edge = unsafe extern "C" fn(Handle);

extern "C" {
    fn rondo_runtime_anchor();
}

/// A design in Verilator, with its state.
pub struct Dut {
    handle: Handle,
    delete: Delete,
    settle: Settle,
    edge: Edge,
    step: Settle,
    inputs: usize,
    outputs: usize,
    waves: Option<Waves>,
    // Dropped last: the functions above live in it.
    _library: Library,
}

struct Waves {
    vcd: Vcd,
    time_ns: u64,
    from_clock: u64,
    clock: u64,
}

/// Where to write waves, and from which clock on.
#[derive(Debug, Clone, Copy)]
pub struct WaveFile<'a> {
    /// VCD file.
    pub path: &'a Path,
    /// First clock written.
    pub from_clock: u64,
}

impl Dut {
    /// Compiles (or finds) `v` and starts it with all state random.
    ///
    /// # Errors
    /// [`SimError`] when it cannot be compiled or loaded.
    pub fn new(v: &Verilog, seed: u64, waves: Option<WaveFile>) -> Result<Self, SimError> {
        let path = verilator::compile(v, waves.is_some())?;
        let load = |e: libloading::Error| SimError::Load {
            path: path.clone(),
            reason: e.to_string(),
        };
        // SAFETY: the object was compiled by `verilator::compile` from glue whose functions have
        // exactly these types; it has no initialisers beyond C++ statics. The anchor has no
        // arguments and no effect; it pulls the runtime into the executable.
        unsafe {
            rondo_runtime_anchor();
            let library = Library::new(&path).map_err(load)?;
            let new: Symbol<New> = library.get(b"rondo_new").map_err(load)?;
            let delete: Symbol<Delete> = library.get(b"rondo_delete").map_err(load)?;
            let trace: Symbol<Trace> = library.get(b"rondo_trace").map_err(load)?;
            let settle: Symbol<Settle> = library.get(b"rondo_settle").map_err(load)?;
            let edge: Symbol<Edge> = library.get(b"rondo_edge").map_err(load)?;
            let step: Symbol<Settle> = library.get(b"rondo_step").map_err(load)?;
            // Verilator's seed is a positive 31-bit number.
            let handle = new((seed % 0x7fff_fffe) as c_int + 1);
            let waves = match waves {
                None => None,
                Some(w) => {
                    // The runtime only says that it failed; the system says why.
                    std::fs::File::create(w.path).map_err(|source| SimError::File {
                        path: w.path.to_owned(),
                        source,
                    })?;
                    let mut vcd = Vcd::default();
                    trace(handle, vcd.0);
                    vcd.open(w.path).map_err(|source| SimError::File {
                        path: w.path.to_owned(),
                        source,
                    })?;
                    Some(Waves {
                        vcd,
                        time_ns: 0,
                        from_clock: w.from_clock,
                        clock: 0,
                    })
                }
            };
            Ok(Self {
                handle,
                delete: *delete,
                settle: *settle,
                edge: *edge,
                step: *step,
                inputs: v.inputs().map(crate::Port::words).sum(),
                outputs: v.outputs().map(crate::Port::words).sum(),
                waves,
                _library: library,
            })
        }
    }

    /// One clock: the inputs settle, the outputs are read, the rising edge follows.
    ///
    /// `inputs` and `outputs` are rows of 64-bit words in port order, the clock left out.
    #[inline]
    pub fn step(&mut self, inputs: &[u64], outputs: &mut [u64]) {
        assert!(inputs.len() == self.inputs && outputs.len() == self.outputs);
        if self.waves.is_some() {
            return self.step_with_waves(inputs, outputs);
        }
        // SAFETY: the handle is live until drop, and the rows have the lengths that the glue
        // reads and writes (checked above).
        unsafe { (self.step)(self.handle, inputs.as_ptr(), outputs.as_mut_ptr()) }
    }

    fn step_with_waves(&mut self, inputs: &[u64], outputs: &mut [u64]) {
        // SAFETY: as in `step`.
        unsafe { (self.settle)(self.handle, inputs.as_ptr(), outputs.as_mut_ptr()) }
        self.dump();
        // SAFETY: the handle is live until drop.
        unsafe { (self.edge)(self.handle) }
        self.dump();
        if let Some(w) = &mut self.waves {
            w.clock += 1;
        }
    }

    fn dump(&mut self) {
        if let Some(w) = &mut self.waves {
            // Half a clock of 250 MHz.
            w.time_ns += 2;
            if w.clock >= w.from_clock {
                w.vcd.dump(w.time_ns);
            }
        }
    }
}

impl Drop for Dut {
    fn drop(&mut self) {
        if let Some(w) = &mut self.waves {
            w.vcd.flush();
        }
        // The trace refers to the model: close it first.
        self.waves = None;
        // SAFETY: the handle came from `rondo_new` and is not used again.
        unsafe { (self.delete)(self.handle) }
    }
}
