#include "experiments/sha256.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <stdexcept>

namespace cgmca::experiments {
namespace {

void check(int good) {
  if (good != 1) throw std::runtime_error("OpenSSL cannot compute a SHA-256");
}

}  // namespace

void Sha256::Free::operator()(evp_md_ctx_st* context) const { EVP_MD_CTX_free(context); }

Sha256::Sha256() : context_(EVP_MD_CTX_new()) { check(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr)); }

void Sha256::add(const unsigned char* bytes, std::size_t count) {
  check(EVP_DigestUpdate(context_.get(), bytes, count));
}

std::string Sha256::hexadecimal() {
  std::array<unsigned char, 32> digest{};
  check(EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr));
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

}  // namespace cgmca::experiments
