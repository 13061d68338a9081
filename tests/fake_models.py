"""Behaviours of fake models: one that answers honestly from the blocks of its prompt, and many that go wrong.

A behaviour that goes wrong is mostly a wrapper around another one: `altering(honest(), "551,10", "511,10")`.
"""

import json
import re
import unicodedata
import zlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tests.fake_wire import Behaviour, Block, ChatCall, Reply

Draft = dict[str, Any]
SILENT: Draft = {"silent": True, "claims": [], "unanswered": [], "follow_up": None}
_STOP = frozenset(
    "wie was wer wann wo welche welcher welches hoch viel viele gilt sind ist wird werden der die das den dem "
    "ein eine einen einem".split()
)


def draft(*claims: tuple[str, list[str]] | Draft, unanswered: tuple[str, ...] = (), follow_up: str | None = None) -> Draft:
    """A draft from (text, sources) pairs or whole claim objects."""
    objects = [claim if isinstance(claim, dict) else {"text": claim[0], "sources": claim[1]} for claim in claims]
    return {"silent": False, "claims": objects, "unanswered": list(unanswered), "follow_up": follow_up}


def as_json(value: Draft) -> str:
    return json.dumps(value, ensure_ascii=False)


def says(value: Draft) -> Behaviour:
    """Always the same draft."""
    return lambda call: Reply(as_json(value))


def in_turn(*behaviours: Behaviour) -> Behaviour:
    """One behaviour per chat; the last one stays."""
    return lambda call: behaviours[min(call.number, len(behaviours) - 1)](call)


def first_then(first: Behaviour, second: Behaviour) -> Behaviour:
    """`second` writes the second drafts, `first` all others."""
    return lambda call: (second if call.second_draft else first)(call)


def honest(*, least_share: float = 0.45, most: int = 1) -> Behaviour:
    """Copies the sentences or table rows of the blocks that fit the question best, with the id of their block.

    A question with a title in brackets behind it (`Wie hoch: Mindestlohn? (Kollektivvertrag …)`) asks for what stands before
    them, in the block of that title: blocks with its words go first, and in a block the statements about what is asked.
    Silent when less than `least_share` of the question's words is found in any of them.
    """

    def answer(call: ChatCall) -> Reply:
        return Reply(as_json(honest_draft(call, least_share, most)))

    return answer


def honest_draft(call: ChatCall, least_share: float = 0.45, most: int = 1) -> Draft:
    wanted = _words(call.question)
    asked, title = map(_words, _asked_and_title(call.question))
    found = [
        (
            (len(title & _words(block.head)), _overlap(asked, text.partition(":")[0])),
            _share(wanted, text, block),
            -n,
            text,
            block.id,
        )
        for n, (text, block) in enumerate(statements(call.blocks))
    ]
    best = sorted((f for f in found if f[1] >= least_share), reverse=True)[:most]
    return draft(*((text, [block_id]) for *_, text, block_id in best)) if best else SILENT


def _asked_and_title(question: str) -> tuple[str, str]:
    """What is asked for and the title in brackets behind it; both empty when there is none."""
    asked, mark, title = question.partition("? (")
    return (asked, title) if mark and title.endswith(")") else ("", "")


def editing(behaviour: Behaviour, edit: Any) -> Behaviour:
    """`edit` changes the parsed draft of another behaviour (returns the new one)."""

    def answer(call: ChatCall) -> Reply:
        reply = behaviour(call)
        return replace(reply, content=as_json(edit(json.loads("".join(reply.pieces)))))

    return answer


def altering(behaviour: Behaviour, old: str, new: str) -> Behaviour:
    """Writes `new` wherever the other would write `old`: an altered figure, an invented norm."""

    def answer(call: ChatCall) -> Reply:
        reply = behaviour(call)
        return replace(reply, content="".join(reply.pieces).replace(old, new))

    return answer


def citing(behaviour: Behaviour, *ids: str) -> Behaviour:
    """Gives these ids as the sources of every claim, whether they were given or not."""
    return editing(behaviour, lambda d: d | {"claims": [claim | {"sources": list(ids)} for claim in d["claims"]]})


def citing_another_block(behaviour: Behaviour) -> Behaviour:
    """Cites a block that was given but is not the one that was copied (where there is another one)."""

    def answer(call: ChatCall) -> Reply:
        def other(sources: list[str]) -> list[str]:
            return [next((b.id for b in call.blocks if b.id not in sources), sources[0])]

        return editing(behaviour, lambda d: d | {"claims": [c | {"sources": other(c["sources"])} for c in d["claims"]]})(call)

    return answer


def over_refusing(behaviour: Behaviour, *, every: int = 2) -> Behaviour:
    """Silent on about every n-th question, whatever the blocks say; which ones depends on the question alone."""
    return lambda call: Reply(as_json(SILENT)) if zlib.crc32(call.question.encode()) % every == 0 else behaviour(call)


def by_question(drafts: Mapping[str, Draft], otherwise: Behaviour) -> Behaviour:
    """The draft that is written down for a question; any other question goes to `otherwise`."""
    return lambda call: Reply(as_json(drafts[call.question])) if call.question in drafts else otherwise(call)


def with_reply(behaviour: Behaviour, **changes: Any) -> Behaviour:
    """The other's reply with fields of `Reply` changed: slow, cut, without last line, prompt tokens …"""
    return lambda call: replace(behaviour(call), **changes)


