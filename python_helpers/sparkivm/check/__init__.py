"""Which models of a project would be incremental, without running or building anything."""
