"""What is run beside refreshes: the consistency test, change capture, leftovers, collisions of names."""
