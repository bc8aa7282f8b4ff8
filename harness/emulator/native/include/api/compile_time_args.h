// Arguments fixed when a kernel is compiled: by position and by name.
#pragma once

#include <array>
#include <cstdint>

#ifndef KERNEL_COMPILE_TIME_ARGS
#define KERNEL_COMPILE_TIME_ARGS
#endif

namespace lb {

template <class... T>
constexpr std::array<uint32_t, sizeof...(T)> compile_time_args(T... values) {
    return {uint32_t(values)...};
}

constexpr bool same_text(const char* a, const char* b) {
    while (*a && *a == *b) ++a, ++b;
    return *a == *b;
}

struct NamedArg {
    const char* name;
    uint32_t value;
};

}  // namespace lb

constexpr auto kernel_compile_time_args = lb::compile_time_args(KERNEL_COMPILE_TIME_ARGS);

template <uint32_t Index>
constexpr uint32_t get_ct_arg() {
    static_assert(Index < kernel_compile_time_args.size(), "the program gives fewer compile-time arguments");
    return kernel_compile_time_args[Index];
}

#define get_compile_time_arg_val(index) get_ct_arg<index>()

#ifdef KERNEL_COMPILE_TIME_ARG_MAP
namespace lb {
constexpr NamedArg named_args[] = {KERNEL_COMPILE_TIME_ARG_MAP};
void no_such_named_compile_time_argument();  // not constant: reaching it is a compile error
}  // namespace lb

constexpr uint32_t get_named_compile_time_arg_val(const char* name) {
    for (const lb::NamedArg& arg : lb::named_args)
        if (lb::same_text(arg.name, name)) return arg.value;
    lb::no_such_named_compile_time_argument();
    return 0;
}
#endif
