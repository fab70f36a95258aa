#include "s3/hashes.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <memory>

namespace lakestream::s3 {

Sha256 HashSha256(std::span<const ConstBytes> pieces) {
  Sha256 hash{};
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr);
  for (ConstBytes piece : pieces) {
    EVP_DigestUpdate(context.get(), piece.data(), piece.size());
  }
  EVP_DigestFinal_ex(context.get(), hash.data(), nullptr);
  return hash;
}

Sha256 HashSha256(std::string_view text) {
  const ConstBytes piece = AsBytes(text);
  return HashSha256({&piece, 1});
}

Sha256 HmacSha256(ConstBytes key, std::string_view text) {
  Sha256 hash{};
  unsigned int size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), hash.data(), &size);
  return hash;
}

std::string Md5Base64(std::string_view text) {
  unsigned char hash[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), hash, &size, EVP_md5(), nullptr);
  unsigned char encoded[EVP_MAX_MD_SIZE * 2];
  const int encoded_size = EVP_EncodeBlock(encoded, hash, static_cast<int>(size));
  return std::string(reinterpret_cast<const char*>(encoded), static_cast<size_t>(encoded_size));
}

}  // namespace lakestream::s3
