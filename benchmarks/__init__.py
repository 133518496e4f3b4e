"""Measurements and the demo: refreshes of TPC-H views on a local Spark, compared with full rebuilds."""
