#include "s3/xml.h"

#include <charconv>
#include <pugixml.hpp>

#include "base/text.h"
#include "s3/times.h"
#include "s3/url.h"

namespace lakestream::s3 {
namespace {

// Text nodes as they are: a key may begin with blanks or be one.
constexpr unsigned kParse =
    (pugi::parse_default | pugi::parse_ws_pcdata_single) & ~pugi::parse_wnorm_attribute;

std::string Local(const pugi::xml_node& node) {
  const std::string_view name = node.name();
  const size_t colon = name.find(':');
  return std::string(colon == std::string_view::npos ? name : name.substr(colon + 1));
}

Result<pugi::xml_node> Parse(pugi::xml_document& document, std::string_view text,
                             std::string_view root) {
  const pugi::xml_parse_result parsed = document.load_buffer(text.data(), text.size(), kParse);
  if (!parsed) {
    return UnavailableError(Str("the answer is not complete XML (", parsed.description(),
                                " at byte ", static_cast<int64_t>(parsed.offset), " of ",
                                text.size(), ")"));
  }
  const pugi::xml_node element = document.document_element();
  if (Local(element) != root) {
    return UnavailableError(
        Str("the answer is <", Printable(element.name(), 60), ">, not <", root, ">"));
  }
  return element;
}

std::optional<uint64_t> ParseNumber(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) {
    return std::nullopt;
  }
  return number;
}

Status Malformed(std::string_view what) {
  return UnavailableError(Str("the listing is malformed: ", what));
}

Result<std::string> ParseKey(const pugi::xml_node& node, bool url_encoded) {
  if (!node) return Malformed("an entry has no Key");
  if (!url_encoded) return std::string(node.child_value());
  std::optional<std::string> decoded = UriDecode(node.child_value());
  if (!decoded) return Malformed("a Key is not percent-encoded as announced");
  return *std::move(decoded);
}

Result<ObjectInfo> ParseObject(const pugi::xml_node& contents, bool url_encoded) {
  ObjectInfo info;
  LS_ASSIGN_OR_RETURN(info.key, ParseKey(contents.child("Key"), url_encoded));
  const std::optional<uint64_t> size = ParseNumber(contents.child_value("Size"));
  if (!size) return Malformed("an entry has no Size");
  info.size = *size;
  info.etag = NormalizeEtag(contents.child_value("ETag"));
  info.modified_ms = ParseIsoTime(contents.child_value("LastModified")).value_or(0);
  return info;
}

void AppendEscaped(std::string& out, std::string_view text) {
  for (char c : text) {
    switch (c) {
      case '&':
        out.append("&amp;");
        break;
      case '<':
        out.append("&lt;");
        break;
      case '>':
        out.append("&gt;");
        break;
      default:
        out.push_back(c);
    }
  }
}

}  // namespace

ErrorDocument ParseError(std::string_view text) {
  pugi::xml_document document;
  if (!document.load_buffer(text.data(), text.size(), kParse)) return {};
  pugi::xml_node error = document.document_element();
  ErrorDocument result;
  if (Local(error) == "ErrorResponse") {  // STS
    result.request_id = error.child_value("RequestId");
    error = error.child("Error");
  }
  if (Local(error) != "Error") return {};
  result.code = error.child_value("Code");
  result.message = error.child_value("Message");
  if (result.request_id.empty()) result.request_id = error.child_value("RequestId");
  result.region = error.child_value("Region");
  return result;
}

Result<ListResult> ParseListResult(std::string_view text) {
  pugi::xml_document document;
  LS_ASSIGN_OR_RETURN(pugi::xml_node root, Parse(document, text, "ListBucketResult"));
  ListResult result;
  const std::string_view truncated = root.child_value("IsTruncated");
  if (truncated != "true" && truncated != "false") return Malformed("IsTruncated is missing");
  result.truncated = truncated == "true";
  const bool url_encoded = std::string_view(root.child_value("EncodingType")) == "url";
  for (const pugi::xml_node& contents : root.children("Contents")) {
    LS_ASSIGN_OR_RETURN(ObjectInfo info, ParseObject(contents, url_encoded));
    result.objects.push_back(std::move(info));
  }
  const std::optional<uint64_t> count = ParseNumber(root.child_value("KeyCount"));
  if (count && *count != result.objects.size()) {
    return Malformed(
        Str("KeyCount is ", *count, " but there are ", result.objects.size(), " entries"));
  }
  if (result.truncated && result.objects.empty()) return Malformed("it goes on after no entry");
  return result;
}

