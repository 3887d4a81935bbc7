"""The graph of a report's model by keyboard and by touch: whatever a mouse does there goes without one."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

from browser import HOSTILE_NAME, NARROW, Failures, check_accessibility
from playwright.sync_api import Browser, CDPSession, Page

Point = tuple[float, float]


def active_name(page: Page) -> str | None:
    """What a screen reader says of the active layer, or None without one."""
    name: str | None = page.evaluate(
        """() => {
          const id = document.getElementById('graph-view').getAttribute('aria-activedescendant');
          const node = id && document.getElementById(id);
          return node && node.getAttribute('role') ? node.getAttribute('aria-label') : null;
        }"""
    )
    return name


def active_layer(page: Page) -> int:
    found = re.search(r"layer (\d+) of", active_name(page) or "")
    return int(found.group(1)) - 1 if found else -1


def expected_name(data: dict[str, Any], layer: int) -> list[str]:
    """Parts that the name of a layer has: its own name, operator, and whether it is on the critical path."""
    entry = data["layers"][layer]
    return [entry["name"], entry["op"]] + (["on the critical path"] if entry["on_critical_path"] else [])


def check_graph_keys(page: Page, failures: Failures) -> None:
    """Tab leads in, arrows lead along edges and through all layers, Enter to the table, Escape out."""
    data = page.evaluate("() => JSON.parse(document.getElementById('report-data').textContent)")
    edges = {tuple(edge) for edge in data["graph"]["edges"]}
    page.locator("#graph-next").focus()
    failures.check(active_name(page) is None, "a layer is active before the graph has the focus")
    page.keyboard.press("Tab")
    on_graph = "document.activeElement === document.getElementById('graph-view')"
    failures.check(page.evaluate(on_graph), "Tab does not lead from the buttons into the graph")
    page.keyboard.press("Home")
    failures.check(active_layer(page) == 0, f"Home leads to {active_name(page)!r}")
    # Down the edges to where they end, and back up.
    way = [0]
    for _ in range(len(data["layers"])):
        page.keyboard.press("ArrowDown")
        if active_layer(page) == way[-1]:
            break
        way.append(active_layer(page))
    failures.check(len(way) > 50, f"down the edges there are {len(way)} layers")
    failures.check(set(pairwise(way)) <= edges, "down leads along no edge")
    failures.check(not any(edge[0] == way[-1] for edge in edges), f"down ends at {way[-1]}, which others read")
    page.keyboard.press("ArrowUp")
    failures.check((active_layer(page), way[-1]) in edges, "up leads along no edge")
    # Left and right reach every layer, those beside the way too.
    page.keyboard.press("Home")
    for layer in range(1, 40):
        page.keyboard.press("ArrowRight")
        name = active_name(page) or ""
        for part in [*expected_name(data, layer), f"layer {layer + 1} of {len(data['layers'])}"]:
            failures.check(part in name, f"layer {layer} is called {name!r}, without {part!r}")
    page.keyboard.press("ArrowLeft")
    failures.check(active_layer(page) == 38, "left does not lead back")
    row = next(row for row in data["rows"] if row["main_layer"] is not None and row["measured_us"] and row["bound_us"])
    page.keyboard.press("Home")
    for _ in range(row["main_layer"]):
        page.keyboard.press("ArrowRight")
    name = active_name(page) or ""
    failures.check(all(word in name for word in ("measured ", "bound ", "gap ")), f"the numbers are missing in {name!r}")
    shown = page.locator("#tooltip").inner_text()
    failures.check(data["layers"][row["main_layer"]]["name"] in shown, f"beside the active layer stands {shown!r}")
    hostile = next(i for i, layer in enumerate(data["layers"]) if layer["name"].startswith("<img"))
    page.keyboard.press("End")
    for _ in range(len(data["layers"]) - 1 - hostile):
        page.keyboard.press("ArrowLeft")
    failures.check(HOSTILE_NAME in (active_name(page) or ""), f"the hostile name is {active_name(page)!r}")
    check_accessibility(page, "with an active layer", failures)
    # Zoomed in the active layer stays in sight.
    for _ in range(6):
        page.keyboard.press("+")
    for key in ("ArrowUp", "ArrowUp", "Home", "End"):
        page.keyboard.press(key)
        page.wait_for_timeout(50)
        inside = page.evaluate(
            """() => {
              const frame = document.getElementById('graph-view').getBoundingClientRect();
              const box = document.getElementById('graph-active').getBoundingClientRect();
              return box.left >= frame.left && box.right <= frame.right && box.top >= Math.max(0, frame.top) && box.bottom <= Math.min(innerHeight, frame.bottom);
            }"""
        )
        failures.check(inside, f"after {key} the active layer is out of sight")
    page.keyboard.press("0")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    layer = active_layer(page)
    page.keyboard.press("Enter")
    position = next(i for i, one in enumerate(data["rows"]) if layer in one["layers"])
    page.wait_for_timeout(200)
    focused = page.evaluate("document.activeElement.closest('tr')?.id")
    failures.check(focused == f"row-{position}", f"Enter leads to {focused!r}, not row-{position}")
    failures.check(active_name(page) is None, "a layer stays active after the focus went")
    page.locator("#graph-next").focus()
    page.keyboard.press("Tab")
    failures.check(active_layer(page) == layer, "the graph does not remember the layer that was active")
    page.keyboard.press("Escape")
    failures.check(active_name(page) is None, "Escape does not let go of the layer")
    failures.check(page.locator("#tooltip").is_hidden(), "Escape leaves the layer's numbers open")
    page.keyboard.press("Tab")
    failures.check(not page.evaluate(on_graph), "Tab does not lead out of the graph")
    help_text = page.locator("#graph-help").inner_text()
    failures.check(all(word in help_text for word in ("Tab", "Enter", "Escape", "Shift")), f"the help says {help_text!r}")


class Fingers:
    """Touches as a screen sends them, which the browser makes gestures of."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.session: CDPSession = page.context.new_cdp_session(page)

    def send(self, kind: str, points: list[Point]) -> None:
        touches = [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)]
        self.session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})
        self.page.wait_for_timeout(20)

    def move(self, starts: list[Point], ends: list[Point], steps: int = 12) -> None:
        """Down one after the other, as fingers come, then together to where they end."""
        for count in range(1, len(starts) + 1):
            self.send("touchStart", starts[:count])
        for step in range(1, steps + 1):
            share = step / steps
            self.send(
                "touchMove",
                [(a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share) for a, b in zip(starts, ends, strict=True)],
            )
        self.send("touchEnd", [])
        self.page.wait_for_timeout(400)


