from decimal import Decimal

import pytest

from custom_postprocessors.formula import FormulaError, agrees, calculate


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2 × 400,00 € + 600,00 €", "1400"),
        ("8.000,00 * 1,53 %", "122.4"),
        ("(900 - 800) / 4", "25"),
        ("220,00 / 10 × 30", "660"),
        ("-5 + 10", "5"),
        ("1000 * 0.038", "38"),
    ],
)
def test_computes(expression: str, value: str) -> None:
    assert calculate(expression).value == Decimal(value)


@pytest.mark.parametrize("expression", ["", "2 +", "2 ** 3", "__import__('os')", "(1", "1)", "1 / 0", "1 2", "9" * 400])
def test_everything_else_is_refused(expression: str) -> None:
    with pytest.raises(FormulaError):
        calculate(expression)


def test_results_are_rounded_half_up_to_the_cent() -> None:
    third = calculate("100 / 8 / 100")  # 0.125
    assert agrees(third, Decimal("0.13"))
    assert not agrees(third, Decimal("0.12"))
    assert agrees(calculate("659,6 * 1"), Decimal("660"), rounded=True)
    assert not agrees(calculate("659,6 * 1"), Decimal("660"))
