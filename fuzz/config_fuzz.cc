// The configuration: any body is stored as good rules or refused, and what is stored can be read.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "config/config_store.h"

namespace {

using weir::ConfigPath;
using weir::Json;

weir::ConfigStore& TheStore() {
  static weir::ConfigStore store(std::move(*weir::OpenDatabase(":memory:")), {});
  static const bool ready = static_cast<bool>(store.Refresh());
  if (!ready) std::abort();
  return store;
}

const std::array<ConfigPath, 6>& Paths() {
  static const std::array<ConfigPath, 6> paths = {
      *ConfigPath::Parse({"namespaces"}),
      *ConfigPath::Parse({"namespaces", "n"}),
      *ConfigPath::Parse({"namespaces", "n", "resources", "r"}),
      *ConfigPath::Parse({"namespaces", "n", "resources", "r", "limits", "l"}),
      *ConfigPath::Parse({"namespaces", "n", "resources", "r", "copies"}),
      *ConfigPath::Parse({"namespaces", "n", "descriptors"})};
  return paths;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  weir::ConfigStore& store = TheStore();
  const weir::Writer writer{"fuzz", weir::FromNanos(1'800'000'000'000'000'000)};
  store.Put(Paths()[0], Json::object(), writer);
  store.Put(
      Paths()[1],
      Json{{"resources", {{"r", {{"limits", {{{"name", "l"}, {"limit", 1}, {"per", "1s"}}}}}}}}},
      writer);
  const weir::Result<Json> body =
      weir::ReadJsonTree({reinterpret_cast<const char*>(data) + 1, size - 1});
  if (!body) return 0;
  const ConfigPath& path = Paths()[data[0] % Paths().size()];
  const uint64_t before = store.version();
  const auto written =
      (data[0] & 128) != 0 ? store.Patch(path, *body, writer) : store.Put(path, *body, writer);
  if (!written && store.version() != before) std::abort();
  if (store.rules() == nullptr) std::abort();
  if (written && !store.Read(Paths()[0])) std::abort();
  return 0;
}
