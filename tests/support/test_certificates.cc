#include "tests/support/test_certificates.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <cstdlib>

namespace lakestream {
namespace {

void Extend(X509* certificate, X509* issuer, int kind, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value);
  if (extension == nullptr) std::abort();
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

X509* Make(EVP_PKEY* key, const char* name, X509* issuer, EVP_PKEY* issuer_key, long serial) {
  X509* certificate = X509_new();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 24 * 3600);
  X509_set_pubkey(certificate, key);
  X509_NAME* subject = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
  X509* signer = issuer != nullptr ? issuer : certificate;
  X509_set_issuer_name(certificate, X509_get_subject_name(signer));
  if (issuer == nullptr) {
    Extend(certificate, signer, NID_basic_constraints, "critical,CA:TRUE");
    Extend(certificate, signer, NID_key_usage, "critical,keyCertSign");
  } else {
    Extend(certificate, signer, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1");
  }
  if (X509_sign(certificate, issuer_key, EVP_sha256()) == 0) std::abort();
  return certificate;
}

template <typename Writer>
std::string Save(const std::string& path, Writer write) {
  FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr || write(file) != 1) std::abort();
  std::fclose(file);
  return path;
}

}  // namespace

TestCertificates MakeTestCertificates(const std::string& folder) {
  EVP_PKEY* authority_key = EVP_EC_gen("P-256");
  EVP_PKEY* server_key = EVP_EC_gen("P-256");
  X509* authority = Make(authority_key, "Lakestream test authority", nullptr, authority_key, 1);
  X509* server = Make(server_key, "localhost", authority, authority_key, 2);
  TestCertificates files;
  files.authority_file =
      Save(folder + "/authority.pem", [&](FILE* f) { return PEM_write_X509(f, authority); });
  files.certificate_file =
      Save(folder + "/server.pem", [&](FILE* f) { return PEM_write_X509(f, server); });
  files.key_file = Save(folder + "/server.key", [&](FILE* f) {
    return PEM_write_PrivateKey(f, server_key, nullptr, nullptr, 0, nullptr, nullptr);
  });
  X509_free(server);
  X509_free(authority);
  EVP_PKEY_free(server_key);
  EVP_PKEY_free(authority_key);
  return files;
}

}  // namespace lakestream
