"""The pages in a real browser: they look as they should and ask nobody for anything."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import chromium
import pytest
from axe_playwright_python.sync_playwright import Axe
from class_of import hostile_class, many_grades
from playwright.sync_api import Browser, Page

from grader import classlist
from grader.assignment import load

SIZES = {"phone": 360, "desk": 1280}
MOST_SECONDS, MOST_BYTES = 2.0, 3_000_000


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's chromium."""
    if chromium.path() is None:
        pytest.skip("there is no chromium here: apt-get install chromium")
    with chromium.browser() as opened:
        yield opened


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of a small class, with a payload wherever a student may write."""
    out = tmp_path_factory.mktemp("results")
    return hostile_class(out, 12)


class Opened:
    """A page, and what it asked for, said and ran."""

    def __init__(self, page: Page, path: Path) -> None:
        self.page = page
        self.requests: list[str] = []
        self.problems: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.problems.append(message.text))
        page.on("pageerror", lambda problem: self.problems.append(str(problem)))
        page.on("dialog", lambda dialog: self.problems.append(f"dialog {dialog.message}"))
        page.goto(path.as_uri())


@pytest.fixture
def show(browser: Browser) -> Iterator[Callable[..., Opened]]:
    """Opens a file in a context of its own."""
    contexts = []

    def opened(path: Path, width: int = 1280, **options: Any) -> Opened:
        context = browser.new_context(viewport={"width": width, "height": 800}, **options)
        contexts.append(context)
        return Opened(context.new_page(), path)

    yield opened
    for context in contexts:
        context.close()


def _pages(folder: Path) -> dict[str, Path]:
    students = sorted(path for path in folder.iterdir() if path.is_dir())
    return {"class": folder / "index.html", "student": students[0] / "feedback.html"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", ["class", "student"])
def test_a_page_renders_without_overflow_and_is_accessible(
    show: Callable[..., Opened], folder: Path, kind: str, size: str, scheme: str
) -> None:
    opened = show(_pages(folder)[kind], SIZES[size], color_scheme=scheme)
    page = opened.page
    assert page.locator("h1").count() == 1
    assert page.locator("h1").is_visible()
    widths = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert widths[0] <= widths[1]
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(255, 255, 255)") == (scheme == "light")
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    found = Axe().run(page).response["violations"]
    serious = [one for one in found if one["impact"] in ("serious", "critical")]
    assert not serious, [(one["id"], one["nodes"][0]["html"]) for one in serious]
    assert opened.problems == []


@pytest.mark.parametrize("kind", ["class", "student"])
def test_no_request_leaves_a_page(show: Callable[..., Opened], folder: Path, kind: str) -> None:
    opened = show(_pages(folder)[kind])
    opened.page.wait_for_load_state("networkidle")
    assert opened.requests == [_pages(folder)[kind].as_uri()]


def test_no_payload_runs(show: Callable[..., Opened], folder: Path) -> None:
    """Nor would one that got into a page: the policy lets no script run but the class page's."""
    students = sorted(path for path in folder.iterdir() if path.is_dir())
    for path in (folder / "index.html", *(student / "feedback.html" for student in students[:3])):
        opened = show(path)
        page = opened.page
        assert "<b>payload" in page.locator("body").inner_text()
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        page.mouse.move(300, 300)
        page.wait_for_timeout(50)
        assert page.evaluate("window.ran") is None
        assert page.locator("img, iframe, object, form, b[onclick]").count() == 0
        links = page.eval_on_selector_all("a", "all => all.map((a) => a.protocol)")
        assert set(links) <= {"file:"}
        assert opened.problems == []
        page.evaluate(
            "() => { const s = document.createElement('script'); s.textContent = 'window.ran = 1';"
            " document.body.append(s); }"
        )
        assert page.evaluate("window.ran") is None


def test_links_lead_to_the_students_pages(show: Callable[..., Opened], folder: Path) -> None:
    page = show(folder / "index.html").page
    page.locator("#class tbody a").nth(2).click()
    assert page.url.endswith("/feedback.html")
    assert page.locator(".total").is_visible()


