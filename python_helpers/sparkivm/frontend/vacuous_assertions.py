"""The assertion that dbt-spark's date macros put around each call; it cannot fail.

    COALESCE(x, NVL2(x, ASSERT_TRUE(x IS NOT NULL), NULL)) = x

If x is not NULL, the result is x. If x is NULL, NVL2 takes its third argument, which is NULL.
"""

from __future__ import annotations

from sqlglot import exp


def within_assertion(node: exp.Expr) -> exp.Expr | None:
    """The x of such an expression; None for other expressions."""
    if not isinstance(node, exp.Coalesce):
        return None
    x = node.this
    holds = exp.Not(this=exp.Is(this=x.copy(), expression=exp.Null()))
    asserted = exp.Anonymous(this="assert_true", expressions=[holds])
    nothing = exp.Anonymous(this="nvl2", expressions=[x.copy(), asserted, exp.Null()])
    return x if node == exp.Coalesce(this=x.copy(), expressions=[nothing]) else None
