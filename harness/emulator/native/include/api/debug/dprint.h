// DPRINT compiles to nothing, as it does on the device unless it is switched on.
#pragma once

namespace lb {
struct NoPrint {
    template <class T>
    constexpr const NoPrint& operator<<(const T&) const {
        return *this;
    }
};
}  // namespace lb

struct ENDL {};
struct HEX {};
struct DEC {};
#define DPRINT lb::NoPrint()
#define DPRINT_UNPACK(x)
#define DPRINT_MATH(x)
#define DPRINT_PACK(x)
