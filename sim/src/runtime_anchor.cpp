// Keeps in the executable what the Verilator models, loaded later, take from it.
#include <verilated.h>
#include <verilated_vcd_c.h>

extern "C" void rondo_runtime_anchor(void) {
    // Never run with effect: the references alone make the linker keep the objects.
    VerilatedVcdC trace;
    (void)trace.isOpen();
    (void)Verilated::threadContextp();
}
