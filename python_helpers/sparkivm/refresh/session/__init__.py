"""The session of a refresh: its settings, recorded statements, and date and time."""
