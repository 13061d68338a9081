"""The optional entailment model that a setting names."""

from pathlib import Path

from custom_postprocessors.entailment import EntailmentError, OnnxEntailment
from pipelines.errors import SettingsError


def load_entailment(model_path: Path) -> OnnxEntailment:
    """The model in a local folder; nothing is downloaded.

    Raises:
        SettingsError: the folder, a file of it or a library is missing.
    """
    try:
        return OnnxEntailment(model_path)
    except EntailmentError as exc:
        raise SettingsError(
            f"PV_ENTAILMENT_MODEL_PATH has value {str(model_path)!r}: {exc}", hint="Correct the variable or remove it."
        ) from exc
