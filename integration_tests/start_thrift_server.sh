#!/usr/bin/env bash
# Starts Spark's thrift server with Delta, from the jars of the installed pyspark, and waits until it answers.
# Usage: start_thrift_server.sh [port, 10077] [directory, a new temporary one] [options of spark-submit ...]
# Environment: PYTHON, the one that has pyspark (default .venv/bin/python or python3);
# PACKAGES, further Maven packages for the class paths, separated by commas (of their dependencies, only those of the same group).
set -euo pipefail
port="${1:-10077}"
directory="${2:-$(mktemp -d)}"
shift $(($# > 2 ? 2 : $#))
root="$(cd "$(dirname "$0")/.." && pwd)"
python="${PYTHON:-$([ -x "$root/.venv/bin/python" ] && echo "$root/.venv/bin/python" || command -v python3)}"

sh "$root/scripts/check_java.sh"
mkdir -p "$directory"
SPARK_HOME="$("$python" -c 'import pathlib, pyspark; print(pathlib.Path(pyspark.__file__).parent)')"
export SPARK_HOME PATH="$(dirname "$python"):$PATH" # spark-submit looks for a Python of its own

# On the server's own class path: its sessions do not see jars that come with --packages. Spark fetches them once.
jars="$("$python" 2>"$directory/jars.log" <<'EOF'
import os

from pyspark.sql import SparkSession

from dbt.adapters.sparkivm.session_defaults import delta_package

packages = ",".join(filter(None, (delta_package(), os.environ.get("PACKAGES"))))
settings = {"spark.master": "local[1]", "spark.ui.enabled": "false", "spark.jars.packages": packages}
spark = SparkSession.builder.config(map=settings).getOrCreate()
jars = spark.conf.get("spark.jars").removeprefix("file://").split(",file://")
groups = tuple(package.partition(":")[0] + "_" for package in packages.split(","))
print(":".join(jar for jar in jars if os.path.basename(jar).startswith(groups)))  # Spark has the rest in other versions
EOF
)"

"$SPARK_HOME/bin/spark-submit" \
  --class org.apache.spark.sql.hive.thriftserver.HiveThriftServer2 --name thrift-server --conf spark.master='local[2]' \
  --driver-class-path "$jars" --conf spark.executor.extraClassPath="$jars" \
  --driver-java-options "-Duser.timezone=UTC -Dderby.stream.error.file=$directory/derby.log" \
  --conf spark.sql.extensions=io.delta.sql.DeltaSparkSessionExtension \
  --conf spark.sql.catalog.spark_catalog=org.apache.spark.sql.delta.catalog.DeltaCatalog \
  --conf spark.sql.warehouse.dir="$directory/warehouse" \
  --conf "spark.hadoop.javax.jdo.option.ConnectionURL=jdbc:derby:;databaseName=$directory/catalog;create=true" \
  --conf spark.sql.session.timeZone=UTC --conf spark.sql.shuffle.partitions=2 \
  --conf spark.sql.unionOutputPartitioning=false \
  --conf spark.databricks.delta.snapshotPartitions=2 --conf spark.ui.enabled=false \
  --conf spark.databricks.delta.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration=false \
  --conf spark.hadoop.hive.server2.thrift.port="$port" \
  --conf spark.hadoop.hive.server2.thrift.bind.host=127.0.0.1 \
  "$@" spark-internal >"$directory/server.log" 2>&1 </dev/null &
server=$!
echo "$server" >"$directory/pid"

for _ in $(seq 120); do
  if "$python" - "$port" 2>/dev/null <<'EOF'
import sys
from pyhive import hive

with hive.connect("127.0.0.1", port=int(sys.argv[1]), username="dbt") as connection:
    connection.cursor().execute("select 1")
EOF
  then
    echo "The thrift server answers on port $port; its log is $directory/server.log."
    echo "Stop it with: kill $server"
    exit 0
  fi
  if ! kill -0 "$server" 2>/dev/null; then break; fi
  sleep 1
done
echo "The thrift server does not answer; see $directory/server.log." >&2
kill "$server" 2>/dev/null || true
exit 1
