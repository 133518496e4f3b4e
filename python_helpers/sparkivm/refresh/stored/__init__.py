"""What is stored for a view: the state and its commits, and whose each relation is."""
