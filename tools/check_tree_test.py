#!/usr/bin/python3
"""Tests of check_tree.py: each rule fires on a tree with that fault planted, and not on a sound one."""

import pathlib
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

import check_tree  # noqa: E402
from tree.files import hide_comments_and_strings  # noqa: E402
from tree.sizes import functions_of  # noqa: E402

SOUND = {
    "README.md": "# Top\n\n[docs](docs/README.md)\n",
    "tools/layers.txt": "base :\nstore : base\nmanifest : base\ncli :\nexamples :\nsim : *\n"
                        "<thread> :\n<curl/*> : store\npure : manifest\n",
    "include/lakestream/a.h": "#pragma once\n#include <cstdint>\n",
    "src/base/README.md": "# base\n",
    "src/base/CMakeLists.txt": "ls_room(base SOURCES a.cc)\nls_test(base_test SOURCES a_test.cc)\n",
    "src/base/a.cc": '#include "base/a.h"\n\n#include "lakestream/a.h"\nint F() { return 1; }\n',
    "src/base/a.h": "#pragma once\nint F();\n",
    "src/base/a_test.cc": '#include "base/a.h"\n#include "store/s.h"\n#include <thread>\n',
    "src/store/README.md": "# store\n",
    "src/store/CMakeLists.txt": "ls_room(store SOURCES s.cc ROOMS base)\n",
    "src/store/s.cc": '#include <curl/curl.h>\n#include "base/a.h"\n',
    "src/store/s.h": "#pragma once\n",
    "src/manifest/README.md": "# manifest\n",
    "src/manifest/m.h": "#pragma once\n#include <vector>\n",
    "sim/x.h": '#include "store/s.h"\n',
    "docs/README.md": "# Docs\n\n## Two words\n\n[itself](#two-words) and [top](../README.md)\n",
}


