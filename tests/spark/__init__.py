"""Trendloom on Spark: one session, a Connect server, a cluster, a Kafka broker."""
