// How results look: tables and units for people, JSON for programs.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lakestream::cli {

// Members keep the order in which they were added.
using Json = nlohmann::ordered_json;

// One document, indented, on stdout. Text that is not UTF-8 is shown with replacement characters.
void PrintJson(const Json& json);
// One line on stdout, flushed.
void PrintJsonLine(const Json& json);
// One line on stdout.
void PrintLine(const std::string& line);
// "lakestream: <message>" on stderr.
void PrintMessage(const std::string& message);

// Columns as wide as their widest cell; numbers to the right.
class Table {
 public:
  // A heading that starts with '>' is right-aligned.
  explicit Table(std::vector<std::string> headings);
  void Add(std::vector<std::string> cells);
  void Print() const;

 private:
  std::vector<std::string> headings_;
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

std::string Bytes(uint64_t bytes);                     // "1.5 MiB"
std::string Time(int64_t ms_since_1970);               // "2026-12-01 05:18:07 UTC"; "-" for 0
std::string Seconds(double seconds);                   // "1.2 ms"; "3.0 h" for long times
std::string Plural(uint64_t count, const char* noun);  // "1 step", "2 steps"
std::string Plural(uint64_t count, const char* one, const char* many);

// A progress bar on stderr, if that is a terminal; else nothing.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  void Show(uint64_t done, uint64_t total);
  void ShowCount(uint64_t done, const char* noun);  // when nobody knows the total

 private:
  const std::string what_;
  const bool on_terminal_;
  uint64_t shown_ = UINT64_MAX;  // permille, or a count
};

// The p-th quantile (0..1) of `values`; 0 if there are none. Sorts them.
double Quantile(std::vector<double>& values, double p);

}  // namespace lakestream::cli
