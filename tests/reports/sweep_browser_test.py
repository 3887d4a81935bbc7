"""Opens pages of sweeps in a real Chromium, offline, and checks what a reader relies on.

    python sweep_browser_test.py --writer build/bin/write_sample_sweep --screenshots DIR

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

SECTIONS = ("overview", "sensitivity", "utilization", "floors", "speed-ups", "pareto", "ranks", "inversions", "cells")
MOST_MS = 1000  # until a page of 2,000 cells is there


def check_sections(page: Page, failures: Failures) -> None:
    for section in SECTIONS:
        failures.check(page.locator(f"#{section} table tbody tr").count() > 0, f"the section {section} has no rows")
    failures.check("<img" in page.locator("#title").inner_text(), "a hostile name is not shown as text")
    failures.check(page.locator("img").count() == 0, "a name became an element")
    failures.check(page.locator("#utilization td[class*=slower-]").count() > 3, "the map of shares has no colours")
    failures.check(page.locator("#floors-2 td[class*=faster-]").count() > 0, "no floor is decided by memory")


def check_roofline(page: Page, failures: Failures) -> None:
    dots = page.locator(".sweep-roofline circle")
    failures.check(dots.count() > 15, f"the roofline has {dots.count()} dots")
    failures.check("of the floor" in (dots.first.locator("title").text_content() or ""), "a dot does not say what it is")
    failures.check(page.locator(".sweep-roofline .roof").count() == 2, "memory and arithmetic have no line each")
    outside = page.locator(".sweep-roofline").evaluate(
        """(svg) => Array.from(svg.querySelectorAll('circle, line.roof')).filter((node) => {
             const [inner, outer] = [node, svg].map((one) => one.getBoundingClientRect());
             return inner.left < outer.left - 1 || inner.right > outer.right + 1 || inner.top < outer.top - 1 || inner.bottom > outer.bottom + 1;
           }).length"""
    )
    failures.check(outside == 0, f"{outside} marks are outside of the roofline")


def check_sorting(page: Page, failures: Failures) -> None:
    heading = page.locator("#cells-table thead th").nth(6)
    heading.locator("button").press("Enter")
    failures.check(heading.get_attribute("aria-sort") == "ascending", "no order is told")
    numbers = page.locator("#cells-table tbody tr").evaluate_all(
        "(rows) => rows.map((row) => row.children[6].dataset.number).filter((cell) => cell !== undefined).map(Number)"
    )
    failures.check(len(numbers) > 10 and numbers == sorted(numbers), "a column is not sorted by its numbers")


def check_many(browser: Browser, writer: Path, folder: Path, most_ms: float, failures: Failures) -> None:
    """2,000 cells: open within a second, 100 rows until all are asked for, by a button, a filter or an order."""
    report = folder / "many.html"
    subprocess.run([writer, report, "167"], check=True)
    fastest = float("inf")
    for size in (WIDE, WIDE, NARROW):
        with opened(browser, report, size, "light", failures) as page:
            timing = page.evaluate(
                """() => new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now()))))"""
            )
            fastest = min(fastest, timing)
            failures.check(page.locator("#cells-table tbody tr").count() == 100, "the page begins with all its cells")
            check_no_sideways_scrolling(page, failures)
            page.locator("button.more").click()
            failures.check(page.locator("#cells-table tbody tr").count() == 2004, "the button does not show all cells")
            failures.check(page.locator("button.more").count() == 0, "the button stays")
            status = page.locator("#cells [role=status]").inner_text()
            failures.check(status == "2004 of 2004 rows", f"with all cells the filter says {status}")
    print(f"2,004 cells are there after {fastest:.0f} ms")
    failures.check(fastest < most_ms, f"a page of 2,004 cells takes {fastest:.0f} ms")
    with opened(browser, report, WIDE, "light", failures) as page:
        page.locator("input[data-filters=cells-table]").fill("nodes=42752 ")
        shown = page.locator("#cells-table tbody tr:not([hidden])").count()
        failures.check(shown == 12, f"the filter finds {shown} of 12 cells beyond the first 100")
    with opened(browser, report, WIDE, "light", failures) as page:
        check_rows_on_paper(page, "#cells-table", 500, failures)
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        left = page.locator("p.on-paper").all_inner_texts()
        failures.check(left == ["1504 more rows are in the page alone"], f"of rows that are not printed it says {left}")
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        check_print(page, "2,004 cells on paper", failures)


def check_without_scripts(browser: Browser, report: Path, failures: Failures) -> None:
    context = browser.new_context(offline=True, java_script_enabled=False)
    page = context.new_page()
    page.goto(report.as_uri())
    failures.check(page.locator("#cells tbody tr").count() == 240, "without scripts not all cells are there")
    failures.check(page.locator(".sweep-roofline circle").count() > 100, "without scripts there is no roofline")
    failures.check(not page.locator("input[data-filters]").first.is_visible(), "without scripts a filter is shown")
    context.close()


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
        report = folder / "sweep.html"
        subprocess.run([arguments.writer, report], check=True)
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=["--no-sandbox"]
        )
        for size, scheme in ((WIDE, "light"), (WIDE, "dark"), (NARROW, "light")):
            with opened(browser, report, size, scheme, failures) as page:
                where = f"{size[0]} px, {scheme}"
                check_sections(page, failures)
                check_roofline(page, failures)
                check_accessibility(page, where, failures)
                check_no_sideways_scrolling(page, failures)
                check_sorting(page, failures)
                page.screenshot(path=arguments.screenshots / f"sweep-{size[0]}-{scheme}.png", full_page=True)
        with opened(browser, report, WIDE, "light", failures) as page:
            check_print(page, "on paper", failures)
        check_many(browser, arguments.writer, folder, arguments.slack * MOST_MS, failures)
        subprocess.run([arguments.writer, report, "20"], check=True)
        check_without_scripts(browser, report, failures)
        browser.close()
    if failures.messages:
        print(f"{len(failures.messages)} checks failed")
        return 1
    print("all checks passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
