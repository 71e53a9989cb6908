"""Words of SQL that the language does not have, and what to write instead."""

from __future__ import annotations

_EVENTS = (
    "Events are given beside the query, as in run(query, events) or --input; their columns are "
    "attributes."
)
_SORTED = "Rows come by window and group; sort the result, as in result.to_pandas().sort_values(…)."
_FEWER = (
    "All rows are returned; HAVING chooses among them, and limit= (--limit) bounds a listing of "
    "trends."
)

CLAUSES = {
    "SELECT": "Write RETURN for what is wanted, as in RETURN COUNT(*) PATTERN A+.",
    "FROM": _EVENTS,
    "JOIN": _EVENTS,
    "ORDER": _SORTED,
    "SORT": _SORTED,
    "LIMIT": _FEWER,
    "OFFSET": _FEWER,
    "FETCH": _FEWER,
    "TOP": _FEWER,
    "PARTITION": "Write WHERE [attribute] so that all events of a trend agree on it, and GROUP-BY "
    "attribute for a row of each value.",
    "UNION": "Write OR inside of the PATTERN, or two queries of a workload.",
    "MEASURES": "Write RETURN.",
    "DEFINE": "Write WHERE, as in WHERE A.price > 10.",
    "MATCH_RECOGNIZE": "Write PATTERN, WHERE and RETURN without it.",
}
"""First word of a clause → what to write here."""

FOLLOWED = {"ORDER": "BY", "SORT": "BY", "PARTITION": "BY"}
"""The words that are clauses only before another one."""

AGGREGATES = frozenset(
    (
        *("MEDIAN", "MODE", "QUANTILE", "PERCENTILE", "PERCENTILE_CONT", "PERCENTILE_DISC"),
        *("APPROX_PERCENTILE", "APPROX_COUNT_DISTINCT", "APPROX_QUANTILE", "MAD", "HISTOGRAM"),
        *("ARRAY_AGG", "STRING_AGG", "LISTAGG", "GROUP_CONCAT", "COLLECT_LIST", "COLLECT_SET"),
        *("LIST", "ANY_VALUE", "FIRST", "LAST", "FIRST_VALUE", "LAST_VALUE", "NTH_VALUE"),
        *("ARG_MIN", "ARG_MAX", "MIN_BY", "MAX_BY", "COUNT_IF", "COUNTIF", "SUM_IF", "PRODUCT"),
        *("STDDEV_POP", "STDDEV_SAMP", "VAR_POP", "VAR_SAMP", "VAR", "STD", "MEAN"),
        *("CORR", "COVAR_POP", "COVAR_SAMP", "KURTOSIS", "SKEWNESS", "ENTROPY", "GEOMEAN"),
        *("BOOL_AND", "BOOL_OR", "EVERY", "BIT_AND", "BIT_OR", "BIT_XOR", "REGR_SLOPE"),
    )
)

FUNCTIONS = frozenset(
    (
        *("SQRT", "POWER", "POW", "EXP", "LN", "LOG", "LOG10", "SIGN", "FLOOR", "CEIL", "CEILING"),
        *("TRUNC", "MOD", "GREATEST", "LEAST", "NULLIF", "IFNULL", "NVL", "IF", "IIF", "DECODE"),
        *("SUBSTR", "SUBSTRING", "TRIM", "LTRIM", "RTRIM", "REPLACE", "CONCAT", "LEFT", "RIGHT"),
        *("CHAR_LENGTH", "POSITION", "REGEXP_MATCHES", "REGEXP_LIKE", "STARTS_WITH", "CONTAINS"),
        *("EXTRACT", "DATE_TRUNC", "DATE_PART", "DATEDIFF", "DATE_DIFF", "NOW", "TO_TIMESTAMP"),
        *("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "CAST", "TRY_CAST", "CONVERT"),
        *("ROW_NUMBER", "RANK", "DENSE_RANK", "NTILE", "LAG", "LEAD"),
    )
)

_PREVIOUS = frozenset({"PREV", "PREVIOUS", "LAG"})
_NEIGHBOURS = _PREVIOUS | {"LEAD", "FIRST", "LAST"}


def clause(word: str) -> tuple[str, str]:
    """Cause and remedy for the first word of a clause that is not offered."""
    name = word.upper()
    whole = f"{name} {FOLLOWED[name]}" if name in FOLLOWED else name
    return f"There is no {whole} here", CLAUSES[name]


def instead_of_neighbour(word: str, variable: str = "A") -> str | None:
    """What to write for a function that reads another event of the trend; None if it is none."""
    name = word.upper()
    if name not in _NEIGHBOURS:
        return None
    if name in _PREVIOUS:
        return (
            "The later one of two neighbours stands under NEXT: write "
            f"{variable}.x < NEXT({variable}).x for PREV({variable}).x < {variable}.x."
        )
    if name == "LEAD":
        return f"Write NEXT({variable}).x for the next event of the trend."
    return (
        f"Give the {name.lower()} event a variable of its own, as in SEQ(A a, A+ b) or "
        "SEQ(A+ a, A b), and compare with that."
    )
