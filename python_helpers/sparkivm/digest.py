"""A short hash of a text, to compare it with later ones."""

from __future__ import annotations

import hashlib


def digest(text: str) -> str:
    """16 hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]
