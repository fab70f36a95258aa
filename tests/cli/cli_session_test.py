"""docs/retention.md, line by line: runs each command of its sessions and compares what it prints with the page."""

import os
import re
import subprocess
import unittest

from cli_case import BINARY, ROOT, CliCase


def commands_of(page):
    """(command, expected output) of each line that starts with "$ " in a console block, in order."""
    for block in re.findall(r"^```console\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


def pattern(output):
    """What the page says, with "..." for anything, also for lines."""
    return re.escape(output).replace(r"\.\.\.", ".*")


class SessionTest(CliCase):
    def test_the_retention_page_prints_what_it_says(self):
        with open(os.path.join(ROOT, "docs", "retention.md"), encoding="utf-8") as file:
            commands = list(commands_of(file.read()))
        self.assertGreater(len(commands), 25)
        environment = dict(os.environ, PATH=os.path.dirname(os.path.abspath(BINARY)) + ":" + os.environ["PATH"])
        for command, output in commands:
            done = subprocess.run(["bash", "-c", command], cwd=self.folder.name, env=environment, timeout=60,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            printed = done.stdout.decode()
            self.assertTrue(re.fullmatch(pattern(output), printed, re.DOTALL),
                            f"$ {command}\nprints:\n{printed}\nthe page says:\n{output}")


if __name__ == "__main__":
    unittest.main(verbosity=1)
