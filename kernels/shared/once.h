// A function whose code a kernel has once: not inlined, not cloned for its arguments. What a core's kernels take is
// limited to 69 KB, and a program of several blocks is near that. SMALL: no faster than it has to be, besides.
#pragma once

#ifdef __clang__
#define ONCE [[gnu::noinline]]
#else
#define ONCE [[gnu::noinline, gnu::noclone]]  // clang never clones
#endif
#define SMALL ONCE [[gnu::cold]]
