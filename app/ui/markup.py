"""Markdown of a section as safe HTML, with an exact part of it highlighted.

Nothing of the text becomes markup of its own: raw HTML, links, images and entities are switched off in the parser and
shown as written; everything is escaped. The highlight is found by offsets: every character that is rendered is traced back to the
code point of the section text it comes from.
"""

import re
from collections.abc import Iterator, Sequence
from html import escape

from markdown_it import MarkdownIt
from markdown_it.token import Token

_PARSER = (
    MarkdownIt("commonmark")
    .enable("table")
    .disable(["html_block", "html_inline", "link", "image", "autolink", "entity", "reference"])
)
_INLINE_TAGS = {"strong_open": "<strong>", "strong_close": "</strong>", "em_open": "<em>", "em_close": "</em>"}
_UNIT = re.compile(r"(?<=\d) (?=[€%])")
_SKIPPED = frozenset("*_`\\|>#-+ \t\n")
"""What may stand in the source between two rendered characters: emphasis, code, escapes, table and line markup."""


def section_html(text: str, highlights: Sequence[tuple[int, int]] = ()) -> str:
    """The section as HTML; each half-open range of code points in `highlights` is wrapped in `<mark class="pv-hit">`.

    The first highlighted piece has the id `pv-hit`. A range that covers markup only highlights nothing.
    """
    return "".join(_Renderer(text, highlights).render())


class _Renderer:
    """One pass over the tokens of one section."""

    def __init__(self, text: str, highlights: Sequence[tuple[int, int]]) -> None:
        self._text = text
        self._highlights = highlights
        self._line_starts = [0, *(i + 1 for i, char in enumerate(text) if char == "\n")]
        self._cursor = 0
        self._anchored = False

    def render(self) -> Iterator[str]:
        for token in _PARSER.parse(self._text):
            yield self._block(token)

    def _block(self, token: Token) -> str:
        if token.type == "inline":
            self._move_to(token)
            return "".join(self._inline(token.children or []))
        if token.type in ("fence", "code_block"):
            return self._code(token)
        if token.hidden or not token.tag:
            return ""
        return self._closed(token) if token.nesting == -1 else self._opened(token)

    def _code(self, token: Token) -> str:
        if token.map:
            first_line = token.map[0] + (1 if token.type == "fence" else 0)
            self._cursor = max(self._cursor, self._line_starts[first_line])
        return f'<pre tabindex="0"><code>{self._marked(token.content)}</code></pre>'

    def _opened(self, token: Token) -> str:
        match token.type:
            case "table_open":
                return '<div class="pv-table" tabindex="0" role="region" aria-label="Tabelle"><table>'
            case "th_open":
                return '<th scope="col">'
            case "tr_open" if token.map and self._covers_line(token.map[0]):
                return '<tr class="pv-hit-row">'
            case "ordered_list_open" if (start := token.attrGet("start")) is not None:
                return f'<ol start="{int(start)}">'
            case _:
                return f"<{_lowered_heading(token.tag)}>"

    def _closed(self, token: Token) -> str:
        return "</table></div>" if token.type == "table_close" else f"</{_lowered_heading(token.tag)}>"

    def _covers_line(self, line: int) -> bool:
        start = self._line_starts[line]
        end = self._line_starts[line + 1] - 1 if line + 1 < len(self._line_starts) else len(self._text)
        row = self._text[start:end]
        first, last = start + len(row) - len(row.lstrip("| ")), start + len(row.rstrip("| "))
        return any(s <= first and last <= e for s, e in self._highlights)

    def _move_to(self, token: Token) -> None:
        line_start = self._line_starts[token.map[0]] if token.map else self._cursor
        self._cursor = max(self._cursor, line_start)
        first_line = token.content.split("\n", 1)[0]
        found = self._text.find(first_line, self._cursor) if first_line else -1
        if found >= 0:
            self._cursor = found

    def _inline(self, children: Sequence[Token]) -> Iterator[str]:
        for child in children:
            if child.type in ("text", "text_special"):
                yield self._marked(child.content)
            elif child.type == "code_inline":
                yield f"<code>{self._marked(child.content)}</code>"
            elif child.type == "softbreak":
                yield self._marked("\n")
            elif child.type == "hardbreak":
                yield "<br>"
            else:
                yield _INLINE_TAGS.get(child.type, "")

    def _marked(self, rendered: str) -> str:
        pieces: list[str] = []
        plain: list[str] = []
        inside = False
        for char in rendered:
            hit = self._is_hit(self._trace(char))
            if hit != inside:
                pieces.append(self._piece("".join(plain), inside))
                plain, inside = [], hit
            plain.append(char)
        pieces.append(self._piece("".join(plain), inside))
        return "".join(pieces)

    def _trace(self, char: str) -> int:
        """The offset of the next source character that renders as `char`; moves the cursor behind it."""
        position = self._cursor
        while position < len(self._text) and self._text[position] != char and self._text[position] in _SKIPPED:
            position += 1
        self._cursor = min(position + 1, len(self._text))
        return position

    def _is_hit(self, offset: int) -> bool:
        return any(start <= offset < end for start, end in self._highlights)

    def _piece(self, text: str, hit: bool) -> str:
        if not text:
            return ""
        shown = escape(_unbroken(text))
        if not hit:
            return shown
        anchor = "" if self._anchored else ' id="pv-hit"'
        self._anchored = True
        return f'<mark class="pv-hit"{anchor}>{shown}</mark>'


def _lowered_heading(tag: str) -> str:
    """Headings inside a section come below the section's own heading, which is an h3 of the page."""
    return f"h{min(int(tag[1]) + 1, 6)}" if len(tag) == 2 and tag[0] == "h" and tag[1].isdigit() else tag


def inline_html(text: str) -> str:
    """One line of Markdown as safe HTML: emphasis and code only, everything else as written."""
    rendered: str = _PARSER.renderInline(_unbroken(text))
    return rendered


def _unbroken(text: str) -> str:
    """No line break between a number and its unit."""
    return _UNIT.sub("\N{NO-BREAK SPACE}", text)
