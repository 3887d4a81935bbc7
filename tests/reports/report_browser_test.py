"""Opens reports in a real Chromium, offline, and checks what a reader relies on.

    python report_browser_test.py --writer build/bin/write_sample_report --screenshots DIR

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
    HOSTILE_NAME,
    NARROW,
    WIDE,
    Failures,
    check_accessibility,
    check_no_sideways_scrolling,
    check_print,
    opened,
)
from graph_checks import check_graph_and_table, check_graph_marks, check_graph_zoom
from graph_input_checks import check_graph_keys, check_graph_touch
from layer_table_checks import (
    check_candidates,
    check_columns,
    check_details,
    check_download,
    check_filters,
    check_sorting,
    check_texts_of_numbers,
)
from playwright.sync_api import Browser, Page, sync_playwright

CHARTS = ("bracket", "losses", "families", "gaps", "coverage", "roofline", "graph")


def check_charts(page: Page, failures: Failures) -> None:
    for chart in CHARTS:
        marks = page.locator(f"#{chart}-chart svg .mark")
        failures.check(marks.count() > 0, f"the {chart} chart has no marks")
        label = page.locator(f"#{chart}-chart svg").get_attribute("aria-label") or ""
        failures.check(len(label) > 20, f"the {chart} chart has no description")
        broken = page.evaluate(
            """(id) => Array.from(document.querySelectorAll(`#${id} svg *`)).filter((node) =>
                 Array.from(node.attributes).some((a) => /NaN|undefined|Infinity/.test(a.value))).length""",
            f"{chart}-chart",
        )
        failures.check(
            broken == 0, f"the {chart} chart has {broken} elements with broken numbers"
        )


def check_wins(page: Page, failures: Failures) -> None:
    """The table of gains and that of regions say what the embedded data says."""
    data = page.evaluate("() => JSON.parse(document.getElementById('report-data').textContent)")
    chosen = [region for region in data["regions"] if region["chosen"]]
    failures.check(len(chosen) > 0, "the sample has no chosen regions to check")
    rows = page.locator("#wins table.regions tbody tr")
    failures.check(
        rows.count() == len(chosen), f"{rows.count()} rows of regions, not {len(chosen)}"
    )
    best = max(chosen, key=lambda region: region["unfused_us"] - region["latency_us"])
    first = rows.first.text_content() or ""
    name = data["layers"][best["layers"][0]]["name"]
    failures.check(name in first, f"the first region is not the one that wins most: {first}")
    wins = page.locator("#wins-table tbody").text_content() or ""
    for expected in ("fused kernels", "algorithm", "what if free:op=<script>"):
        failures.check(expected in wins, f"the table of gains does not show {expected!r}")


def check_findings(page: Page, failures: Failures) -> None:
    """Ranked as in the data, hostile texts as texts, the first one open with its case and its action."""
    data = page.evaluate("() => JSON.parse(document.getElementById('report-data').textContent)")
    titles = page.locator("#findings-list summary strong").all_inner_texts()
    expected = [finding["kind"].replace("-", " ") for finding in data["findings"]]
    failures.check(titles == expected, f"findings {titles} instead of {expected}")
    heads = page.locator("#findings-list > li > details > summary").all_inner_texts()
    for head, finding in zip(heads, data["findings"]):
        if finding["gain_us"] > 0:
            failures.check(f"{finding['known']}: " in head, f"{head!r} does not say how its gain is known")
    legend = page.locator("#known-legend").inner_text()
    for word in ("observed: ", "bounded: ", "guessed: "):
        failures.check(word in legend, f"the legend does not explain {word!r}")
    first = page.locator("#findings-list details").first
    failures.check(first.get_attribute("open") is not None, "the first finding is closed")
    text = first.inner_text()
    for part in ("<script>alert('layer')</script>", "sgemm_128x64", "onednn/brgconv:avx512_core", "& <look> again"):
        failures.check(part in text, f"the first finding does not show {part!r}")
    last = page.locator("#findings-list > li").last
    last.locator("summary").first.click()
    failures.check(
        page.evaluate("() => location.hash") == f"#{last.get_attribute('id')}",
        "opening a finding does not make its link",
    )
    last.locator("summary").first.click()
    page.evaluate("id => { location.hash = ''; location.hash = id; }", last.get_attribute("id"))
    page.wait_for_timeout(50)
    failures.check(
        last.locator("details").first.get_attribute("open") is not None,
        "a link to a finding does not open it",
    )
    last.locator("summary").first.click()
    order = page.evaluate("() => Array.from(document.querySelectorAll('main section')).map((one) => one.id)")
    failures.check(
        order.index("findings") < order.index("bracket"), "what to change stands behind the bracket"
    )
    steps = page.locator("#losses-chart g.row").count()
    wanted = len([step for step in data["waterfall"] if step["step"] != "above-floor"]) + 1
    failures.check(steps == wanted, f"{steps} steps are drawn instead of {wanted}")


def widths_of(page: Page, chart: str, color: str) -> list[float]:
    """Of the bars of one colour, from top to bottom, in the chart's own units."""
    found: list[float] = page.evaluate(
        """([id, color]) => Array.from(document.querySelectorAll(`#${id} svg .mark.${color}`))
             .map((mark) => Number(mark.getAttribute('width')))""",
        [f"{chart}-chart", color],
    )
    return found