class CheckTreeTest(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="check_tree_"))
        self.addCleanup(shutil.rmtree, self.root)
        for path, text in SOUND.items():
            self.write(path, text)

    def write(self, path, text):
        full = self.root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_text(text, encoding="utf-8")

    def findings(self, rule):
        return [(finding.path, finding.line) for finding in check_tree.check(self.root, [rule])]

    def assert_fires(self, rule, path, text, line=1):
        """Planting the file makes the rule point at that line of it, and at nothing else."""
        self.assertEqual(self.findings(rule), [])
        self.write(path, text)
        self.assertEqual(self.findings(rule), [(path, line)])

    def test_sound_tree_has_no_finding(self):
        self.assertEqual([str(finding) for finding in check_tree.check(self.root)], [])

    def test_every_rule_is_planted_here(self):
        source = pathlib.Path(__file__).read_text(encoding="utf-8")
        for rule in check_tree.RULES:
            self.assertIn(f'assert_fires("{rule}"', source)

    def test_include_of_an_upper_room(self):
        self.assert_fires("layers", "src/base/b.h", '#include <vector>\n#include "store/s.h"\n', 2)

    def test_include_of_an_outside_header_in_the_wrong_room(self):
        self.assert_fires("layers", "src/base/b.h", "#include <curl/curl.h>\n")

    def test_include_of_a_header_that_no_room_may_use(self):
        self.assert_fires("layers", "src/store/b.h", "#include <thread>\n")

    def test_include_without_its_room(self):
        self.assert_fires("layers", "src/base/b.h", '#include "a.h"\n')

    def test_product_code_that_includes_the_simulator(self):
        self.assert_fires("layers", "src/store/b.h", '#include "sim/x.h"\n')

    def test_face_that_includes_a_room(self):
        self.assert_fires("layers", "src/cli/b.h", '#include "base/a.h"\n')

    def test_example_that_includes_a_room(self):
        self.write("examples/sub/own.h", "#pragma once\n")
        self.assert_fires("layers", "examples/sub/b.h", '#include "sub/own.h"\n#include "base/a.h"\n', 2)

    def test_line_of_layers_that_points_up(self):
        self.assert_fires("layers", "tools/layers.txt", SOUND["tools/layers.txt"] + "a : zz\nzz :\n", 10)

    def test_room_without_a_line(self):
        self.write("src/new/README.md", "# new\n")
        self.assertEqual(self.findings("layers"), [("src/new", 1)])

    def test_link_that_layers_forbid(self):
        self.assert_fires("layers", "src/base/CMakeLists.txt", "ls_room(base\n SOURCES a.cc ROOMS store)\n")

    def test_backend_named_outside_of_backends(self):
        self.assert_fires("backends", "src/manifest/b.h", '#include "store/local_store.h"\n')

    def test_pure_room_that_reads_a_clock(self):
        self.assert_fires("pure", "src/manifest/b.h", "#include <ctime>\n")

    def test_pure_room_that_knows_the_store(self):
        self.write("src/manifest/ok.h", '#include "lakestream/runtime.h"\nTimePoint F(Duration d);\n')
        self.assert_fires("pure", "src/manifest/b.h", "// Runtime\nvoid F(ObjectStore& store);\n", 2)

    def test_public_header_that_includes_a_room(self):
        self.assert_fires("public", "include/lakestream/b.h", '#pragma once\n#include "base/a.h"\n', 2)

    def test_public_header_that_includes_a_library(self):
        self.assert_fires("public", "include/lakestream/b.h", "#pragma once\n#include <curl/curl.h>\n", 2)

    def test_each_ban(self):
        for code in ("std::thread t;", "std::this_thread::yield();", "usleep(5);", "std::condition_variable c;",
                     "std::mutex m;", "std::lock_guard l(m);", "auto t = std::chrono::system_clock::now();",
                     "steady_clock::now();", "time(nullptr);", "std::random_device d;", "rand();",
                     "std::mt19937_64 g;", 'std::cerr << "x";', 'printf("x");', 'fprintf(stderr, "x");',
                     "abort();", "std::exit(1);", "_exit(1);", "throw 1;", "try {", "catch (...) {",
                     "std::stoi(s);", "std::async(f);", "std::regex r;", "std::format(s);"):
            with self.subTest(code):
                self.write("src/store/b.h", "\n" + code + "\n")
                self.assertEqual(self.findings("bans"), [("src/store/b.h", 2)])

    def test_words_that_only_look_banned(self):
        for code in ("// std::thread", 'Str("abort(", R"(throw)")', "snprintf(b, 2, f);", "my_rand();",
                     "entry.try_count = 1;", "options.exit_code;", "runtime.time();", "uint64_t n = 1'000;"):
            with self.subTest(code):
                self.write("src/store/b.h", code + "\n")
                self.assertEqual(self.findings("bans"), [])

    def test_ban_spares_the_room_that_is_for_it_and_tests(self):
        self.write("src/runtime/b.cc", "std::thread t; steady_clock::now();\n")
        self.write("src/store/b_test.cc", "std::thread t; std::mt19937 g(1);\n")
        self.assertEqual(self.findings("bans"), [])
        self.assert_fires("bans", "src/store/c_test.cc", "std::this_thread::sleep_for(x);\n")

    def test_a_bare_kill_is_banned_in_tests_too(self):
        self.assert_fires("bans", "tests/store/b_test.cc", "kill(pid, SIGKILL);\n")
        self.write("tests/support/kill_process.h", "kill(pid, SIGKILL);\n")
        self.write("tests/store/c_test.cc", "KillProcess(pid); child.kill();\n")
        self.assertEqual([f for f in self.findings("bans") if "b_test" not in f[0]], [])

    def test_json_that_throws(self):
        self.write("src/store/ok.h", "auto j = json::parse(f(text), nullptr, false);\n")
        self.assert_fires("json", "src/store/b.h", "auto j = json::parse(\n  text);\n")

    def test_postponed_work(self):
        self.assert_fires("postponed", "src/store/b.h", "// fine\n// TO" "DO: later\n", 2)

    def test_skipped_test(self):
        self.assert_fires("postponed", "src/store/b_test.cc", "GTEST_" "SKIP();\n")

    def test_path_of_this_tree(self):
        self.assert_fires("places", "docs/a.md", f"# A\n\nsee {self.root}/src\n", 3)

    def test_path_of_a_home(self):
        self.assert_fires("places", "docs/a.md", "# A\n\nsee /home/ann/src\n", 3)

    def test_host_that_is_no_documentation(self):
        self.write("docs/ok.md", "# A\nhttps://arxiv.org/abs/1 http://127.0.0.1:9/ http://$host/ http://host/ http://s3.\n")
        self.assert_fires("places", "docs/a.md", "# A\n\nhttps://mirror.registry.nowhere/x\n", 3)

    def test_vague_file_name(self):
        self.assert_fires("names", "src/store/string_util.h", "#pragma once\n")

    def test_long_function(self):
        body = "  if (a) {\n    F();\n  }\n" * 23  # 69 lines
        self.write("src/store/ok.h", "void G(int a) {\n" + body[:-len("  }\n")] + "}}\n")
        self.assert_fires("functions", "src/store/b.h",
                          "struct S {\n  Status G(int a) const {\n" + body + "  }\n};\n", 2)

    def test_long_python_function(self):
        self.assert_fires("functions", "tools/a.py", "def f():\n" + "    x = 1\n" * 70)

    def test_long_file(self):
        text = "int a;\n" * 601
        self.write("src/store/ok.h", "// Long file: a table of numbers.\n" + text)
        self.assert_fires("files", "src/store/b.h", text)

    def test_text_hygiene(self):
        for text in ("a \n", "\ta\n", "a\r\n", "a"):
            with self.subTest(text):
                self.write("src/store/b.h", text)
                self.assertEqual(self.findings("text"), [("src/store/b.h", 1)])
        self.write("src/store/b.h", "\n")
        self.assert_fires("text", "docs/a.md", "# A \n")

    def test_source_that_is_not_built(self):
        self.assert_fires("listed", "src/base/forgotten_test.cc", "int a;\n")

    def test_source_listed_by_a_loop(self):
        self.write("fuzz/CMakeLists.txt", "foreach(t frame xml)\n add_executable(${t} ${t}_fuzz.cc)\nendforeach()\n")
        self.write("fuzz/frame_fuzz.cc", "int a;\n")
        self.assert_fires("listed", "fuzz/other_fuzz.cc", "int a;\n")

    def test_source_in_a_comment_of_the_list_is_not_listed(self):
        self.write("tests/CMakeLists.txt", "# add_test(a_test.cc)\n")
        self.write("tests/a_test.cc", "int a;\n")
        self.assertEqual(self.findings("listed"), [("tests/a_test.cc", 1)])

    def test_room_without_a_page(self):
        (self.root / "src/base/README.md").unlink()
        self.assertEqual(self.findings("room-pages"), [("src/base", 1)])
        self.write("src/base/README.md", "# base\n")
        self.assert_fires("room-pages", "src/store/README.md", "# store\n" + "x\n" * 80)

    def test_format(self):
        if shutil.which("clang-format-14") is None:
            self.assertEqual(self.findings("format"), [])  # says nothing where it cannot know
            return
        self.write(".clang-format", "BasedOnStyle: Google\nColumnLimit: 100\n")
        for path in list(self.root.rglob("*.h")) + list(self.root.rglob("*.cc")):
            path.unlink()
        self.assert_fires("format", "src/store/b.h", "int a;\nint   b;\n", 2)

    def test_broken_link(self):
        self.assert_fires("links", "docs/a.md", "# A\n\n[x](missing.md)\n", 3)

    def test_broken_anchor(self):
        self.assert_fires("links", "docs/a.md", "# A\n\n[x](README.md#no-such) [y](README.md#two-words)\n", 3)

    def test_links_in_code_are_no_links(self):
        self.write("docs/a.md", "# A\n\n`[x](missing.md)`\n\n```\n[x](missing.md)\n```\n")
        self.assertEqual(self.findings("links"), [])

    def test_two_titles(self):
        self.assert_fires("titles", "docs/a.md", "# A\n\n# B\n\n```\n# no title\n```\n", 3)

    def test_page_that_nobody_links(self):
        self.assert_fires("reached", "docs/a.md", "# A\n")

    def test_snippet_that_differs(self):
        self.write("examples/q.cc", "int main() {\n  // [run]\n  Run();\n  // [/run]\n}\n")
        page = "# A\n\n<!-- code: examples/q.cc#run -->\n```cpp\n%s;\n```\n"
        self.write("docs/ok.md", page % "Run()")
        self.assert_fires("snippets", "docs/a.md", page % "Walk()", 3)

    def test_snippet_without_source(self):
        self.assert_fires("snippets", "docs/a.md", "# A\n<!-- code: examples/no.cc#run -->\n```cpp\nx\n```\n", 2)

    def test_test_that_a_page_names_and_nobody_wrote(self):
        self.write("src/base/a_test.cc", "TEST(RealTest, IsThere) {}\nTEST_F(OtherTest,\n   IsToo) {}\n")
        self.write("docs/ok.md", "# A\n`RealTest.IsThere` `OtherTest.IsToo`\n")
        self.assert_fires("tests", "docs/a.md", "# A\n`RealTest.IsGone`\n", 2)

    def test_decision_without_alternatives(self):
        parts = "# T\n\n## Status\n\n## Context\n\n## Decision\n\n## Consequences\n"
        self.write("docs/decisions/0001-ok.md", parts + "\n## Alternatives\n")
        self.assert_fires("decisions", "docs/decisions/0002-bad.md", parts)

    def test_decision_number_taken_twice(self):
        parts = "# T\n\n## Status\n\n## Context\n\n## Decision\n\n## Alternatives\n\n## Consequences\n"
        self.write("docs/decisions/0001-one.md", parts)
        self.assert_fires("decisions", "docs/decisions/0001-two.md", parts)


class ReadingTest(unittest.TestCase):
    def test_hidden_text_keeps_its_place(self):
        text = 'a("x\\"y"); // b\n/* c\n d */ R"z(e)" )z" f \'g\' 1\'000\n'
        hidden = hide_comments_and_strings(text)
        self.assertEqual(len(hidden), len(text))
        self.assertEqual(hidden.count("\n"), text.count("\n"))
        self.assertEqual(hidden.split(), ["a(", ");", "f", "1'000"])

    def test_functions_are_found(self):
        code = ("namespace n {\nclass C : public B<F()> {\n  C() : a_(1) {\n  }\n  enum E { kA };\n"
                "  void F() const {\n    auto f = [&](int x) {\n    };\n    if (x) {\n    }\n  }\n};\n"
                "int G(int a,\n      int b) {\n}\n}\n")
        self.assertEqual([lines for _, lines in functions_of(code)], [2, 6, 3])


if __name__ == "__main__":
    unittest.main(verbosity=1)
