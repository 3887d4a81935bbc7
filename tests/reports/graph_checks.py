"""What a reader relies on in the graph of a report's model: its marks, zooming, and the ways to the table and back."""

from __future__ import annotations

from typing import Any

from browser import HOSTILE_NAME, WIDE, Failures
from playwright.sync_api import Page


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
    check_chosen_regions(page, data, failures)
    label = page.locator("#graph-view svg").get_attribute("aria-label") or ""
    failures.check(
        label.startswith(f"Graph of {len(data['layers']):,} layers") and f"{critical} on the critical path" in label,
        f"the graph's description is {label!r}",
    )
    failures.check("from" in page.locator("#graph-chart .legend").inner_text(), "the graph's legend has no numbers")


def check_chosen_regions(page: Page, data: dict[str, Any], failures: Failures) -> None:
    """What the bound runs as one and the engine in several rows has an outline of its own, which holds its layers."""
    row_of = {layer: i for i, row in enumerate(data["rows"]) for layer in row["layers"]}
    across = [
        region["layers"]
        for region in data["regions"]
        if region["chosen"] and len({row_of.get(layer) for layer in region["layers"]}) > 1
    ]
    outlines = page.locator("#graph-view .chosen .ring")
    failures.check(outlines.count() == len(across), f"{outlines.count()} regions are outlined, not {len(across)}")
    boxes = """(marks) => marks.map((mark) => {
      const box = mark.getBBox();
      return [box.x, box.y, box.x + box.width, box.y + box.height];
    })"""
    nodes = page.locator("#graph-view .node").evaluate_all(boxes)
    for outline, layers in zip(outlines.evaluate_all(boxes), across, strict=False):
        for layer in layers:
            inside = all(sign * outline[i] < sign * nodes[layer][i] for i, sign in enumerate((1, 1, -1, -1)))
            failures.check(inside, f"layer {layer} stands outside of its region's outline")
    legend = page.locator("#graph-chart .legend").inner_text()
    failures.check(("one in the bound" in legend) == bool(across), f"of {len(across)} regions the legend says {legend!r}")


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
    page.keyboard.press("Shift+ArrowDown")
    moved("an arrow key with Shift")
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowDown")
    moved("an arrow key where no layer is active")
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
    zoomed = graph_transform(page)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    outside = page.evaluate(
        """() => {
          const frame = document.querySelector('#graph-view svg').getBoundingClientRect();
          return Array.from(document.querySelectorAll('#graph-view .node'), (node) => node.getBoundingClientRect())
            .filter((box) => box.left < frame.left || box.right > frame.right || box.top < frame.top || box.bottom > frame.bottom).length;
        }"""
    )
    failures.check(outside == 0, f"print does not get the whole graph: {outside} nodes are outside")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    failures.check(graph_transform(page) == zoomed, "after printing the graph shows something else")
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
    # A selected node is drawn last: not by their order in the page.
    node = page.evaluate_handle(
        "() => Array.from(document.querySelectorAll('#graph-view .node')).find((node) => node.__data__.index === 0)"
    ).as_element()
    assert node is not None
    node.click()
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
