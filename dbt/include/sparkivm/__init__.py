"""dbt's macros of this adapter."""

import os

PACKAGE_PATH = os.path.dirname(__file__)
