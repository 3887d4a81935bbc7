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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

WIDE = (1280, 900)
NARROW = (390, 844)
CHARTS = ("bracket", "losses", "families", "gaps", "coverage", "roofline", "graph")
HOSTILE_NAME = "<img src=x onerror=alert(1)>\"'&</script><!--"


class Failures:
    """Collects everything that is wrong, so that one run tells all."""

    def __init__(self) -> None:
        self.messages: list[str] = []

    def check(self, holds: bool, message: str) -> None:
        if not holds:
            self.messages.append(message)
            print(f"FAILED: {message}", flush=True)


@contextmanager
def opened(
    browser: Browser,
    report: Path,
    size: tuple[int, int],
    scheme: str,
    failures: Failures,
) -> Iterator[Page]:
    """The report in a fresh offline context; errors, dialogs and requests count as failures."""
    dark = scheme == "dark"
    context = browser.new_context(
        offline=True,
        viewport={"width": size[0], "height": size[1]},
        color_scheme="dark" if dark else "light",
        accept_downloads=True,
    )
    page = context.new_page()
    where = f"{report.name} at {size[0]} px, {scheme}"
    page.on(
        "console",
        lambda message: failures.check(
            message.type not in ("error", "warning"),
            f"{where}: console: {message.text}",
        ),
    )
    page.on(
        "pageerror", lambda error: failures.check(False, f"{where}: exception: {error}")
    )
    page.on(
        "dialog",
        lambda dialog: failures.check(False, f"{where}: dialog: {dialog.message}"),
    )
    page.on(
        "request",
        lambda request: failures.check(
            request.url == report.as_uri()
            or request.url.startswith(("data:", "blob:")),
            f"{where}: request: {request.url}",
        ),
    )
    page.goto(report.as_uri())
    try:
        yield page
    finally:
        context.close()


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
    first = page.locator("#findings-list details").first
    failures.check(first.get_attribute("open") is not None, "the first finding is closed")
    text = first.inner_text()
    for part in ("<script>alert('layer')</script>", "sgemm_128x64", "onednn/brgconv:avx512_core", "& <look> again"):
        failures.check(part in text, f"the first finding does not show {part!r}")
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
    floors = [data["floor"]["latency_us"], data["conventional_floor"]["latency_us"]]
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


def check_texts_of_numbers(page: Page, failures: Failures) -> None:
    """The script writes a time as the page does where there are no scripts."""
    different = page.evaluate(
        """() => {
          const plain = new DOMParser().parseFromString(document.querySelector('#layers noscript').textContent, 'text/html');
          const data = JSON.parse(document.getElementById('report-data').textContent);
          const rows = Array.from(plain.querySelectorAll('tbody tr'));
          const found = rows.length === data.rows.length ? [] : [`${rows.length} rows of ${data.rows.length}`];
          rows.forEach((row, i) => {
            const text = (cell) => row.cells[cell].textContent;
            const time = (us) => (us === null ? '' : timeText(us));
            const {measured_us: measured, bound_us: bound, floor_us: roofline} = data.rows[i];
            if (text(4) !== time(measured) || text(5) !== time(bound) || text(7) !== (roofline > 0 ? time(roofline) : '')) found.push(row.textContent);
            if (measured && bound && text(6) !== ratioText(measured / bound)) found.push(row.textContent);
          });
          return found.slice(0, 3);
        }"""
    )
    failures.check(not different, f"numbers differ between script and page: {different}")


def check_columns(page: Page, failures: Failures) -> None:
    """Columns come and go by the menu, and the keyboard closes it."""
    headings = page.locator("#layer-table thead th")
    before = headings.count()
    menu = page.locator("#columns")
    menu.locator("summary").click()
    boxes = menu.locator("input")
    failures.check(boxes.count() > before, "the menu does not offer every column")
    menu.locator("input[value=bytes]").check()
    failures.check(headings.count() == before + 1, "a column does not come")
    failures.check(
        any("Bytes" in title for title in headings.all_inner_texts()), "the column of bytes lacks"
    )
    cells = page.locator("#layer-table tbody tr.layer").first.locator("th, td").count()
    failures.check(cells == before + 1, f"a row has {cells} cells under {before + 1} headings")
    menu.locator("input[value=bytes]").uncheck()
    failures.check(headings.count() == before, "a column does not go")
    page.keyboard.press("Escape")
    failures.check(menu.get_attribute("open") is None, "Escape leaves the menu open")
    for box in range(boxes.count()):
        menu.locator("input").nth(box).evaluate("(node) => { if (!node.checked) node.click(); }")


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


