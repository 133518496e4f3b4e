#!/bin/sh
# Spark 4 runs on Java 17 and 21; says so in one sentence before anything else fails.
set -eu
java="${JAVA_HOME:+$JAVA_HOME/bin/}java"
do="install Java 17 or 21 (for example: apt-get install openjdk-17-jre-headless) or set JAVA_HOME."
if ! command -v "$java" >/dev/null 2>&1; then
  echo "Spark needs Java, and $java was not found: $do" >&2
  exit 1
fi
major=$("$java" -version 2>&1 | sed -n 's/.*version "\(1\.\)\{0,1\}\([0-9][0-9]*\).*/\2/p' | head -n 1)
case "$major" in
  17 | 21) ;;
  *)
    echo "Spark 4 needs Java 17 or 21, and $java is Java ${major:-of an unknown version}: $do" >&2
    exit 1
    ;;
esac
