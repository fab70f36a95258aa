#include "lakestream/status.h"

namespace lakestream {

std::string_view CodeName(Code code) {
  switch (code) {
    case Code::kOk:
      return "ok";
    case Code::kCancelled:
      return "cancelled";
    case Code::kInvalidArgument:
      return "invalid_argument";
    case Code::kDeadlineExceeded:
      return "deadline_exceeded";
    case Code::kNotFound:
      return "not_found";
    case Code::kAlreadyExists:
      return "already_exists";
    case Code::kPermissionDenied:
      return "permission_denied";
    case Code::kUnauthenticated:
      return "unauthenticated";
    case Code::kResourceExhausted:
      return "resource_exhausted";
    case Code::kFailedPrecondition:
      return "failed_precondition";
    case Code::kAborted:
      return "aborted";
    case Code::kUnavailable:
      return "unavailable";
    case Code::kUnknownOutcome:
      return "unknown_outcome";
    case Code::kDataLoss:
      return "data_loss";
    case Code::kUnimplemented:
      return "unimplemented";
    case Code::kInternal:
      return "internal";
  }
  return "invalid_code";
}

std::string_view ReasonName(Reason reason) {
  switch (reason) {
    case Reason::kNone:
      return "";
    case Reason::kSessionFenced:
      return "session_fenced";
    case Reason::kSealed:
      return "sealed";
    case Reason::kStreamExists:
      return "stream_exists";
    case Reason::kStreamMissing:
      return "stream_missing";
    case Reason::kStreamMismatch:
      return "stream_mismatch";
    case Reason::kFormatTooNew:
      return "format_too_new";
    case Reason::kMeshMismatch:
      return "mesh_mismatch";
    case Reason::kStepTrimmed:
      return "step_trimmed";
    case Reason::kStepNotYet:
      return "step_not_yet";
    case Reason::kUnsafeStore:
      return "unsafe_store";
    case Reason::kChecksum:
      return "checksum";
    case Reason::kHistoryChanged:
      return "history_changed";
    case Reason::kTooLarge:
      return "too_large";
    case Reason::kDiskFull:
      return "disk_full";
    case Reason::kConflict:
      return "conflict";
    case Reason::kThrottled:
      return "throttled";
    case Reason::kBranchMissing:
      return "branch_missing";
    case Reason::kBranchClosed:
      return "branch_closed";
    case Reason::kNoCheckpoint:
      return "no_checkpoint";
    case Reason::kRunOver:
      return "run_over";
    case Reason::kHeldBack:
      return "held_back";
  }
  return "invalid_reason";
}

Status::Status(Code code, std::string message, Reason reason) {
  if (code == Code::kOk) return;
  rep_ = std::make_shared<const Rep>(Rep{code, reason, std::move(message)});
}

const std::string& Status::message() const {
  static const std::string kEmpty;
  return rep_ ? rep_->message : kEmpty;
}

std::string Status::ToString() const {
  if (ok()) return "ok";
  std::string text(CodeName(code()));
  if (reason() != Reason::kNone) text.append("(").append(ReasonName(reason())).append(")");
  return text.append(": ").append(message());
}

Status Status::WithContext(std::string_view context) const {
  if (ok()) return *this;
  return Status(code(), std::string(context).append(": ").append(message()), reason());
}

std::ostream& operator<<(std::ostream& out, const Status& status) {
  return out << status.ToString();
}

}  // namespace lakestream
