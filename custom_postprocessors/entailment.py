"""An optional second opinion: a language model of entailment from a local folder, off by default, never from the network."""

import json
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np

MODEL_FILE, TOKENIZER_FILE, CONFIG_FILE = "model.onnx", "tokenizer.json", "config.json"
MAX_TOKENS = 512
LEAST_ENTAILED = 0.5
_LIBRARIES = ("onnxruntime", "tokenizers")


class Entailment(Protocol):
    """Says how far a text follows from another."""

    def entails(self, premise: str, claim: str) -> float:
        """The probability in [0, 1] that `claim` follows from `premise`."""
        ...


class EntailmentError(ValueError):
    """The folder or the libraries cannot serve an entailment model; the message says what is missing."""


class OnnxEntailment:
    """A sequence classifier in ONNX with the label `entailment` (natural language inference). Safe to use from several threads.

    Args:
        folder: holds `model.onnx`, `tokenizer.json` and `config.json` with `id2label`.

    Raises:
        EntailmentError: a library, a file or the label is missing.
    """

    def __init__(self, folder: Path) -> None:
        missing = [name for name in _LIBRARIES if find_spec(name) is None]
        if missing:
            raise EntailmentError(f"The entailment model {str(folder)!r} needs {' and '.join(missing)}: pip install them.")
        absent = [name for name in (MODEL_FILE, TOKENIZER_FILE, CONFIG_FILE) if not (folder / name).is_file()]
        if absent:
            raise EntailmentError(f"The entailment model {str(folder)!r} has no {', '.join(absent)}.")
        self._label = _entailment_label(folder / CONFIG_FILE)
        self._tokenizer: Any = import_module("tokenizers").Tokenizer.from_file(str(folder / TOKENIZER_FILE))
        self._tokenizer.enable_truncation(MAX_TOKENS)
        providers = ["CPUExecutionProvider"]
        self._session: Any = import_module("onnxruntime").InferenceSession(str(folder / MODEL_FILE), providers=providers)
        self._inputs = {one.name for one in self._session.get_inputs()}

    def entails(self, premise: str, claim: str) -> float:
        """See `Entailment.entails`."""
        encoded = self._tokenizer.encode(premise, claim)
        given = {"input_ids": encoded.ids, "attention_mask": encoded.attention_mask, "token_type_ids": encoded.type_ids}
        feed = {name: np.array([values], dtype=np.int64) for name, values in given.items() if name in self._inputs}
        logits = np.asarray(self._session.run(None, feed)[0][0], dtype=np.float64)
        odds = np.exp(logits - logits.max())
        return float(odds[self._label] / odds.sum())


def _entailment_label(path: Path) -> int:
    labels = json.loads(path.read_text(encoding="utf-8")).get("id2label", {})
    found = [int(number) for number, name in labels.items() if str(name).lower() == "entailment"]
    if len(found) != 1:
        raise EntailmentError(f"{str(path)!r} names no label `entailment` in id2label: {labels!r}.")
    return found[0]
