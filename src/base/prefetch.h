#pragma once

namespace weir {

// Memory that is about to be read. The compiler takes a function that does nothing else for one without
// effect, and leaves out calls of it: hence the empty statement, which it must keep.
inline void Prefetch(const void* at) {
  __builtin_prefetch(at);
  asm volatile("" : : "r"(at));
}

}  // namespace weir
