#!/usr/bin/python3
"""The pages of `cgmca report` and `cgmca reproduce` in headless Chromium: plots drawn, no console error, no request to
anywhere, light and dark, wide and narrow. Screenshots go to the folder named as argument.

    tests/browser/check_report.py out/browser
"""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from chromium import Chromium

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = ROOT / "build" / "cgmca"

# Boxes of all plots, pictures and bars, what is cut off, and how far the page is wider than the window.
LOOK = """({
  plots: [...document.querySelectorAll('svg')].map(e => [e.getBoundingClientRect().width, e.getBoundingClientRect().height,
    e.querySelectorAll('path, circle, line, rect, polyline').length]),
  pictures: [...document.querySelectorAll('img')].map(e => [e.naturalWidth, e.getBoundingClientRect().width]),
  bars: [...document.querySelectorAll('.bar i')].map(e => [e.getBoundingClientRect(), e.parentNode.getBoundingClientRect()])
    .filter(([bar, room]) => room.width > 0).map(([bar, room]) => [bar.width, room.width,
      bar.left >= room.left - 1 && bar.right <= room.right + 1]),
  cut: [...document.querySelectorAll('p, figcaption, h1, h2, summary, .bars th, .bars td, .bars caption')].filter(
    e => e.getBoundingClientRect().right > window.innerWidth || e.scrollWidth > e.clientWidth + 1)
    .map(e => e.textContent.slice(0, 40)),
  overflow: document.documentElement.scrollWidth - window.innerWidth,
  background: getComputedStyle(document.body).backgroundColor,
  color: getComputedStyle(document.body).color,
})"""


def brightness(css):
    return sum(float(part) for part in css[css.index("(") + 1:-1].split(",")[:3]) / 3


def make_pages(folder):
    """Plain features with their pairs, images, two tables with names and one of many long names."""
    random = np.random.default_rng(0)
    causes = random.normal(size=(400, 6))
    np.save(folder / "a.npy", causes @ random.normal(size=(6, 20)) + 0.4 * random.normal(size=(400, 20)))
    np.save(folder / "b.npy", causes @ random.normal(size=(6, 12)) + 0.4 * random.normal(size=(400, 12)))
    rows, columns = np.mgrid[0:28, 0:28] / 28
    waves = np.stack([np.sin((1 + i) * 3 * rows + i) * np.cos((1 + i % 3) * 3 * columns) for i in range(6)]).reshape(6, 784)
    np.save(folder / "p.npy", causes @ waves + 0.2 * random.normal(size=(400, 784)))

    def write_table(name, names, values):
        header = ",".join(f'"{feature}"' for feature in names)
        np.savetxt(folder / name, values, delimiter=",", fmt="%.9g", header=header, comments="", encoding="utf-8")

    # Of long words, capitals, wide characters, markup; in very different units.
    bands = [f"band {i} <{400 + 10 * i} nm> & reflectance" for i in range(20)]
    bands[:3] = ["温度测量值第一号传感器平均值每小时一次", "WIDE CAPITALS OF A MEASUREMENT WITHOUT END", "x" * 60]
    write_table("bands.csv", bands, np.load(folder / "a.npy") * np.logspace(-3, 6, 20))
    write_table("stations.csv", [f"station {i}" for i in range(12)], np.load(folder / "b.npy"))
    genes = causes @ random.normal(size=(6, 2000)) + 2 * random.normal(size=(400, 2000))
    write_table("genes.csv", [f"expression_of_gene_{i:08d}_in_liver_tissue_mean" for i in range(2000)], genes)

    def run(*arguments):
        subprocess.run([PROGRAM, *arguments, "-q"], cwd=folder, check=True)

    run("fit", "a.npy", "b.npy", "--cov", "data1:8", "-o", "plain-model")
    run("report", "plain-model", "a.npy", "b.npy", "-o", "plain.html")
    run("fit", "p.npy", "b.npy", "--cov", "identity:6", "-o", "images-model")
    run("report", "images-model", "p.npy", "b.npy", "--shape", "28x28", "-o", "images.html")
    run("fit", "satellite=bands.csv", "ground=stations.csv", "--cov", "identity:8", "-o", "table-model")
    run("report", "table-model", "bands.csv", "stations.csv", "-o", "table.html")
    run("fit", "genes.csv", "stations.csv", "--cov", "identity:6", "--ridge", "0.1", "-o", "genes-model")
    run("report", "genes-model", "-o", "genes.html")
    run("reproduce", "mnist", "--digits", "0-2", "--out", "mnist")
    (folder / "mnist" / "report.html").rename(folder / "mnist.html")
    sizes = {"fou": 14, "fac": 20, "kar": 12, "pix": 24, "zer": 11, "mor": 7}
    np.savez(folder / "mfeat.npz", label=np.arange(400) % 4, **{
        name: causes @ random.normal(size=(6, d)) + 0.4 * random.normal(size=(400, d)) for name, d in sizes.items()})
    run("reproduce", "views", "--data", ".", "--repeat", "2", "--fractions", "0.2,0.4", "--out", "views")
    (folder / "views" / "report.html").rename(folder / "views.html")
    # At least so many plots, pictures and bars.
    return {"plain": (4, 0, 150), "images": (3, 1, 80), "table": (3, 0, 150), "genes": (1, 0, 150), "mnist": (4, 12, 0),
            "views": (7, 0, 0)}