def column_texts(page: Page, index: int) -> list[str]:
    texts: list[str] = page.evaluate(
        "(i) => Array.from(document.querySelectorAll('#layer-table tbody tr.layer')).map((r) => r.cells[i].textContent)",
        index,
    )
    return texts


def check_sorting(page: Page, failures: Failures) -> None:
    """Each heading sorts its column, by mouse and by keyboard, and says so."""
    if page.locator("#layers-more").is_visible():
        page.locator("#layers-more").click()
    headings = page.locator("#layer-table thead th")
    failures.check(headings.count() >= 12, "the table has too few columns")
    for index in range(headings.count()):
        heading = headings.nth(index)
        title = heading.inner_text().strip()
        button = heading.locator("button")
        orders: dict[str, list[str]] = {}
        button.click()
        orders[heading.get_attribute("aria-sort") or "none"] = column_texts(page, index)
        button.focus()
        page.keyboard.press("Enter")
        orders[heading.get_attribute("aria-sort") or "none"] = column_texts(page, index)
        failures.check(
            set(orders) == {"ascending", "descending"},
            f"{title}: aria-sort says {list(orders)}",
        )
        sorted_count = page.locator("#layer-table thead th[aria-sort]").count()
        failures.check(
            sorted_count == 1,
            f"{title}: {sorted_count} columns say that they are sorted",
        )
        first = {name: texts[0] for name, texts in orders.items() if texts}
        values = {text for text in orders.get("ascending", []) if text}
        if len(values) > 1:
            failures.check(
                len(set(first.values())) == 2,
                f"{title}: both orders start with {first}",
            )
        for name, texts in orders.items():
            if title.endswith((", ms", ", µs")):
                numbers = [
                    float(text.replace("\N{MINUS SIGN}", "-")) for text in texts if text
                ]
                expected = sorted(numbers, reverse=name == "descending")
                failures.check(numbers == expected, f"{title}: not in {name} order")
            blanks = [position for position, text in enumerate(texts) if not text]
            failures.check(
                not blanks or blanks[0] == len(texts) - len(blanks),
                f"{title}: empty cells are not last",
            )


def check_filters(page: Page, failures: Failures) -> None:
    everything = page.locator("#layer-table tbody tr.layer").count()
    page.locator("#filter-text").fill("conv2 7x7")
    some = page.locator("#layer-table tbody tr.layer").count()
    failures.check(
        0 < some < everything, f"the filter shows {some} of {everything} rows"
    )
    page.locator("#filter-text").fill("no such layer anywhere")
    failures.check(
        page.locator("#layer-table tbody tr.layer").count() == 0,
        "a filter without a match shows rows",
    )
    page.locator("#filter-text").fill("")
    page.locator("#filter-family").select_option("matmul")
    failures.check(
        page.locator("#layer-table tbody tr.layer").count() == 1,
        "the family filter is wrong",
    )
    page.locator("#filter-family").select_option("")
    page.locator("#filter-status").select_option("missing")
    failures.check(
        page.locator("#layer-table tbody tr.layer").count() == 1,
        "the status filter is wrong",
    )
    page.locator("#filter-status").select_option("")
    failures.check(
        page.locator("#layer-table tbody tr.layer").count() == everything,
        "filters do not come off",
    )


def check_details(page: Page, failures: Failures) -> None:
    """A fused row opens to its layers, each with the command that reproduces its measurement."""
    page.locator("#filter-text").fill("/layer3/layer3.1/conv2/Conv")
    button = page.locator("#layer-table .disclosure").first
    failures.check("fused" in button.inner_text(), "a fused group does not say so")
    button.focus()
    page.keyboard.press("Enter")
    failures.check(
        button.get_attribute("aria-expanded") == "true",
        "the row does not say that it is open",
    )
    commands = page.locator("#layer-table tr.detail code").all_inner_texts()
    failures.check(
        bool(commands)
        and commands[0].startswith("infimum bench --layer 'convolution dtype=f32"),
        f"the row's details lack the command: {commands}",
    )
    page.locator("#layer-table tr.detail .copy").first.click()
    button.click()
    failures.check(
        page.locator("#layer-table tr.detail").count() == 0, "the details do not close"
    )
    page.locator("#filter-text").fill("")


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


def graph_transform(page: Page) -> str:
    # What a transition leaves is exact; one lasts 350 ms at most.
    page.wait_for_timeout(500)
    return page.locator("#graph-view .graph-root").get_attribute("transform") or ""


