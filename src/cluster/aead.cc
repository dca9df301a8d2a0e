#include "cluster/aead.h"

#include <openssl/evp.h>

#include <array>
#include <cstdio>
#include <cstdlib>

namespace weir::cluster {
namespace {

void Must(int result) {
  if (result == 1) return;
  std::fputs("weir: OpenSSL has no AES-256-GCM\n", stderr);
  std::abort();
}

uint8_t* Bytes(char* text) { return reinterpret_cast<uint8_t*>(text); }
const uint8_t* Bytes(const char* text) { return reinterpret_cast<const uint8_t*>(text); }
int Size(std::string_view text) { return static_cast<int>(text.size()); }

}  // namespace

void Aead::Free::operator()(evp_cipher_ctx_st* context) const { EVP_CIPHER_CTX_free(context); }

Aead::Aead(const AeadBytes& key, Use use) : context_(EVP_CIPHER_CTX_new()) {
  Must(EVP_CipherInit_ex(context_.get(), EVP_aes_256_gcm(), nullptr, key.data(), nullptr,
                         use == Use::kSeal ? 1 : 0));
}

// The nonce is the number: 96 bits, little-endian.
void Aead::Begin(uint64_t number, std::string_view head) {
  std::array<uint8_t, 12> nonce{};
  for (size_t i = 0; i < sizeof number; ++i) nonce[i] = static_cast<uint8_t>(number >> (8 * i));
  Must(EVP_CipherInit_ex(context_.get(), nullptr, nullptr, nullptr, nonce.data(), -1));
  int taken = 0;
  Must(EVP_CipherUpdate(context_.get(), nullptr, &taken, Bytes(head.data()), Size(head)));
}

void Aead::Seal(uint64_t number, std::string_view head, std::string_view plain, std::string& out) {
  Begin(number, head);
  const size_t start = out.size();
  out.resize(start + plain.size() + kTagBytes);
  uint8_t* sealed = Bytes(out.data()) + start;
  int size = 0, rest = 0;
  Must(EVP_CipherUpdate(context_.get(), sealed, &size, Bytes(plain.data()), Size(plain)));
  Must(EVP_CipherFinal_ex(context_.get(), sealed + size, &rest));
  Must(EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes, sealed + size));
}

bool Aead::Open(uint64_t number, std::string_view head, std::string_view sealed,
                std::string& plain) {
  plain.clear();
  if (sealed.size() < kTagBytes) return false;
  Begin(number, head);
  const std::string_view hidden = sealed.substr(0, sealed.size() - kTagBytes);
  std::string tag(sealed.substr(hidden.size()));
  plain.resize(hidden.size());
  int size = 0, rest = 0;
  Must(EVP_CipherUpdate(context_.get(), Bytes(plain.data()), &size, Bytes(hidden.data()),
                        Size(hidden)));
  Must(EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, tag.data()));
  std::array<uint8_t, 16> none;
  if (EVP_CipherFinal_ex(context_.get(), none.data(), &rest) == 1) return true;
  plain.clear();
  return false;
}

}  // namespace weir::cluster
