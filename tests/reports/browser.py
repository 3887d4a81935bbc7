"""A page in a real Chromium, offline, and what every page of ours must keep: no request, no error, no barrier."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

WIDE = (1280, 900)
NARROW = (390, 844)
PAPER = (718, 1040)  # what A4 leaves between margins of a centimetre, in CSS pixels
# What a printed page would cut off: elements and lines that stand out of it or of their own box.
CUT_OFF = """() => {
  const right = document.documentElement.clientWidth + 0.5;
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  const visible = (node) => !node.closest('.visually-hidden, .skip, script, style, noscript');
  while (walker.nextNode()) {
    if (!walker.currentNode.data.trim() || !visible(walker.currentNode.parentElement)) continue;
    range.selectNodeContents(walker.currentNode);
    const box = range.getBoundingClientRect();
    if (box.width > 0 && (box.right > right || box.left < 0)) found.push(`text '${walker.currentNode.data.slice(0, 60)}'`);
  }
  for (const node of document.querySelectorAll('body *')) {
    const box = node.getBoundingClientRect();
    if (box.width === 0 || box.height === 0 || !visible(node)) continue;
    const name = `${node.tagName} ${node.id || node.getAttribute('class') || ''}`;
    if (!node.closest('svg') && (box.right > right || box.left < -4)) found.push(name);
    const clips = !node.closest('svg') && getComputedStyle(node).overflow !== 'visible';
    if (clips && (node.scrollWidth > node.clientWidth + 1 || node.scrollHeight > node.clientHeight + 1)) found.push(`${name} is cut`);
  }
  return found;
}"""
# A layer of the sample report, as tests/reports/sample_report.h has it.
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
    site: Path | None = None,
) -> Iterator[Page]:
    """The report in a fresh offline context; errors, dialogs and requests, but for files of its site, count as failures."""
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
            or request.url.startswith(("data:", "blob:"))
            or (site is not None and request.url.startswith(site.as_uri() + "/")),
            f"{where}: request: {request.url}",
        ),
    )
    page.goto(report.as_uri())
    try:
        yield page
    finally:
        context.close()


def check_accessibility(page: Page, where: str, failures: Failures) -> None:
    # Without a request of its own for style sheets, which the page's policy forbids.
    violations = Axe().run(page, options={"preload": False}).response["violations"]
    for violation in violations:
        nodes = "; ".join(str(node["html"])[:160] for node in violation["nodes"][:3])
        failures.check(
            violation["impact"] not in ("serious", "critical", "moderate"),
            f"{where}: axe: {violation['id']}: {violation['help']}: {nodes}",
        )


def pdf_scale(pdf: bytes) -> float:
    """What Chromium draws a CSS pixel at, of the 1/96 inch that it is; the least of all pages, 0 where none tells."""
    scales = []
    for stream in re.finditer(rb"stream\r?\n(.*?)endstream", pdf, re.DOTALL):
        try:
            text = zlib.decompress(stream.group(1))
        except zlib.error:
            continue  # fonts and images
        # Of a page the first transformation is from its device's dots, 300 an inch; the next one makes them pixels.
        found = re.match(rb"\.2\d+ 0 0 -\.2\d+ 0 \S+ cm.*?([\d.]+) 0 0 \1 \S+ \S+ cm", text, re.DOTALL)
        if found:
            scales.append(float(found.group(1)) * 96 / 300)
    return min(scales, default=0.0)


def check_print(page: Page, where: str, failures: Failures) -> None:
    """On A4 nothing is cut off or made smaller so that it fits, and afterwards all is as before."""
    before = page.viewport_size or {"width": WIDE[0], "height": WIDE[1]}
    shown = page.locator("main").inner_text()
    scale = pdf_scale(page.pdf(format="A4", print_background=True))
    failures.check(scale > 0.999, f"{where}: the browser prints it {scale:.2f} times as large, so that it fits A4")
    page.set_viewport_size({"width": PAPER[0], "height": PAPER[1]})
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    cut = page.evaluate(CUT_OFF)
    failures.check(not cut, f"{where}: {len(cut)} things are cut off on paper: {cut[:6]}")
    excess = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    failures.check(excess <= 0, f"{where}: printed it is {excess} px too wide")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="null")
    page.set_viewport_size(before)
    page.wait_for_timeout(300)
    failures.check(page.locator("main").inner_text() == shown, f"{where}: after printing the page is another")


def check_rows_on_paper(page: Page, table: str, expected: int, failures: Failures) -> None:
    """A table of which the page shows the first rows is completed for printing."""
    rows = page.locator(f"{table} tbody tr")
    before = rows.count()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    failures.check(rows.count() == expected, f"{table} has {rows.count()} rows on paper, not {expected}")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    failures.check(rows.count() == before, f"{table} has {rows.count()} rows after printing, {before} before")


def check_no_sideways_scrolling(page: Page, failures: Failures) -> None:
    excess = page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    failures.check(
        excess <= 0, f"the page is {excess} px too wide at {page.viewport_size}"
    )
