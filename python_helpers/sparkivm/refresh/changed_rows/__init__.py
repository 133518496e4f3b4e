"""Probes of the changed rows before the expensive reads: each once per run, for all of its views."""
