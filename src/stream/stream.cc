#include "lakestream/stream.h"

#include <algorithm>

#include "base/text.h"
#include "codec/byte_writer.h"
#include "manifest/keys.h"
#include "manifest/state.h"
#include "manifest/stream_json.h"

namespace lakestream {
namespace {

std::string NewUuid(Runtime& runtime) {
  ByteWriter writer;
  writer.U64(runtime.Random64());
  writer.U64(runtime.Random64());
  return ToHex(writer.bytes());
}

Result<StreamInfo> ReadStreamJson(ObjectStore& store, const Deadline& deadline) {
  auto bytes = GetBytes(store, kStreamKey, deadline);
  if (!bytes.ok()) {
    if (bytes.status().code() != Code::kNotFound) return bytes.status();
    return NotFoundError(Str("there is no stream at ", store.Describe(),
                             "; create one with 'lakestream init' or check the URI"),
                         Reason::kStreamMissing);
  }
  auto info = DecodeStreamJson(bytes->text());
  if (!info.ok()) return info.status().WithContext(Str(store.Describe(), "/", kStreamKey));
  return info;
}

// Puts stream.json. False if another one is there. A put whose outcome is unknown is decided by
// reading: the UUID says whose it is.
Result<bool> PutStreamJson(ObjectStore& store, const StreamInfo& info, const Deadline& deadline) {
  auto put = PutBytes(store, kStreamKey, AsBytes(EncodeStreamJson(info)),
                      PutOptions{.if_absent = true}, deadline);
  if (put.ok() && put->stored) return true;
  if (!put.ok() && put.status().code() != Code::kUnknownOutcome) return put.status();
  auto existing = ReadStreamJson(store, deadline);
  if (existing.ok()) return existing->uuid == info.uuid;
  return put.ok() ? existing.status() : put.status();
}

// So that nobody has to wonder whether a boundary was lost; reclamation makes it otherwise.
void PutFirstBoundary(ObjectStore& store, Runtime& runtime, const StreamInfo& info,
                      const Deadline& deadline) {
  const auto put = PutBytes(store, BoundaryKey(info.branch.name), EncodeBoundary(info, {}),
                            PutOptions{.if_absent = true}, deadline);
  if (!put.ok()) runtime.Log(LogLevel::kInfo, put.status().message());
}

Result<BranchInfo> ReadBranch(ObjectStore& store, const StreamInfo& info, const std::string& name,
                              const Deadline& deadline) {
  LS_RETURN_IF_ERROR(ValidateName("branch", name));
  auto bytes = GetBytes(store, BranchKey(name), deadline);
  if (bytes.ok()) {
    auto branch = DecodeBranch(info, name, bytes->bytes());
    if (branch.ok()) return branch;
    return branch.status().WithContext(Str(store.Describe(), "/", BranchKey(name)));
  }
  if (bytes.status().code() != Code::kNotFound) return bytes.status();
  return NotFoundError(Str("the stream at ", store.Describe(), " has no branch ", name,
                           "; see 'lakestream branch list'"),
                       Reason::kBranchMissing);
}

Status CheckSameSpec(const StreamInfo& info, const StreamSpec& spec, const ObjectStore& store) {
  if (info.spec.mesh != spec.mesh) {
    return FailedPreconditionError(
        Str(store.Describe(), " has a mesh of dp ", info.spec.mesh.dp, " x cp ", info.spec.mesh.cp,
            ", not ", spec.mesh.dp, " x ", spec.mesh.cp, "; use its mesh or another URI"),
        Reason::kMeshMismatch);
  }
  if (info.spec.producers != spec.producers) {
    return FailedPreconditionError(Str(store.Describe(),
                                       " was created with other declared producers; open it "
                                       "without a list, or use another URI"));
  }
  return OkStatus();
}

}  // namespace

Result<std::shared_ptr<Stream>> Stream::Create(std::shared_ptr<ObjectStore> store,
                                               std::shared_ptr<Runtime> runtime,
                                               const StreamSpec& spec, const Deadline& deadline) {
  LS_RETURN_IF_ERROR(ValidateSpec(spec));
  LS_RETURN_IF_ERROR(CheckConditionalPut(*store, *runtime, deadline));
  StreamInfo info{NewUuid(*runtime), 1, runtime->WallTimeMs(), spec, {}};
  LS_ASSIGN_OR_RETURN(const bool created, PutStreamJson(*store, info, deadline));
  if (!created) {
    return AlreadyExistsError(
        Str("there is already a stream at ", store->Describe(), "; open it, or choose another URI"),
        Reason::kStreamExists);
  }
  PutFirstBoundary(*store, *runtime, info, deadline);
  return std::shared_ptr<Stream>(
      new Stream(std::move(store), std::move(runtime), std::move(info), {}));
}

Result<std::shared_ptr<Stream>> Stream::Open(std::shared_ptr<ObjectStore> store,
                                             std::shared_ptr<Runtime> runtime,
                                             const Deadline& deadline, const std::string& branch) {
  LS_ASSIGN_OR_RETURN(StreamInfo info, ReadStreamJson(*store, deadline));
  std::vector<BranchInfo> lineage;
  for (std::string name = branch; name != kMainBranch; name = lineage.back().parent) {
    LS_ASSIGN_OR_RETURN(BranchInfo found, ReadBranch(*store, info, name, deadline));
    const bool again = std::any_of(lineage.begin(), lineage.end(),
                                   [&](const BranchInfo& known) { return known.name == name; });
    if (again) return DataLossError(Str("branch ", name, " descends from itself"));
    lineage.push_back(std::move(found));
  }
  lineage.emplace_back();  // main
  info.branch = lineage.front();
  lineage.erase(lineage.begin());
  return std::shared_ptr<Stream>(
      new Stream(std::move(store), std::move(runtime), std::move(info), std::move(lineage)));
}

Result<std::shared_ptr<Stream>> Stream::OpenOrCreate(std::shared_ptr<ObjectStore> store,
                                                     std::shared_ptr<Runtime> runtime,
                                                     const StreamSpec& spec,
                                                     const Deadline& deadline) {
  LS_RETURN_IF_ERROR(ValidateSpec(spec));
  auto opened = Open(store, runtime, deadline);
  if (!opened.ok() && opened.status().reason() == Reason::kStreamMissing) {
    auto created = Create(store, runtime, spec, deadline);
    if (created.ok() || created.status().reason() != Reason::kStreamExists) return created;
    opened = Open(store, runtime, deadline);  // another process was faster
  }
  if (!opened.ok()) return opened;
  LS_RETURN_IF_ERROR(CheckSameSpec((*opened)->info(), spec, *store));
  return opened;
}

}  // namespace lakestream
