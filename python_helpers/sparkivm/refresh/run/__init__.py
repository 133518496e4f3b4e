"""Carries a decision out: from changes or as a rebuild, with the auxiliary views and the frontier."""
