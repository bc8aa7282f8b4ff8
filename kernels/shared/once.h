// A function whose code a kernel has once: not inlined, not cloned for its arguments. A program of several blocks is
// near the limit of size.
#pragma once

#ifdef __clang__
#define ONCE [[gnu::noinline]]
#else
#define ONCE [[gnu::noinline, gnu::noclone]]  // clang never clones
#endif