def _column(page: Page, number: int) -> list[str]:
    rows = page.locator("#class tbody tr:visible")
    return [row.locator("th, td").nth(number).inner_text() for row in rows.all()]


def test_the_table_sorts(show: Callable[..., Opened], folder: Path) -> None:
    page = show(folder / "index.html").page
    before = _column(page, 1)
    numbers = sorted(map(float, before))
    head = page.locator("#class thead th").nth(1)
    head.locator("button").click()
    assert list(map(float, _column(page, 1))) == numbers
    assert head.get_attribute("aria-sort") == "ascending"
    head.locator("button").click()
    assert list(map(float, _column(page, 1))) == numbers[::-1]
    assert head.get_attribute("aria-sort") == "descending"
    page.locator("#class thead th button").first.press("Enter")
    names = _column(page, 0)
    assert names == page.evaluate("(all) => all.sort((a, b) => a.localeCompare(b))", names)


def test_the_table_filters(show: Callable[..., Opened], folder: Path) -> None:
    page = show(folder / "index.html").page
    count = len(_column(page, 0))
    page.locator("#filter").fill("TIMEOUT")
    shown = _column(page, 0)
    assert 0 < len(shown) < count
    assert page.locator("#shown").inner_text() == f"{len(shown)} / {count}"
    page.locator("#filter").fill("")
    assert len(_column(page, 0)) == count


def test_the_class_is_readable_without_script(show: Callable[..., Opened], folder: Path) -> None:
    page = show(folder / "index.html", java_script_enabled=False).page
    assert len(_column(page, 0)) == 12
    assert not page.locator("#tools").is_visible()
    page.locator("summary").first.click()
    assert page.locator("details[open] a").count() > 0


def test_a_page_prints_whole(show: Callable[..., Opened], folder: Path) -> None:
    page = show(_pages(folder)["student"]).page
    page.emulate_media(media="print")
    boxes = page.eval_on_selector_all(
        "pre", "all => all.map((a) => [a.scrollHeight, a.clientHeight])"
    )
    assert boxes
    assert all(inner <= outer + 1 for inner, outer in boxes if outer)
    assert len(page.pdf()) > 10_000


def test_a_class_of_a_thousand_is_small_and_opens_at_once(browser: Browser, tmp_path: Path) -> None:
    many_grades(tmp_path, 1_000)
    start = time.perf_counter()
    path = classlist.save(tmp_path, load("layers"))
    saved = time.perf_counter() - start
    size = path.stat().st_size
    seconds = min(_seconds_to_open(browser, path) for _ in range(5))  # others may be at work
    print(f"1,000 students: {size:,} bytes, made in {saved:.1f} s, opened in {seconds:.2f} s")
    assert size < MOST_BYTES
    assert seconds < MOST_SECONDS


def _seconds_to_open(browser: Browser, path: Path) -> float:
    """Until the table is there and its script has run."""
    page = browser.new_page()
    start = time.perf_counter()
    page.goto(path.as_uri())
    assert page.locator("#shown").inner_text() == "1000 / 1000"
    seconds = time.perf_counter() - start
    page.locator("#filter").fill("s0500")
    assert page.locator("#class tbody tr:visible").count() == 1
    page.close()
    return seconds


def test_codes_are_stable_and_tell_no_name(show: Callable[..., Opened], tmp_path: Path) -> None:
    many_grades(tmp_path, 6)
    assignment = load("layers")
    first = classlist.save_anonymous(tmp_path, assignment).read_text("utf-8")
    assert classlist.save_anonymous(tmp_path, assignment).read_text("utf-8") == first
    opened = show(tmp_path / "layers" / "anonymous.html")
    codes = _column(opened.page, 0)
    assert len(set(codes)) == 6
    assert codes == sorted(codes)
    for number in range(6):
        assert f"s{number:04}" not in first
    assert opened.page.locator("a").count() == 0
