"""What the server tells the page: small JSON messages that the page's script puts in place.

A message is the text of a hidden component, so that no HTML of ours goes through a component that would evaluate or
sanitise it. Messages say the whole state of what they replace: a page that misses one is right again with the next.
"""

import json
import secrets
from collections.abc import Sequence

Part = dict[str, object]
Blocks = Sequence[tuple[str, str]]


def message(*parts: Part) -> str:
    """One message; never equal to another one, because an unchanged text would not be noticed."""
    return json.dumps({"nonce": secrets.token_hex(6), "parts": parts}, ensure_ascii=False)


def slot(name: str, html: str) -> Part:
    """Fills a fixed place of the page."""
    return {"slot": name, "html": html}


def turn(turn_id: str, phase: str, blocks: Blocks) -> Part:
    """Shows a turn: its blocks in order, each with a key that is kept while it stays the same."""
    return {"turn": turn_id, "phase": phase, "blocks": [list(block) for block in blocks]}


def note(request_id: str, kind: str, text: str, *, ok: bool = True) -> Part:
    """Tells below an answer what became of a rating, comment or report."""
    return {"note": request_id, "kind": kind, "text": text, "ok": ok}


def download(file_name: str, media_type: str, content: str) -> Part:
    """Hands a text file to the browser."""
    return {"download": file_name, "type": media_type, "content": content}
