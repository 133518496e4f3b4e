"""Seeds."""

from codecs import BOM_UTF8
from pathlib import Path

import pytest
from dbt.tests.adapter.simple_seed import fixtures, seeds
from dbt.tests.adapter.simple_seed.test_seed import (
    BaseBasicSeedTests,
    BaseSeedConfigFullRefreshOff,
    BaseSeedConfigFullRefreshOn,
    BaseSeedCustomSchema,
    BaseSeedParsing,
    BaseSeedSpecificFormats,
    BaseSeedWithEmptyDelimiter,
    BaseSeedWithUniqueDelimiter,
    BaseSeedWithWrongDelimiter,
    BaseSimpleSeedEnabledViaConfig,
    BaseSimpleSeedWithBOM,
    BaseTestEmptySeed,
)
from dbt.tests.adapter.simple_seed.test_seed_type_override import BaseSimpleSeedColumnOverride

from tests.dbt.adapter_suite.in_views import InStrictViews
from tests.dbt.adapter_suite.spark_sql import constants_in_spark_sql

pytestmark = [pytest.mark.dbt, pytest.mark.slow, pytest.mark.nightly]


@pytest.fixture(scope="module", autouse=True)
def words_of_spark():
    with constants_in_spark_sql(fixtures, seeds):
        yield


class ViewsStay(InStrictViews):
    """A seed that is replaced takes the views over it along in PostgreSQL; in Spark they stay."""

    def _check_relation_end_state(self, run_result, project, exists):
        super()._check_relation_end_state(run_result, project, exists=True)


class TestBasicSeeds(ViewsStay, BaseBasicSeedTests): ...


class TestSeedConfigFullRefreshOn(ViewsStay, BaseSeedConfigFullRefreshOn): ...


class TestSeedConfigFullRefreshOff(ViewsStay, BaseSeedConfigFullRefreshOff): ...


class TestSeedCustomSchema(BaseSeedCustomSchema): ...


class TestSeedWithUniqueDelimiter(InStrictViews, BaseSeedWithUniqueDelimiter): ...


class TestSeedWithWrongDelimiter(BaseSeedWithWrongDelimiter): ...


class TestSeedWithEmptyDelimiter(BaseSeedWithEmptyDelimiter): ...


class TestSeedEnabledViaConfig(BaseSimpleSeedEnabledViaConfig):
    @pytest.fixture(scope="class")
    def seeds(self):
        """The class's own fixture is of the whole session, in which its texts are not yet Spark's."""
        return {
            "seed_enabled.csv": seeds.seeds__enabled_in_config_csv,
            "seed_disabled.csv": seeds.seeds__disabled_in_config_csv,
            "seed_tricky.csv": seeds.seeds__tricky_csv,
        }


class TestSeedParsing(InStrictViews, BaseSeedParsing): ...


class TestSeedWithBOM(BaseSimpleSeedWithBOM):
    @pytest.fixture(scope="class", autouse=True)
    def setUp(self, project):
        project.run_sql(seeds.seeds__expected_sql)
        Path(project.project_root, "seeds", "seed_bom.csv").write_bytes(
            BOM_UTF8 + seeds.seed__actual_csv.lstrip().encode()
        )


class TestSeedSpecificFormats(BaseSeedSpecificFormats):
    """A name with dots is not the name of a table in Spark. dbt-spark takes minutes for the class's 20,000 rows."""

    @pytest.fixture(scope="class")
    def seeds(self):
        return {
            "big_seed.csv": "\n".join(["seed_id", *map(str, range(2000))]),
            "seed_unicode.csv": seeds.seed__unicode_csv,
            "seed_with_dots.csv": seeds.seed__with_dots_csv,
        }


class TestEmptySeed(BaseTestEmptySeed): ...


class TestSeedColumnOverride(BaseSimpleSeedColumnOverride):
    """dbt-spark takes `bigint` for whole numbers."""

    @pytest.fixture(scope="class")
    def models(self):
        return {"schema.yml": fixtures.properties__schema_yml.replace("type: integer", "type: bigint")}
