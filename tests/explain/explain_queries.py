"""The queries whose explanations are kept under golden/; run this file to write them anew."""

from pathlib import Path

from trendloom.api import query

GOLDEN = Path(__file__).parent / "golden"

QUERIES = {
    "any": "RETURN COUNT(*), AVG(A.x) AS mean PATTERN (SEQ(A+, B))+ WITHIN 10 min SLIDE 3 min",
    "next": "RETURN g, COUNT(*), SUM(A.x) PATTERN SEQ(A+, B) SEMANTICS skip-till-next-match "
    "WHERE LENGTH(*) <= 3 GROUP-BY g",
    "extremes": "RETURN g, MIN(A.x) AS low, MAX(LENGTH(*)) AS longest PATTERN SEQ(A+, B) "
    "WHERE [k] GROUP-BY g WITHIN 10 min SLIDE 5 min",
    "contiguous": "RETURN COUNT(*) PATTERN A+ SEMANTICS contiguous "
    "WHERE [k] AND A.x < NEXT(A).x WITHIN 100 EVENTS SLIDE 10 EVENTS",
    "guards": "RETURN COUNT(*) PATTERN SEQ(NOT D, A+, NOT SEQ(C, D), B?, NOT E) "
    "WHERE C.y = 2 AND A.x > 1 HAVING MAX(A.x) > 3 AND COUNT(*) > 2",
    "adjacent": "RETURN company, COUNT(*), MIN(S.price) AS low PATTERN Stock S+ "
    "WHERE [company] AND S.price > NEXT(S).price GROUP-BY company WITHIN 1 min SLIDE 1 min",
    "stack": (
        "RETURN COUNT(*) PATTERN S+ SEMANTICS skip-till-next-match"
        " WHERE S.price > NEXT(S).price WITHIN 1 hour SLIDE 1 hour"
    ),
    "pairs": "RETURN COUNT(*), MAX(S.price) AS high PATTERN SEQ(Stock S+, Trade T) "
    "WHERE S.price > NEXT(S).price AND S.volume < NEXT(S).volume AND S.price <= NEXT(T).price "
    "WITHIN 1 min SLIDE 1 min",
    "overlapping": "RETURN COUNT(*), SUM(A.x) PATTERN SEQ(A+, B) "
    "WHERE A.x < NEXT(A).x WITHIN 10 min SLIDE 1 min",
    "anchored": "RETURN T.d, COUNT(*), COUNT(DISTINCT B) PATTERN SEQ(A, T, B+) "
    "WHERE A.x * 2 < B.x GROUP-BY T.d WITHIN 1 hour",
    "cleared": "RETURN COUNT(*), SUM(A.x) PATTERN SEQ(A+, NOT C, B, NOT D) "
    "WITHIN 1 hour SLIDE 1 hour",
    "and": "RETURN COUNT(*) PATTERN SEQ(A x, B y) AND SEQ(A u+, NOT C, B v+) "
    "WHERE u.p < NEXT(v).p AND x.p <> y.p",
}

LISTINGS = {
    "listing_equal": "PATTERN Transfer T+ WHERE T.dst = NEXT(T).src WITHIN 6 min SLIDE 1 min",
    "listing_scan": "PATTERN SEQ(A+, NOT C, B) WHERE [k] AND A.x < NEXT(A).x",
}

if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for name, text in LISTINGS.items():
        (GOLDEN / f"{name}.txt").write_text(query(text).explain() + "\n")
    for name, text in QUERIES.items():
        (GOLDEN / f"{name}.txt").write_text(query(text).explain() + "\n")
        (GOLDEN / f"{name}.mmd").write_text(query(text).explain("mermaid") + "\n")
    (GOLDEN / "guards.json").write_text(query(QUERIES["guards"]).explain("json") + "\n")
