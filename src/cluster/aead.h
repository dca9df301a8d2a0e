// AES-256-GCM under one key, for sealing or for opening. A number must not be used twice for sealing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "cluster/cluster_key.h"

struct evp_cipher_ctx_st;

namespace weir::cluster {

inline constexpr size_t kTagBytes = 16;

class Aead {
 public:
  enum class Use { kSeal, kOpen };
  Aead(const AeadBytes& key, Use use);

  // Appends what `plain` is sealed to: as many bytes and the tag. `head` is protected, not hidden.
  void Seal(uint64_t number, std::string_view head, std::string_view plain, std::string& out);
  // False if a bit of it is not as it was sealed; `plain` is then empty.
  bool Open(uint64_t number, std::string_view head, std::string_view sealed, std::string& plain);

 private:
  struct Free {
    void operator()(evp_cipher_ctx_st* context) const;
  };
  void Begin(uint64_t number, std::string_view head);

  std::unique_ptr<evp_cipher_ctx_st, Free> context_;
};

}  // namespace weir::cluster