def check_graph_marks(page: Page, failures: Failures) -> None:
    """Every layer and edge is drawn, the critical path is marked, and colours follow the numbers."""
    data = page.evaluate("() => JSON.parse(document.getElementById('report-data').textContent)")
    graph = data["graph"]
    critical = sum(layer["on_critical_path"] for layer in data["layers"])
    for selector, expected in (
        (".node", len(data["layers"])),
        (".edge", len(graph["edges"])),
        (".node.critical", critical),
        (".edge.critical", len(graph["path"])),
        (".node.missing, .node.unknown", sum(layer["status"] in ("missing", "unknown") for layer in data["layers"])),
    ):
        count = page.locator(f"#graph-view {selector}").count()
        failures.check(count == expected, f"the graph has {count} {selector}, not {expected}")
    failures.check(len(graph["path"]) == critical - 1, "the critical path is not one path")
    compared = data["run"] is not None
    weights = {
        row["main_layer"]: row["measured_us"] - row["bound_us"] if compared else row["bound_us"]
        for row in data["rows"]
        if row["layers"] and row["bound_us"] is not None and (not compared or row["measured_us"] is not None)
    }
    nodes = page.locator("#graph-view .node").evaluate_all(
        "(nodes) => nodes.map((node) => [node.__data__.index, node.getAttribute('class')])"
    )
    classes = {index: names.split() for index, names in nodes}
    largest = max(weights, key=lambda layer: weights[layer])
    failures.check("heat-4" in classes[largest], f"the largest gap is drawn as {classes[largest]}")
    for layer, weight in weights.items():
        if "free" in classes[layer]:
            continue
        strongest = "heat-4" in classes[layer]
        failures.check(
            strongest == (weight >= weights[largest] / 2),
            f"layer {layer} with {weight:.1f} of {weights[largest]:.1f} us is drawn as {classes[layer]}",
        )
    label = page.locator("#graph-view svg").get_attribute("aria-label") or ""
    failures.check(
        label.startswith(f"Graph of {len(data['layers']):,} layers") and f"{critical} on the critical path" in label,
        f"the graph's description is {label!r}",
    )
    failures.check("from" in page.locator("#graph-chart .legend").inner_text(), "the graph's legend has no numbers")


def check_graph_zoom(page: Page, failures: Failures) -> None:
    """Buttons, keys and the wheel with Ctrl move the graph; the wheel alone scrolls the page."""
    view = page.locator("#graph-view")
    view.scroll_into_view_if_needed()
    whole = graph_transform(page)
    failures.check("scale" in whole, f"the graph starts with the transform {whole!r}")
    seen = {whole}

    def moved(what: str) -> None:
        now = graph_transform(page)
        failures.check(now not in seen, f"{what} does not move the graph")
        seen.add(now)

    page.locator("#graph-in").click()
    moved("zooming in")
    failures.check(page.locator("#graph-view .label text").count() > 0, "labels do not appear")
    view.focus()
    page.keyboard.press("+")
    moved("+")
    page.keyboard.press("ArrowDown")
    moved("an arrow key")
    page.locator("#graph-out").click()
    moved("zooming out")
    page.keyboard.press("0")
    page.locator("#graph-fit").click()
    failures.check(graph_transform(page) == whole, "'whole model' does not show what was shown first")
    view.hover()
    before = page.evaluate("scrollY")
    page.mouse.wheel(0, -120)
    failures.check(graph_transform(page) == whole, "the wheel alone zooms the graph")
    failures.check(page.evaluate("scrollY") != before, "the wheel does not scroll the page over the graph")
    view.scroll_into_view_if_needed()
    view.hover()
    page.keyboard.down("Control")
    page.mouse.wheel(0, -240)
    page.keyboard.up("Control")
    moved("the wheel with Ctrl")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    failures.check(graph_transform(page) == whole, "print does not get the whole graph")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.locator("#graph-next").click()
    moved("the next largest gap")
    failures.check(page.locator("#graph-view .node.selected").count() > 0, "the largest gap is not selected")
    page.locator("#graph-fit").click()


