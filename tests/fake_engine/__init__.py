"""Spark and Delta without a JVM: tables with a history, in an embedded engine, behind the product's `Engine`.

It runs the product's own statements, so that tests can compare rows. It is as strict as Delta where the protocol
relies on it: transaction numbers, user metadata, lost versions, feeds that were off.
"""
