// ObjectQueue: the TGBs of one session on their way to the log, in sequence order.
//
//   Write -> [waiting TGBs] -> cut -> [data objects: queued -> uploading -> uploaded] -> published
//   -> gone
//
// Small TGBs wait until they fill an object or until the publisher wants to commit; a large one is
// cut at once, so its upload overlaps with the pace. Plain data, guarded by its owner's mutex: no
// I/O, no waiting.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "lakestream/tgb.h"
#include "manifest/record.h"

namespace lakestream {

// A data object in the making. What it holds does not change any more once it is cut.
struct ObjectJob {
  enum class Stage { kQueued, kUploading, kUploaded };

  uint32_t object = 0;
  uint64_t first_sequence = 0;
  std::vector<Tgb> tgbs;   // gone once it is uploaded
  uint64_t tgb_count = 0;  // stays
  std::string state;
  uint64_t payload_bytes = 0;
  Stage stage = Stage::kQueued;
  Entry entry;  // complete once uploaded

  uint64_t end_sequence() const { return first_sequence + tgb_count; }
};

class ObjectQueue {
 public:
  ObjectQueue(Mesh mesh, uint64_t object_bytes_target)
      : mesh_(mesh), target_bytes_(object_bytes_target) {}

  void Add(Tgb tgb, std::string state);
  // Cuts what waits into an object of its own.
  void CutAll();
  // The oldest object that nobody uploads yet, now marked as uploading; null if there is none.
  std::shared_ptr<ObjectJob> TakeForUpload();

  // Entries of the uploaded objects in front, up to `bytes_max` of encoded changes (one at least).
  std::vector<Change> UploadedInFront(size_t bytes_max) const;
  // Forgets every object that ends at or below `next_sequence`: it is published. Returns its
  // payload bytes.
  uint64_t DropPublished(uint64_t next_sequence);

  bool empty() const { return jobs_.empty() && waiting_.empty(); }
  bool front_uploaded() const {
    return !jobs_.empty() && jobs_.front()->stage == ObjectJob::Stage::kUploaded;
  }
  bool has_jobs() const { return !jobs_.empty(); }
  bool has_waiting() const { return !waiting_.empty(); }
  uint64_t pending_bytes() const { return pending_bytes_; }  // payload, from Add to DropPublished
  uint64_t next_sequence() const { return next_sequence_; }  // of the next TGB to be added
  uint64_t published() const { return published_; }          // sequences below this are gone

 private:
  Mesh mesh_;
  uint64_t target_bytes_;
  std::vector<Tgb> waiting_;
  std::string waiting_state_;
  uint64_t waiting_bytes_ = 0;
  std::deque<std::shared_ptr<ObjectJob>> jobs_;
  uint64_t pending_bytes_ = 0;
  uint64_t next_sequence_ = 0;
  uint64_t published_ = 0;
  uint32_t next_object_ = 0;
};

}  // namespace lakestream
