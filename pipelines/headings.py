"""Where the H1 and H2 headings of an entry are: ATX headings of CommonMark, never those in a fence, comment, list or quote."""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import islice

from markdown_it import MarkdownIt
from markdown_it.token import Token

_LINE = re.compile(
    r"^(?:(?P<hashes>#{1,2})(?!#)(?:[ \t](?P<text>.*))?|(?P<fence>`{3,})[^`\n]*|(?P<tildes>~{3,}).*)$", re.MULTILINE
)
_HEADING = re.compile(r"^#{1,2}(?!#)(?:[ \t].*)?$", re.MULTILINE)
_FENCE_END = re.compile(r"^ {0,3}(`{3,}|~{3,})[ \t]*$", re.MULTILINE)
_CLOSING = re.compile(r"(?:^|[ \t]+)#+[ \t]*$")
_AMBIGUOUS = re.compile(r"^ {0,3}<[!?/A-Za-z]|^ {1,3}(?:```|~~~|#{1,2}(?:[ \t]|$))", re.MULTILINE)
"""A block of HTML, or an indented heading or fence, which may be inside a list: the line alone does not tell what it is."""
MAX_PARSED_CHARACTERS = 250_000
"""The parser takes some ten seconds for a million characters of its worst input; the line scanner reads them in 20 ms."""
_SLUG_LENGTH = 80
_FOLDED = str.maketrans({"ä": "a", "ö": "o", "ü": "u", "ß": "ss"})


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of level 1 or 2; `text` as written, without the hashes; `line` counts from 0 in the text given."""

    level: int
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Outline:
    """The headings of level 1 and 2 in order, and the line, from 0, of a fence or comment that nothing closes, if any."""

    headings: tuple[Heading, ...]
    unclosed: int | None = None

    def sections(self, text: str) -> list[tuple[Heading, int]]:
        """The H2 headings with the line, from 0, at which their section ends: the next heading, or the text's end."""
        ends = [heading.line for heading in self.headings[1:]] + [text.count("\n") + 1]
        return [(heading, end) for heading, end in zip(self.headings, ends, strict=False) if heading.level == 2]


def read_outline(text: str) -> Outline:
    """The outline of a Markdown text with LF line ends.

    Text without HTML blocks and without indented headings and fences is read line by line, with the same result as the
    parser and some fifty times faster.
    """
    return parsed_outline(text) if is_ambiguous(text) else scanned_outline(text)


def is_ambiguous(text: str) -> bool:
    """Whether only the parser can tell where the headings are."""
    return _AMBIGUOUS.search(text) is not None


def has_more_headings(text: str, limit: int) -> bool:
    """Whether more than `limit` lines look like a heading of level 1 or 2; costs no more than finding that many."""
    return next(islice(_HEADING.finditer(text), limit, None), None) is not None


def scanned_outline(text: str) -> Outline:
    """The outline by the beginnings of lines: right for every text that is not ambiguous."""
    found: list[Heading] = []
    line = counted = position = 0
    while match := _LINE.search(text, position):
        line += text.count("\n", counted, match.start())
        counted, position = match.start(), match.end()
        if match["hashes"]:
            content = (match["text"] or "").rstrip(" \t")
            found.append(Heading(len(match["hashes"]), _CLOSING.sub("", content).strip(), line))
        else:
            end = _fence_end(text, match["fence"] or match["tildes"], position)
            if end is None:
                return Outline(tuple(found), line)
            position = end
    return Outline(tuple(found))


def parsed_outline(text: str) -> Outline:
    """The outline as CommonMark sees it, by a full block parse. A setext underline is text."""
    tokens = _block_parser().parse(text)
    headings = tuple(
        Heading(int(token.tag[1]), tokens[position + 1].content.strip(), token.map[0])
        for position, token in enumerate(tokens)
        if token.type == "heading_open" and token.level == 0 and token.tag in ("h1", "h2") and token.map is not None
    )
    return Outline(headings, _unclosed(tokens, text.split("\n")))


def _fence_end(text: str, opening: str, position: int) -> int | None:
    for match in _FENCE_END.finditer(text, position + 1):
        if match[1][0] == opening[0] and len(match[1]) >= len(opening):
            return match.end()
    return None


def _unclosed(tokens: list[Token], lines: list[str]) -> int | None:
    """The last block of the text, if it is a fence or a comment without end."""
    blocks = [token for token in tokens if token.level == 0 and token.map is not None and token.type in ("fence", "html_block")]
    if not blocks or blocks[-1] is not tokens[-1] or blocks[-1].map is None:
        return None
    block, (first, end) = blocks[-1], blocks[-1].map
    closing = _FENCE_END.fullmatch(lines[end - 1]) if end - first > 1 else None
    if block.type == "fence" and (closing is None or not closing[1].startswith(block.markup)):
        return first
    is_comment = block.type == "html_block" and block.content.lstrip().startswith("<!--")
    return first if is_comment and "-->" not in block.content else None


def slugs(headings: list[str]) -> list[str]:
    """The slug of each heading, unique in the list.

    Lower case, ä ö ü → a o u, ß → ss, everything else → one hyphen, 80 characters; a repeat gets `-2`, `-3` … behind them.
    """
    used: set[str] = set()
    repeats: Counter[str] = Counter()
    result = []
    for heading in headings:
        folded = heading.lower().translate(_FOLDED)
        base = re.sub(r"[^a-z0-9]+", "-", folded).strip("-")[:_SLUG_LENGTH].rstrip("-") or "abschnitt"
        slug = base
        while slug in used:
            repeats[base] += 1
            slug = f"{base}-{repeats[base] + 1}"
        used.add(slug)
        result.append(slug)
    return result


def without_outer_blank_lines(lines: list[str]) -> tuple[int, str]:
    """How many blank lines the text begins with, and the text without those at its beginning and end."""
    first, last = 0, len(lines)
    while first < last and not lines[first].strip():
        first += 1
    while last > first and not lines[last - 1].strip():
        last -= 1
    return first, "\n".join(lines[first:last])


@cache
def _block_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").disable("lheading")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser
