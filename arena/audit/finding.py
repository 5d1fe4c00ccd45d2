"""One result of a check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass
class Finding:
    """`text` names the value that is wrong and where it stands."""

    level: Literal["breach", "warning"]
    rule: str
    text: str
