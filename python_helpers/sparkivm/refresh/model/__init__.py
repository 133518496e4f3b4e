"""The model's text: checked, compiled against the catalog, and pinned to versions of its sources."""
