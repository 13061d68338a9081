import shutil

import pytest
import yaml

from pipelines.errors import BadInput
from pipelines.lexicon import BUNDLED_DIRECTORY, Lexicon
from pipelines.vocabulary import fold


def copied(tmp_path):
    shutil.copytree(BUNDLED_DIRECTORY, tmp_path / "data")
    return tmp_path / "data"


def test_bundled_lexicon_explains_abbreviations_and_synonyms():
    lexicon = Lexicon.bundled()
    assert lexicon.meanings["sz"].abbreviation
    assert not lexicon.meanings["firmenauto"].abbreviation
    assert {fold(word) for word in ("nicht", "kein", "keine", "keinen", "ohne")}.isdisjoint(lexicon.stop_words)


def test_every_line_of_the_bundled_lexicon_has_a_reason():
    for name in ("abbreviations", "synonyms"):
        for entry in yaml.load((BUNDLED_DIRECTORY / f"{name}.yaml").read_text(encoding="utf-8"), Loader=yaml.BaseLoader):
            assert len(entry["reason"]) >= 5, entry


def test_editor_may_add_a_line(tmp_path):
    directory = copied(tmp_path)
    with (directory / "synonyms.yaml").open("a", encoding="utf-8") as handle:
        handle.write(
            "- {words: [no], means: [Kollektivvertrag], reason: Ein Wort, das YAML sonst als falsch liest}\n".replace(
                "Wort,", "Wort"
            )
        )
    assert Lexicon.read(directory).meanings["no"].means == ("Kollektivvertrag",)


@pytest.mark.parametrize(
    "line",
    [
        "- {words: [DN], means: [Dienstnehmer], reason: Zweimal erklärt}",
        "- {words: [], means: [Dienstnehmer], reason: Nichts getippt}",
        "- {words: [neu], means: [], reason: Nichts gemeint}",
        "- {words: [neu], means: [Dienstnehmer]}",
        "- {words: [neu], means: [Dienstnehmer], reason: Grund, note: zu viel}",
        "- {words: neu",
    ],
)
def test_refuses_a_faulty_line(tmp_path, line):
    directory = copied(tmp_path)
    with (directory / "synonyms.yaml").open("a", encoding="utf-8") as handle:
        handle.write(line + "\n")
    with pytest.raises(BadInput):
        Lexicon.read(directory)


def test_refuses_a_missing_file(tmp_path):
    with pytest.raises(BadInput):
        Lexicon.read(tmp_path)