def check_proportional(
    widths: list[float], values: list[float], what: str, failures: Failures
) -> None:
    """As many bars as values, each as long as its value says; very short ones may be drawn at a least width."""
    failures.check(
        len(widths) == len(values), f"{what}: {len(widths)} bars for {len(values)} values"
    )
    if not values or len(widths) != len(values):
        return
    scale = max(widths) / max(values)
    for width, value in zip(widths, values, strict=True):
        failures.check(
            abs(width - value * scale) <= max(2.1, 0.002 * width),
            f"{what}: a bar of {width:.1f} for {value:.3f}, where {value * scale:.1f} is right",
        )


def check_values(page: Page, failures: Failures) -> None:
    """The bars are as many, and as long, as the embedded data says."""
    data = page.evaluate("() => JSON.parse(document.getElementById('report-data').textContent)")
    bounds = sorted(bound["latency_us"] for bound in data["bounds"])
    check_proportional(widths_of(page, "bracket", "bound"), bounds, "bounds", failures)
    floors = [floor["latency_us"] for floor in data["floors"] if floor["latency_us"] > 0]
    check_proportional(widths_of(page, "bracket", "floor"), floors, "floors", failures)
    steps = [step for step in data["waterfall"] if step["step"] != "above-floor"]
    lost = [step["latency_us"] for step in steps if step["latency_us"] >= 0]
    check_proportional(widths_of(page, "losses", "slower"), lost, "lost time", failures)
    total = sum(step["latency_us"] for step in steps)
    whole = widths_of(page, "losses", "total")
    check_proportional(
        whole + widths_of(page, "losses", "slower"), [total, *lost], "gap", failures
    )
    compared = [
        row
        for row in data["rows"]
        if row["bound_us"] is not None and row["measured_us"] is not None
    ]
    compared.sort(key=lambda row: row["bound_us"] - row["measured_us"])
    shown = compared[:25]
    check_proportional(
        widths_of(page, "gaps", "measured"),
        [row["measured_us"] for row in shown],
        "measured rows",
        failures,
    )
    shares = [data["coverage"][key] for key in ("measured", "estimated")]
    bars = widths_of(page, "coverage", "bound") + widths_of(page, "coverage", "estimated")
    check_proportional(bars, shares, "coverage", failures)
    points = sum(
        (row["flops"] > 0 and row["bytes"] > 0 and (row["measured_us"] or 0) > 0)
        + (
            row["flops"] > 0
            and row["bytes"] > 0
            and row["status"] in ("measured", "free")
            and (row["bound_us"] or 0) > 0
        )
        for row in data["rows"]
    )
    dots = page.locator("#roofline-chart svg .mark").count()
    failures.check(dots == points, f"{dots} points on the roofline instead of {points}")


def check_links(page: Page, failures: Failures) -> None:
    """Each link leads to a place of this page."""
    dangling = page.evaluate(
        """() => Array.from(document.querySelectorAll('a')).map((a) => a.getAttribute('href'))
             .filter((href) => !href || !href.startsWith('#') || !document.getElementById(href.slice(1)))"""
    )
    failures.check(not dangling, f"links lead nowhere: {dangling}")