def check(browser, url, least, scheme, width, mobile):
    events = browser.open(url, width, 900, scheme, mobile)
    problems = []
    for event in events:
        method, details = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent" and not details["request"]["url"].startswith(("file:", "data:")):
            problems.append(f"requests {details['request']['url']}")
        if method == "Network.loadingFailed" or method == "Runtime.exceptionThrown":
            problems.append(f"{method}: {details}")
        if method == "Runtime.consoleAPICalled" and details["type"] in ("error", "warning"):
            problems.append(f"console: {details['args']}")
        if method == "Log.entryAdded" and details["entry"]["level"] in ("error", "warning"):
            problems.append(f"log: {details['entry']['text']}")
    page = browser.evaluate(LOOK)
    drawn = [plot for plot in page["plots"] if plot[0] >= 200 and plot[1] >= 100 and plot[2] >= 5]
    shown = [picture for picture in page["pictures"] if picture[0] > 0 and picture[1] > 20]
    if len(drawn) < least[0] or len(drawn) < len(page["plots"]):
        problems.append(f"{len(drawn)} of {len(page['plots'])} plots are drawn, at least {least[0]} expected: {page['plots']}")
    if len(shown) < least[1] or len(shown) < len(page["pictures"]):
        problems.append(f"{len(shown)} of {len(page['pictures'])} pictures are shown, at least {least[1]} expected")
    if len(page["bars"]) < least[2] or not all(0 < bar[0] and bar[1] > 60 and bar[2] for bar in page["bars"]):
        problems.append(f"of {len(page['bars'])} bars, {least[2]} or more expected, not all are drawn: {page['bars'][:9]}")
    if page["cut"]:
        problems.append(f"text is cut off or reaches beyond the window: {page['cut']}")
    if page["overflow"] > 0:
        problems.append(f"the page is {page['overflow']} pixels wider than the window")
    dark = brightness(page["background"]) < brightness(page["color"])
    if dark != (scheme == "dark"):
        problems.append(f"{scheme} theme, but background {page['background']} and text {page['color']}")
    return problems


def main():
    screenshots = pathlib.Path(sys.argv[1])
    screenshots.mkdir(parents=True, exist_ok=True)
    failed = False
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        pages = make_pages(folder)
        browser = Chromium()
        try:
            for page, least in pages.items():
                for scheme in ("light", "dark"):
                    for device, width in (("wide", 1400), ("phone", 390)):
                        problems = check(browser, (folder / f"{page}.html").as_uri(), least, scheme, width, device == "phone")
                        browser.screenshot(screenshots / f"{page}-{scheme}-{device}.png")
                        print(f"{page}, {scheme}, {device}: {'; '.join(problems) or 'as it should be'}")
                        failed = failed or bool(problems)
        finally:
            browser.close()
    return 1 if failed else 0


sys.exit(main())
