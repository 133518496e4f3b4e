"""What `sparkivm check` says, without a JVM."""
