"""The knobs do what they say, measured; what they refuse, and how."""

import numpy as np
import pyarrow as pa
import pytest

from trendloom.errors import InputError
from trendloom.generators import STREAMS, generate, stream

EVENTS = 100_000
KEY = {
    "ridesharing": "driver",
    "stock": "company",
    "cluster": "mapper",
    "activity": "patient",
    "transfers": "ring",
}
# What comes in runs, and what the natural adjacent predicate compares, inside which groups.
RUNS = KEY | {"ridesharing": "type"}
WALKS = {
    "ridesharing": (["driver", "type"], "speed", np.less),
    "stock": (["company"], "price", np.greater),
    "cluster": (["mapper"], "cpu", np.less),
    "activity": (["patient"], "rate", np.less),
}

every_stream = pytest.mark.parametrize("name", STREAMS)


def codes(column: pa.ChunkedArray) -> np.ndarray:
    whole = column.combine_chunks()
    if not pa.types.is_dictionary(whole.type):
        whole = whole.dictionary_encode()
    return whole.indices.to_numpy(zero_copy_only=False)


def microseconds(table: pa.Table) -> np.ndarray:
    return table["ts"].cast(pa.int64()).to_numpy()


@every_stream
@pytest.mark.parametrize(("rate", "ties"), [(20.0, 0.0), (5000.0, 0.3), (1e6, 0.9)])
def test_rate_and_ties(name: str, rate: float, ties: float) -> None:
    gaps = np.diff(microseconds(generate(name, EVENTS, rate=rate, ties=ties)))
    assert 1e6 / gaps.mean() == pytest.approx(rate, rel=0.05)
    assert (gaps == 0).mean() == pytest.approx(ties, abs=0.01)


@every_stream
def test_burst(name: str) -> None:
    # Enough groups that two runs of the same group rarely meet.
    knobs = {"burst": 12, "keys": 2000, "seed": 3}
    if name == "ridesharing":
        knobs["travel"] = 0.05
    if name == "transfers":
        knobs["selectivity"] = 1
    table = generate(name, EVENTS, **knobs)
    changes = np.diff(codes(table[RUNS[name]])) != 0
    meet = 1 / 20 if name == "ridesharing" else 1 / 2000
    assert changes.mean() * 12 == pytest.approx(1 - meet, rel=0.05)


@every_stream
def test_keys_and_skew(name: str) -> None:
    even = generate(name, EVENTS, keys=20)[KEY[name]].drop_null()
    counts = np.bincount(codes(even))
    assert len(counts) == 20
    assert counts.max() / counts.min() < 1.2

    skewed = generate(name, EVENTS, keys=20, skew=1)[KEY[name]].drop_null()
    ranked = np.sort(np.bincount(codes(skewed)))[::-1]
    assert ranked[0] / ranked[1] == pytest.approx(2, rel=0.1)
    assert ranked[0] / ranked[9] == pytest.approx(10, rel=0.2)


@pytest.mark.parametrize("name", WALKS)
@pytest.mark.parametrize("selectivity", [0.01, 0.1, 0.5, 0.75, 0.99])
def test_selectivity_of_walks(name: str, selectivity: float) -> None:
    groups, attribute, holds = WALKS[name]
    table = generate(name, EVENTS, keys=8, selectivity=selectivity)
    table = table.filter(table[attribute].is_valid())
    group = np.zeros(table.num_rows, dtype=np.int64)
    for column in groups:
        group = group * 1000 + codes(table[column])
    order = np.argsort(group, kind="stable")
    values = table[attribute].to_numpy()[order]
    together = np.diff(group[order]) == 0
    share = holds(values[:-1], values[1:])[together].mean()
    assert share == pytest.approx(selectivity, abs=0.01)


@pytest.mark.parametrize("compatibility", [1, 3, 10])
def test_compatibility_of_transfers(compatibility: int) -> None:
    table = generate(
        "transfers", 20_000, keys=5, compatibility=compatibility, selectivity=0.4
    ).to_pylist()
    checks = [check for check in table if check["status"] == "notcovered"]
    assert len(checks) / 20_000 == pytest.approx(0.4, abs=0.02)

    deposits: dict[int, int] = {}
    followed = []
    for check in checks:
        followed.append(deposits.get(check["src"], 0))
        deposits[check["dst"]] = deposits.get(check["dst"], 0) + 1
    # Only the first layer of each ring follows nothing.
    assert followed.count(0) == 5 * compatibility
    assert set(followed) == {0, compatibility}


def test_jobs_start_load_and_end() -> None:
    table = generate("cluster", 20_000, keys=3, length=10)
    rows: dict[tuple[int, int], list[str]] = {}
    for row in table.select(["mapper", "job", "type"]).to_pylist():
        rows.setdefault((row["mapper"], row["job"]), []).append(row["type"])
    lengths = [len(types) for types in rows.values()]
    assert np.mean(lengths) == pytest.approx(10, rel=0.1)
    for types in rows.values():
        assert types[0] == "Start"
        assert set(types[1:-1]) <= {"Load"}
    finished = [types for types in rows.values() if types[-1] == "End"]
    assert len(rows) - len(finished) <= 3
    assert min(len(types) for types in finished) >= 3
    for column in ("cpu", "memory", "load"):
        missing = table[column].is_null().to_pylist()
        assert missing == [kind != "Load" for kind in table["type"].to_pylist()]


def test_shares() -> None:
    rides = generate("ridesharing", EVENTS, travel=0.6, districts=4)
    assert rides["type"].to_pylist().count("Travel") / EVENTS == pytest.approx(0.6, abs=0.01)
    assert len(set(rides["district"].to_pylist())) == 4

    activity = generate("activity", EVENTS, passive=0.2)["activity"].to_pylist()
    assert activity.count("passive") / EVENTS == pytest.approx(0.2, abs=0.03)

    trades = generate("stock", 1000, keys=6, sectors=3).to_pylist()
    assert len({(trade["company"], trade["sector"]) for trade in trades}) == 6
    assert len({trade["sector"] for trade in trades}) == 3


# ── refusals ─────────────────────────────────────────────────────────────────────────────────


def test_unknown_stream() -> None:
    with pytest.raises(InputError, match=r"no stream 'stocks'(.|\n)*Did you mean 'stock'"):
        stream("stocks")


def test_unknown_knob() -> None:
    with pytest.raises(InputError, match=r"'stock' has no knob 'skiw'(.|\n)*Did you mean 'skew'"):
        generate("stock", 10, skiw=1)


@pytest.mark.parametrize(
    ("knob", "value"),
    [
        ("rate", 0),
        ("rate", "fast"),
        ("rate", float("nan")),
        ("rate", True),
        ("keys", 0),
        ("keys", 2.5),
        ("keys", "2.5"),
        ("keys", None),
        ("burst", 0.5),
        ("skew", -1),
        ("selectivity", 1),
        ("ties", 1.0),
        ("seed", -1),
        ("events", -1),
        ("events", "many"),
    ],
)
def test_values_out_of_range(knob: str, value: object) -> None:
    with pytest.raises(InputError, match=f"^{knob}="):
        generate("stock", **({"events": 10} | {knob: value}))


def test_a_command_line_passes_text() -> None:
    as_text = generate("stock", 100, keys="5", rate="12.5")
    assert as_text.equals(generate("stock", 100, keys=5, rate=12.5))
    assert as_text.equals(generate("stock", 100, keys=5.0, rate=12.5))