def check_graph_touch(browser: Browser, report: Path, failures: Failures) -> None:
    """Two fingers zoom the graph and not the page, one moves what is zoomed, and the page never stands still for it."""
    context = browser.new_context(
        offline=True, has_touch=True, is_mobile=True, viewport={"width": NARROW[0], "height": NARROW[1]}
    )
    page = context.new_page()
    page.goto(report.as_uri())
    fingers = Fingers(page)

    def place() -> dict[str, float]:
        found: dict[str, float] = page.evaluate(
            """() => {
              const box = document.querySelector('#graph-view').getBoundingClientRect();
              const { x, y, k } = d3.zoomTransform(document.querySelector('#graph-view svg'));
              return { left: box.left, top: box.top, middle: (box.left + box.right) / 2, height: box.height, x, y, k, scroll: scrollY, page: visualViewport.scale };
            }"""
        )
        return found

    def centre() -> dict[str, float]:
        page.evaluate("document.getElementById('graph-view').scrollIntoView({ block: 'center' })")
        page.wait_for_timeout(100)
        return place()

    before = centre()
    middle, low = before["middle"], before["top"] + 0.8 * before["height"]
    fingers.move([(middle, low)], [(middle, low - 200)])
    after = place()
    failures.check(after["scroll"] > before["scroll"] + 50, "one finger does not scroll the page over the whole graph")
    failures.check(after["k"] == before["k"], "one finger that scrolls moves the graph")

    before = centre()
    centre_y = before["top"] + before["height"] / 2
    fingers.move([(middle - 20, centre_y), (middle + 20, centre_y)], [(middle - 90, centre_y), (middle + 90, centre_y)])
    after = place()
    failures.check(after["k"] > 2 * before["k"], f"two fingers zoom from {before['k']} to {after['k']}")
    failures.check(after["page"] == 1, f"two fingers on the graph zoom the page to {after['page']}")

    before = after
    fingers.move([(middle, centre_y)], [(middle - 30, centre_y - 25)])
    after = place()
    failures.check(abs(after["x"] - before["x"] + 30) < 12, f"a finger 30 px to the left moves the graph by {after['x'] - before['x']}")
    failures.check(after["scroll"] == before["scroll"], "the page scrolls while the graph follows the finger")

    # On beyond the graph's end: what it cannot follow is the page's.
    for _ in range(8):
        before = centre()
        fingers.move([(middle, before["top"] + 0.9 * before["height"])], [(middle, before["top"] + 0.1 * before["height"])])
        after = place()
    failures.check(after["scroll"] > before["scroll"] + 50, "a zoomed graph holds the finger at its end")
    failures.check(after["y"] >= before["y"] - 1, "the graph's end is not its end")

    centre()
    page.locator("#graph-fit").click()
    page.wait_for_timeout(400)
    node = page.locator("#graph-view .node").first
    node.scroll_into_view_if_needed()
    node.tap()
    page.wait_for_timeout(200)
    focused = page.evaluate("document.activeElement.closest('tr')?.id || ''")
    failures.check(focused.startswith("row-"), "a tap on a layer does not open its row")
    context.close()
