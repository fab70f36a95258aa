"""Limits on the length of functions and files. They are ratchets: lower them, never raise them."""

import ast
import re

from .files import Finding

FUNCTION_LINES_MAX = 70
FILE_LINES_MAX = 600
_CONTROL = re.compile(r"^\s*(?:else\b\s*)?(?:if|for|while|switch|catch|do|else|return|namespace)\b")
_TYPE = re.compile(r"^(?:template\s*<.*>\s*)?(?:typedef\s+)?(?:class|struct|enum|union|namespace|extern)\b",
                   re.DOTALL)


def functions_of(code):
    """(offset, lines) of each function body in C++ code whose comments and strings are blanked.

    A body is a brace whose head (the text since the last ; { or }) has parentheses and starts with
    neither a control keyword nor a type. Lambdas count as part of the function around them.
    """
    stack, last = [], 0  # stack of (offset of the head, is a function)
    for match in re.finditer(r"[{};]|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", code, re.MULTILINE):
        mark = match.group()
        if mark == "{":
            head = code[last:match.start()].strip()
            inside = any(is_function for _, is_function in stack)
            is_function = ("(" in head and not inside and not _CONTROL.match(head)
                           and not _TYPE.match(head) and not head.endswith("="))
            stack.append((last + len(code[last:match.start()]) - len(code[last:match.start()].lstrip()),
                          is_function))
        elif mark == "}" and stack:
            start, is_function = stack.pop()
            if is_function:
                yield start, code.count("\n", start, match.end()) + 1
        last = match.end()


def check_functions(tree):
    """No function is longer than FUNCTION_LINES_MAX lines."""
    for file in tree.files:
        for line, lines in _long_functions(file):
            yield Finding(file.path, line, "functions",
                          f"this function has {lines} lines, over {FUNCTION_LINES_MAX}; split it: one "
                          "function owns the control flow, its leaves decide")


def _long_functions(file):
    if file.is_cpp:
        for start, lines in functions_of(file.code):
            if lines > FUNCTION_LINES_MAX:
                yield file.line_of(start), lines
    elif file.ending == ".py":
        for node in ast.walk(ast.parse(file.text)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                lines = node.end_lineno - node.lineno + 1
                if lines > FUNCTION_LINES_MAX:
                    yield node.lineno, lines


def check_files(tree):
    """A file above FILE_LINES_MAX lines says why, in a line `Long file: <reason>` near its top."""
    for file in tree.files:
        if file.ending not in (".h", ".cc", ".py", ".sh", ".cmake"):
            continue
        if len(file.lines) > FILE_LINES_MAX and not any(
                re.search(r"(//|#|^).*\bLong file: \S", line) for line in file.lines[:15]):
            yield Finding(file.path, 1, "files",
                          f"{len(file.lines)} lines, over {FILE_LINES_MAX}; split it, or say why not in a "
                          "comment at the top: `Long file: <reason>`")


def check_text(tree):
    """Plain text: no tabs, no trailing blanks, no carriage returns, a newline at the end."""
    for file in tree.files:
        if file.text and not file.text.endswith("\n"):
            yield Finding(file.path, len(file.lines), "text", "no newline at the end of the file")
        tabs = file.is_cpp or file.ending in (".py", ".sh", ".md", ".cmake")
        for number, line in enumerate(file.text.split("\n"), 1):
            if line.rstrip() != line:
                yield Finding(file.path, number, "text", "blank or carriage return at the end of the line")
            elif tabs and "\t" in line:
                yield Finding(file.path, number, "text", "tab; write blanks")
