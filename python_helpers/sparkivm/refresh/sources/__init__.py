"""What the names in a model stand for in this run: tables at versions, views, mirrors."""
