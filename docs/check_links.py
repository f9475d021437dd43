#!/usr/bin/env python3
"""Checks the links of a built site without the network: files and anchors within it are there, nothing is loaded from
elsewhere.   docs/check_links.py HTML_FOLDER
"""

import html.parser
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.anchors, self.loaded = [], {""}, []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors |= {values[name] for name in ("id", "name") if values.get(name)}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        loads = values.get("src") or (values.get("href") if tag == "link" and values.get("rel") != "canonical" else None)
        if loads:
            self.loaded.append(loads)


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    pages = {path: Page(path) for path in root.rglob("*.html")}
    problems, links = [], 0
    for path, page in pages.items():
        for link in page.links + page.loaded:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loaded and parts.scheme != "data":
                    problems.append(f"{path.relative_to(root)} loads {link}")
                continue
            links += 1
            target = path if not parts.path else (path.parent / urllib.parse.unquote(parts.path)).resolve()
            if not target.exists():
                problems.append(f"{path.relative_to(root)}: no file {link}")
            elif target in pages and urllib.parse.unquote(parts.fragment) not in pages[target].anchors:
                problems.append(f"{path.relative_to(root)}: no anchor {link}")
    for problem in sorted(set(problems)):
        print(problem, file=sys.stderr)
    print(f"{links} links within {len(pages)} pages, {len(set(problems))} broken")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
