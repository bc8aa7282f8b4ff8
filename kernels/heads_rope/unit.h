// The unit of work of heads_rope: one head in one tile row. Units count tile row by tile row; in a row come the query
// heads, then the key heads, then the value heads, as in qkv.
#pragma once

#include <cstdint>

enum class Kind { Query, Key, Value };

struct Unit {
    Kind kind;
    uint32_t row;     // tile row
    uint32_t column;  // head among all heads of qkv
    uint32_t head;    // head among those of its kind
};

template <uint32_t heads, uint32_t kv_heads>
inline Unit unit_at(uint32_t index) {
    constexpr uint32_t all = heads + 2 * kv_heads;
    const uint32_t row = index / all, column = index % all;
    if (column < heads) return {Kind::Query, row, column, column};
    if (column < heads + kv_heads) return {Kind::Key, row, column, column - heads};
    return {Kind::Value, row, column, column - heads - kv_heads};
}
