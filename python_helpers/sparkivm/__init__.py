"""Incremental view maintenance for Spark and Delta: the compiler, the change sources, the refresh protocol."""
