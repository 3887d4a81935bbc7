"""What a reader relies on in a report's table of layers: order, filters, columns, numbers, details, candidates."""

from __future__ import annotations

from pathlib import Path

from browser import Failures
from playwright.sync_api import Page


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


def check_candidates(page: Page, failures: Failures) -> None:
    """An opened layer shows each of its candidates: as a mark, as a line, and why the others did not run."""
    data = page.evaluate("() => JSON.parse(document.getElementById('report-data').textContent)")
    name = "/layer3/layer3.1/conv2/Conv"
    layer = next(one for one in data["layers"] if one["name"] == name)
    workload = data["workloads"][layer["workload"]]
    ran = [one for one in workload["candidates"] if "latency_us" in one]
    page.locator("#filter-text").fill(name)
    page.locator("#layer-table .disclosure").first.click()
    blocks = page.locator("#layer-table tr.detail .candidates")
    regions = [region for region in data["regions"] if region["chosen"] and data["layers"][region["layers"][0]]["name"] == name]
    row = next(row for row in data["rows"] if layer is data["layers"][row["main_layer"] or 0])
    expected = sum(data["layers"][index]["workload"] is not None for index in row["layers"]) + len(regions)
    failures.check(blocks.count() == expected, f"{blocks.count()} blocks of candidates instead of {expected}")
    block = blocks.first
    marks = block.locator("svg .mark").count()
    failures.check(marks == len(ran), f"{marks} marks for {len(ran)} candidates")
    for role in ("best", "choice"):
        count = block.locator(f"svg .mark.{role}").count()
        failures.check(count == 1, f"{count} marks are {role}")
    failures.check("library's choice" in (block.locator("svg").text_content() or ""), "the choice has no label")
    broken = block.locator("svg").evaluate(
        "(svg) => Array.from(svg.querySelectorAll('*')).filter((n) => Array.from(n.attributes).some((a) => /NaN|undefined|Infinity/.test(a.value))).length"
    )
    failures.check(broken == 0, f"the plot of candidates has {broken} elements with broken numbers")
    collisions = block.locator("svg").evaluate(
        """(svg) => {
          const texts = Array.from(svg.querySelectorAll('text')).map((t) => [t.textContent, t.getBoundingClientRect()]);
          return texts.flatMap(([a, ra], i) => texts.slice(i + 1).filter(([b, rb]) =>
            ra.left < rb.right - 1 && rb.left < ra.right - 1 && ra.top < rb.bottom - 3 && rb.top < ra.bottom - 3).map(([b]) => `'${a}' meets '${b}'`));
        }"""
    )
    failures.check(not collisions, f"in the plot of candidates {collisions}")
    # Of a fused row the run's time is that of the region that is the whole row, and each layer's roofline is its own.
    failures.check(block.locator("svg .across.measured").count() == 0, "a part of a row has the time of the whole")
    failures.check(block.locator("svg .across.floor").count() == 1, "the layer's roofline is not drawn")
    if regions:
        line = blocks.last.locator("svg").get_attribute("aria-label") or ""
        measured = blocks.last.locator("svg .across.measured").count()
        failures.check(measured == 1 and "onnxruntime" in line, f"the run's time is not drawn: {line}")
    failures.check(block.locator("tbody tr").count() < len(ran), "the slowest candidates are not cut off")
    block.locator("button.more").click()
    cells: list[list[str]] = block.locator("tbody tr").evaluate_all(
        "(rows) => rows.map((row) => Array.from(row.cells).map((cell) => cell.textContent))"
    )
    failures.check(len(cells) == len(ran), f"{len(cells)} lines for {len(ran)} candidates")
    times = [float(line[1].removesuffix(" µs").replace(",", "")) for line in cells]
    failures.check(times == [round(one["latency_us"], 3) for one in ran], f"the table shows {times}")
    failures.check(
        all(line[0].startswith(one["name"]) for line, one in zip(cells, ran, strict=True)), "names are not the data's"
    )
    rest = block.locator(".not-run").inner_text()
    for one in workload["candidates"]:
        if "outcome" in one:
            line = f"{one['outcome']}: {one['reason']}"
            failures.check(line in rest and one["name"] in rest, f"{line!r} is not shown in {rest!r}")
    page.locator("#layer-table .disclosure").first.click()
    page.locator("#filter-text").fill("")


def check_download(page: Page, failures: Failures) -> None:
    with page.expect_download() as info:
        page.locator("#download").click()
    lines = Path(info.value.path()).read_bytes().decode().split("\r\n")
    failures.check(
        lines[0].startswith("label,op,family"), f"the CSV starts with {lines[0]!r}"
    )
    failures.check(len(lines) > 50, f"the CSV has {len(lines)} lines")
