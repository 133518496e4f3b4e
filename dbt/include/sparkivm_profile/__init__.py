"""The questions of `dbt init` for a profile of type `sparkivm`; the macros are in `incremental_view`."""

import os

PACKAGE_PATH = os.path.dirname(__file__)
