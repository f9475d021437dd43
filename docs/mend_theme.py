#!/usr/bin/env python3
"""Mends what Debian's build of the Furo theme lacks, in a built site: its script is a module, which browsers do not load
from disk; its style sheet asks a web server for normalize.css; and it has no rule for systems set to dark.

    docs/mend_theme.py HTML_FOLDER
"""

import pathlib
import re
import sys

NORMALIZE = pathlib.Path("/usr/share/javascript/normalize.css/normalize.css")


def main():
    static = pathlib.Path(sys.argv[1]) / "_static"
    script, gumshoe = static / "scripts" / "furo.js", static / "scripts" / "gumshoe-patched.js"
    text = script.read_text()
    if text.startswith("import Gumshoe"):
        # Gumshoe follows the headings of a page, and fails where a page has one alone.
        several = """if (document.querySelector(".toc-tree a[href^='#']:not([href='#'])")) new Gumshoe("""
        script.write_text(gumshoe.read_text() + text.split("\n", 1)[1].replace("new Gumshoe(", several))
    sheet = static / "styles" / "furo.css"
    text = re.sub(r"@import url\(/javascript/normalize.css/normalize.css\);", lambda _: NORMALIZE.read_text(), sheet.read_text())
    dark = re.search(r'body\[data-theme="dark"\] \{(.*?)\}', text, re.DOTALL)
    if dark and "prefers-color-scheme" not in text:
        text += f'\n@media screen and (prefers-color-scheme: dark) {{ body[data-theme="auto"] {{{dark[1]}}} }}\n'
    sheet.write_text(text)


if __name__ == "__main__":
    main()
