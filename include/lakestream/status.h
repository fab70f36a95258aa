// Status and Result<T>: how every fallible function of Lakestream answers.
//
// Two axes. The *code* says what the caller should do; the *reason* names the domain case that a
// program may match on. The message is for people: what failed, on which object or step, why, and
// what to do. Only code and reason are API; message texts may change.
//
// Codes carry the names that Abseil and gRPC made canonical, with one addition, kUnknownOutcome.
#pragma once

#include <cassert>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

namespace lakestream {

enum class Code : int {
  kOk = 0,
  kCancelled = 1,           // the caller asked to stop
  kInvalidArgument = 2,     // the call is wrong whatever the state; fix the caller
  kDeadlineExceeded = 3,    // not done in time; try again with more time
  kNotFound = 4,            // the named thing does not exist
  kAlreadyExists = 5,       // the thing to be created exists
  kPermissionDenied = 6,    // credentials are known and lack a right
  kUnauthenticated = 7,     // credentials are missing, wrong or expired
  kResourceExhausted = 8,   // disk, quota or a stated limit is used up
  kFailedPrecondition = 9,  // someone must act first (see the reason)
  kAborted = 10,            // lost a race; read the newest state and try again
  kUnavailable = 11,        // surely not applied; the same call may succeed later
  kUnknownOutcome = 12,     // may or may not have been applied; find out before going on
  kDataLoss = 13,           // stored bytes are missing or wrong; never hand them on
  kUnimplemented = 14,      // not supported by this store or this version
  kInternal = 15,           // a defect of Lakestream itself
};

// Domain cases that callers handle differently. kNone where the code says it all.
enum class Reason : int {
  kNone = 0,
  kSessionFenced = 1,    // a newer session of this producer is active; this one is over for good
  kSealed = 2,           // the stream is sealed: nothing can be added
  kStreamExists = 3,     // create: a stream is already at this URI
  kStreamMissing = 4,    // no stream at this URI
  kStreamMismatch = 5,   // another stream (UUID) than the one that was opened
  kFormatTooNew = 6,     // written by a newer version of Lakestream; upgrade this reader
  kMeshMismatch = 7,     // (dp, cp) or its sizes do not fit the stream's grid
  kStepTrimmed = 8,      // the step existed and was trimmed
  kStepNotYet = 9,       // the step is not committed yet
  kUnsafeStore = 10,     // the store's conditional write is not atomic
  kChecksum = 11,        // bytes do not match their checksum
  kHistoryChanged = 12,  // the manifest's hash chain is broken
  kTooLarge = 13,        // over a limit that the message names
  kDiskFull = 14,        // no space left where the store writes
  kConflict = 15,        // HTTP 409: the store did not decide a conditional write
  kThrottled = 16,       // the store asked to slow down (429, 503 SlowDown)
  kBranchMissing = 17,   // no branch of this name
  kBranchClosed = 18,    // the branch was deleted: nothing can be added, its data goes
  kNoCheckpoint = 19,    // no live checkpoint of this name
  kRunOver = 20,         // the job's run was replaced, or detached for want of a sign of life
  kHeldBack = 21,        // a checkpoint, a run or a branch still needs it
};

std::string_view CodeName(Code code);        // "kNotFound" -> "not_found"
std::string_view ReasonName(Reason reason);  // "kSealed" -> "sealed"; "" for kNone

// A value type; cheap when OK (one null pointer). Thread-compatible.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message, Reason reason = Reason::kNone);

  bool ok() const { return rep_ == nullptr; }
  Code code() const { return rep_ ? rep_->code : Code::kOk; }
  Reason reason() const { return rep_ ? rep_->reason : Reason::kNone; }
  // What failed, on what, why, what to do. Empty when OK.
  const std::string& message() const;
  // "not_found(stream_missing): ..." or "ok".
  std::string ToString() const;
  // The same code and reason with "context: " before the message. For what this layer alone knows.
  Status WithContext(std::string_view context) const;

