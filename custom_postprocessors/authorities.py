"""Which publishers are official, and which entries therefore speak „laut Sekundärquelle“."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from custom_postprocessors.data_files import read_yaml

BUNDLED = Path(__file__).parent / "data" / "authorities.yaml"

_RETOLD = re.compile(r"\(\s*(?:nach|laut|zit\.?)\b[^)]*\)")


@dataclass(frozen=True, slots=True)
class Authorities:
    """Official publishers: `courts` (and RIS), and all others."""

    courts: tuple[str, ...]
    others: tuple[str, ...]

    def is_secondary(self, publishers: Iterable[str], work: str) -> bool:
        """True when none of an entry's publishers is official; a judgment (`rj`) needs a court or RIS. True for none."""
        names = self.courts if work == "rj" else self.courts + self.others
        return not any(_names(publisher, names) for publisher in publishers)


def load_authorities(path: Path = BUNDLED) -> Authorities:
    """The lists of a YAML file with the keys `courts` and `authorities`.

    Raises:
        KeyError: a key is missing.
    """
    lists = read_yaml(path)
    return Authorities(tuple(lists["courts"]), tuple(lists["authorities"]))


def _names(publisher: str, names: Iterable[str]) -> bool:
    own = _RETOLD.sub("", publisher)
    return any(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", own) for name in names)
