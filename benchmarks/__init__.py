"""Measurements and the demo: refreshes of TPC-H views on a local Spark, beside full rebuilds."""
