"""Opens comparisons in a real Chromium, offline, and checks what a reader relies on.

    python comparison_browser_test.py --writer build/bin/write_sample_comparison --screenshots DIR

Needs playwright and axe-playwright-python; uses Debian's chromium (or the one that CHROMIUM names).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from browser import NARROW, WIDE, Failures, opened
from playwright.sync_api import Browser, Page, sync_playwright

SECTIONS = ("ladder", "models", "lead", "families", "rank-changes", "layers", "gaps")


def check_sections(page: Page, failures: Failures) -> None:
    for section in SECTIONS:
        failures.check(
            page.locator(f"#{section} table tbody tr").count() > 0,
            f"the section {section} has no rows",
        )
    failures.check(
        page.locator("#title").inner_text().startswith("resnet and <img"),
        "a hostile name is not shown as text",
    )
    failures.check(page.locator("img").count() == 0, "a name became an element")
    failures.check(
        page.locator("#layers td.within-noise").count() > 0,
        "nothing is shown as within noise",
    )


def column(page: Page, table: str, place: int) -> list[str]:
    cells = page.locator(f"#{table} tbody tr:not([hidden])").evaluate_all(
        "(rows, place) => rows.map((row) => row.children[place].dataset.number || '')",
        place,
    )
    return [str(cell) for cell in cells]


def check_sorting(page: Page, failures: Failures) -> None:
    heading = page.locator("#layers-table thead th").nth(4)
    heading.locator("button").click()
    failures.check(
        heading.get_attribute("aria-sort") == "ascending", "no order is told"
    )
    cells = column(page, "layers-table", 4)
    numbers = [float(cell) for cell in cells if cell]
    failures.check(numbers == sorted(numbers), "a column is not sorted by its numbers")
    failures.check(
        all(not cell for cell in cells[len(numbers) :]), "the unknown does not come last"
    )
    heading.locator("button").press("Enter")
    again = [float(cell) for cell in column(page, "layers-table", 4) if cell]
    failures.check(
        again == sorted(numbers, reverse=True), "the second press does not turn it"
    )


def check_filter(page: Page, failures: Failures) -> None:
    page.locator("input[data-filters=layers-table]").fill("more_1")
    shown = page.locator("#layers-table tbody tr:not([hidden])")
    failures.check(
        0 < shown.count() < page.locator("#layers-table tbody tr").count(),
        "the filter does nothing",
    )
    failures.check(
        all("more_1" in text for text in shown.all_inner_texts()),
        "the filter shows what does not match",
    )


def check_accessibility(page: Page, failures: Failures, where: str) -> None:
    results = Axe().run(page)
    for violation in results.response["violations"]:
        failures.check(False, f"{where}: axe: {violation['id']}: {violation['help']}")


def check_without_scripts(browser: Browser, report: Path, failures: Failures) -> None:
    context = browser.new_context(offline=True, java_script_enabled=False)
    page = context.new_page()
    page.goto(report.as_uri())
    failures.check(
        page.locator("#layers-table tbody tr").count() > 3,
        "without scripts the layers are not there",
    )
    failures.check(
        not page.locator("input[data-filters]").first.is_visible(),
        "without scripts a filter is shown that does nothing",
    )
    context.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--writer", type=Path, required=True)
    parser.add_argument("--screenshots", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.screenshots.mkdir(parents=True, exist_ok=True)
    failures = Failures()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        report = Path(folder) / "comparison.html"
        subprocess.run([arguments.writer, report, "40"], check=True)
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"),
            args=["--no-sandbox"],
        )
        for size, scheme in ((WIDE, "light"), (WIDE, "dark"), (NARROW, "light")):
            with opened(browser, report, size, scheme, failures) as page:
                where = f"{size[0]} px, {scheme}"
                check_sections(page, failures)
                check_accessibility(page, failures, where)
                failures.check(
                    page.evaluate(
                        "document.documentElement.scrollWidth <= window.innerWidth"
                    ),
                    f"{where}: the page scrolls sideways",
                )
                check_sorting(page, failures)
                check_filter(page, failures)
                page.screenshot(
                    path=arguments.screenshots / f"comparison-{size[0]}-{scheme}.png"
                )
        check_without_scripts(browser, report, failures)
        browser.close()
    if failures.messages:
        print(f"{len(failures.messages)} checks failed")
        return 1
    print("all checks passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
