"""Spark and Delta without a JVM: tables with a history, in an embedded engine, behind the product's `Engine`.

It runs the product's own statements, so tests compare rows. It is as strict as Delta about what the protocol
relies on: transaction numbers, user metadata, versions that are gone, feeds that were off.
"""
