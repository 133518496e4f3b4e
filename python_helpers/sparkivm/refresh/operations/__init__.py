"""Operations besides refreshes: the consistency test and what else reads or maintains what is stored.

The others: status, history, changes of the last refresh, change capture, tables of seeds, leftovers, expiry
of snapshots, name collisions.
"""