 private:
  struct Rep {
    Code code;
    Reason reason;
    std::string message;
  };
  std::shared_ptr<const Rep> rep_;
};

std::ostream& operator<<(std::ostream& out, const Status& status);

inline Status OkStatus() { return Status(); }
inline Status CancelledError(std::string m) { return {Code::kCancelled, std::move(m)}; }
inline Status InvalidArgumentError(std::string m, Reason r = Reason::kNone) {
  return {Code::kInvalidArgument, std::move(m), r};
}
inline Status DeadlineExceededError(std::string m) {
  return {Code::kDeadlineExceeded, std::move(m)};
}
inline Status NotFoundError(std::string m, Reason r = Reason::kNone) {
  return {Code::kNotFound, std::move(m), r};
}
inline Status AlreadyExistsError(std::string m, Reason r = Reason::kNone) {
  return {Code::kAlreadyExists, std::move(m), r};
}
inline Status PermissionDeniedError(std::string m) {
  return {Code::kPermissionDenied, std::move(m)};
}
inline Status UnauthenticatedError(std::string m) { return {Code::kUnauthenticated, std::move(m)}; }
inline Status ResourceExhaustedError(std::string m, Reason r = Reason::kNone) {
  return {Code::kResourceExhausted, std::move(m), r};
}
inline Status FailedPreconditionError(std::string m, Reason r = Reason::kNone) {
  return {Code::kFailedPrecondition, std::move(m), r};
}
inline Status AbortedError(std::string m, Reason r = Reason::kNone) {
  return {Code::kAborted, std::move(m), r};
}
inline Status UnavailableError(std::string m, Reason r = Reason::kNone) {
  return {Code::kUnavailable, std::move(m), r};
}
inline Status UnknownOutcomeError(std::string m) { return {Code::kUnknownOutcome, std::move(m)}; }
inline Status DataLossError(std::string m, Reason r = Reason::kNone) {
  return {Code::kDataLoss, std::move(m), r};
}
inline Status UnimplementedError(std::string m, Reason r = Reason::kNone) {
  return {Code::kUnimplemented, std::move(m), r};
}
inline Status InternalError(std::string m) { return {Code::kInternal, std::move(m)}; }

// A T, or the Status that says why there is none. Reading the value of a failed Result is a defect
// of the caller (checked by assert). Thread-compatible.
template <typename T>
class [[nodiscard]] Result {
 public:
  // Implicit on purpose: `return value;` and `return status;` both work.
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) {
    assert(!status_.ok() && "an OK status carries no value");
  }

  bool ok() const { return status_.ok(); }
  const Status& status() const { return status_; }

  T& value() & { return assert(ok()), *value_; }
  const T& value() const& { return assert(ok()), *value_; }
  T&& value() && { return assert(ok()), *std::move(value_); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  Status status_;
  std::optional<T> value_;
};

#define LS_CONCAT_INNER(a, b) a##b
#define LS_CONCAT(a, b) LS_CONCAT_INNER(a, b)

// Returns from the enclosing function if `expression` is a failed Status.
#define LS_RETURN_IF_ERROR(expression)                                    \
  do {                                                                    \
    if (::lakestream::Status ls_status = (expression); !ls_status.ok()) { \
      return ls_status;                                                   \
    }                                                                     \
  } while (false)

// Assigns the value of a Result, or returns its status: LS_ASSIGN_OR_RETURN(auto x, F());
#define LS_ASSIGN_OR_RETURN(declaration, expression) \
  LS_ASSIGN_OR_RETURN_INNER(LS_CONCAT(ls_result_, __LINE__), declaration, expression)
#define LS_ASSIGN_OR_RETURN_INNER(result, declaration, expression) \
  auto result = (expression);                                      \
  if (!result.ok()) return result.status();                        \
  declaration = *std::move(result)

}  // namespace lakestream
