"""Calculations of derived claims: parsed, computed exactly, rounded commercially, every operand accounted for."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, DivisionByZero, InvalidOperation, localcontext

from custom_postprocessors.numbers import parse_number, plain

_TOKEN = re.compile(r"\s*(?:(?P<number>\d[\d.,'’]*\d|\d)(?P<percent>\s*%)?|(?P<sign>[-+*/()]))")
_SIGNS = str.maketrans({"×": "*", "·": "*", "⋅": "*", "÷": "/", ":": "/"})
_UNITS = re.compile(r"€|\bEUR\b|\bEuros?\b", re.IGNORECASE)
_CENT = Decimal("0.01")
_MAX_CHARACTERS = 300


class FormulaError(ValueError):
    """The expression is no calculation of + - * / ( ) and numbers, or it cannot be computed."""


@dataclass(frozen=True, slots=True)
class Calculation:
    """A computed expression: rewritten in plain signs, its operands in order (percent divisors left out), its exact value.

    `stepwise` is the value when every intermediate product and quotient is rounded to the cent, as payslips do.
    """

    expression: str
    operands: tuple[Decimal, ...]
    value: Decimal
    stepwise: Decimal


def calculate(expression: str) -> Calculation:
    """Computes an expression of numbers (German or plain), + - * / ( ), percent signs and currency signs.

    Raises:
        FormulaError: anything else in it, unbalanced brackets, division by zero, or longer than 300 characters.
    """
    if len(expression) > _MAX_CHARACTERS:
        raise FormulaError(f"The expression has {len(expression)} characters, at most {_MAX_CHARACTERS} are allowed.")
    tokens = list(_tokens(_UNITS.sub("", plain(expression)).translate(_SIGNS)))
    operands = tuple(
        token for position, token in enumerate(tokens) if isinstance(token, Decimal) and not _is_percent_divisor(tokens, position)
    )
    try:
        with localcontext() as context:
            context.prec = 40
            value = _Parser(tokens, rounding=False).parse()
            stepwise = _Parser(tokens, rounding=True).parse()
    except (DivisionByZero, InvalidOperation) as exc:
        raise FormulaError(f"The expression {expression!r} cannot be computed.") from exc
    return Calculation(" ".join(_written(token) for token in tokens), operands, value, stepwise)


def agrees(calculation: Calculation, stated: Decimal, *, rounded: bool = False) -> bool:
    """Whether the stated result is the computed one, rounded half up to the cent (or to the stated digits if `rounded`)."""
    exponent = stated.as_tuple().exponent
    digits = -exponent if isinstance(exponent, int) else 0
    step = Decimal(1).scaleb(-digits) if rounded or digits > 2 else _CENT
    candidates = (calculation.value, calculation.stepwise)
    return any(value.quantize(step, ROUND_HALF_UP) == stated.quantize(step, ROUND_HALF_UP) for value in candidates)


def _tokens(text: str) -> Iterator[Decimal | str]:
    position = 0
    text = text.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise FormulaError(
                f"The expression {text!r} contains {text[position:].strip()[:10]!r}; only + - * / ( ) and numbers are allowed."
            )
        if match["number"]:
            number = parse_number(match["number"])
            if number is None:
                raise FormulaError(f"{match['number']!r} is not a number.")
            yield number
            if match["percent"]:
                yield "/"
                yield Decimal(100)
        else:
            yield match["sign"]
        position = match.end()


def _is_percent_divisor(tokens: list[Decimal | str], position: int) -> bool:
    return tokens[position] == Decimal(100) and position > 0 and tokens[position - 1] == "/"


def _written(token: Decimal | str) -> str:
    return token if isinstance(token, str) else format(token, "f")


class _Parser:
    """Recursive descent over the tokens of one expression."""

    def __init__(self, tokens: list[Decimal | str], *, rounding: bool) -> None:
        self._tokens = tokens
        self._position = 0
        self._rounding = rounding

    def parse(self) -> Decimal:
        value = self._sum()
        if self._position != len(self._tokens):
            raise FormulaError("The expression does not end where it should.")
        return value

    def _peek(self) -> Decimal | str | None:
        return self._tokens[self._position] if self._position < len(self._tokens) else None

    def _take(self) -> Decimal | str | None:
        token = self._peek()
        self._position += 1
        return token

    def _sum(self) -> Decimal:
        value = self._product()
        while self._peek() in ("+", "-"):
            value = value + self._product() if self._take() == "+" else value - self._product()
        return value

    def _product(self) -> Decimal:
        value = self._factor()
        while self._peek() in ("*", "/"):
            value = value * self._factor() if self._take() == "*" else value / self._factor()
        return value.quantize(_CENT, ROUND_HALF_UP) if self._rounding and abs(value) >= 1 else value

    def _factor(self) -> Decimal:
        token = self._take()
        if isinstance(token, Decimal):
            return token
        if token in ("-", "+"):
            return -self._factor() if token == "-" else self._factor()
        if token == "(":
            value = self._sum()
            if self._take() != ")":
                raise FormulaError("A bracket is not closed.")
            return value
        raise FormulaError(f"A number is missing before {token!r}." if token else "The expression ends too early.")
