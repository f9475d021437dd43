// SHA-256 by OpenSSL's libcrypto, to tell data sets by their content.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

struct evp_md_ctx_st;

namespace cgmca::experiments {

class Sha256 {
 public:
  Sha256();
  void add(const unsigned char* bytes, std::size_t count);
  std::string hexadecimal();  // of all that was added; add nothing afterwards

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

}  // namespace cgmca::experiments
