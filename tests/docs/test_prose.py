"""Prose has at most 100 characters a line: in every document, outside of tables, code and formulas."""

import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LONGEST = 100


def long_lines(text):
    code = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith(("```", "~~~")):
            code = not code
        elif not code and not line.startswith("    ") and not line.lstrip().startswith("|") and len(line) > LONGEST:
            yield number


def test_a_long_line_of_prose_is_found():
    prose = "word " * 25
    assert list(long_lines(f"short\n{prose}\n| {prose}|\n    {prose}\n```\n{prose}\n```\n{prose}\n")) == [2, 8]


def test_prose_of_every_document_is_within_100_characters():
    documents = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")]
    documents += sorted((ROOT / "docs").rglob("*.md"))
    found = [f"{path.relative_to(ROOT)}:{number}" for path in documents for number in long_lines(path.read_text())]
    assert len(documents) > 20 and not found, found
