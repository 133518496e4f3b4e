"""What a model's file has that an incremental view does not need: Jinja of `incremental` models, options."""

from __future__ import annotations

from collections.abc import Iterable

from jinja2 import Environment

from sparkivm.check.report import Edit

_OF_INCREMENTAL_MODELS = {
    "is_incremental": (
        "is_incremental() is false in an incremental_view, which finds the changed rows itself",
        "remove the block, or keep its else branch",
    ),
    "this": (
        "{{ this }} is the model itself, which an incremental_view must not read",
        "remove it",
    ),
}

_NOTHING = (0, "", "")


def in_the_way(raw: str, remarks: Iterable[str]) -> tuple[Edit, ...]:
    """What to change in a model's file.

    raw      its text
    remarks  on the options in its config
    """
    lines: dict[str, list[int]] = {}
    in_config = 0  # open brackets since `config(`
    tokens = [token for token in Environment().lex(raw) if token[1] != "whitespace"]
    for (_, _, before), (line, kind, value), (_, _, after) in zip(
        [_NOTHING, *tokens], tokens, [*tokens[1:], _NOTHING], strict=False
    ):
        if in_config or (before == "config" and value == "("):
            in_config += {"(": 1, ")": -1}.get(value, 0)
        elif kind == "name" and value in _OF_INCREMENTAL_MODELS and "." not in (before, after):
            lines.setdefault(value, []).append(line)
    found = [
        Edit(*words, tuple(dict.fromkeys(lines[name])))
        for name, words in _OF_INCREMENTAL_MODELS.items()
        if name in lines
    ]
    return (*found, *(Edit(remark, "correct the model's config") for remark in remarks))
