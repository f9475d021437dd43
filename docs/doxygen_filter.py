#!/usr/bin/env python3
"""A header for Doxygen: its plain // comments become documentation. Lines indented by three or more blanks within a
comment are code or tables, shown as they are.

    docs/doxygen_filter.py include/cgmca/summary.hpp
"""

import re
import sys

COMMENT = re.compile(r"^(\s*)//( ?)(.*)$")
TRAILING = re.compile(r"^(.*\S)(\s\s+)// (.*)$")


def escaped(text):
    """Markdown that Doxygen leaves alone: no tags, commands or links outside of `code`."""
    parts = text.split("`")
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"([<>@#\\])", r"\\\1", parts[i])
    return "`".join(parts)


def without_noise(text):
    return re.sub(r"\s*NOLINT.*", "", text)


def literal_from(lines):
    """Wraps runs of indented lines of a comment; a run may hold empty lines."""
    result, i = [], 0
    while i < len(lines):
        if lines[i].startswith("  "):
            end = i
            while end < len(lines) and (lines[end].startswith("  ") or
                                        (not lines[end] and end + 1 < len(lines) and lines[end + 1].startswith("  "))):
                end += 1
            code = any(line.rstrip().endswith((";", "{", "}")) for line in lines[i:end])
            result += ["", "\\code{.cpp}" if code else "\\verbatim", *(line[2:] for line in lines[i:end]),
                       "\\endcode" if code else "\\endverbatim", ""]
            i = end
        else:
            result.append(escaped(lines[i]))
            i += 1
    return result


def main(path):
    # Private members are left out: from " private:" to the end of the class.
    text = re.sub(r"^ private:\n.*?^\};", "};", open(path, encoding="utf-8").read(), flags=re.MULTILINE | re.DOTALL)
    lines = text.split("\n")
    output, i, column = [], 0, None
    while i < len(lines):
        comment = COMMENT.match(lines[i])
        if comment and "clang-format" in comment.group(3):
            output.append("")
            i += 1
        elif comment and column is not None and len(comment.group(1)) == column:  # goes on from the line before
            output.append(f"{comment.group(1)}///< {escaped(comment.group(3))}")
            i += 1
        elif comment:
            column = None
            indent, block, start = comment.group(1), [], i
            while i < len(lines) and (comment := COMMENT.match(lines[i])) and comment.group(1) == indent:
                if "clang-format" not in comment.group(3):
                    block.append(without_noise(comment.group(3)))
                i += 1
            head = start == 0
            text = literal_from(block)
            opening = [f"{indent}/*! \\file", f"{indent}"] if head else [f"{indent}/*!"]
            output += [*opening, *(f"{indent}{line}".rstrip() for line in text), f"{indent}*/"]
        else:
            trailing = TRAILING.match(lines[i])
            column = None
            if trailing and without_noise(trailing.group(3)):
                column = len(trailing.group(1)) + len(trailing.group(2))
                output.append(f"{trailing.group(1)}{trailing.group(2)}///< {escaped(without_noise(trailing.group(3)))}")
            else:
                output.append(lines[i])
            i += 1
    print("\n".join(output))


if __name__ == "__main__":
    main(sys.argv[1])