def slow(behaviour: Behaviour, *, first_seconds: float = 0.0, piece_seconds: float = 0.0) -> Behaviour:
    return with_reply(behaviour, first_delay_seconds=first_seconds, piece_delay_seconds=piece_seconds)


def cut_stream(behaviour: Behaviour, after_pieces: int = 5) -> Behaviour:
    """Drops the connection in the middle."""
    return with_reply(behaviour, cut_after_pieces=after_pieces)


def prompt_cut(behaviour: Behaviour) -> Behaviour:
    """Counts half of the window, as a server does that dropped the beginning of the prompt."""
    return lambda call: replace(behaviour(call), prompt_tokens=call.tokens // 3)


def prompt_cached(behaviour: Behaviour) -> Behaviour:
    """Does not count what an older server has in its cache: everything from the system prompt on, once it has read it."""
    seen: set[str] = set()

    def answer(call: ChatCall) -> Reply:
        known = call.system in seen
        seen.add(call.system)
        return replace(behaviour(call), prompt_tokens=call.tokens // 4 if known else call.tokens)

    return answer


def fails(status: int = 500, error: str = "internal error at 10.0.0.7:11434", location: str = "") -> Behaviour:
    return lambda call: Reply(status=status, error=error, location=location)


def empty() -> Behaviour:
    return lambda call: Reply("")


def only_thinking() -> Behaviour:
    return lambda call: Reply("", thinking="Ich überlege noch, was im Block steht.")


def too_long(behaviour: Behaviour, *, until_budget: int) -> Behaviour:
    """Ends with `length`, in the middle of its JSON, as long as the budget is below `until_budget`."""

    def answer(call: ChatCall) -> Reply:
        reply = behaviour(call)
        text = "".join(reply.pieces)
        short = int(call.options["num_predict"]) < until_budget
        return replace(reply, content=text[: len(text) * 2 // 3], done_reason="length") if short else reply

    return answer


def broken_json(behaviour: Behaviour) -> Behaviour:
    """Stops in the middle of a string and says that it is done."""
    return lambda call: Reply("".join((r := behaviour(call)).pieces)[: len("".join(r.pieces)) // 2])


def duplicate_keys() -> Behaviour:
    return lambda call: Reply('{"silent": false, "claims": [{"text": "A.", "sources": [], "text": "B."}], "unanswered": []}')


def fenced(behaviour: Behaviour, before: str = "") -> Behaviour:
    return lambda call: Reply(f"{before}```json\n{''.join(behaviour(call).pieces)}\n```\n")


def stray_think(behaviour: Behaviour, *, opened: bool = False) -> Behaviour:
    """Leaks thinking into the content, with only the closing tag as some servers do."""
    lead = f"{'<think>' if opened else ''}Der Block sagt 511,10 [pv-xx-99].\n</think>\n\n"
    return lambda call: Reply(lead + "".join(behaviour(call).pieces))


def free_text(behaviour: Behaviour) -> Behaviour:
    """Ignores the schema: sentences with `[id]` marks."""

    def answer(call: ChatCall) -> Reply:
        value = json.loads("".join(behaviour(call).pieces))
        if value["silent"]:
            return Reply("Dazu enthält die Wissensbasis keine Aussage.")
        lines = [c["text"].rstrip(".") + "".join(f" [{s}]" for s in c["sources"]) + "." for c in value["claims"]]
        return Reply("\n".join(lines))

    return answer


def endless() -> Behaviour:
    """Writes on, whatever the budget."""
    pieces = ('{"silent": false, "claims": [{"text": "', *["so weiter und so fort " * 40] * 2000)
    return lambda call: Reply(pieces, ignores_budget=True)


def statements(blocks: tuple[Block, ...]) -> list[tuple[str, Block]]:
    found = []
    for block in blocks:
        for line in block.text.splitlines():
            if line.startswith("|"):
                cells = [cell.strip() for cell in line.strip("|").split("|")]
                if len(cells) >= 3 and cells[0] != "Kennzahl" and not set(cells[0]) <= set("-: "):
                    found.append((f"{cells[0]}: {cells[1]} ({cells[2]})", block))
            elif not line.startswith("#"):
                plain = re.sub(r"\*\*|^[-*] ", "", line)
                found += [
                    (s.strip(), block) for s in re.split(r"(?<=[a-zäöüß)%€][.!?])\s+(?=[A-ZÄÖÜ„])", plain) if len(s.strip()) > 20
                ]
    return found


def _words(text: str) -> set[str]:
    return {w for w in re.findall(r"\w+", _folded(text)) if (len(w) > 3 or w.isdigit()) and w not in _STOP}


def _overlap(asked: set[str], subject: str) -> float:
    """Words that both have, of all that either has; 0 when nothing is asked."""
    named = _words(subject)
    return len(asked & named) / len(asked | named) if asked else 0.0


def _share(wanted: set[str], text: str, block: Block) -> float:
    statement, around = _folded(text), _folded(f"{block.head} {block.section}")
    weights = [(len(w), 1.0 if w[:7] in statement else 0.4 if w[:7] in around else 0.0) for w in wanted]
    return sum(n * share for n, share in weights) / (sum(n for n, _ in weights) or 1)


def _folded(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", text.lower().replace("ß", "ss")) if not unicodedata.combining(c))
