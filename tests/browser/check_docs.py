#!/usr/bin/python3
"""The documentation site in headless Chromium, from disk: no console error, no request to anywhere, no page wider than
the window, light and dark, wide and phone; and its search finds things. Screenshots go to the second folder.

    tests/browser/check_docs.py out/docs/html out/browser-docs
"""

import contextlib
import pathlib
import sys
import time

from chromium import Chromium

PAGES = ["index", "start/python", "tutorials/denoising", "howto/covariance", "method", "benchmarks", "api/cpp-fit",
         "api/python", "api/command-line"]
WINDOWS = [("light", 1280, False), ("dark", 1280, False), ("light", 390, True), ("dark", 390, True)]
LOOK = """({
  overflow: document.documentElement.scrollWidth - window.innerWidth,
  broken: [...document.images].filter(e => e.complete && e.naturalWidth === 0).map(e => e.src),
  background: getComputedStyle(document.body).backgroundColor,
  color: getComputedStyle(document.body).color,
  // Buttons that hide the code below them.
  buttons: [...document.querySelectorAll('button.copybtn')].filter(
    e => getComputedStyle(e).display !== 'none' && getComputedStyle(e).opacity > 0).length,
})"""


def brightness(css):
    return sum(float(part) for part in css[css.index("(") + 1:-1].split(",")[:3]) / 3


def check(browser, url, scheme, width, mobile):
    problems = []
    for event in browser.open(url, width, 900, scheme, mobile):
        method, details = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent" and not details["request"]["url"].startswith(("file:", "data:")):
            problems.append(f"requests {details['request']['url']}")
        if method == "Runtime.exceptionThrown":
            problems.append(f"{method}: {details}")
        if method == "Log.entryAdded" and details["entry"]["level"] == "error":
            problems.append(f"log: {details['entry']['text']}")
    page = browser.evaluate(LOOK)
    if page["overflow"] > 0:
        problems.append(f"the page is {page['overflow']} pixels wider than the window")
    if page["buttons"]:
        problems.append(f"{page['buttons']} copy buttons hide code")
    if page["broken"]:
        problems.append(f"pictures that are not there: {page['broken']}")
    if (brightness(page["background"]) < brightness(page["color"])) != (scheme == "dark"):
        problems.append(f"{scheme} theme, but background {page['background']} and text {page['color']}")
    return problems


def main():
    site, screenshots = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    screenshots.mkdir(parents=True, exist_ok=True)
    failed = False
    with contextlib.closing(Chromium()) as browser:
        for page in PAGES:
            for scheme, width, mobile in WINDOWS:
                problems = check(browser, f"file://{site}/{page}.html", scheme, width, mobile)
                browser.screenshot(screenshots / f"{page.replace('/', '-')}-{scheme}-{width}.png")
                failed |= bool(problems)
                for problem in problems:
                    print(f"{page}, {scheme}, {width}: {problem}")
        for word in ("likelihood2", "Summary", "checkpoint"):
            browser.open(f"file://{site}/search.html?q={word}", 1280, 900, "light", False)
            for _ in range(20):
                found = browser.evaluate("document.querySelectorAll('#search-results li').length")
                if found:
                    break
                time.sleep(0.5)
            browser.screenshot(screenshots / f"search-{word}.png")
            print(f"search for {word}: {found} pages")
            failed |= not found
    print(f"{len(PAGES)} pages, light and dark, wide and phone: {'see above' if failed else 'all well'}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
