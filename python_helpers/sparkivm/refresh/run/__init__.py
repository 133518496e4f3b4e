"""Carries out a decision: from changes or as a rebuild, with auxiliary views and the frontier."""
