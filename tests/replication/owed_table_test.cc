#include "replication/owed_table.h"

#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "base/random.h"

namespace weir::owed_table_test {
namespace {

using Table = OwedTable<int>;
using Cells = std::map<std::tuple<uint64_t, int, size_t>, uint32_t>;  // key, piece, peer

void ExpectSame(const Table& table, const Cells& model, size_t peers) {
  size_t owed = 0;
  std::vector<size_t> unsent(peers);
  for (const auto& [key, topic] : table.topics()) {
    ASSERT_FALSE(topic.rows.empty());
    for (size_t peer = 0; peer < peers; ++peer) {
      std::vector<size_t> rows;
      table.Waiting(topic, peer, rows);
      for (const size_t row : rows) {
        const auto it = model.find({key.low, topic.rows[row].piece, peer});
        ASSERT_TRUE(it != model.end() && it->second == Table::kWaits);
      }
      unsent[peer] += rows.size();
    }
  }
  for (const auto& [place, cell] : model) {
    ++owed;
    if (cell == Table::kWaits) --unsent[std::get<2>(place)];
  }
  ASSERT_EQ(table.owed(), owed);
  ASSERT_EQ(unsent, std::vector<size_t>(peers));
}

TEST(OwedTable, KeepsWhatIsOwedToWhom) {
  constexpr size_t kPeers = 4;
  Random random(3);
  Table table;
  Cells model;
  table.SetPeers(std::vector<size_t>(kPeers, Table::kNobody));
  for (uint32_t i = 1; i < 20'000; ++i) {
    const Key key{0, random.Below(5)};
    const size_t peer = random.Below(kPeers);
    const int first = static_cast<int>(random.Below(6));
    const std::vector<int> pieces = {first, first + 2};
    switch (random.Below(5)) {
      case 0:
        table.Owe(key, pieces, peer);
        for (const int piece : pieces) {
          for (size_t p = 0; p < kPeers; ++p) {
            if (p != peer) model[{key.low, piece, p}] = Table::kWaits;
          }
        }
        break;
      case 1:
        table.Settle(peer, key, pieces);
        for (const int piece : pieces) model.erase({key.low, piece, peer});
        break;
      case 2:
        table.Drop(key, pieces);
        for (const int piece : pieces) {
          for (size_t p = 0; p < kPeers; ++p) model.erase({key.low, piece, p});
        }
        break;
      case 3:  // all of a key is sent to one, and half of it is lost
        if (const auto it = table.topics().find(key); it != table.topics().end()) {
          std::vector<size_t> rows;
          table.Waiting(it->second, peer, rows);
          for (const size_t row : rows) {
            const int piece = it->second.rows[row].piece;
            table.NoteSent(it->second, row, peer, i);
            model[{key.low, piece, peer}] = i;
          }
          const uint32_t then = random.Below(2) == 0 ? Table::kWaits : Table::kKnown;
          table.SetSent(peer, {.number = i, .keys = {key}}, then);
          for (auto& [place, cell] : model) cell = cell == i ? then : cell;
          std::erase_if(model, [](const auto& one) { return one.second == Table::kKnown; });
        }
        break;
      case 4: table.OweTo(peer, key, first), model[{key.low, first, peer}] = Table::kWaits;
    }
    ASSERT_NO_FATAL_FAILURE(ExpectSame(table, model, kPeers)) << i;
  }
}

TEST(OwedTable, APeerThatGoesIsOwedNothingAndTheOthersAsBefore) {
  Table table;
  table.SetPeers({Table::kNobody, Table::kNobody, Table::kNobody});
  const std::vector<int> pieces = {1, 2};
  table.Owe({0, 1}, pieces, 2);
  table.OweTo(1, {0, 2}, 7);
  table.SetPeers({2, 1, Table::kNobody});
  EXPECT_EQ(table.unsent(0), 0u);
  EXPECT_EQ(table.unsent(1), 3u);
  EXPECT_EQ(table.unsent(2), 0u);
  table.SetPeers({0});
  EXPECT_EQ(table.owed(), 0u);
  Steps steps;
  table.Tidy(steps);
  EXPECT_FALSE(table.untidy());
  EXPECT_TRUE(table.topics().empty());
}

}  // namespace
}  // namespace weir::owed_table_test
