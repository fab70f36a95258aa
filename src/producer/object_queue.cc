#include "producer/object_queue.h"

#include <algorithm>

namespace lakestream {
namespace {

// Frames in one object: keeps the encoded layout, two to five bytes for each distinct frame size,
// far below a record.
constexpr uint64_t kFramesMax = 4096;

}  // namespace

void ObjectQueue::Add(Tgb tgb, std::string state) {
  const uint64_t bytes = tgb.payload_bytes();
  const uint64_t frames = (waiting_.size() + 1) * mesh_.slice_count();
  if (!waiting_.empty() && (waiting_bytes_ + bytes > target_bytes_ || frames > kFramesMax ||
                            waiting_.size() >= kTgbsPerObjectMax)) {
    CutAll();
  }
  waiting_.push_back(std::move(tgb));
  waiting_state_ = std::move(state);
  waiting_bytes_ += bytes;
  pending_bytes_ += bytes;
  ++next_sequence_;
  // Half full counts as full: waiting for a second one of that size would only delay the first
  // one's upload.
  if (waiting_bytes_ * 2 >= target_bytes_) CutAll();
}

void ObjectQueue::CutAll() {
  if (waiting_.empty()) return;
  auto job = std::make_shared<ObjectJob>();
  job->object = next_object_++;
  job->first_sequence = next_sequence_ - waiting_.size();
  job->tgb_count = waiting_.size();
  job->tgb_count = waiting_.size();
  job->tgbs = std::exchange(waiting_, {});
  job->state = std::exchange(waiting_state_, {});
  job->payload_bytes = std::exchange(waiting_bytes_, 0);
  jobs_.push_back(std::move(job));
}

std::shared_ptr<ObjectJob> ObjectQueue::TakeForUpload() {
  for (const auto& job : jobs_) {
    if (job->stage != ObjectJob::Stage::kQueued) continue;
    job->stage = ObjectJob::Stage::kUploading;
    return job;
  }
  return nullptr;
}

std::vector<Change> ObjectQueue::UploadedInFront(size_t bytes_max) const {
  std::vector<Change> changes;
  size_t bytes = 0;
  for (const auto& job : jobs_) {
    if (job->stage != ObjectJob::Stage::kUploaded) break;
    Change change = PublishChange{job->entry};
    bytes += EncodedBytes(change);
    if (bytes > bytes_max && !changes.empty()) break;
    changes.push_back(std::move(change));
  }
  return changes;
}

uint64_t ObjectQueue::DropPublished(uint64_t next_sequence) {
  uint64_t bytes = 0;
  while (!jobs_.empty() && jobs_.front()->end_sequence() <= next_sequence) {
    bytes += jobs_.front()->payload_bytes;
    jobs_.pop_front();
  }
  pending_bytes_ -= bytes;
  published_ = std::max(published_, next_sequence);
  return bytes;
}

}  // namespace lakestream
