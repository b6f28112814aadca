// Lets the `verilated` crate 0.1.2 (Verilator 4) compile against Verilator 5: three names changed.
#pragma once
#if defined(__cplusplus) && __has_include(<verilated.h>)
#include <cstddef>
#include <cstdint>
#include <verilated.h>
#include <verilated_vcd_c.h>
typedef void (*VerilatedVoidCb)(void);
#define flushCb(callback) addFlushCb(reinterpret_cast<void (*)(void*)>(callback), nullptr)
#define rolloverMB(megabytes) rolloverSize(static_cast<uint64_t>(megabytes) * 1024 * 1024)
#endif
