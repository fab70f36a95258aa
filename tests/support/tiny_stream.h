// TinyStream: a stream (in memory, unless a test says where) whose TGBs hold one number, and a look
// at what its log says.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "lakestream/stream.h"
#include "lakestream/tgb.h"
#include "ledger/committer.h"
#include "ledger/follower.h"
#include "ledger/step_index.h"
#include "manifest/keys.h"
#include "store/memory_store.h"
#include "tests/support/faulty_store.h"
#include "tgb/slice_frame.h"

namespace lakestream::testing_support {

struct TinyStream {
  explicit TinyStream(std::vector<std::string> producers = {}, StreamSpec spec = {.mesh = {2, 1}},
                      std::shared_ptr<Runtime> time = RealRuntime(),
                      std::shared_ptr<ObjectStore> store = nullptr)
      : runtime(std::move(time)) {
    spec.producers = std::move(producers);
    if (store == nullptr) store = std::make_shared<MemoryStore>(runtime, "tiny");
    faults = std::make_shared<FaultyStore>(std::move(store));
    auto created = Stream::Create(faults, runtime, spec, Soon());
    EXPECT_TRUE(created.ok()) << created.status();
    if (created.ok()) stream = *created;
  }

  Deadline In(int milliseconds) const {
    return After(*runtime, std::chrono::milliseconds(milliseconds));
  }
  Deadline Soon() const { return In(20000); }

  // A TGB whose slice of (dp, cp) holds the tensor "item" = {item, dp, cp}.
  Tgb MakeTgb(int item) const {
    const Mesh mesh = stream->info().spec.mesh;
    Tgb tgb(mesh);
    for (uint32_t dp = 0; dp < mesh.dp; ++dp) {
      for (uint32_t cp = 0; cp < mesh.cp; ++cp) {
        const int32_t values[] = {item, static_cast<int32_t>(dp), static_cast<int32_t>(cp)};
        const ConstBytes bytes(reinterpret_cast<const uint8_t*>(values), sizeof values);
        const TensorView tensor{"item", DType::kI32, {3}, bytes};
        EXPECT_TRUE(tgb.SetSlice(dp, cp, std::span(&tensor, 1)).ok());
      }
    }
    return tgb;
  }

  // The numbers in a slice of MakeTgb.
  static std::vector<int32_t> Values(const SliceView& slice) {
    const TensorView* tensor = slice.Find("item");
    if (tensor == nullptr || tensor->data.size() != 12) return {};
    std::vector<int32_t> values(3);
    std::memcpy(values.data(), tensor->data.data(), 12);
    return values;
  }

  State HeadState() const {
    Follower follower({*faults, *runtime, stream->info(), stream->ancestors()});
    EXPECT_TRUE(follower.Start(Soon()).ok());
    return follower.state();
  }

  // The items of all committed steps in order, read from slice (0, 0) without the consumer.
  std::vector<int> ItemsInOrder() const {
    Follower follower({*faults, *runtime, stream->info(), stream->ancestors()});
    EXPECT_TRUE(follower.Start(Soon()).ok());
    StepIndex index(follower);
    std::vector<int> items;
    for (Step step = follower.state().trim_step; step < follower.state().next_step; ++step) {
      auto place = index.Locate(step, Soon());
      EXPECT_TRUE(place.ok()) << place.status();
      if (!place.ok()) break;
      const Entry& entry = *place->entry;
      const ByteRange range =
          entry.layout.FrameRange(stream->info().spec.mesh, place->tgb_ordinal, 0, 0);
      auto read = faults->Get(DataKey(place->branch, entry.session, entry.object), {.range = range},
                              Soon());
      EXPECT_TRUE(read.ok()) << read.status();
      if (!read.ok()) break;
      auto payload =
          OpenSliceFrame(read->data, {entry.session, entry.object, place->tgb_ordinal, 0, 0});
      EXPECT_TRUE(payload.ok()) << payload.status();
      auto slice = DecodeSlice(*payload);
      EXPECT_TRUE(slice.ok()) << slice.status();
      items.push_back(Values(*slice).at(0));
    }
    return items;
  }

  std::shared_ptr<Runtime> runtime;
  std::shared_ptr<FaultyStore> faults;
  std::shared_ptr<Stream> stream;
};

}  // namespace lakestream::testing_support
