import pytest

from custom_postprocessors.authorities import load_authorities


@pytest.mark.parametrize(
    ("publishers", "work", "secondary"),
    [
        (("News", "Österreichische Gesundheitskasse (ÖGK)"), "pv", False),
        (("BMF (Lexis 360)",), "pv", False),
        (("LexisNexis", "Kleine Zeitung"), "pv", True),
        (("Universität Salzburg (nach BMASGPK)",), "pv", True),
        (("PVA-Ratgeber Huber",), "pv", True),
        (("PV-Info (LexisNexis)", "Linde Verlag"), "rj", True),
        (("ÖGK",), "rj", True),
        (("OGH (Lexis 360)",), "rj", False),
        ((), "pv", True),
    ],
)
def test_an_entry_without_official_publisher_is_secondary(publishers: tuple[str, ...], work: str, secondary: bool) -> None:
    assert load_authorities().is_secondary(publishers, work) is secondary
