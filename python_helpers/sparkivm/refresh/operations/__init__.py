"""Operations besides refreshes: the consistency test, change capture, leftovers, name collisions."""
