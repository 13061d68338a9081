import pytest
import yaml

from custom_postprocessors.data_files import read_yaml


def test_reads_plain_values(tmp_path):
    path = tmp_path / "list.yaml"
    path.write_text("- [Höhe, Satz]\n- 1.5\n", encoding="utf-8")
    assert read_yaml(path) == [["Höhe", "Satz"], 1.5]


def test_an_empty_file_holds_none(tmp_path):
    path = tmp_path / "list.yaml"
    path.write_text("", encoding="utf-8")
    assert read_yaml(path) is None


@pytest.mark.parametrize("text", ["a: [", "!!python/object/apply:os.getcwd []"])
def test_what_is_no_plain_yaml_is_an_error(tmp_path, text):
    path = tmp_path / "list.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(yaml.YAMLError):
        read_yaml(path)
