"""The session of a refresh: its settings, its statements on record, its one instant."""
