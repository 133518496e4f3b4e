"""Incremental view maintenance for Spark and Delta: compiler, change sources, refresh protocol."""
