"""The words that differ between the SQL of Spark and that of the engine on which the algebra is tested."""

from __future__ import annotations

from dataclasses import dataclass

from sparkivm.algebra.scalar import Dialect as ScalarDialect


@dataclass(frozen=True)
class SqlDialect:
    """The few words that differ in generated text."""

    scalars: ScalarDialect
    quote: str
    null_safe_equal: str
    semi_join: str
    anti_join: str
    copies: str  # behind FROM: repeats each row {times} times
    generate: str  # behind FROM: {alias} with the columns {names} from {call}
    generate_outer: str
    hints: bool

    def name(self, identifier: str) -> str:
        return self.quote + identifier.replace(self.quote, self.quote * 2) + self.quote


SPARK = SqlDialect(
    scalars="spark",
    quote="`",
    null_safe_equal="<=>",
    semi_join="left semi join",
    anti_join="left anti join",
    copies="lateral view explode(array_repeat(0, cast({times} as int))) __ivm_copies as __ivm_copy",
    generate="lateral view {call} {alias} as {names}",
    generate_outer="lateral view outer {call} {alias} as {names}",
    hints=True,
)
