"""Complete trends within a memory limit: H-CET lists them where T-CET does not fit.

After CET's Figures 13 to 17. Rings of checks in one window, by its length (layers of a ring), by
the rate (rings) and by how many checks a check can follow: alone, and among checks that lead
nowhere. Their share is the paper's selectivity S: 2,000 of them beside three of a ring at every
time are 2,003 checks a second, of which 0.15 % are selected; the paper's rates are 3,500 to 50,000.

SASE++ (`baselines/sase_trends.py`) comes in two ways. With pointers, as the paper has it, it finds
once what an event can follow, by a look at every earlier check, and then walks as M-CET does: every
trend is copied by either, so a ring alone or among few others takes it no longer than H-CET. Among
2,000 others at every time it is the search for the pointers that takes long, where H-CET looks up
values. Without pointers SASE++ looks at every earlier check in every step of every trend. So both
are ten times slower only where most checks lead nowhere. SASE++ writes numbers into a buffer, H-CET
makes Arrow lists where nothing else is said. All are told, the ordinary ones first.

Then windows that overlap: graphs alone, the whole listing, and what sharing the kept paths of
graphlets too could save. Then the search for a cut by atomic graphlets: its time, its memory and
its plans. Then real transfers, plugs and postures. M-, T- and H-CET run from sorted batches to
Arrow batches, on one core. All list the same number of trends, which is checked; except SASE++ on
real transfers, where accounts come again and not all of its trends are complete. Times are those of
the processor, as the paper's.
"""

from __future__ import annotations

import time
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks import charts
from benchmarks.baselines.limits import Stopped
from benchmarks.baselines.sase_trends import list_trends
from benchmarks.cut_searches import cut_figures
from benchmarks.events import REAL
from benchmarks.fresh import peak_of
from benchmarks.harness import Figure, Samples, Size, at_least, at_most, one_core, take_turns
from benchmarks.listings import Scanned, kept_bytes, scanned
from trendloom.errors import LimitError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import altair as alt

