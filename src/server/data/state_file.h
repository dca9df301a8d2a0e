// What a node keeps on its disk, in the directory of --data: the secret that its keys are hashed
// with, and the use of limits with `persist`.
//
//   weir_node     secret (two words in hexadecimal)
//   weir_states   key, limit, numbers, state, use; at: when it was written; checksum
//
// The checksum is of the row and under the secret. A row that does not have its own is not believed: a
// flipped bit must not lock anybody out, nor let anybody in. It is deleted, and counted.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "config/database.h"
#include "weir/instant.h"
#include "weir/saved_state.h"

namespace weir {

class StateFile {
 public:
  // Makes the file, and draws the secret, if there is none.
  static Result<std::unique_ptr<StateFile>> Open(const std::string& path);

  const std::array<uint64_t, 2>& secret() const { return secret_; }

  struct Row {
    SavedState saved;
    Instant at;
  };
  struct RowPage {
    std::vector<Row> rows;
    size_t damaged = 0;  // that were deleted instead
    std::string last;    // behind which the next page begins; "": there is none
  };
  // At most `most` rows behind `key` in the order of keys; "" is before all.
  Result<RowPage> Page(const std::string& key, size_t most);
  // All or nothing. Those that are gone are deleted.
  std::optional<Error> Save(std::span<const SavedState> changed, Instant now);

  static std::string KeyText(const SavedState& saved);

 private:
  explicit StateFile(std::unique_ptr<Database> database) : database_(std::move(database)) {}
  std::optional<Error> CreateTables();
  std::optional<Error> TakeSecret();
  // Rows of a version of Weir that kept no checksums.
  std::optional<Error> AddChecksums();
  std::string ChecksumOf(const DatabaseRow& row) const;
  std::optional<Row> ReadRow(const DatabaseRow& row) const;

  const std::unique_ptr<Database> database_;
  std::array<uint64_t, 2> secret_{};
};

}  // namespace weir
