// A cell from one limit to another.
#include "store/cell_state.h"
#include "store/conversion.h"
#include "store/memory_store.h"

namespace weir {

void MemoryStore::Convert(const LimitSlot& old, const LimitSlot& next, Cell cell, Instant at) {
  std::visit(
      [&](const auto& from, const auto& to) {
        using From = std::decay_t<decltype(from)>;
        using To = std::decay_t<decltype(to)>;
        CellState<From> before(from, old, cell);
        const int64_t heap_before = HeapBytes(before.box());
        typename To::State state = next.traits.carried ? KeepInstant(from, before.state(), to, at)
                                                       : ConvertState(from, before.state(), to, at);
        Box<From>* const old_box = before.box();

        cell.SetLimit(next.number, false);
        cell.SetPayload({});
        CellState<To> after(to, next, cell);
        after.state() = std::move(state);
        if constexpr (std::is_same_v<From, TokenBucket> && std::is_same_v<To, TokenBucket>) {
          if (old_box != nullptr && !old_box->marks.empty()) {
            Box<TokenBucket>& box = after.MakeBox();
            box.marks = std::move(old_box->marks);
            box.marks.Rescale(from.ticks_per_token, to.ticks_per_token);
            box.born = old_box->born;
          }
        }
        after.Save();
        delete old_box;
        table_.AddHeapBytes(HeapBytes(after.box()) - heap_before);
      },
      old.limit, next.limit);
}

}  // namespace weir
