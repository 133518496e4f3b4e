"""Iceberg's own REST catalog, from the tests of iceberg-core, in a JVM of its own on this machine."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyspark
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

from tests.spark.iceberg_catalogs import SQLITE
from tests.spark_settings import ICEBERG_VERSION

_JARS = Path(pyspark.__file__).parent / "jars"
# Spark's list of packages cannot name a jar of tests.
_NEEDED = """
<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">
  <info organisation="tests" module="rest"/>
  <dependencies>
    <dependency org="org.apache.iceberg" name="iceberg-core" rev="{iceberg}" conf="default->compile,runtime,master">
      <artifact name="iceberg-core"/>
      <artifact name="iceberg-core" m:classifier="tests"/>
    </dependency>
    <dependency org="{group}" name="{module}" rev="{version}" conf="default->compile,runtime,master"/>
  </dependencies>
</ivy-module>
"""


@contextmanager
def rest_server(directory: Path) -> Iterator[str]:
    """A context in which the server runs; its tables are in the directory. Gives its address."""
    port = launch_gateway(
        classpath=f"{_fetched(directory)}:{_JARS}/*", die_on_exit=True, javaopts=["-Xmx512m"]
    )
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port))
    server = _started(gateway.jvm, directory)
    try:
        yield f"http://127.0.0.1:{server.getConnectors()[0].getLocalPort()}"
    finally:
        server.stop()
        gateway.shutdown()


def _fetched(directory: Path) -> str:
    """The class path of the server."""
    group, module, version = SQLITE.split(":")
    asked, found = directory / "ivy.xml", directory / "class_path"
    asked.write_text(_NEEDED.format(iceberg=ICEBERG_VERSION, group=group, module=module, version=version))
    (ivy,) = _JARS.glob("ivy-*.jar")
    command = ["java", "-jar", str(ivy), "-ivy", str(asked), "-cachepath", str(found)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return found.read_text().strip()


def _started(jvm: Any, directory: Path) -> Any:
    catalog = jvm.org.apache.iceberg.jdbc.JdbcCatalog()
    catalog.setConf(jvm.org.apache.hadoop.conf.Configuration())
    options = {
        "uri": f"jdbc:sqlite:{directory}/rest.db?busy_timeout=60000",
        "warehouse": str(directory / "rest"),
        "jdbc.schema-version": "V1",
    }
    java_options = jvm.java.util.HashMap()
    for name, value in options.items():
        java_options.put(name, value)
    catalog.initialize("behind_rest", java_options)
    rest, jetty = jvm.org.apache.iceberg.rest, jvm.org.sparkproject.jetty
    servlet = rest.RESTCatalogServlet(rest.RESTCatalogAdapter(catalog))
    context = jetty.servlet.ServletContextHandler(jetty.servlet.ServletContextHandler.NO_SESSIONS)
    context.addServlet(jetty.servlet.ServletHolder(servlet), "/*")
    server = jetty.server.Server(jvm.java.net.InetSocketAddress("127.0.0.1", 0))
    server.setHandler(context)
    server.start()
    return server
