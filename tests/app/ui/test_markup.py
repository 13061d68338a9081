"""Every character that is highlighted is one that was asked for, and nothing of a text becomes markup."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from app.ui.markup import inline_html, section_html
from tests.app.ui.fake_service import DOCUMENTS, HOSTILE, read_entry


class Reader(HTMLParser):
    """Collects tags, attributes, all text and the text inside `mark`."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.marked = ""
        self.text = ""
        self._inside = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)
        self._inside = self._inside or tag == "mark"

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "mark"

    def handle_data(self, data: str) -> None:
        self.text += data
        self.marked += data if self._inside else ""


def bare(markdown: str) -> str:
    """A quote without Markdown and spaces: what must be highlighted, character by character."""
    return tight("".join(re.sub(r"^\s*(- |\d+\. |#+ )", "", line) for line in markdown.split("\n")))


def tight(text: str) -> str:
    return re.sub(r"[\s*|`_\\]", "", text)


def quotes(text: str) -> list[tuple[int, int]]:
    lines = [(m.start(), m.end()) for m in re.finditer(r"[^\n]+", text) if not re.fullmatch(r"[|\-: ]+", m.group())]
    sentences = [(m.start(1), m.end(1)) for m in re.finditer(r"(?:^|\. )([A-ZÄÖÜ*][^\n.]{20,}\.)", text)]
    return lines + sentences


def marked(text: str, *spans: tuple[int, int]) -> str:
    return Reader(section_html(text, spans)).marked


@pytest.mark.load
def test_highlights_exactly_every_line_and_sentence_of_the_knowledge_base():
    seen = 0
    for path in sorted(DOCUMENTS.glob("*.md")):
        for section in read_entry(path).sections:
            for start, end in quotes(section.text):
                seen += 1
                assert tight(marked(section.text, (start, end))) == bare(section.text[start:end]), (
                    path.name,
                    section.text[start:end],
                )
    assert seen > 4000


def test_highlights_a_table_row_as_a_row():
    text = "| Kennzahl | Wert |\n|---|---|\n| Grenze | 551,10 € |\n| Satz | 1,53 % |"
    row = "| Grenze | 551,10 € |"
    html = section_html(text, [(text.index(row), text.index(row) + len(row))])
    assert html.count('<tr class="pv-hit-row">') == 1
    assert Reader(html).marked == "Grenze551,10\N{NO-BREAK SPACE}€"


def test_highlights_the_second_of_two_equal_sentences():
    text = "Es gilt eins.\n\nEs gilt eins."
    html = section_html(text, [(15, 28)])
    assert html == '<p>Es gilt eins.</p><p><mark class="pv-hit" id="pv-hit">Es gilt eins.</mark></p>'


def test_highlights_the_second_of_two_equal_cells():
    text = "| A | B |\n|---|---|\n| fünf | fünf |"
    html = section_html(text, [(text.rindex("fünf"), text.rindex("fünf") + 4)])
    assert html.endswith('<td>fünf</td><td><mark class="pv-hit" id="pv-hit">fünf</mark></td></tr></tbody></table></div>')


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("Vorher **fett** und `code` danach.", "fett** und `code` da"),
        ("Ein *kursives* Wort, ein _anderes_.", "kursives* Wort, ein _anderes_"),
        ("Punkt\n\n1. Erster Fall\n2. Zweiter Fall", "2. Zweiter Fall"),
        ("- Liste\n  - tiefer\n  - noch einer", "- tiefer\n  - noch"),
        ("> Zitat über\n> zwei Zeilen.", "über\n> zwei"),
        ("### Beispiel\n\nText", "### Beispiel"),
        ("```\nwert = 5\nsatz = 6\n```", "satz = 6"),
        (r"Ein Stern \* und ein Strich \| hier.", r"\* und ein Strich \|"),
        ("A &amp; B kosten < 5 €.", "&amp; B kosten < 5"),
        ("| a | b |\n|--|--|\n| x \\| y | **z** |", r"| x \| y | **z** |"),
        ("Zeile eins\nZeile zwei", "eins\nZeile"),
    ],
)
def test_follows_markup_between_the_characters(text: str, quote: str):
    start = text.index(quote)
    expected = bare(quote.replace("> ", "").replace("\n  - ", "\n"))
    assert tight(marked(text, (start, start + len(quote)))) == expected


def test_highlights_several_places_and_anchors_the_first():
    text = "Eins. Zwei. Drei."
    html = section_html(text, [(0, 5), (12, 17)])
    assert html == '<p><mark class="pv-hit" id="pv-hit">Eins.</mark> Zwei. <mark class="pv-hit">Drei.</mark></p>'


def test_highlights_nothing_without_a_place():
    assert "<mark" not in section_html(Path(DOCUMENTS / "pv-sv-05.md").read_text(encoding="utf-8"))


def test_shows_hostile_text_as_text():
    html = section_html(HOSTILE, [(0, len(HOSTILE))])
    reader = Reader(html)
    assert reader.tags <= {"p", "div", "table", "thead", "tbody", "tr", "th", "td", "mark", "strong"}
    assert reader.attributes <= {"class", "id", "tabindex", "role", "aria-label", "scope"}
    assert "<script>window.pwned = 1</script>" in reader.text
    assert "![x](https://evil.example/pixel.png) [klick](javascript:window.pwned=4)" in reader.text


@pytest.mark.parametrize(
    "text",
    ["<img src=x onerror=alert(1)>", "[a](javascript:alert(1))", "![a](http://x/y)", "<http://x>", "&lt;b&gt;", "a\n\n<div>"],
)
def test_claims_carry_no_markup_but_emphasis(text: str):
    assert Reader(inline_html(text)).tags == set()
    assert Reader(inline_html(text)).text.replace("\n", "") == text.replace("\n", "")


def test_claims_keep_emphasis():
    assert inline_html("beträgt **551,10 €**") == "beträgt <strong>551,10\N{NO-BREAK SPACE}€</strong>"
