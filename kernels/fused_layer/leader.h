// Leaders take turns with the NoCs, so that two multicast at once.
//
// Compile-time args   rows, hidden; of this NoC's direction the first and the last core of the grid; cores of the grid;
//                     layers, circular buffers to rewind between them, as in chain.h
// Runtime args        tile row
#pragma once

#include "plan.h"
#include "../shared/norm_multicast.h"
#include "../shared/rewind.h"

constexpr uint32_t rows = get_compile_time_arg_val(0), hidden = get_compile_time_arg_val(1);
constexpr uint32_t layers = get_compile_time_arg_val(7);

// The norm of the own tile row to all cores, if it is the turn of this NoC.
inline void multicast_own(uint32_t noc) {
    const uint32_t row = get_arg_val<uint32_t>(0);
    const Everyone everyone{get_compile_time_arg_val(2), get_compile_time_arg_val(3), get_compile_time_arg_val(4),
                            get_compile_time_arg_val(5), get_compile_time_arg_val(6) - 1};
    if (row % 2 == noc) multicast_norm(row, rows, hidden, everyone);
}

// Between layers.
inline void begin_anew() { rewind<get_compile_time_arg_val(8), get_compile_time_arg_val(9)>(); }
