// PoolCounter: any bytes are answered, and alike however they are cut.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "fronts/poolcounter/poolcounter_front.h"
#include "fuzz/split_answers.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto one = weir::fuzz::NewLimiter(), other = weir::fuzz::NewLimiter();
  const weir::fuzz::Split split({reinterpret_cast<const char*>(data), size});
  weir::PoolCounterFront one_front(*one), other_front(*other);
  weir::fuzz::FuzzLink whole(one_front), parts(other_front);
  whole.Send(split.all);
  parts.Send(split.first);
  parts.Send(split.second);
  if (whole.written() != parts.written()) std::abort();
  if (whole.done() != parts.done()) std::abort();
  return 0;
}