Result<PendingUploads> ParsePendingUploads(std::string_view text) {
  pugi::xml_document document;
  LS_ASSIGN_OR_RETURN(pugi::xml_node root, Parse(document, text, "ListMultipartUploadsResult"));
  PendingUploads result;
  const std::string_view truncated = root.child_value("IsTruncated");
  if (truncated != "true" && truncated != "false") return Malformed("IsTruncated is missing");
  result.truncated = truncated == "true";
  const bool url_encoded = std::string_view(root.child_value("EncodingType")) == "url";
  for (const pugi::xml_node& upload : root.children("Upload")) {
    // An upload whose age is not told must not count as an old one.
    const std::optional<int64_t> begun_ms = ParseIsoTime(upload.child_value("Initiated"));
    if (!begun_ms) return Malformed("an upload has no time in Initiated");
    LS_ASSIGN_OR_RETURN(std::string key, ParseKey(upload.child("Key"), url_encoded));
    result.uploads.push_back({std::move(key), upload.child_value("UploadId"), *begun_ms});
    if (result.uploads.back().id.empty()) return Malformed("an upload has no UploadId");
  }
  if (!result.truncated) return result;
  LS_ASSIGN_OR_RETURN(result.next_key, ParseKey(root.child("NextKeyMarker"), url_encoded));
  result.next_id = root.child_value("NextUploadIdMarker");
  return result;
}

std::string DeleteDocument(const std::vector<std::string>& keys) {
  std::string document =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
      "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Quiet>true</Quiet>";
  for (const std::string& key : keys) {
    document.append("<Object><Key>");
    AppendEscaped(document, key);
    document.append("</Key></Object>");
  }
  return document.append("</Delete>");
}

bool FitsXml(std::string_view key) {
  for (size_t i = 0; i < key.size(); ++i) {
    const auto byte = static_cast<unsigned char>(key[i]);
    if (byte < 0x20 || byte == 0x7f) return false;
    // U+FFFE and U+FFFF are not XML characters.
    if (byte == 0xef && i + 2 < key.size() && key[i + 1] == '\xbf' &&
        static_cast<unsigned char>(key[i + 2]) >= 0xbe) {
      return false;
    }
  }
  // Blanks at the ends survive in some servers only.
  return !key.empty() && key.front() != ' ' && key.back() != ' ';
}

Result<std::vector<DeleteError>> ParseDeleteResult(std::string_view text) {
  pugi::xml_document document;
  LS_ASSIGN_OR_RETURN(pugi::xml_node root, Parse(document, text, "DeleteResult"));
  std::vector<DeleteError> errors;
  for (const pugi::xml_node& error : root.children("Error")) {
    errors.push_back(
        {error.child_value("Key"), error.child_value("Code"), error.child_value("Message")});
  }
  return errors;
}

Result<std::string> ParseUploadId(std::string_view text) {
  pugi::xml_document document;
  LS_ASSIGN_OR_RETURN(pugi::xml_node root, Parse(document, text, "InitiateMultipartUploadResult"));
  std::string id = root.child_value("UploadId");
  if (id.empty()) return UnavailableError("the answer to a new upload has no UploadId");
  return id;
}

std::string CompleteDocument(const std::vector<std::pair<uint32_t, std::string>>& parts) {
  std::string document =
      "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
  for (const auto& [number, etag] : parts) {
    document.append("<Part><PartNumber>").append(std::to_string(number));
    document.append("</PartNumber><ETag>\"");
    AppendEscaped(document, etag);
    document.append("\"</ETag></Part>");
  }
  return document.append("</CompleteMultipartUpload>");
}

Result<std::string> ParseCompleteResult(std::string_view text) {
  pugi::xml_document document;
  LS_ASSIGN_OR_RETURN(pugi::xml_node root, Parse(document, text, "CompleteMultipartUploadResult"));
  std::string etag = NormalizeEtag(root.child_value("ETag"));
  // Ceph RGW 16 leaves the ETag empty, but names the key.
  if (etag.empty() && root.child("Key").empty()) {
    return UnavailableError("the answer to a completed upload has neither ETag nor key");
  }
  return etag;
}

Result<StsCredentials> ParseStsCredentials(std::string_view text) {
  pugi::xml_document document;
  auto root = Parse(document, text, "AssumeRoleWithWebIdentityResponse");
  if (!root.ok()) return UnauthenticatedError(Str("STS: ", root.status().message()));
  const pugi::xml_node node = root->child("AssumeRoleWithWebIdentityResult").child("Credentials");
  StsCredentials keys{node.child_value("AccessKeyId"), node.child_value("SecretAccessKey"),
                      node.child_value("SessionToken"), node.child_value("Expiration")};
  if (keys.access_key_id.empty() || keys.secret_access_key.empty()) {
    return UnauthenticatedError("STS answered without keys");
  }
  return keys;
}

std::string NormalizeEtag(std::string_view etag) {
  if (etag.substr(0, 2) == "W/") etag.remove_prefix(2);
  if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"') {
    etag = etag.substr(1, etag.size() - 2);
  }
  return std::string(etag);
}

}  // namespace lakestream::s3