def check_without_scripts(
    browser: Browser, report: Path, screenshots: Path | None, failures: Failures
) -> None:
    """A reader whose browser runs no scripts has the answer, the findings and every row."""
    context = browser.new_context(
        java_script_enabled=False, viewport={"width": WIDE[0], "height": WIDE[1]}
    )
    page = context.new_page()
    page.goto(report.as_uri())
    for section in ("headline", "findings", "questions", "waterfall-table", "wins", "bounds-table"):
        text = page.locator(f"#{section}").text_content() or ""
        failures.check(len(text) > 40, f"without scripts #{section} says {text!r}")
    rows = page.locator("#plain-layers tbody tr")
    failures.check(rows.count() > 50, f"without scripts the table has {rows.count()} rows")
    text = page.locator("#plain-layers").text_content() or ""
    failures.check(HOSTILE_NAME in text, "without scripts the hostile name is not shown")
    failures.check(page.locator("#filter-text").is_hidden(), "controls without a script show")
    if screenshots is not None:
        page.screenshot(path=screenshots / "no-script-1280-light.png", full_page=True)
    context.close()


def check_labels_do_not_collide(page: Page, failures: Failures) -> None:
    """No two texts of one chart overlap, and none leaves its chart (bar charts; points may touch)."""
    for chart in ("bracket", "losses", "families", "gaps"):
        collisions = page.evaluate(
            """(id) => {
              const svg = document.querySelector(`#${id} svg`);
              if (!svg) return document.getElementById(id) ? ['nothing is drawn'] : [];
              const frame = svg.getBoundingClientRect();
              const texts = Array.from(svg.querySelectorAll('text')).map((t) => [t.textContent, t.getBoundingClientRect()]);
              const found = [];
              texts.forEach(([a, ra], i) => {
                if (ra.left < frame.left - 2 || ra.right > frame.right + 2) found.push(`'${a}' leaves the chart`);
                texts.slice(i + 1).forEach(([b, rb]) => {
                  const overlap = ra.left < rb.right - 1 && rb.left < ra.right - 1 && ra.top < rb.bottom - 3 && rb.top < ra.bottom - 3;
                  if (overlap) found.push(`'${a}' meets '${b}'`);
                });
              });
              return found.slice(0, 3);
            }""",
            f"{chart}-chart",
        )
        failures.check(
            not collisions, f"{chart} chart, width {page.viewport_size}: {collisions}"
        )


def check_sources(page: Page, failures: Failures) -> None:
    """A finding's evidence has its layer's command, and the source that it saves is the data's."""
    data = page.evaluate("() => JSON.parse(document.getElementById('report-data').textContent)")
    source = data["sources"][0]
    evidence = page.locator("#findings-list .evidence").first
    evidence.locator("summary").first.click()
    text = evidence.inner_text()
    case = data["findings"][0]["cases"][0]
    for part in (case["command"], f"{case['measured_candidates']} of {case['candidates']} candidates", source["file_name"]):
        failures.check(part in text, f"the evidence does not show {part!r}")
    evidence.locator(".source summary").click()
    shown = evidence.locator("pre").text_content()
    failures.check(shown == source["text"], f"the source is shown as {shown!r}")
    with page.expect_download() as info:
        evidence.locator(".source button", has_text="Download").click()
    failures.check(info.value.suggested_filename == source["file_name"], f"saved as {info.value.suggested_filename}")
    failures.check(Path(info.value.path()).read_text() == source["text"], "what is saved is not the source")


def check_hostile_names(page: Page, failures: Failures) -> None:
    failures.check(page.locator("img").count() == 0, "a layer's name became an element")
    scripts = page.locator("script").count()
    failures.check(scripts == 3, f"the page has {scripts} scripts")
    page.locator("#filter-text").fill("onerror=alert")
    shown = page.locator("#layer-table tbody tr.layer th").first.inner_text()
    failures.check(HOSTILE_NAME in shown, f"the hostile name is shown as {shown!r}")
    page.locator("#layer-table .disclosure").first.click()
    page.locator("#filter-text").fill("")
    failures.check(
        page.locator("img").count() == 0,
        "a layer's name became an element in the details",
    )


def check_tooltip(page: Page, failures: Failures) -> None:
    page.locator("#bracket-chart .hit").first.hover()
    text = page.locator("#tooltip").inner_text()
    failures.check("µs" in text, f"the tooltip shows {text!r}")
    page.mouse.move(1, 1)
    failures.check(page.locator("#tooltip").is_hidden(), "the tooltip stays")


def check_large_graph(browser: Browser, report: Path, failures: Failures) -> None:
    """Two thousand layers with many edges are all drawn."""
    with opened(browser, report, WIDE, "light", failures) as page:
        check_graph_marks(page, failures)


