"""Whether to rebuild, and which of the ways to catch up is the cheapest."""
