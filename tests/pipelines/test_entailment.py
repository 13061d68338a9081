from pathlib import Path

import pytest

from pipelines.entailment import load_entailment
from pipelines.errors import SettingsError


def test_a_folder_that_is_no_model_is_an_error_of_the_setting(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"PV_ENTAILMENT_MODEL_PATH has value .*has no model\.onnx") as error:
        load_entailment(tmp_path)
    assert "remove it" in (error.value.hint or "")
