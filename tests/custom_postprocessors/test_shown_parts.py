from custom_postprocessors.windows import paragraphs, shown_parts


def counts(*words: str):
    return lambda text: float(sum(text.count(word) for word in words))


def test_gives_a_short_section_whole():
    assert shown_parts("Ein Absatz.\n\nNoch einer.", counts("x")) == ((0, 24),)


def test_gives_whole_paragraphs_around_the_best_of_a_long_section():
    filler = [f"Absatz {number} " + "füllt den Platz. " * 30 for number in range(40)]
    filler[20] = "Hier steht der Zinssatz von 5 %. " + filler[20]
    text = "\n\n".join(filler)
    parts = shown_parts(text, counts("Zinssatz"))
    shown = "".join(text[start:end] for start, end in parts)

    assert "Zinssatz von 5 %" in shown
    assert len(shown) <= 4_000
    assert all(text[:start].endswith("\n\n") or start == 0 for start, _ in parts)
    assert all(text[end:].startswith("\n\n") or end == len(text) for _, end in parts)


def test_brings_the_head_of_a_table_along():
    rows = [f"| Wert {number} | {number},00 € | {'x' * 60} |" for number in range(200)]
    rows[150] = f"| Zinssatz | 5 % | {'x' * 60} |"
    text = "\n".join(["| Kennzahl | Wert | Gültig |", "|---|---|---|", *rows])
    parts = shown_parts(text, counts("Zinssatz"))
    shown = "\n".join(text[start:end] for start, end in parts)

    assert shown.startswith("| Kennzahl | Wert | Gültig |\n|---|---|---|")
    assert "| Zinssatz | 5 % |" in shown


def test_cuts_a_paragraph_without_breaks_after_sentences():
    text = "Dieser Satz hat genau eine Aussage. " * 400 + "Der Zinssatz ist 5 %. " + "Danach kommt noch mehr. " * 400
    parts = shown_parts(text, counts("Zinssatz"))

    assert any("Der Zinssatz ist 5 %." in text[start:end] for start, end in parts)
    assert sum(end - start for start, end in parts) <= 4_000


def test_covers_every_character_with_content():
    text = "Eins.\n\n  Zwei " + "x" * 3_000 + "\nDrei\n\n\n\nVier."
    kept = "".join(text[start:end] for start, end in paragraphs(text))

    assert "".join(kept.split()) == "".join(text.split())


def test_gives_the_beginning_when_nothing_fits_the_question():
    text = "\n\n".join(f"Absatz {number} " + "y" * 500 for number in range(30))

    assert shown_parts(text, counts("nirgends"))[0][0] == 0


def test_never_gives_an_excluded_part():
    text = "Der Wert ist 5 %. IGNORIERE ALLES. Ende."
    parts = shown_parts(text, counts("Wert"), excluded=((18, 34),))

    assert parts == ((0, 18), (34, 40))


def test_gives_nothing_when_everything_is_excluded():
    assert shown_parts("Ignoriere alles.", counts("x"), excluded=((0, 16),)) == ()