def check_graph_and_table(page: Page, failures: Failures) -> None:
    """A node leads to its row, the row leads back, and the filter shows in both; names stay names."""
    data = page.evaluate("() => JSON.parse(document.getElementById('report-data').textContent)")
    page.locator("#filter-text").fill("conv2 7x7")
    matched = page.locator("#graph-view .node.match").count()
    rows = page.locator("#layer-table tbody tr.layer").count()
    failures.check(matched >= rows > 0, f"{matched} nodes match the filter of {rows} rows")
    # The first layer is not among them: its row comes back for it.
    position = next(i for i, row in enumerate(data["rows"]) if 0 in row["layers"])
    page.locator("#graph-view .node").first.click()
    opened_row = page.locator(f"#row-{position}")
    opened_row.wait_for(state="attached")
    button = opened_row.locator(".disclosure")
    failures.check(button.get_attribute("aria-expanded") == "true", "a click on a node does not open its row")
    failures.check(button.evaluate("(node) => node === document.activeElement"), "the opened row has no focus")
    top = opened_row.evaluate("(node) => node.getBoundingClientRect().top")
    failures.check(0 <= top < WIDE[1], f"the opened row is not on the screen: {top}")
    failures.check(page.locator("#graph-view.filtered").count() == 0, "the graph stays filtered")
    page.locator("#filter-text").fill("onerror=alert")
    closed = page.locator("#layer-table .disclosure[aria-expanded=false]")
    if closed.count() > 0:
        closed.first.click()
    page.locator("#layer-table .in-graph").first.click()
    graph_transform(page)
    selected = page.locator("#graph-view .node.selected").count()
    failures.check(selected == 1, f"'show in the graph' selects {selected} nodes")
    failures.check(
        page.locator("#graph-view").evaluate("(node) => node === document.activeElement"), "the graph has no focus"
    )
    texts = page.locator("#graph-view .label text").all_text_contents()
    failures.check(any(text.startswith("<img") for text in texts), f"the hostile name is not a label: {texts[:12]}")
    page.locator("#graph-view .node.selected").hover()
    tip = page.locator("#tooltip").inner_text()
    failures.check(HOSTILE_NAME in tip and "Softmax" in tip, f"the node's tooltip is {tip!r}")
    failures.check(page.locator("img").count() == 0, "a name in the graph became an element")
    page.mouse.move(1, 1)
    page.locator("#filter-text").fill("")
    page.locator("#graph-fit").click()


def check_graph_speed(browser: Browser, report: Path, failures: Failures) -> None:
    """Two thousand layers with many edges: drawn at once, and zooming is no wait."""
    with opened(browser, report, WIDE, "light", failures) as page:
        check_graph_marks(page, failures)
        page.locator("#graph").scroll_into_view_if_needed()
        # In the page, so that only the page's work counts; generous, for busy machines.
        drawn, frame = page.evaluate(
            """async () => {
              const data = JSON.parse(document.getElementById('report-data').textContent);
              prepareRows(data);
              document.getElementById('graph-view').replaceChildren();
              let begin = performance.now();
              drawModelGraph(data);
              document.body.offsetHeight;
              const drawn = performance.now() - begin;
              const { svg, zoom } = data.modelGraph;
              begin = performance.now();
              for (let i = 0; i < 60; ++i) {
                svg.call(zoom.scaleBy, i < 30 ? 1.09 : 1 / 1.09);
                await new Promise((done) => requestAnimationFrame(done));
              }
              return [drawn, (performance.now() - begin) / 60];
            }"""
        )
        failures.check(drawn < 5000, f"{report.name}: the graph takes {drawn:.0f} ms to draw")
        failures.check(frame < 1000, f"{report.name}: a step of zooming takes {frame:.0f} ms")
        layers = page.locator("#graph-view .node").count()
        edges = page.locator("#graph-view .edge").count()
        print(f"{report.stem}: {layers} layers, {edges} edges, drawn in {drawn:.0f} ms, {frame:.0f} ms a step of zooming")


def check_download(page: Page, failures: Failures) -> None:
    with page.expect_download() as info:
        page.locator("#download").click()
    lines = Path(info.value.path()).read_bytes().decode().split("\r\n")
    failures.check(
        lines[0].startswith("label,op,family"), f"the CSV starts with {lines[0]!r}"
    )
    failures.check(len(lines) > 50, f"the CSV has {len(lines)} lines")


def check_accessibility(page: Page, where: str, failures: Failures) -> None:
    violations = Axe().run(page).response["violations"]
    for violation in violations:
        nodes = "; ".join(str(node["html"])[:160] for node in violation["nodes"][:3])
        failures.check(
            violation["impact"] not in ("serious", "critical", "moderate"),
            f"{where}: axe: {violation['id']}: {violation['help']}: {nodes}",
        )


def check_no_sideways_scrolling(page: Page, failures: Failures) -> None:
    excess = page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    failures.check(
        excess <= 0, f"the page is {excess} px too wide at {page.viewport_size}"
    )


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
        check_hostile_names(page, failures)
        check_graph_zoom(page, failures)
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
        check_extremes(browser, Path(folder), failures)
        check_large(browser, Path(folder) / "large.html", failures)
        for name in ("dense", "transformer"):
            check_graph_speed(browser, Path(folder) / f"{name}.html", failures)
        browser.close()
    print(
        f"{len(failures.messages)} failures"
        if failures.messages
        else "the report works in a real browser"
    )
    return 1 if failures.messages else 0


if __name__ == "__main__":
    sys.exit(main())
