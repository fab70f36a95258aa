// GoogleMock matchers for Status and Result<T>. They print the whole status on failure.
//   EXPECT_THAT(store.Head(key, deadline), IsCode(Code::kNotFound));
#pragma once

#include <gmock/gmock.h>

#include <ostream>

#include "lakestream/status.h"

namespace lakestream {

inline const Status& StatusOf(const Status& status) { return status; }
template <typename T>
const Status& StatusOf(const Result<T>& result) {
  return result.status();
}

// So that a failed expectation on a Result prints its status instead of its bytes.
template <typename T>
void PrintTo(const Result<T>& result, std::ostream* out) {
  *out << result.status();
}

MATCHER(IsOk, negation ? "is a failure" : "is OK") {
  *result_listener << "which is " << StatusOf(arg);
  return StatusOf(arg).ok();
}

MATCHER_P(IsCode, code, "has the code " + std::string(CodeName(code))) {
  *result_listener << "which is " << StatusOf(arg);
  return StatusOf(arg).code() == code;
}

MATCHER_P(HasReason, reason, "has the reason '" + std::string(ReasonName(reason)) + "'") {
  *result_listener << "which is " << StatusOf(arg);
  return StatusOf(arg).reason() == reason;
}

}  // namespace lakestream
