"""A page in a real Chromium, offline, and what every page of ours must keep: no request, no error, no barrier."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

WIDE = (1280, 900)
NARROW = (390, 844)
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
