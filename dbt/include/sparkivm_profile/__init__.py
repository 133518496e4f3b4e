"""What `dbt init` asks for a profile of type `sparkivm`; the macros are those of `incremental_view`."""

import os

PACKAGE_PATH = os.path.dirname(__file__)
