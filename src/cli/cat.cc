#include <cstdio>
#include <cstring>

#include "cli/command.h"
#include "cli/output.h"
#include "lakestream/admin.h"

namespace lakestream::cli {
namespace {

constexpr size_t kValuesShown = 8;

struct Options {
  Step step = 0;
  uint32_t dp = 0;
  uint32_t cp = 0;
  std::string tensor;
  bool raw = false;
};

template <typename T>
Json Value(const uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

// The element at `bytes`; types that C++ has no name for are shown as the hex digits of their bits.
Json ElementAt(DType dtype, const uint8_t* bytes) {
  switch (dtype) {
    case DType::kBool:
      return bytes[0] != 0;
    case DType::kU8:
      return Value<uint8_t>(bytes);
    case DType::kI8:
      return Value<int8_t>(bytes);
    case DType::kI16:
      return Value<int16_t>(bytes);
    case DType::kU16:
      return Value<uint16_t>(bytes);
    case DType::kI32:
      return Value<int32_t>(bytes);
    case DType::kU32:
      return Value<uint32_t>(bytes);
    case DType::kI64:
      return Value<int64_t>(bytes);
    case DType::kU64:
      return Value<uint64_t>(bytes);
    case DType::kF32:
      return Value<float>(bytes);
    case DType::kF64:
      return Value<double>(bytes);
    case DType::kBF16: {
      const uint32_t bits = uint32_t{Value<uint16_t>(bytes).get<uint16_t>()} << 16;
      return Value<float>(reinterpret_cast<const uint8_t*>(&bits));
    }
    default: {
      std::string digits = "0x";
      for (uint32_t i = DTypeBytes(dtype); i-- > 0;) {
        char pair[3];
        std::snprintf(pair, sizeof pair, "%02x", bytes[i]);
        digits += pair;
      }
      return digits;
    }
  }
}

Json FirstValues(const TensorView& tensor) {
  Json values = Json::array();
  const uint32_t width = DTypeBytes(tensor.dtype);
  for (size_t i = 0; i < kValuesShown && (i + 1) * width <= tensor.data.size(); ++i) {
    values.push_back(ElementAt(tensor.dtype, tensor.data.data() + i * width));
  }
  return values;
}

std::string ShapeText(const TensorView& tensor) {
  std::string text = "[";
  for (size_t i = 0; i < tensor.shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(tensor.shape[i]);
  return text + "]";
}

std::string ValuesText(const TensorView& tensor) {
  std::string text;
  const Json values = FirstValues(tensor);
  for (const Json& value : values) text += (text.empty() ? "" : " ") + value.dump();
  if (tensor.data.size() > values.size() * DTypeBytes(tensor.dtype)) text += " ...";
  return text;
}

Status WriteRaw(ConstBytes bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size()) return OkStatus();
  return UnavailableError("stdout cannot be written");
}

void Print(const Session& session, const Options& options, const SliceView& slice) {
  if (session.json) {
    Json json = {{"step", options.step},       {"dp", options.dp},
                 {"cp", options.cp},           {"bytes", slice.payload.size()},
                 {"metadata", slice.metadata}, {"tensors", Json::array()}};
    for (const TensorView& tensor : slice.tensors) {
      json["tensors"].push_back({{"name", tensor.name},
                                 {"dtype", DTypeName(tensor.dtype)},
                                 {"shape", tensor.shape},
                                 {"bytes", tensor.data.size()},
                                 {"first_values", FirstValues(tensor)}});
    }
    PrintJson(json);
    return;
  }
  Table table({"tensor", "dtype", "shape", ">bytes", "first values"});
  for (const TensorView& tensor : slice.tensors) {
    table.Add({tensor.name, std::string(DTypeName(tensor.dtype)), ShapeText(tensor),
               Bytes(tensor.data.size()), ValuesText(tensor)});
  }
  table.Print();
  for (const auto& [key, value] : slice.metadata) PrintLine(key + " = " + value);
}

Result<ExitCode> Run(Session& session, const Options& options) {
  LS_ASSIGN_OR_RETURN(auto stream, session.OpenStream());
  LS_ASSIGN_OR_RETURN(SliceView slice,
                      ReadSlice(*stream, options.step, options.dp, options.cp, session.deadline()));
  if (!options.tensor.empty()) {
    const TensorView* tensor = slice.Find(options.tensor);
    if (tensor == nullptr)
      return NotFoundError("the slice has no tensor '" + options.tensor +
                           "'; leave --tensor out to see all");
    slice.tensors = {TensorView(*tensor)};
  }
  if (options.raw) {
    LS_RETURN_IF_ERROR(
        WriteRaw(options.tensor.empty() ? slice.payload.bytes() : slice.tensors[0].data));
  } else {
    Print(session, options, slice);
  }
  return kExitOk;
}

}  // namespace

void AddCat(CLI::App& app, Session& session, Action& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      AddCommand(app, session, chosen, "cat", "the tensors of one slice, read and verified",
                 "lakestream cat s3://bucket/stream 1000 --dp 3 --cp 1",
                 [options](Session& s) { return Run(s, *options); });
  command->add_option("step", options->step, "the step")->check(Whole())->required();
  command->add_option("--dp", options->dp, "data-parallel position")
      ->check(Whole())
      ->capture_default_str();
  command->add_option("--cp", options->cp, "context-parallel position")
      ->check(Whole())
      ->capture_default_str();
  command->add_option("--tensor", options->tensor, "only the tensor of this name");
  command->add_flag("--raw", options->raw,
                    "write bytes: of the tensor, or of the whole safetensors payload");
  AddBranchOption(command, session);
}

}  // namespace lakestream::cli
