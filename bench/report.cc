#include "bench/report.h"

#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

namespace lakestream::bench {
namespace {

bool Holds(const Measure& measure) {
  if (measure.goal.starts_with(">= ")) return measure.value >= std::stod(measure.goal.substr(3));
  if (measure.goal.starts_with("<= ")) return measure.value <= std::stod(measure.goal.substr(3));
  return true;
}

std::string FirstLineOf(const char* command) {
  std::string line(256, '\0');
  FILE* pipe = popen(command, "r");
  if (pipe == nullptr) return "";
  const bool read = std::fgets(line.data(), static_cast<int>(line.size()), pipe) != nullptr;
  pclose(pipe);
  if (!read) return "";
  line.resize(line.find_first_of("\n\0", 0, 2));
  return line;
}

std::string Machine() {
  utsname name{};
  uname(&name);
  return FirstLineOf("sed -n 's/^model name.*: //p' /proc/cpuinfo") + ", " +
         std::to_string(sysconf(_SC_NPROCESSORS_ONLN)) + " cores, Linux " + name.release;
}

}  // namespace

double NowSeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

Measure MedianOf(std::string name, std::vector<double> values, std::string goal, std::string note) {
  std::sort(values.begin(), values.end());
  const double median = (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
  return {std::move(name), median, values.front(), values.back(), std::move(goal), std::move(note)};
}

std::vector<double> InterleavedRatios(int pairs, const std::function<double()>& a,
                                      const std::function<double()>& b) {
  std::vector<double> ratios;
  for (int i = -1; i < pairs; ++i) {
    const double first = a();
    const double second = b();
    if (i >= 0) ratios.push_back(first / second);
  }
  return ratios;
}

void Report(const std::string& benchmark, const std::string& folder, const std::string& command,
            const std::vector<Measure>& measures) {
  nlohmann::ordered_json json = {{"benchmark", benchmark},
                                 {"commit", FirstLineOf("git rev-parse --short HEAD 2>/dev/null")},
                                 {"machine", Machine()},
                                 {"command", command},
                                 {"measures", nlohmann::ordered_json::array()}};
  for (const Measure& measure : measures) {
    std::printf("%-46s %10.4g  (%.4g .. %.4g)  %s%s  %s\n", measure.name.c_str(), measure.value,
                measure.min, measure.max, measure.goal.c_str(),
                Holds(measure) ? "" : "  FALLS SHORT", measure.note.c_str());
    json["measures"].push_back({{"name", measure.name},
                                {"value", measure.value},
                                {"min", measure.min},
                                {"max", measure.max},
                                {"goal", measure.goal},
                                {"holds", Holds(measure)},
                                {"note", measure.note}});
  }
  if (folder.empty()) return;
  std::ofstream file(folder + "/" + benchmark + ".json");
  file << json.dump(2) << "\n";
}

std::string CommandLine(int argc, char** argv) {
  const std::string path = argv[0];
  std::string line = path.substr(path.rfind('/') + 1);
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--out" || std::string(argv[i]) == "--folder") {
      ++i;  // where results and scratch files go says nothing about the figures
    } else {
      line += std::string(" ") + argv[i];
    }
  }
  return line;
}

std::string OptionOf(int argc, char** argv, const std::string& name, const std::string& otherwise) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (name == argv[i]) return argv[i + 1];
  }
  return otherwise;
}

}  // namespace lakestream::bench
