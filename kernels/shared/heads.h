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
