"""What names or identifies a person: keys of transmitted facts, and the forms of numbers that only people have."""

import re
from collections.abc import Callable
from datetime import date
from itertools import pairwise

PersonalForm = str
"""One of `social_security_number`, `iban`, `email`, `date_of_birth`."""

_KEY_PARTS = (
    "name",
    "svnr",
    "svnummer",
    "vsnr",
    "versicherungsnummer",
    "geburt",
    "birth",
    "adresse",
    "address",
    "anschrift",
    "strasse",
    "iban",
    "kontonummer",
    "kontonr",
    "email",
    "telefon",
    "phone",
    "handy",
    "personalnummer",
    "personalnr",
    "ausweis",
    "reisepass",
    "steuernummer",
    "religion",
    "konfession",
)
_KEY_WORDS = frozenset({"svn", "ssn", "geb", "gebdat", "plz", "ort", "wohnort", "mail", "tel", "mobil", "bic", "konto", "pass"})
_ACROSS_WORDS = ("svnr", "svnummer", "vsnr", "email")
"""Parts that are also found across a separator, as in `sv_nr`."""
_IBAN_CHARACTERS = {
    "AT": 20, "BE": 16, "BG": 22, "CH": 21, "CZ": 24, "DE": 22, "ES": 24, "FR": 27, "GB": 22, "HR": 21, "HU": 28, "IT": 27,
    "LI": 21, "LU": 20, "NL": 18, "PL": 28, "RO": 24, "RS": 22, "SI": 19, "SK": 24, "TR": 26, "UA": 29,
}  # fmt: skip
_ALLOWED_WORD = re.compile(r"geburt\w*(?:beihilfe|prämie|praemie)|(?:kv|kollektivvertrags|lohnarten?|kennzahl)name")
_NOT_BIRTH = frozenset(
    {"eintritt", "eintrittsdatum", "austritt", "austrittsdatum", "beginn", "ende", "stichtag", "gueltig", "ab", "bis"}
)
_SOCIAL_SECURITY = re.compile(r"(?<![\d.,])(\d{4})[ ./-]?(\d{2})[ ./-]?(\d{2})[ ./-]?(\d{2})(?!\d|[.,]\d)")
_WEIGHTS = (3, 7, 9, 0, 5, 8, 4, 2, 1, 6)
_IBAN = re.compile(r"(?<![A-Z0-9])[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]){11,30}(?![A-Z0-9])", re.IGNORECASE)
_EMAIL = re.compile(r"[\w.+%-]+\s?(?:@|\(at\)|\[at\])\s?[\w-]+(?:\s?\.\s?[\w-]+)+", re.IGNORECASE)
_DATE = re.compile(
    r"(?<![\d.])(?:(?P<d>\d{1,2})[./-]\s?(?P<m>\d{1,2})[./-]\s?(?P<y>(?:19|20)\d{2})|(?P<y2>(?:19|20)\d{2})-(?P<m2>\d{2})-(?P<d2>\d{2}))(?!\d)"
)
_YOUNGEST_YEARS = 15
"""Nobody younger is on a payroll in Austria; a later date is no date of birth."""


def names_person(key: str) -> bool:
    """Whether a key (`a-z`, digits, `_`, `-`, `.`) says that its value names or identifies a person."""
    words = [word for word in re.split(r"[_.\-]+", key.lower()) if word and not _ALLOWED_WORD.fullmatch(word)]
    pairs = [first + second for first, second in pairwise(words)]
    return (
        any(word in _KEY_WORDS for word in words)
        or any(part in word for word in words for part in _KEY_PARTS)
        or any(part in pair for pair in pairs for part in _ACROSS_WORDS)
    )


def personal_forms(text: str, *, key: str = "", today: date) -> tuple[PersonalForm, ...]:
    """Which personal numbers have their form in `text`; a bare name cannot be recognised.

    A social-security number counts when its check digit is right, an IBAN when its check digits are; a full date is one of
    birth when it lies at least 15 years back, unless `key` says that it is another date.
    """
    tests: tuple[tuple[PersonalForm, Callable[[], bool]], ...] = (
        ("social_security_number", lambda: any(_is_social_security(m) for m in _SOCIAL_SECURITY.finditer(text))),
        ("iban", lambda: any(_is_iban(match.group()) for match in _IBAN.finditer(text))),
        ("email", lambda: _EMAIL.search(text) is not None),
        ("date_of_birth", lambda: not _names_other_date(key) and any(_is_birth(m, today) for m in _DATE.finditer(text))),
    )
    return tuple(form for form, found in tests if found())


def _is_social_security(match: re.Match[str]) -> bool:
    digits = [int(digit) for digit in "".join(match.groups())]
    return sum(weight * digit for weight, digit in zip(_WEIGHTS, digits, strict=True)) % 11 == digits[3]


def _is_iban(text: str) -> bool:
    """Whether `text` begins with an IBAN of its country's length (others: is one as a whole) and its check number is right."""
    compact = re.sub(r"[ -]", "", text).upper()
    number = compact[: _IBAN_CHARACTERS.get(compact[:2], len(compact))]
    return len(number) >= 15 and int("".join(str(int(char, 36)) for char in number[4:] + number[:4])) % 97 == 1


def _is_birth(match: re.Match[str], today: date) -> bool:
    day, month, year = (int(match[a] or match[b]) for a, b in (("d", "d2"), ("m", "m2"), ("y", "y2")))
    return 1 <= day <= 31 and 1 <= month <= 12 and year <= today.year - _YOUNGEST_YEARS


def _names_other_date(key: str) -> bool:
    return not _NOT_BIRTH.isdisjoint(re.split(r"[_.\-]+", key.lower()))
