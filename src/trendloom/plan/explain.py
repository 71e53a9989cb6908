"""`explain`: what a query keeps, how it is computed and what that costs, before it runs."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from trendloom.errors import TrendloomError, did_you_mean

if TYPE_CHECKING:
    from trendloom.plan.plan import Plan

FORMATS = ("text", "json", "mermaid")


def explain(plan: Plan, format: str = "text") -> str:  # noqa: A002
    """The plan in words ("text"), as an object ("json"), or its automaton ("mermaid")."""
    if format not in FORMATS:
        raise TrendloomError(f"Unknown format '{format}'.", remedy=did_you_mean(format, FORMATS))
    if format == "mermaid":
        from trendloom.plan.explaining.wording import picture

        return picture(plan)
    if plan.lists:
        from trendloom.plan.explaining.listing import gather_listing, listing_text

        told = gather_listing(plan)
        if format == "json":
            return json.dumps(asdict(told), indent=2, ensure_ascii=False)
        return listing_text(told)
    from trendloom.plan.explaining.facts import gather
    from trendloom.plan.explaining.text import to_text

    facts = gather(plan)
    if format == "json":
        return json.dumps(asdict(facts), indent=2, ensure_ascii=False)
    return to_text(facts)
