// Multipart uploads when the server misbehaves.
#include <gtest/gtest.h>

#include "tests/s3/scripted_store.h"
#include "tests/support/status_matchers.h"

namespace lakestream::s3 {
namespace {

class UploadFaultsTest : public ::testing::Test {
 protected:
  // A server that takes uploads, but answers Complete as told.
  void Serve(std::vector<ScriptedReply> completes) {
    upload_.reset();
    completes_ = std::move(completes);
    s_ = std::make_unique<ScriptedStore>([this](const ScriptedRequest& request) -> ScriptedReply {
      if (request.method == "DELETE") return {.status = 204};
      if (request.method == "PUT") return StoredReply();
      if (request.target.find("uploads=") != std::string::npos) {
        return {.body =
                    "<InitiateMultipartUploadResult><UploadId>u1</UploadId>"
                    "</InitiateMultipartUploadResult>"};
      }
      const size_t index = std::min(completed_++, completes_.size() - 1);
      return completes_[index];
    });
    upload_ = *s_->store->StartUpload("k", s_->In(1000));
  }
  Status PutPart(uint32_t number) {
    const ConstBytes piece = AsBytes("part");
    return upload_->PutPart(number, {&piece, 1}, s_->In(1000));
  }
  uint64_t Count(const std::string& method) {
    uint64_t count = 0;
    for (const ScriptedRequest& request : s_->server.requests()) count += request.method == method;
    return count;
  }

  static ScriptedReply Completed() {
    return {.body =
                " \n<CompleteMultipartUploadResult><ETag>\"e-1\"</ETag>"
                "</CompleteMultipartUploadResult>"};
  }

  std::vector<ScriptedReply> completes_;
  std::atomic<size_t> completed_{0};
  std::unique_ptr<ScriptedStore> s_;
  std::unique_ptr<Upload> upload_;
};

TEST_F(UploadFaultsTest, AnUploadIsCompletedWithItsPartsInOrder) {
  Serve({Completed()});
  EXPECT_THAT(PutPart(2), IsOk());
  EXPECT_THAT(PutPart(1), IsOk());
  auto done = upload_->Complete(s_->In(1000));
  ASSERT_THAT(done, IsOk());
  EXPECT_EQ(done->etag, "e-1");
  const std::string body = s_->server.requests().back().body;
  EXPECT_LT(body.find("<PartNumber>1<"), body.find("<PartNumber>2<"));
  upload_.reset();
  EXPECT_EQ(Count("DELETE"), 0u) << "a completed upload is not aborted";
}

TEST_F(UploadFaultsTest, H19AnErrorDocumentWithStatus200IsNoSuccess) {
  Serve({ErrorReply(200, "InternalError")});
  EXPECT_THAT(PutPart(1), IsOk());
  EXPECT_THAT(upload_->Complete(s_->In(200)), IsCode(Code::kUnknownOutcome));
  EXPECT_EQ(completed_, 1u);
}

TEST_F(UploadFaultsTest, H19ALostOrCutAnswerToCompleteIsAnUnknownOutcome) {
  for (const ScriptedReply& fault :
       {ScriptedReply{.close_without_answer = true}, ScriptedReply{.body = ""},
        ScriptedReply{.body = "<CompleteMultipartUploadResult>"}, ErrorReply(502, "")}) {
    completed_ = 0;
    Serve({fault});
    EXPECT_THAT(PutPart(1), IsOk());
    EXPECT_THAT(upload_->Complete(s_->In(200)), IsCode(Code::kUnknownOutcome));
    EXPECT_EQ(completed_, 1u);
  }
}

TEST_F(UploadFaultsTest, CompleteIsRepeatedWhenItSurelyDidNothing) {
  Serve({ErrorReply(503, "SlowDown"), ErrorReply(503, "SlowDown"), Completed()});
  EXPECT_THAT(PutPart(1), IsOk());
  EXPECT_THAT(upload_->Complete(s_->In(1000)), IsOk());
  EXPECT_EQ(completed_, 3u);
}

// After the status 200 the server was at work: what its document complains of does not say how far
// it came.
TEST_F(UploadFaultsTest, CompleteIsNotRepeatedAfterAStatus200) {
  Serve({ErrorReply(200, "SlowDown"), Completed()});
  EXPECT_THAT(PutPart(1), IsOk());
  EXPECT_THAT(upload_->Complete(s_->In(1000)), IsCode(Code::kUnknownOutcome));
  EXPECT_EQ(completed_, 1u);
}

TEST_F(UploadFaultsTest, AMissingPartIsFoundBeforeCompleting) {
  Serve({Completed()});
  EXPECT_THAT(upload_->Complete(s_->In(1000)), IsCode(Code::kInvalidArgument));
  EXPECT_THAT(PutPart(1), IsOk());
  EXPECT_THAT(PutPart(3), IsOk());
  EXPECT_THAT(upload_->Complete(s_->In(1000)), IsCode(Code::kInvalidArgument));
  EXPECT_THAT(PutPart(0), IsCode(Code::kInvalidArgument));
  EXPECT_THAT(PutPart(10001), IsCode(Code::kInvalidArgument));
  EXPECT_EQ(completed_, 0u);
}

TEST_F(UploadFaultsTest, AnAbandonedUploadIsAborted) {
  Serve({Completed()});
  EXPECT_THAT(PutPart(1), IsOk());
  upload_.reset();
  EXPECT_EQ(Count("DELETE"), 1u);
}

TEST_F(UploadFaultsTest, AnAbortedUploadTakesNothingMore) {
  Serve({Completed()});
  EXPECT_THAT(upload_->Abort(s_->In(1000)), IsOk());
  EXPECT_THAT(upload_->Abort(s_->In(1000)), IsOk());
  EXPECT_THAT(PutPart(1), IsCode(Code::kFailedPrecondition));
  EXPECT_THAT(upload_->Complete(s_->In(1000)), IsCode(Code::kFailedPrecondition));
  EXPECT_EQ(Count("DELETE"), 1u);
}

TEST_F(UploadFaultsTest, AnUploadMayOutliveItsStore) {
  Serve({Completed()});
  s_->store.reset();
  EXPECT_THAT(PutPart(1), IsOk());
  EXPECT_THAT(upload_->Complete(s_->In(1000)), IsOk());
}

}  // namespace
}  // namespace lakestream::s3
