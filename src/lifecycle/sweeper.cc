#include "lifecycle/sweeper.h"

#include <algorithm>
#include <span>

namespace lakestream {
namespace {

constexpr size_t kDeletedAtOnce = 1000;  // one request on S3

}  // namespace

Status Sweeper::Sweep(const std::string& prefix, const std::string& before, uint64_t& counter,
                      const IsDead& is_dead, const Deadline& deadline) {
  ListOptions options{.prefix = prefix};
  while (true) {
    LS_ASSIGN_OR_RETURN(const ListPage page, context_.store.List(options, deadline));
    std::vector<std::string> dead;
    bool past = page.objects.empty();
    for (const ObjectInfo& object : page.objects) {
      past = past || (!before.empty() && object.key >= before);
      if (past) break;
      if (is_dead(object)) dead.push_back(object.key);
    }
    LS_RETURN_IF_ERROR(Remove(dead, counter, deadline));
    if (past || !page.more) return OkStatus();
    options.start_after = page.objects.back().key;
  }
}

Status Sweeper::Remove(const std::vector<std::string>& keys, uint64_t& counter,
                       const Deadline& deadline) {
  for (std::span<const std::string> rest = keys; !rest.empty();) {
    const auto some = rest.first(std::min(rest.size(), kDeletedAtOnce));
    if (!options_.dry_run) LS_RETURN_IF_ERROR(context_.store.Delete(some, deadline));
    counter += some.size();
    rest = rest.subspan(some.size());
    if (options_.progress) options_.progress(report_.removed());
  }
  return OkStatus();
}

}  // namespace lakestream