MEMORY = 1 << 30
RINGS = 4
LIMIT = {Size.FULL: 10.0, Size.QUICK: 5.0, Size.TINY: 0.5}
"""Seconds, of SASE++."""
LAYERS = {Size.FULL: (4, 8, 10, 11, 12, 13), Size.QUICK: (4, 8, 10, 12), Size.TINY: (2, 3)}
"""Of three checks each, per ring: three times as many events."""
TOO_MANY = {Size.FULL: 15, Size.QUICK: 14, Size.TINY: 4}
"""Layers of one ring that T-CET cannot hold, at the memory of `TIGHT`."""
TIGHT = {Size.FULL: MEMORY // 4, Size.QUICK: MEMORY // 8, Size.TINY: 1 << 20}
OTHERS = {Size.FULL: 2_000, Size.QUICK: 2_000, Size.TINY: 10}
"""Checks at every time that belong to no ring."""
RATES = {Size.FULL: (1, 2, 4, 8), Size.QUICK: (1, 4), Size.TINY: (1, 2)}
"""Rings in a window of ten layers."""
COMPATIBLE = {Size.FULL: range(1, 13), Size.QUICK: (1, 2, 3, 4, 6, 9, 12), Size.TINY: (1, 3)}
PER_RING = {Size.FULL: 36, Size.QUICK: 30, Size.TINY: 9}
OVERLAPS = {Size.FULL: (0, 1, 2, 3, 4, 5), Size.QUICK: (0, 3, 5), Size.TINY: (0, 5)}
"""Sixths of a window that it shares with the next."""
OVERLAPPED = {Size.FULL: 60_000, Size.QUICK: 30_000, Size.TINY: 1_200}
CHAINS = "PATTERN Check c+ WHERE c.dst = NEXT(c).src"
REAL_CASES = (
    ("transfers, simulated", "transfers_amlsim_SYNTHETIC",
     "PATTERN Transfer T+ WHERE T.dst = NEXT(T).src AND NEXT(T).amount <= T.amount "
     "AND NEXT(T).amount >= T.amount * 0.8 WITHIN 20 days SLIDE 20 days", {}),
    ("transfers, Ethereum", "transfers_ethereum_16k",
     "PATTERN Transfer T+ WHERE T.dst = NEXT(T).src WITHIN 10 minutes SLIDE 10 minutes",
     {"tiebreak": "tx_index"}),
    ("plugs: load rises", "smart_plugs_tracebase_3d",
     "PATTERN Refrigerator R+ WHERE [plug_id] AND R.load_w < NEXT(R).load_w "
     "AND R.load_w > 20 WITHIN 1 minute SLIDE 1 minute", {}),
    ("activity: heart rate rises", "activity_hr_mmash_22subj",
     "PATTERN Lying L+ WHERE [subject] AND L.heart_rate < NEXT(L).heart_rate "
     "AND L.heart_rate > 110 WITHIN 1 minute SLIDE 1 minute", {}),
)  # fmt: skip
CAUSES = {
    "SASE++ with pointers": "it walks as M-CET does; both copy every event of every trend, "
    "which is most of the work",
    "SASE++ without": "few events to look at in vain, and both copy every event of every trend",
    "overlap 5/6: the whole listing": "every window writes its own trends, shared or not: about "
    "half of a listing's time",
}


cpu_turns = partial(take_turns, clock=time.process_time)
"""Seconds of a core: one thread finds trends, and the paper's figures are of CPU costs too."""


def rings(per_ring: int, compatible: int, count: int = RINGS) -> pa.Table:
    """So many checks of each ring in one window, in layers, rings mixed; one time per layer."""
    at = np.arange(per_ring) // compatible
    ring = np.tile(np.arange(count), per_ring)
    layer = np.repeat(at, count)
    return pa.table({"ts": layer, "src": layer * count + ring, "dst": (layer + 1) * count + ring})


def run(size: Size) -> list[Figure]:
    figures = []
    _warm_up()
    with one_core():
        for panel in (_events, _rate, _tight, _compatibility, _overlap, cut_figures, _real):
            figures += panel(size)
    return [*figures, *_peaks(size)]


def _warm_up() -> None:
    """Compiled code is loaded before anybody's turn."""
    table = rings(9, 3)
    for pointers in (False, True):
        columns = (table[c].to_numpy() for c in ("ts", "src", "dst"))
        list_trends(*columns, 1.0, pointers=pointers)
    for algorithm in ("m", "t", "h"):
        scanned(CHAINS, table, event_type="Check").listed(algorithm=algorithm, memory=MEMORY)


def _lister(events: Scanned, algorithm: str, memory: int = MEMORY) -> Callable[[], tuple[int, int]]:
    return partial(events.listed, algorithm=algorithm, memory=memory)


def _curve(
    name: str, x_name: str, xs: Any, table_of: Callable[[int], pa.Table], size: Size
) -> tuple[list[Figure], dict[tuple[str, int], Samples], dict[int, int]]:
    """M, T, H and SASE++ at every x, and what T and H keep."""
    points, memory, turns, emitted = [], [], {}, {}
    gone = False
    for x in xs:
        table = table_of(x)
        events = scanned(CHAINS, table, event_type="Check")
        trends, emitted[x] = events.listed(algorithm="m", memory=MEMORY)
        columns = [table[c].to_numpy() for c in ("ts", "src", "dst")]
        pointing = partial(list_trends, *columns, LIMIT[size], pointers=True)
        assert pointing() == (trends, emitted[x]), f"{name} {x}: pointers"
        contenders: dict[str, Callable[[], object]] = {"SASE++, pointers": pointing}
        for algorithm in ("m", "t", "h"):
            try:
                found = events.listed(algorithm=algorithm, memory=MEMORY)
            except LimitError:
                continue
            assert found == (trends, emitted[x]), f"{name} {x}: {algorithm}"
            contenders[f"{algorithm.upper()}-CET"] = _lister(events, algorithm)
        if not gone:
            started = time.process_time()
            try:
                assert list_trends(*columns, LIMIT[size]) == (trends, emitted[x])
                if time.process_time() - started < LIMIT[size] / 10:
                    contenders["SASE++"] = partial(list_trends, *columns, LIMIT[size])
                else:
                    turns["SASE++", x] = Samples((time.process_time() - started,))
            except Stopped:
                gone = True
                seconds = time.process_time() - started
                points.append(charts.point(name, "SASE++", x, seconds * 1e3, stopped=True))
        slow = emitted[x] > 20_000_000
        for who, seconds in cpu_turns(
            contenders, min(3, size.turns) if slow else size.turns, warm_up=0
        ).items():
            turns[who, x] = seconds
        points += [
            charts.point(name, who, at, s.median * 1e3) for (who, at), s in turns.items() if at == x
        ]
        for algorithm, held in kept_bytes(events, MEMORY).items():
            memory.append(charts.point(f"{name}: memory", algorithm, x, held / 1e6))
    last = max(x for who, x in turns if who == "SASE++")
    figures = [
        Figure(
            f"{name}, {last} {x_name}, {emitted[last]:,} emitted: {who}, × H-CET's time",
            Samples((turns[who, last].median / turns["H-CET", last].median,)), "×",
            points=(*points, *memory) if who == "SASE++" else (),
        )
        for who in ("SASE++", "SASE++, pointers")
    ]  # fmt: skip
    return figures, turns, emitted


def _events(size: Size) -> list[Figure]:
    """Figures 13(b) and 14(b): longer windows."""
    xs = [3 * layers for layers in LAYERS[size]]
    figures, turns, emitted = _curve("events per ring", "events", xs, lambda x: rings(x, 3), size)
    among, _, _ = _curve(
        "events per ring, among others", "events", xs, lambda x: _among(rings(x, 3), size), size
    )
    fits = max(x for who, x in turns if who == "T-CET")
    rate = Samples(tuple(emitted[fits] / s for s in turns["T-CET", fits].values))
    label = f"T-CET, {fits} events per ring, to Arrow"
    return [*figures, *among, Figure(f"{label}: emitted", rate, "events/s", at_least(4e7))]


def _rate(size: Size) -> list[Figure]:
    """Figures 13(a) and 14(a): more checks per second, each of them compatible with three."""
    layers = min(10, max(LAYERS[size]))
    figures, _, _ = _curve(
        "rings per window", "rings", RATES[size], lambda x: rings(3 * layers, 3, x), size
    )
    return figures


def _tight(size: Size) -> list[Figure]:
    """One ring that T-CET cannot hold: alone, and among few and many checks that lead nowhere.

    SASE++ scans these in vain. Into a buffer, as SASE++ writes, and to Arrow.
    """
    return [
        figure
        for each in (0, max(1, OTHERS[size] // 100), OTHERS[size])
        for figure in _tight_among(each, size)
    ]


def _tight_among(each: int, size: Size) -> list[Figure]:
    memory = TIGHT[size]
    ring = rings(3 * TOO_MANY[size], 3, 1)
    table = pa.concat_tables([ring, _others(TOO_MANY[size], each)]).sort_by("ts")
    events = scanned(CHAINS, table, event_type="Check")
    assert kept_bytes(events, memory)["T-CET"] > memory / 2 or size is Size.TINY
    columns = [table[c].to_numpy() for c in ("ts", "src", "dst")]
    emitted = events.detected(algorithm="h", memory=memory)
    contenders: dict[str, Callable[[], object]] = {
        "buffer": partial(events.detected, algorithm="h", memory=memory),
        "Arrow": _lister(events, "h", memory),
    }
    seconds = cpu_turns(contenders, 1, warm_up=0)
    least = seconds["buffer"].median
    where = (
        f"where T-CET does not fit, {each:,} others at every time, {table.num_rows:,} events, "
        f"{emitted:,} emitted"
    )
    ratios = []
    for who, pointers in (("SASE++ with pointers", True), ("SASE++ without", False)):
        started = time.process_time()
        try:
            assert list_trends(*columns, 30 * least, pointers=pointers)[1] == emitted
            words = ""
        except Stopped:
            words = ", and stopped there"
        ratio = Samples(((time.process_time() - started) / least,))
        claim = f"{who}, × H-CET's time{words}, {where}"
        ratios.append(Figure(claim, ratio, "×", at_least(10)))
    return [
        *ratios,
        *(
            Figure(f"H-CET, {who}, {where}", Samples((emitted / s.median,)), "events/s")
            for who, s in seconds.items()
        ),
    ]  # fmt: skip


def _among(table: pa.Table, size: Size) -> pa.Table:
    """Rings among other checks, as many at every time."""
    layers = table["ts"].to_numpy().max() + 1
    return pa.concat_tables([table, _others(layers, OTHERS[size] // 4)]).sort_by("ts")


def _others(layers: int, each: int) -> pa.Table:
    """So many checks at every time, from and to accounts that no other check has."""
    account = (1 << 40) + 2 * np.arange(layers * each)
    return pa.table({"ts": np.repeat(np.arange(layers), each), "src": account, "dst": account + 1})


def _compatibility(size: Size) -> list[Figure]:
    """Figure 13(d): the most trends where a check can follow three."""
    alone, _, _ = _curve(
        "compatible checks", "compatible", COMPATIBLE[size],
        lambda x: rings(PER_RING[size], x), size,
    )  # fmt: skip
    among, _, _ = _curve(
        "compatible checks, among others", "compatible", COMPATIBLE[size],
        lambda x: _among(rings(PER_RING[size], x), size), size,
    )  # fmt: skip
    return [*alone, *among]


def _overlap(size: Size) -> list[Figure]:
    """Figure 13(c): with and without sharing, M-CET, in long windows of many short trends."""
    count = OVERLAPPED[size]
    random = np.random.default_rng(3)
    accounts = count // 2
    table = pa.table({
        "ts": np.arange(count), "src": random.integers(0, accounts, count),
        "dst": random.integers(0, accounts, count),
    })  # fmt: skip
    within = count // 10
    within -= within % 6
    points, turns = [], {}
    for sixths in OVERLAPS[size]:
        slide = within * (6 - sixths) // 6
        query = f"{CHAINS} WITHIN {within} s SLIDE {slide} s"
        events = scanned(query, table, event_type="Check")
        shared, alone = (partial(events.searched, share=share) for share in (True, False))
        windows = shared()
        assert windows == alone()
        listers = {
            f"listing, {who}": partial(events.listed, algorithm="m", memory=MEMORY, share=share)
            for who, share in (("shared", True), ("alone", False))
        }
        assert len({lister() for lister in listers.values()}) == 1
        turned = {"shared": shared, "alone": alone, **listers}
        for who, seconds in cpu_turns(turned, size.turns).items():
            turns[who, sixths] = seconds
            points.append(charts.point("overlap", who, sixths, seconds.median / windows[0] * 1e3))
    most = max(OVERLAPS[size])
    layers = {Size.FULL: 60, Size.QUICK: 24, Size.TINY: 6}[size]
    dense = scanned(f"{CHAINS} WITHIN 12 s SLIDE 2 s", rings(3 * layers, 3, 1), event_type="Check")
    return [
        *(
            Figure(
                f"overlap {most}/6, {words}: what graphlets keep, of an H-CET listing's time",
                _kept_share(windows_of), "%",
            )
            for words, windows_of in (("many short trends", events), ("a ring", dense))
        ),
        Figure(
            f"overlap {most}/6: graphs without sharing, × those with",
            turns["alone", most] / turns["shared", most], "×", at_least(3), points=tuple(points),
        ),
        Figure(
            f"overlap {most}/6: the whole listing without sharing, × with",
            turns["listing, alone", most] / turns["listing, shared", most], "×", at_least(3),
        ),
    ]  # fmt: skip


def _kept_share(events: Scanned) -> Samples:
    """What windows could save at most if they shared kept paths."""
    lister = _lister(events, "h")
    whole = cpu_turns({"whole": lister}, 3)["whole"].median
    return Samples((100 * events.keeping(memory=MEMORY) / whole,))


def _real(size: Size) -> list[Figure]:
    figures = []
    for name, file, query, options in REAL_CASES:
        path = REAL / f"{file}.parquet"
        if size is Size.TINY or not path.exists():
            print(f"  {path.name} is left out")
            continue
        events = scanned(query, path, time="ts", type="type", **options)
        listed: dict[str, tuple[int, int]] = {}
        for algorithm in ("m", "t", "h", "auto"):
            try:
                listed[algorithm] = events.listed(algorithm=algorithm, memory=MEMORY)
            except LimitError as error:
                print(f"  {name}, {algorithm}: {error.cause}")
        assert len(set(listed.values())) == 1
        turns = cpu_turns({a: _lister(events, a) for a in listed}, 1, warm_up=0)
        points = tuple(charts.point("real", a.upper(), 0, s.median * 1e3) for a, s in turns.items())
        trends, emitted = listed["m"]
        words = f"{name}: {events.rows:,} events, {trends:,} trends, {emitted:,} emitted"
        figures += [
            Figure(f"{words}: {a}", s * 1e3, "ms", points=points if a == "m" else ())
            for a, s in turns.items()
        ]
        if name.endswith("Ethereum"):
            spent = _sase_on_ethereum(path)
            claim = f"{name}: SASE++, × H-CET's time"
            ratio = Samples((spent / turns["h"].median,))
            figures.append(Figure(claim, ratio, "×"))
    return figures


def _sase_on_ethereum(path: Path) -> float:
    """Seconds for the same windows one by one, from sorted arrays."""
    table = pq.read_table(path).sort_by([("ts", "ascending"), ("tx_index", "ascending")])
    table = table.filter(pc.is_valid(table["dst"]))
    both = pa.chunked_array([*table["src"].chunks, *table["dst"].chunks]).combine_chunks()
    account = both.dictionary_encode().indices.to_numpy()
    source, target = account[: table.num_rows], account[table.num_rows :]
    window = table["ts"].cast(pa.int64()).to_numpy() // 600_000_000
    key = np.stack([table["ts"].cast(pa.int64()).to_numpy(), table["tx_index"].to_numpy()])
    order = np.concatenate([[0], np.cumsum((key[:, 1:] != key[:, :-1]).any(axis=0))])
    bounds = [0, *(np.flatnonzero(np.diff(window)) + 1), len(window)]
    list_trends(order[:9], source[:9], target[:9], 1.0)  # compiled for these types
    started = time.process_time()
    for lo, hi in pairwise(bounds):
        list_trends(order[lo:hi], source[lo:hi], target[lo:hi], LIMIT[Size.FULL])
    return time.process_time() - started


def _peaks(size: Size) -> list[Figure]:
    """The whole process, interpreter and scan included."""
    layers = (TOO_MANY[size],) if size is Size.TINY else (12, 14, TOO_MANY[size])
    peak = max(peak_of(list_rings, count, MEMORY) for count in layers)
    return [
        Figure(
            "H-CET's process at its peak, × the memory limit, at most",
            Samples((peak / MEMORY,)), "×", at_most(1),
        )
    ]  # fmt: skip


def list_rings(layers: int, memory: int) -> None:
    """In a process of its own."""
    from trendloom import trends

    found = trends(
        CHAINS, rings(3 * layers, 3, 1), time="ts", event_type="Check", algorithm="h",
        memory_limit=memory,
    )  # fmt: skip
    for _ in found:
        pass


def draw(figures: list[Figure]) -> alt.ConcatChart:
    points = [point for figure in figures for point in figure.points]
    titles = {
        "events per ring": ("Time by events", "events per ring", "ms"),
        "events per ring, among others": ("Time by events, among others", "events per ring", "ms"),
        "events per ring: memory": ("Memory by events", "events per ring", "MB"),
        "rings per window": ("Time by rate", "rings per window", "ms"),
        "rings per window: memory": ("Memory by rate", "rings per window", "MB"),
        "compatible checks": ("Time by compatibility", "checks that a check can follow", "ms"),
        "compatible checks, among others": (
            "Time by compatibility, among others",
            "checks that a check can follow",
            "ms",
        ),
        "overlap": ("Windows that overlap: graphs, listings", "sixths shared", "ms per window"),
        "search": ("Search for a cut", "atomic graphlets", "ms"),
        "search: memory": ("Memory of the search", "atomic graphlets", "KB"),
        "plan": ("Work of the plan", "atomic graphlets", "× the best"),
        "plan: memory": ("Memory of the plan", "atomic graphlets", "× uncut"),
    }
    drawn = [
        charts.Panel(
            title, x, f"{y}, logarithmic",
            [p for p in points if p["panel"] == name and p["y"] > 0], log_x=False,
        )
        for name, (title, x, y) in titles.items()
    ]  # fmt: skip
    return charts.panels(
        drawn,
        title="Complete trends",
        subtitle=f"{RINGS} rings of checks in a window, {MEMORY >> 30} GB, one core",
    )
