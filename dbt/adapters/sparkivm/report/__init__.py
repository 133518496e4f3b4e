"""The HTML report of a run: `views_of_run` reads what dbt wrote, `page` writes the document."""
