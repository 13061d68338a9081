"""A question as it may be planned, asked, logged and kept: clean characters, no personal numbers."""

import re
import unicodedata
from dataclasses import dataclass

_NOTICE = "{what} in der Frage wurde durch einen Platzhalter ersetzt und wird nirgends gespeichert."

_EMAIL = re.compile(r"[\w.+%-]+\s?(?:@|\(at\)|\[at\]|\{at\})\s?[\w-]+(?:\s?(?:\.|\(dot\)|\[dot\])\s?[\w-]+)+", re.IGNORECASE)
_IBAN = re.compile(
    r"(?<![A-Z0-9])[A-Z]{2}[ -]?\d{2}(?:[ -]?[A-Z]{4})?(?:[ -]?(?=[A-Z]{0,3}\d)[A-Z0-9]{4}){2,7}(?:[ -]?\d{1,3})?(?!\w)",
    re.IGNORECASE,
)
_SOCIAL_SECURITY = re.compile(r"(?<![\d.,/])\d{4}[ ./-]?(?P<day>\d{2})[ ./-]?(?P<month>\d{2})[ ./-]?\d{2}(?![\d/]|[.,]\d)")
_PHONE = re.compile(
    r"(?<![\w.,/])(?:(?:\+|00)\s?[1-9](?:[\s/().-]{0,2}\d){6,13}|\(?0[1-9]\d{0,4}\)?(?:[\s/-]{1,3}\d{2,}){1,5}|0[1-9]\d{6,12})(?![\w/]|[.,]\d)"
)
_CALENDAR_DATE = re.compile(r"\d{1,2}[\s/.-]\d{1,2}[\s/.-](?:19|20)?\d{2}")
_FILE_NUMBER = re.compile(r"\d{4}/\d{2}/\d{4}")


@dataclass(frozen=True, slots=True)
class NormalisedQuestion:
    """A clean question and, in German, what was replaced in it (one notice per kind of personal data)."""

    text: str
    notices: tuple[str, ...] = ()


def normalise_question(text: str) -> NormalisedQuestion:
    """NFC, without control, bidi and zero-width characters, single blanks, trimmed, personal data as placeholders.

    Austrian social-security numbers, IBANs, e-mail addresses and telephone numbers are replaced, also when they are
    mistyped or hidden by invisible characters; names are not recognised. Applying it twice changes nothing. May be empty.
    """
    clean = _clean_characters(text)
    notices: list[str] = []
    for pattern, placeholder, what in (
        (_EMAIL, "[E-Mail-Adresse]", "Eine E-Mail-Adresse"),
        (_IBAN, "[IBAN]", "Eine Kontonummer (IBAN)"),
        (_SOCIAL_SECURITY, "[Sozialversicherungsnummer]", "Eine Sozialversicherungsnummer"),
        (_PHONE, "[Telefonnummer]", "Eine Telefonnummer"),
    ):
        replaced = _replace(pattern, placeholder, clean)
        if replaced != clean:
            notices.append(_NOTICE.format(what=what))
            clean = replaced
    return NormalisedQuestion(clean, tuple(notices))


def _replace(pattern: re.Pattern[str], placeholder: str, text: str) -> str:
    return pattern.sub(lambda match: placeholder if _is_personal(match) else match.group(), text)


def _clean_characters(text: str) -> str:
    normal = unicodedata.normalize("NFC", text)
    kept = "".join(
        " " if char.isspace() else char
        for char in normal
        if char.isspace() or unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co")
    )
    return re.sub(r" +", " ", unicodedata.normalize("NFC", kept)).strip()


def _is_personal(match: re.Match[str]) -> bool:
    """Whether a match is what its pattern looks for: a birth date inside, enough digits, no calendar date."""
    digits = re.sub(r"\D", "", match.group())
    if match.re is _SOCIAL_SECURITY:
        return 1 <= int(match["day"]) <= 31 and 1 <= int(match["month"]) <= 15 and not _FILE_NUMBER.fullmatch(match.group())
    if match.re is _PHONE:
        return len(digits) >= 7 and not _CALENDAR_DATE.fullmatch(match.group())
    return True
