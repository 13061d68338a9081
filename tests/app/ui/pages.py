"""A page of the interface as a test uses it, with everything recorded that must not happen."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

AXE = Path(__file__).resolve().parents[2] / "data" / "axe.min.js"
START_MILLISECONDS = 300_000
"""The first index takes its time; the page waits for it by itself."""
SHIFTS = """
window.pvShift = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.pvShift += entry.value;
}).observe({ type: "layout-shift", buffered: true });
"""


class ChatPage:
    """The chat in one browser page."""

    def __init__(
        self,
        browser: Any,
        url: str,
        *,
        scheme: str = "light",
        size: dict[str, int] | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        self.context = browser.new_context(
            viewport=size or {"width": 1280, "height": 800},
            color_scheme=scheme,
            locale="en-US",
            accept_downloads=True,
            extra_http_headers=headers or {},
        )
        self.page = self.context.new_page()
        self.faults: list[str] = []
        self.outside: list[str] = []
        self.page.on("console", lambda m: self.faults.append(m.text) if m.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda e: self.faults.append(str(e)))
        self.page.on("response", lambda r: self.faults.append(f"{r.status} {r.url}") if r.status >= 400 else None)
        self.page.on("request", self._watch)
        self.page.add_init_script(SHIFTS)
        self.page.goto(url)
        self.page.wait_for_selector(".pv-knows", state="attached", timeout=START_MILLISECONDS)

    def _watch(self, request: Any) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in ("data", "blob") and parts.hostname != "127.0.0.1":
            self.outside.append(request.url)

    def ask(self, question: str) -> Any:
        """Types the question, presses Enter, and gives the turn that appears."""
        count = self.page.locator(".pv-turn").count()
        self.page.fill("#pv-question textarea", question)
        self.page.press("#pv-question textarea", "Enter")
        return self.page.locator(f'[data-turn="t{count + 1}"]')

    def answer(self, question: str) -> Any:
        """As `ask`, but waits for the end."""
        turn = self.ask(question)
        turn.locator(".pv-actions").wait_for()
        return turn

    def open_tab(self, name: str) -> None:
        self.page.get_by_role("tab", name=name, exact=True).click()

    def tabs(self) -> list[str]:
        """The names of the tabs, from left to right."""
        return [str(text) for text in self.page.get_by_role("tab").all_inner_texts()]

    def pane(self) -> Any:
        return self.page.locator("#pv-pane .pv-pane-body")

    def shift(self) -> float:
        return float(self.page.evaluate("window.pvShift"))

    def accessibility_faults(self) -> list[str]:
        """See `accessibility_faults`."""
        return accessibility_faults(self.page)

    def close(self) -> None:
        self.context.close()
        assert self.outside == []
        assert self.faults == []


def accessibility_faults(page: Any) -> list[str]:
    """What axe-core finds on the page as it is, as `rule: element`."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    result = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    return [f"{rule['id']}: {node['html']}" for rule in result["violations"] for node in rule["nodes"]]
