#include "cli/output.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>

namespace lakestream::cli {
namespace {

void WriteOut(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

std::string Format(const char* format, double number, const char* unit) {
  char text[64];
  std::snprintf(text, sizeof text, format, number);
  return std::string(text) + " " + unit;
}

}  // namespace

void PrintJson(const Json& json) {
  WriteOut(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

void PrintJsonLine(const Json& json) {
  WriteOut(json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  std::fflush(stdout);
}

void PrintLine(const std::string& line) { WriteOut(line + "\n"); }

void PrintMessage(const std::string& message) {
  std::fflush(stdout);  // where both go to one place, they stay in order
  std::fprintf(stderr, "lakestream: %s\n", message.c_str());
}

Table::Table(std::vector<std::string> headings) : headings_(std::move(headings)) {
  for (std::string& heading : headings_) {
    right_.push_back(heading.starts_with('>'));
    if (right_.back()) heading.erase(0, 1);
  }
}

void Table::Add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

void Table::Print() const {
  std::vector<size_t> widths;
  for (const std::string& heading : headings_) widths.push_back(heading.size());
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  const auto print = [&](const std::vector<std::string>& row) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - row[i].size(), ' ');
      if (i > 0) line += "  ";
      line += right_[i] ? padding + row[i] : row[i] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    PrintLine(line);
  };
  print(headings_);
  for (const auto& row : rows_) print(row);
}

std::string Bytes(uint64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double number = static_cast<double>(bytes);
  size_t unit = 0;
  while (number >= 1024 && unit + 1 < std::size(kUnits)) {
    number /= 1024;
    ++unit;
  }
  return Format(unit == 0 || number >= 100 ? "%.0f" : "%.1f", number, kUnits[unit]);
}

std::string Time(int64_t ms_since_1970) {
  if (ms_since_1970 <= 0) return "-";
  const std::time_t seconds = ms_since_1970 / 1000;
  std::tm parts{};
  char text[64];
  if (gmtime_r(&seconds, &parts) == nullptr) return "-";
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts);
  return text;
}

std::string Seconds(double seconds) {
  if (seconds < 1e-3) return Format("%.0f", seconds * 1e6, "us");
  if (seconds < 1) return Format("%.1f", seconds * 1e3, "ms");
  if (seconds < 120) return Format("%.2f", seconds, "s");
  if (seconds < 7200) return Format("%.1f", seconds / 60, "min");
  if (seconds < 172800) return Format("%.1f", seconds / 3600, "h");
  return Format("%.1f", seconds / 86400, "d");
}

std::string Plural(uint64_t count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string Plural(uint64_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

Progress::Progress(std::string what)
    : what_(std::move(what)), on_terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (on_terminal_ && shown_ != UINT64_MAX) std::fputs("\r\x1b[K", stderr);
}

void Progress::Show(uint64_t done, uint64_t total) {
  if (!on_terminal_ || total == 0) return;
  const uint64_t permille = std::min<uint64_t>(1000, done * 1000 / total);
  if (permille == shown_) return;
  shown_ = permille;
  constexpr size_t kWidth = 30;
  std::string bar(permille * kWidth / 1000, '=');
  bar.resize(kWidth, ' ');
  std::fprintf(stderr, "\r%s [%s] %llu/%llu", what_.c_str(), bar.c_str(),
               static_cast<unsigned long long>(done), static_cast<unsigned long long>(total));
  std::fflush(stderr);
}

void Progress::ShowCount(uint64_t done, const char* noun) {
  if (!on_terminal_ || done == shown_) return;
  shown_ = done;
  std::fprintf(stderr, "\r%s: %llu %s", what_.c_str(), static_cast<unsigned long long>(done), noun);
  std::fflush(stderr);
}

double Quantile(std::vector<double>& values, double p) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(std::ceil(p * static_cast<double>(values.size() - 1)))];
}

}  // namespace lakestream::cli
