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
from browser import NARROW, WIDE, Failures, check_print, opened
from playwright.sync_api import Browser, Page, sync_playwright

BY_SIDE = ("models", "families", "layers", "nodes")
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


def check_many_sides(page: Page, failures: Failures, where: str) -> None:
    """Eight sides of long names fit a wide screen; a narrow one scrolls in the table's box, names and the fastest in view."""
    for section in BY_SIDE:
        box = page.locator(f"#{section} .scroll")
        excess = box.evaluate("(box) => box.scrollWidth - box.clientWidth")
        if page.viewport_size == {"width": WIDE[0], "height": WIDE[1]}:
            failures.check(excess <= 0, f"{where}: {section} is {excess} px wider than its box")
            continue
        failures.check(excess > 0, f"{where}: eight sides fit {section}, so that nothing is shown to scroll")
        for scrolled in (0, excess // 2, excess):
            box.evaluate("(box, left) => { box.scrollLeft = left; }", scrolled)
            for what in ("tbody th", "td.winner", "thead .winner"):
                seen = box.evaluate(
                    """(box, what) => {
                      const [outer, inner] = [box, box.querySelector(what)].map((node) => node.getBoundingClientRect());
                      return inner.left >= outer.left - 1 && inner.right <= outer.right + 1;
                    }""",
                    what,
                )
                failures.check(seen, f"{where}: scrolled by {scrolled} px {section} has {what} out of sight")
            covered = box.evaluate(
                """(box) => box.querySelector('tbody th').getBoundingClientRect().right
                     > box.querySelector('td.winner').getBoundingClientRect().left + 1"""
            )
            failures.check(not covered, f"{where}: in {section} the names cover the fastest side")
    heads = page.locator("#layers-table thead .side").all()
    failures.check(len(heads) == 8, f"{where}: {len(heads)} sides have a column")
    names = page.locator("#side-names dt").all_inner_texts()
    wholes = page.locator("#side-names dd").all_inner_texts()
    for head, name, whole in zip(heads, names, wholes, strict=True):
        failures.check(name in head.inner_text(), f"{where}: {name!r} heads no column")
        failures.check(head.get_attribute("title") == whole, f"{where}: the head of {name!r} does not say {whole!r}")
        failures.check("onnxruntime" not in name and "onnxruntime" in whole, f"{where}: {whole!r} is {name!r}")


def check_colours(page: Page, failures: Failures, where: str) -> None:
    """What is twice as fast looks otherwise, and the key has each colour with its number."""
    cells = page.locator("#layers-table tbody td[class*=faster-]")
    colours: dict[str, str] = {}
    for ratio, colour in cells.evaluate_all(
        """(cells) => cells.map((cell) => [cell.querySelector('.aside').textContent, getComputedStyle(cell).backgroundColor])"""
    ):
        colours[ratio] = colour
    failures.check(len(set(colours.values())) >= 5, f"{where}: {len(colours)} ratios have {len(set(colours.values()))} colours")
    key = page.locator("#layers .key-line span[class*=faster-]")
    shown = set(key.evaluate_all("(keys) => keys.map((one) => getComputedStyle(one).backgroundColor)"))
    failures.check(set(colours.values()) <= shown, f"{where}: the key lacks {set(colours.values()) - shown}")
    failures.check("times and more" in key.first.inner_text(), f"{where}: the key begins with {key.first.inner_text()!r}")


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
        with opened(browser, report, WIDE, "light", failures) as page:
            check_print(page, "on paper", failures)
        # Eight sides, and more than a page is wide.
        many = Path(folder) / "many.html"
        subprocess.run([arguments.writer, many, "40", "5"], check=True)
        for size, scheme in ((WIDE, "light"), (WIDE, "dark"), (NARROW, "dark")):
            with opened(browser, many, size, scheme, failures) as page:
                where = f"many at {size[0]} px, {scheme}"
                check_many_sides(page, failures, where)
                check_colours(page, failures, where)
                check_accessibility(page, failures, where)
                page.screenshot(
                    path=arguments.screenshots / f"many-{size[0]}-{scheme}.png"
                )
        subprocess.run([arguments.writer, many, "10", "20"], check=True)
        with opened(browser, many, WIDE, "light", failures) as page:
            check_print(page, "23 sides on paper", failures)
        check_without_scripts(browser, report, failures)
        browser.close()
    if failures.messages:
        print(f"{len(failures.messages)} checks failed")
        return 1
    print("all checks passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
