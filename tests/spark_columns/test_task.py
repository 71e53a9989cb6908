"""What a worker is told of a query."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

import trendloom as tl
from trendloom.engine.layout import Numbers
from trendloom.hosts.scan.project import Projector
from trendloom.hosts.scan.reading import Reading
from trendloom.hosts.spark.task import Task
from trendloom.language import parse

if TYPE_CHECKING:
    from trendloom.language.nodes import Query

SCHEMA = pa.schema([("t", pa.int64()), ("type", pa.string())])


def task_of(query: str | Query) -> Task:
    plan = tl.query(query).plan
    projector = Projector(plan.scan, SCHEMA, Reading("t", "type"))
    types = tuple(projector.operand_types), tuple(projector.partition_types)
    return Task.of(plan, Numbers.AUTO, projector.axis, *types)


def test_a_worker_gets_the_query_as_it_was_written() -> None:
    text = "RETURN  COUNT( * )  PATTERN A+"
    assert task_of(text).query == text
    assert task_of(text).schema.names[-1:] == ["COUNT( * )"]


def test_a_query_that_was_changed_after_it_was_parsed_is_the_changed_one() -> None:
    query = parse("RETURN COUNT(*) AS n PATTERN A+")
    changed = replace(query, returns=tuple(replace(one, alias="m") for one in query.returns))
    assert task_of(query).schema.names[-1:] == ["n"]
    assert task_of(changed).schema.names[-1:] == ["m"]
