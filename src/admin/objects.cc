#include <algorithm>

#include "base/text.h"
#include "lakestream/admin.h"
#include "manifest/keys.h"

namespace lakestream {
namespace {

constexpr std::string_view kKinds[] = {"data",     "log",    "snapshot", "index",     "head",
                                       "boundary", "branch", "part",     "watermark", "probe"};

// Lists page by page until `on_object` returns false.
template <typename OnObject>
Status ForEach(ObjectStore& store, ListOptions options, const Deadline& deadline,
               const OnObject& on_object) {
  while (true) {
    LS_ASSIGN_OR_RETURN(const ListPage page, store.List(options, deadline));
    for (const ObjectInfo& object : page.objects) {
      if (!on_object(object)) return OkStatus();
    }
    if (!page.more || page.objects.empty()) return OkStatus();
    options.start_after = page.objects.back().key;
  }
}

// On main, of all branches. The keys of some kinds end with the branch's name.
std::string PrefixOf(const Stream& stream, std::string_view kind) {
  const BranchInfo& branch = stream.info().branch;
  if (branch.is_main()) return Str(kind, "/");
  const bool named = kind == "head" || kind == "boundary" || kind == "branch";
  return Str(kind, "/", branch.name, named ? "" : "/");
}

}  // namespace

Result<std::vector<KindUsage>> GetUsage(Stream& stream, const Deadline& deadline) {
  std::vector<KindUsage> usage;
  for (const std::string_view kind : kKinds) {
    KindUsage& of_kind = usage.emplace_back(KindUsage{std::string(kind)});
    LS_RETURN_IF_ERROR(ForEach(stream.store(), {.prefix = PrefixOf(stream, kind)}, deadline,
                               [&](const ObjectInfo& object) {
                                 ++of_kind.objects;
                                 of_kind.bytes += object.size;
                                 return true;
                               }));
  }
  return usage;
}

Result<std::vector<ObjectInfo>> ListObjects(Stream& stream, const std::string& kind, uint64_t from,
                                            uint64_t count, const Deadline& deadline) {
  if (std::find(std::begin(kKinds), std::end(kKinds), kind) == std::end(kKinds)) {
    std::string kinds;
    for (const std::string_view known : kKinds) kinds += Str(" ", known);
    return InvalidArgumentError(
        Str("there are no objects of kind '", kind, "'; kinds are:", kinds));
  }
  ListOptions options{.prefix = PrefixOf(stream, kind)};
  const bool numbered = kind == "data" || kind == "log" || kind == "snapshot" || kind == "index";
  if (numbered && from > 0) {
    options.prefix = Str(kind, "/", stream.info().branch.name, "/");
    options.start_after = Str(options.prefix, Padded(from - 1), "-~");
  }
  std::vector<ObjectInfo> objects;
  const auto add = [&](const ObjectInfo& object) {
    if (objects.size() < count) objects.push_back(object);
    return objects.size() < count;
  };
  LS_RETURN_IF_ERROR(ForEach(stream.store(), std::move(options), deadline, add));
  return objects;
}

}  // namespace lakestream