def check_sample(
    browser: Browser, report: Path, screenshots: Path | None, failures: Failures
) -> None:
    for size in (WIDE, NARROW):
        for scheme in ("light", "dark"):
            with opened(browser, report, size, scheme, failures) as page:
                where = f"{size[0]} px, {scheme}"
                check_charts(page, failures)
                check_values(page, failures)
                check_wins(page, failures)
                check_links(page, failures)
                check_findings(page, failures)
                check_graph_marks(page, failures)
                check_labels_do_not_collide(page, failures)
                check_no_sideways_scrolling(page, failures)
                check_accessibility(page, where, failures)
                if screenshots is not None:
                    name = f"{report.stem}-{size[0]}-{scheme}.png"
                    page.screenshot(path=screenshots / name, full_page=True)
    with opened(browser, report, WIDE, "light", failures) as page:
        check_tooltip(page, failures)
        check_texts_of_numbers(page, failures)
        check_columns(page, failures)
        check_sorting(page, failures)
        check_filters(page, failures)
        check_details(page, failures)
        check_candidates(page, failures)
        check_sources(page, failures)
        check_hostile_names(page, failures)
        check_graph_zoom(page, failures)
        check_graph_keys(page, failures)
        check_graph_and_table(page, failures)
        check_download(page, failures)
        check_accessibility(page, "after use", failures)
        page.locator("#gaps-more").click()
        failures.check(
            page.locator("#gaps-chart svg g.row").count() > 25,
            "'show all' shows no more layers",
        )
        page.locator("#gaps-by-configuration").click()
        check_charts(page, failures)
        check_labels_do_not_collide(page, failures)
        first = page.locator("#gaps-chart svg g.row text").first.text_content() or ""
        failures.check(
            "\N{MULTIPLICATION SIGN}" in first,
            f"grouped by configuration, the first bar is {first!r}",
        )
        # Narrowing the window draws the charts again.
        page.set_viewport_size({"width": NARROW[0], "height": NARROW[1]})
        page.wait_for_timeout(300)
        check_charts(page, failures)
        check_no_sideways_scrolling(page, failures)
        if screenshots is not None:
            page.emulate_media(media="print", color_scheme="dark")
            page.pdf(
                path=screenshots / f"{report.stem}.pdf",
                format="A4",
                print_background=True,
            )
            page.emulate_media(media="null")
    check_graph_touch(browser, report, failures)
    # Fresh, and with every column, row and detail that a reader can open.
    with opened(browser, report, WIDE, "light", failures) as page:
        check_print(page, f"{report.stem} on paper", failures)
        page.locator("#columns summary").click()
        for box in page.locator("#column-choice input").all():
            box.check()
        page.locator("#layer-table .disclosure").first.click()
        page.locator("#layer-table .disclosure").nth(4).click()
        check_print(page, f"{report.stem} with all columns on paper", failures)


def check_bare(
    browser: Browser, report: Path, screenshots: Path | None, failures: Failures
) -> None:
    """Without a run there is still an answer, and what is empty says what would fill it."""
    with opened(browser, report, WIDE, "light", failures) as page:
        for section, empty in (("losses", "No framework"), ("findings", "Nothing can be said")):
            text = page.locator(f"#{section}").inner_text()
            failures.check(empty in text, f"without a run #{section} says {text!r}")
        failures.check(
            page.locator("#bracket-chart .mark").count() >= 3, "the bracket lacks marks"
        )
        failures.check(
            page.locator("#gaps-chart .mark").count() > 0,
            "the expensive layers are not shown",
        )
        headings = page.locator("#layer-table thead th").all_inner_texts()
        failures.check(
            not any("Measured" in title for title in headings),
            "the table has an empty column",
        )
        check_graph_marks(page, failures)
        check_accessibility(page, "bare", failures)
        if screenshots is not None:
            page.screenshot(path=screenshots / "bare-1280-light.png", full_page=True)


