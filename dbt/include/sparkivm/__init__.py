"""The macros of this package, for dbt."""

import os

PACKAGE_PATH = os.path.dirname(__file__)
