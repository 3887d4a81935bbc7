"""Opens the pages of a site in a real Chromium, offline, and checks what a reader relies on.

    python site_browser_test.py --writer build/bin/write_sample_site --screenshots DIR

Needs playwright and axe-playwright-python; uses Debian's chromium (or the one that CHROMIUM names).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from browser import (
    NARROW,
    WIDE,
    Failures,
    check_accessibility,
    check_no_sideways_scrolling,
    check_print,
    check_rows_on_paper,
    opened,
)
from playwright.sync_api import Browser, Page, sync_playwright

PAGES = ("index.html", "models/model-1.html", "devices/device-2.html", "upgrades/cudnn.html")
MOST_MS = 1000  # until an index of 100 models and 40 devices is there


def check_names(page: Page, failures: Failures) -> None:
    failures.check(page.locator("img").count() == 0, f"{page.url}: a name became an element")
    failures.check(page.locator("section table tbody tr").count() > 0, f"{page.url}: no table has rows")
    scrolls = page.evaluate("getComputedStyle(document.querySelector('.scroll')).overflowX")
    failures.check(scrolls == "auto", f"{page.url}: the style does not count")


def check_walk(browser: Browser, site: Path, failures: Failures) -> None:
    """From a cell of the index to the device's row in the model's page, to the device, and back."""
    with opened(browser, site / "index.html", WIDE, "light", failures, site) as page:
        page.locator("#models-table tbody tr").nth(1).locator("td a").nth(1).click()
        failures.check(page.url.endswith("/models/model-1.html#device-2"), f"a cell leads to {page.url}")
        row = page.locator("#device-2")
        failures.check(row.evaluate("(node) => node.matches(':target')"), "the device's row is not the target")
        box = row.bounding_box()
        failures.check(box is not None and 0 < box["y"] < WIDE[1], f"the device's row is out of view: {box}")
        row.locator("a").click()
        failures.check(page.url.endswith("/devices/device-2.html"), f"a device leads to {page.url}")
        page.locator(".brand a").click()
        failures.check(page.url.endswith("/index.html"), f"the head leads to {page.url}")
        heading = page.locator("#models-table thead th").nth(2)
        heading.locator("button").press("Enter")
        failures.check(heading.get_attribute("aria-sort") == "ascending", "no order is told")


def check_large(browser: Browser, writer: Path, folder: Path, most_ms: float, failures: Failures) -> None:
    site = folder / "large"
    subprocess.run([writer, site, "100", "40"], check=True)
    fastest = float("inf")
    for _ in range(3):
        with opened(browser, site / "index.html", WIDE, "light", failures, site) as page:
            shown = page.evaluate(
                """() => new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now()))))"""
            )
            fastest = min(fastest, shown)
            check_no_sideways_scrolling(page, failures)
            page.locator("input[data-filters=models-table]").fill("model-77")
            found = page.locator("#models-table tbody tr:not([hidden])").count()
            failures.check(found == 1, f"the filter finds {found} models of one")
    print(f"an index of 100 models and 40 devices is there after {fastest:.0f} ms")
    failures.check(fastest < most_ms, f"an index of 100 models and 40 devices takes {fastest:.0f} ms")
    with opened(browser, site / "index.html", WIDE, "light", failures, site) as page:
        status = page.locator("#models [role=status]")
        failures.check(status.inner_text() == "30 of 100 rows", f"the filter says {status.inner_text()}")
        check_rows_on_paper(page, "#models-table", 100, failures)
        check_print(page, "100 models on paper", failures)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--writer", type=Path, required=True)
    parser.add_argument("--screenshots", type=Path, required=True)
    parser.add_argument("--slack", type=float, default=1.0, help="times the limits, on a machine that does other work too")
    arguments = parser.parse_args()
    arguments.screenshots.mkdir(parents=True, exist_ok=True)
    failures = Failures()
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        site = folder / "site"
        subprocess.run([arguments.writer, site], check=True)
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=["--no-sandbox"]
        )
        for path in PAGES:
            for size, scheme in ((WIDE, "light"), (WIDE, "dark"), (NARROW, "light")):
                with opened(browser, site / path, size, scheme, failures, site) as page:
                    check_names(page, failures)
                    check_accessibility(page, f"{path}, {size[0]} px, {scheme}", failures)
                    check_no_sideways_scrolling(page, failures)
                    shot = f"site-{path.split('/', maxsplit=1)[0].removesuffix('.html')}-{size[0]}-{scheme}.png"
                    page.screenshot(path=arguments.screenshots / shot, full_page=True)
            with opened(browser, site / path, WIDE, "light", failures, site) as page:
                check_print(page, f"{path} on paper", failures)
        check_walk(browser, site, failures)
        check_large(browser, arguments.writer, folder, arguments.slack * MOST_MS, failures)
        browser.close()
    if failures.messages:
        print(f"{len(failures.messages)} checks failed")
        return 1
    print("all checks passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