def check_floors(browser: Browser, report: Path, screenshots: Path | None, failures: Failures) -> None:
    """Without any time the page shows floors and the roofline by layer, and nothing of what would need times."""
    for viewport, scheme in ((WIDE, "light"), (NARROW, "dark")):
        with opened(browser, report, viewport, scheme, failures) as page:
            for gone in ("findings", "losses", "questions", "coverage", "missing", "roofline", "wins"):
                failures.check(page.locator(f"#{gone}").count() == 0, f"without times there is #{gone}")
            text = page.locator("main").inner_text()
            for nothing in ("bound", "No layer", "thread"):
                failures.check(nothing not in text, f"without times the page says {nothing!r}")
            for chart in ("bracket", "families", "gaps", "graph"):
                failures.check(page.locator(f"#{chart} .mark").count() >= 2, f"without times #{chart} has no marks")
            headings = page.locator("#layer-table thead th").all_inner_texts()
            failures.check("Decided by" in headings, f"the table's columns are {headings}")
            first, second = (page.locator("#layer-table tbody tr.layer").nth(i).inner_text() for i in (0, 1))
            failures.check("memory" in first, f"the first row does not say what decides it: {first!r}, {second!r}")
            check_labels_do_not_collide(page, failures)
            check_no_sideways_scrolling(page, failures)
            check_accessibility(page, f"floors {scheme}", failures)
            if screenshots is not None:
                page.screenshot(path=screenshots / f"floors-{scheme}.png", full_page=True)


def check_extremes(browser: Browser, folder: Path, failures: Failures) -> None:
    """A report without any number, and one where the framework beats the bound."""
    with opened(browser, folder / "empty.html", WIDE, "light", failures) as page:
        text = page.locator("#bracket").inner_text()
        failures.check("no number yet" in text, f"the empty report says {text!r}")
        failures.check(page.locator("#graph").is_hidden(), "a graph is shown without layers")
        check_accessibility(page, "empty", failures)
    with opened(browser, folder / "inversion.html", NARROW, "dark", failures) as page:
        check_charts(page, failures)
        check_labels_do_not_collide(page, failures)
        tiles = page.locator("#tiles").inner_text()
        failures.check("Inversion" in tiles, f"the tiles hide the inversion: {tiles!r}")


def check_large(browser: Browser, report: Path, failures: Failures) -> None:
    """Three thousand layers: some rows at first, all of them when asked for, sorted as well."""
    with opened(browser, report, WIDE, "light", failures) as page:
        data = page.evaluate("JSON.parse(document.getElementById('report-data').textContent)")
        failures.check(len(data["layers"]) >= 2900, f"only {len(data['layers'])} layers")
        shown = page.locator("#layer-table tbody tr.layer")
        failures.check(shown.count() == 100, "all rows are rendered at once")
        on_paper = page.locator("#layers-on-paper")
        failures.check(on_paper.is_hidden(), "what is for paper is on the screen")
        page.emulate_media(media="print")
        text = on_paper.inner_text()
        failures.check(f"100 of {len(data['rows']):,} rows" in text, f"paper does not say what it lacks: {text!r}")
        page.emulate_media(media="null")
        page.locator("#layers-more").click()
        shown.nth(len(data["rows"]) - 1).wait_for(state="attached")
        page.locator("#layer-table thead th button").nth(1).click()
        shown.nth(len(data["rows"]) - 1).wait_for(state="attached")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--writer", type=Path, required=True, help="the program write_sample_report"
    )
    parser.add_argument(
        "--screenshots", type=Path, help="a folder for screenshots and a PDF"
    )
    arguments = parser.parse_args()
    screenshots: Path | None = arguments.screenshots
    if screenshots is not None:
        screenshots.mkdir(parents=True, exist_ok=True)
    failures = Failures()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        reports = {
            "sample": ["1"],
            "bare": ["1", "bare"],
            "large": ["18"],
            "empty": ["1", "empty"],
            "floors": ["1", "floors"],
            "inversion": ["1", "inversion"],
            "dense": ["12", "dense"],
            "transformer": ["12", "transformer"],
        }
        for name, options in reports.items():
            subprocess.run(
                [arguments.writer, Path(folder) / f"{name}.html", *options], check=True
            )
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"),
            args=["--no-sandbox"],
        )
        check_sample(browser, Path(folder) / "sample.html", screenshots, failures)
        check_without_scripts(browser, Path(folder) / "sample.html", screenshots, failures)
        check_bare(browser, Path(folder) / "bare.html", screenshots, failures)
        check_floors(browser, Path(folder) / "floors.html", screenshots, failures)
        check_extremes(browser, Path(folder), failures)
        check_large(browser, Path(folder) / "large.html", failures)
        for name in ("dense", "transformer"):
            check_large_graph(browser, Path(folder) / f"{name}.html", failures)
        browser.close()
    print(
        f"{len(failures.messages)} failures"
        if failures.messages
        else "the report works in a real browser"
    )
    return 1 if failures.messages else 0


if __name__ == "__main__":
    sys.exit(main())
