"""Where the H1 and H2 headings of an entry are: ATX headings of CommonMark, never those in a fence, comment, list or quote."""

import re
from dataclasses import dataclass
from functools import cache

from markdown_it import MarkdownIt

_HEADING = re.compile(r"^(#{1,2})(?!#)(?:[ \t](.*))?$", re.MULTILINE)
_CLOSING = re.compile(r"(?:^|[ \t]+)#+[ \t]*$")
_NEEDS_PARSER = re.compile(r"^ {0,3}(?:```|~~~|<)|^ {1,3}#{1,2}(?:[ \t]|$)", re.MULTILINE)
"""A fence, a block of HTML, or an indented heading, which may be inside a list: a line alone does not tell what it is."""
_SLUG_LENGTH = 80
_FOLDED = str.maketrans({"ä": "a", "ö": "o", "ü": "u", "ß": "ss"})


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of level 1 or 2; `text` as written, without the hashes; `line` counts from 0 in the text given."""

    level: int
    text: str
    line: int


def find_headings(text: str) -> tuple[Heading, ...]:
    """The headings of level 1 and 2 in order. `text` has LF line ends.

    Text without fences, HTML blocks and indented headings is read line by line, with the same result as the parser and
    some fifty times faster.
    """
    if _NEEDS_PARSER.search(text):
        return parsed_headings(text)
    return scanned_headings(text)


def scanned_headings(text: str) -> tuple[Heading, ...]:
    """The headings that stand at the beginning of a line, whatever surrounds them."""
    found = []
    line = position = 0
    for match in _HEADING.finditer(text):
        line += text.count("\n", position, match.start())
        position = match.start()
        content = (match[2] or "").rstrip(" \t")
        found.append(Heading(len(match[1]), _CLOSING.sub("", content).strip(), line))
    return tuple(found)


def parsed_headings(text: str) -> tuple[Heading, ...]:
    """The headings as CommonMark sees them, by a full block parse. A setext underline is text."""
    tokens = _block_parser().parse(text)
    return tuple(
        Heading(int(token.tag[1]), tokens[position + 1].content.strip(), token.map[0])
        for position, token in enumerate(tokens)
        if token.type == "heading_open" and token.level == 0 and token.tag in ("h1", "h2") and token.map is not None
    )


def unclosed_block(text: str) -> int | None:
    """The line, from 0, where a fence or an HTML comment begins that nothing closes before the text ends; else None."""
    if not _NEEDS_PARSER.search(text):
        return None
    lines = text.split("\n")
    for token in reversed(_block_parser().parse(text)):
        if token.map is None or token.level:
            continue
        last = lines[token.map[1] - 1].strip()
        open_fence = token.type == "fence" and (token.map[1] - token.map[0] < 2 or not _closes(last, token.markup))
        open_comment = token.type == "html_block" and token.content.lstrip().startswith("<!--") and "-->" not in token.content
        return token.map[0] if open_fence or open_comment else None
    return None


def _closes(line: str, markup: str) -> bool:
    return line.startswith(markup) and not line.strip(markup[0])


def slugs(headings: list[str]) -> list[str]:
    """The slug of each heading, unique in the list.

    Lower case, ä ö ü → a o u, ß → ss, everything else → one hyphen, 80 characters; a repeat gets `-2`, `-3` … behind them.
    """
    used: set[str] = set()
    result = []
    for heading in headings:
        folded = heading.lower().translate(_FOLDED)
        base = re.sub(r"[^a-z0-9]+", "-", folded).strip("-")[:_SLUG_LENGTH].rstrip("-") or "abschnitt"
        slug, repeat = base, 1
        while slug in used:
            repeat += 1
            slug = f"{base}-{repeat}"
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
