"""Views over real Iceberg and Hive tables: after each change the incremental refresh equals the query.

    python scripts/try_lake_formats.py [org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.11.0]

The script fetches Iceberg's jar and starts a Hive metastore, so it is not part of the test suite.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from dbt.adapters.sparkivm.session import open_session

from tests.spark.lab import Lab

ICEBERG = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.11.0"
INSERT = "insert into {} (k, s, v) values "
OVERWRITE = "insert overwrite {} (k, s, v) values "
HIVE = (INSERT + "(4, 'd', 1.5), (5, null, 2)", OVERWRITE + "(9, 'z', 3), (1, 'a', 1)")
TABLES = {
    "ice.db.lines": (
        "create table {} (k bigint, s string, v double) using iceberg",
        (
            INSERT + "(4, 'd', 1.5), (5, null, 2)",
            "update {} set v = v + 1 where k > 3",
            "delete from {} where k = 1",
            "alter table {} add column more int",
            INSERT + "(8, 'b', 9)",
        ),
    ),
    "hive_text": (
        "create table {} (k bigint, s string, v double) row format delimited fields terminated by ','",
        HIVE,
    ),
    "hive_orc": ("create table {} (k bigint, s string, v double) stored as orc", HIVE),
    "hive_parts": ("create table {} (k bigint, v double) partitioned by (s string) stored as parquet", HIVE),
}


def main(iceberg: str = ICEBERG) -> None:
    with tempfile.TemporaryDirectory() as directory:
        settings = {
            "spark.master": "local[2]",
            "spark.sql.shuffle.partitions": "2",
            "spark.jars.packages": iceberg,
            "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
            "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
            "spark.sql.catalog.ice.type": "hadoop",
            "spark.sql.catalog.ice.warehouse": f"{directory}/ice",
        }
        session = open_session(settings, Path(directory)).session
        session.conf.set("hive.exec.dynamic.partition.mode", "nonstrict")
        lab = Lab(session, "lake")
        for number, (table, (create, changes)) in enumerate(TABLES.items()):
            lab.run(create.format(table), INSERT.format(table) + "(1, 'a', 1), (2, 'b', 2), (3, 'a', 3)")
            views = [
                lab.view(f"lines_{number}", f"select k, s from {table} where v > 1").build(),
                lab.view(
                    f"sums_{number}", f"select s, count(*) as n, max(k) as m from {table} group by s"
                ).build(),
            ]
            for change in changes:
                lab.run(change.format(table))
                for view in views:
                    view.must_be("incremental")
            print(f"{table}: {len(views)} views, equal after each of {len(changes)} changes", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
