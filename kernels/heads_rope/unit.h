// The unit of work of heads_rope: one head in one tile row. Units count tile row by tile row; in a row come the query
// heads, then the key heads, then the value heads, as in qkv.
#pragma once

#include "../shared/heads.h"

struct Unit {
    Head head;
    uint32_t row;     // tile row
    uint32_t column;  // head among all heads of qkv
};

template <uint32_t heads, uint32_t kv_heads>
inline Unit unit_at(uint32_t index) {
    constexpr uint32_t all = heads + 2 * kv_heads;
    return {head_at<heads, kv_heads>(index % all), index / all, index % all};
}
