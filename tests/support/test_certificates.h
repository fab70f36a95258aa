// A private certificate authority and a server certificate for "localhost", made at test time.
#pragma once

#include <string>

namespace lakestream {

// Files in `folder`, which must exist.
struct TestCertificates {
  std::string authority_file;    // PEM, for clients
  std::string certificate_file;  // PEM, for the server
  std::string key_file;
};
TestCertificates MakeTestCertificates(const std::string& folder);

}  // namespace lakestream
