import pytest

from custom_postprocessors.values import find_values, proves


def found(text: str) -> list[tuple[str, str, str]]:
    return [(value.text, value.kind, value.normalized) for value in find_values(text)]


@pytest.mark.parametrize(
    ("written", "kind", "normalized"),
    [
        ("6.930,00 €", "amount", "6930 EUR"),
        ("EUR 6930", "amount", "6930 EUR"),
        ("6.930 Euro", "amount", "6930 EUR"),
        ("6930,- €", "amount", "6930 EUR"),
        ("6\u00a0930,00\u202f€", "amount", "6930 EUR"),
        ("2,5 Mio €", "amount", "2500000 EUR"),
        ("1.234,5 €", "amount", "1234.5 EUR"),
        ("€ 551,10", "amount", "551.1 EUR"),
        ("551.10 Euro", "amount", "551.1 EUR"),
        ("32,806 Cent", "amount", "0.32806 EUR"),
        ("zwanzig Euro", "amount", "20 EUR"),
        ("1,53 %", "rate", "1.53 %"),
        ("1.53 Prozent", "rate", "1.53 %"),
        ("ein Sechstel", "rate", "1/6"),
        ("ein Fünftel", "rate", "20 %"),
        ("die Hälfte", "rate", "50 %"),
        ("1,5-fach", "rate", "1.5 x"),
        ("0,5 Prozentpunkte", "rate", "0.5 PP"),
        ("6 Wochen", "period", "6 woch"),
        ("sechs **Wochen", "period", "6 woch"),
        ("sechswöchige", "period", "6 woch"),
        ("14-tägig", "period", "14 tag"),
        ("zwölf Monate", "period", "12 monat"),
        ("einer halben Stunde", "period", "0.5 stund"),
        ("1.1.2026", "date", "2026-01-01"),
        ("01.01.2026", "date", "2026-01-01"),
        ("1. Jänner 2026", "date", "2026-01-01"),
        ("Juli 2026", "date", "2026-07"),
        ("15. Februar", "date", "--02-15"),
        ("15. des Folgemonats", "date", "15. folgemonat"),
        ("22.00 Uhr", "date", "22:00"),
        ("15 Überstunden", "count", "15 uberstund"),
        ("20 Arbeitnehmern", "count", "20 arbeitnehm"),
        ("3. Dienstjahres", "count", "3. dienstjahr"),
        ("1,073", "count", "1.073"),
        ("§ 68 Abs 2 Z 1 EStG", "norm", "§ 68 Abs 2 Z 1 EStG"),
        ("§68 Abs. 2 Z. 1 EStG", "norm", "§ 68 Abs 2 Z 1 EStG"),
        ("Art 267 AEUV", "norm", "Art 267 AEUV"),
        ("BGBl I Nr 47/2025", "norm", "BGBl I 47/2025"),
        ("C-233/20", "case", "C-233/20"),
        ("8 ObA 23/23z", "case", "8ObA23/23z"),
        ("Ra 2019/08/0123", "case", "Ra2019/08/0123"),
    ],
)
def test_reads_one_value(written: str, kind: str, normalized: str) -> None:
    values = find_values(f"Es gilt {written} dafür.")
    assert [(value.kind, value.normalized) for value in values] == [(kind, normalized)]
    assert values[0].text in written or written in values[0].text


def test_offsets_are_slices() -> None:
    text = "Von **551,10 €** bis 6.930,00 € (§§ 44, 49 und 54 ASVG), 2020 bis 2026."
    assert all(text[value.start : value.end] == value.text for value in find_values(text))


def test_a_list_of_norms_shares_its_law() -> None:
    assert [value.normalized for value in find_values("§§ 44, 49 und 54 ASVG")] == ["§ 44 ASVG", "§ 49 ASVG", "§ 54 ASVG"]


