#include "cluster/cluster_key.h"

#include <openssl/core_names.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

namespace weir::cluster {
namespace {

constexpr std::string_view kSalt = "weir cluster 1";
constexpr std::string_view kSpace = " \t\r\n";

OSSL_PARAM Octets(const char* name, std::string_view bytes) {
  return OSSL_PARAM_construct_octet_string(name, const_cast<char*>(bytes.data()), bytes.size());
}

// On every machine alike.
uint64_t LittleEndian(const uint8_t* bytes) {
  uint64_t word = 0;
  for (int i = 7; i >= 0; --i) word = word << 8 | bytes[i];
  return word;
}

}  // namespace

Result<ClusterKey> ClusterKey::FromText(std::string_view text) {
  const size_t first = std::min(text.find_first_not_of(kSpace), text.size());
  const size_t last = text.find_last_not_of(kSpace);
  const std::string_view secret =
      last == std::string_view::npos ? "" : text.substr(first, last + 1 - first);
  if (secret.size() < kLeastBytes) {
    return Error{Code::kBadRequest,
                 "the key is too short: it has " + std::to_string(secret.size()) +
                     " characters and needs " + std::to_string(kLeastBytes) +
                     "; `openssl rand -base64 32` makes one",
                 ""};
  }
  return ClusterKey(std::string(secret));
}

AeadBytes ClusterKey::Derive(std::string_view purpose, std::string_view context) const {
  static EVP_KDF* const hkdf = EVP_KDF_fetch(nullptr, "HKDF", nullptr);
  const std::unique_ptr<EVP_KDF_CTX, decltype(&EVP_KDF_CTX_free)> kdf(EVP_KDF_CTX_new(hkdf),
                                                                      EVP_KDF_CTX_free);
  std::string info(purpose);
  info += '\0';
  info += context;
  char digest[] = "SHA256";
  const std::array<OSSL_PARAM, 5> parameters = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
      Octets(OSSL_KDF_PARAM_KEY, secret_), Octets(OSSL_KDF_PARAM_SALT, kSalt),
      Octets(OSSL_KDF_PARAM_INFO, info), OSSL_PARAM_construct_end()};
  AeadBytes key{};
  if (EVP_KDF_derive(kdf.get(), key.data(), key.size(), parameters.data()) != 1) {
    std::fputs("weir: OpenSSL derives no key\n", stderr);
    std::abort();
  }
  return key;
}

std::array<uint64_t, 2> ClusterKey::HashSecret() const {
  const AeadBytes bytes = Derive("hashes of keys");
  return {LittleEndian(bytes.data()), LittleEndian(bytes.data() + 8)};
}

uint32_t ClusterKey::MarkOfNames() const {
  return static_cast<uint32_t>(LittleEndian(Derive("mark of names").data()));
}

}  // namespace weir::cluster
