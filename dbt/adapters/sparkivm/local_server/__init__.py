"""A Spark that stays between dbt commands: `sparkivm server`, and how `method: session` uses it."""
