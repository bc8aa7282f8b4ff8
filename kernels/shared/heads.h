// The heads of a packed projection: query heads, then key heads, then value heads, as the columns of wqkv have them.
#pragma once

#include <cstdint>

enum class Kind { Query, Key, Value };

struct Head {
    Kind kind;
    uint32_t index;  // among those of its kind
};

template <uint32_t heads, uint32_t kv_heads>
inline Head head_at(uint32_t column) {
    if (column < heads) return {Kind::Query, column};
    if (column < heads + kv_heads) return {Kind::Key, column - heads};
    return {Kind::Value, column - heads - kv_heads};
}

// Of the d tiles of a head, the i-th of the n that a part of it has: n / 2 of each half, side by side.
template <uint32_t n, uint32_t d>
constexpr uint32_t column_of(uint32_t part, uint32_t i) {
    return part * (n / 2) + (i < n / 2 ? i : i - n / 2 + d / 2);
}