def test_a_list_of_numbers_shares_its_unit() -> None:
    assert [value.normalized for value in find_values("28, 29, 30 oder 31 Tage")] == ["28 tag", "29 tag", "30 tag", "31 tag"]
    assert [value.normalized for value in find_values("40 bis 60 %")] == ["40 %", "60 %"]
    assert [value.normalized for value in find_values("für 2025 und 2026 3,8 %")] == ["2025", "2026", "3.8 %"]


@pytest.mark.parametrize(
    "text", ["siehe [pv-sv-05]", "Formular L16", "1. Nachtarbeit", "Jahressechstel", "der Zweite Rechtsgang"]
)
def test_names_and_list_marks_are_no_values(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("source", "claim"),
    [
        ("§ 68 Abs 2 EStG", "§ 68 EStG"),
        ("2020 bis 2026", "2025"),
        ("1.1.2026", "2026"),
        ("15 Dienstjahre", "15 Jahre"),
        ("6 Wochen", "sechs Wochen"),
        ("die Hälfte", "50 Prozent"),
    ],
)
def test_a_more_exact_source_proves_the_claim(source: str, claim: str) -> None:
    assert proves(find_values(source)[0], find_values(claim)[0])


@pytest.mark.parametrize(
    ("source", "claim"),
    [
        ("§ 68 EStG", "§ 68 Abs 2 EStG"),
        ("§ 68 EStG", "§ 68 ASVG"),
        ("2026", "1.1.2026"),
        ("551,10 €", "511,10 €"),
        ("6 Arbeitstage", "6 Tage"),
        ("6 Wochen", "6 Monate"),
        ("3 %", "3 Prozentpunkte"),
        ("15. Februar", "15. März"),
        ("6 Wochen", "6. Woche"),
        ("1.234 €", "1,234 €"),
    ],
)
def test_different_things_prove_nothing(source: str, claim: str) -> None:
    assert not proves(find_values(source)[0], find_values(claim)[0])


def test_an_ordinal_without_noun_goes_on_with_the_one_before() -> None:
    text = "Nach dem 2. Dienstjahr zwei Monate, nach dem 5. drei Monate."
    assert [value.normalized for value in find_values(text)] == ["2. dienstjahr", "2 monat", "5. dienstjahr", "3 monat"]


@pytest.mark.parametrize(
    ("written", "normalized"),
    [
        ("dreihundertfünfzig Euro", "350 EUR"),
        ("zweitausendfünfhundert Euro", "2500 EUR"),
        ("hundertzwanzig Tage", "120 tag"),
        ("tausendeins Euro", "1001 EUR"),
        ("siebenhundertdreiundzwanzig Euro", "723 EUR"),
        ("ein Prozent", "1 %"),
        ("ein Promille", "0.1 %"),
        ("6'930.00 €", "6930 EUR"),
        ("§ 5 asvg", "§ 5 asvg"),
    ],
)
def test_numbers_in_words_and_uncommon_signs_are_read(written: str, normalized: str) -> None:
    assert [value.normalized for value in find_values(written)] == [normalized]


@pytest.mark.parametrize("text", ["im letzten Jahrhundert", "hunderte Betriebe", "ein Hundertstel mehr als tausende"])
def test_words_that_only_contain_a_number_word_are_none(text: str) -> None:
    assert [value for value in find_values(text) if value.unit != "%"] == []


def test_a_law_in_lower_case_is_the_law() -> None:
    (claimed,), (same,), (other,) = (find_values(text) for text in ("§ 5 estg", "§ 5 EStG", "§ 5 ASVG"))
    assert (proves(same, claimed), proves(other, claimed)) == (True, False)


@pytest.mark.parametrize(
    ("text", "normalized"),
    [
        ("**551,10** €", "551.1 EUR"),
        ("**551**,10 €", "551.1 EUR"),
        ("€ **551,10**", "551.1 EUR"),
        ("**1.**000,00 €", "1000 EUR"),
        ("ab **1.1.**2026", "2026-01-01"),
        ("**6** Wochen", "6 woch"),
    ],
)
def test_emphasis_inside_a_value_does_not_hide_it(text, normalized):
    assert [value.normalized for value in find_values(text)] == [normalized]
