"""What is kept of a password, and how one is compared with it."""

import base64
import hashlib
import hmac
import os
import unicodedata

from pipelines.errors import BadInput

MIN_CHARACTERS = 12
MAX_CHARACTERS = 256
SALT_BYTES = 16
_COST, _BLOCK, _PARALLEL = 2**15, 8, 3
"""scrypt's parameters, of the strength that OWASP recommends: 32 MiB and about 0.2 seconds each."""
_MEMORY_BYTES = 64 * 1024 * 1024
_SCHEME = "scrypt"


def hash_password(password: str) -> str:
    """The password with a random salt, as `scrypt$cost$block$parallel$salt$hash`.

    Raises:
        BadInput: it is too short or too long.
    """
    if not MIN_CHARACTERS <= len(password) <= MAX_CHARACTERS:
        raise BadInput(
            f"The password has {len(password)} characters.", hint=f"Use {MIN_CHARACTERS} to {MAX_CHARACTERS}, e.g. four words."
        )
    salt = os.urandom(SALT_BYTES)
    derived = _derive(password, salt, _COST, _BLOCK, _PARALLEL)
    return f"{_SCHEME}${_COST}${_BLOCK}${_PARALLEL}${_text(salt)}${_text(derived)}"


def fits(password: str, kept: str | None) -> bool:
    """Whether it is the password that was hashed; takes as long when there is none (None), which fits nothing."""
    _, cost, block, parallel, salt, wanted = (kept or _NONE).split("$")
    derived = _derive(password[:MAX_CHARACTERS], base64.b64decode(salt), int(cost), int(block), int(parallel))
    return hmac.compare_digest(derived, base64.b64decode(wanted)) and kept is not None and len(password) <= MAX_CHARACTERS


def _derive(password: str, salt: bytes, cost: int, block: int, parallel: int) -> bytes:
    # NFKC: keyboards differ in how they compose an umlaut.
    secret = unicodedata.normalize("NFKC", password).encode("utf-8", "surrogatepass")
    return hashlib.scrypt(secret, salt=salt, n=cost, r=block, p=parallel, maxmem=_MEMORY_BYTES, dklen=32)


def _text(value: bytes) -> str:
    return base64.b64encode(value).decode("ascii")


_NONE = f"{_SCHEME}${_COST}${_BLOCK}${_PARALLEL}${_text(bytes(SALT_BYTES))}${_text(bytes(32))}"
