// What a benchmark measured, as ratios, printed and recorded (bench/README.md has the rules).
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace lakestream::bench {

struct Measure {
  std::string name;
  double value = 0;
  double min = 0;
  double max = 0;
  std::string goal;  // ">= 0.7", "<= 1.05"; empty: reported only
  std::string note;
};

// The median of `values` with their extremes.
Measure MedianOf(std::string name, std::vector<double> values, std::string goal,
                 std::string note = "");

// Calls a(), b(), a(), b(), ... `pairs` times each after one uncounted pair, and gives the ratios
// a/b pair by pair.
std::vector<double> InterleavedRatios(int pairs, const std::function<double()>& a,
                                      const std::function<double()>& b);

// Prints the measures, and writes bench/results/<benchmark>.json below `folder` if it is not empty.
void Report(const std::string& benchmark, const std::string& folder, const std::string& command,
            const std::vector<Measure>& measures);

// Seconds since an arbitrary start.
double NowSeconds();
// Processor time of all threads of this process, system calls included: hardly moves when others
// use the machine.
double CpuSeconds();

// The rest of the command line after the program's name; and the value of "--out" in it ("" if
// absent).
std::string CommandLine(int argc, char** argv);
std::string OptionOf(int argc, char** argv, const std::string& name, const std::string& otherwise);

}  // namespace lakestream::bench
