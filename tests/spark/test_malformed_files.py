"""Files that Spark refuses to read, in words for the caller; no session is needed for them."""

from __future__ import annotations

from trendloom.errors import InputError
from trendloom.hosts.spark import failed

CSV = """An error occurred while calling o44.collectToPython.
: org.apache.spark.SparkException: [FAILED_READ_FILE.NO_HINT] Encountered error while reading file \
file:///data/e.csv.  SQLSTATE: KD001
\tat org.apache.spark.sql.errors.QueryExecutionErrors$.cannotReadFilesError(Q.scala:877)
Caused by: org.apache.spark.SparkException: [MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION] \
Malformed records are detected in record parsing: [2,null].
Caused by: org.apache.spark.SparkRuntimeException: [MALFORMED_CSV_RECORD] Malformed CSV record: 2 \
SQLSTATE: KD000
"""
JSON = ": o.a.s.SparkException: [MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION] Malformed records"


def test_a_malformed_record_is_named_with_its_file() -> None:
    error = failed.plain(RuntimeError(CSV))
    assert isinstance(error, InputError)
    assert error.cause == (
        "The file '/data/e.csv' has a record that is malformed or does not fit the columns: '2'."
    )
    assert "Repair it" in str(error.remedy)
    assert failed.plain(RuntimeError(JSON)).cause.startswith("One of the files has a record")
