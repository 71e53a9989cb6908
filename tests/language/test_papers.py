"""The queries of the five papers, as printed there but for the markup around them."""

from __future__ import annotations

import pytest

from trendloom.errors import QuerySyntaxError
from trendloom.language import name_variables, parse, to_text

PAPERS = {
    "COGRA q1": (
        "RETURN mapper, SUM(L.cpu) PATTERN SEQ(Start S, Load L+, End E) SEMANTICS contiguous "
        "WHERE [job,mapper] AND L.cpu < NEXT(L).cpu GROUP-BY job,mapper "
        "WITHIN 1 minute SLIDE 30 seconds",
        """\
RETURN mapper, SUM(L.cpu)
PATTERN SEQ(Start S, Load L+, End E)
SEMANTICS contiguous
WHERE [job, mapper] AND L.cpu < NEXT(L).cpu
GROUP-BY job, mapper
WITHIN 1 minute SLIDE 30 seconds""",
    ),
    "COGRA q2": (
        "RETURN district, COUNT(*), AVG(T.speed) PATTERN SEQ(Pickup P, Trip T+, Dropoff D) "
        "SEMANTICS skip-till-next-match WHERE [driver, rider, district] GROUP-BY district "
        "WITHIN 30 minutes SLIDE 1 minute",
        """\
RETURN district, COUNT(*), AVG(T.speed)
PATTERN SEQ(Pickup P, Trip T+, Dropoff D)
SEMANTICS skip-till-next-match
WHERE [driver, rider, district]
GROUP-BY district
WITHIN 30 minutes SLIDE 1 minute""",
    ),
    "COGRA q3": (
        "RETURN sector, COUNT(*) PATTERN Stock S+ SEMANTICS skip-till-any-match "
        "WHERE [company, sector] AND S.price > NEXT(S).price GROUP-BY sector "
        "WITHIN 10 minutes SLIDE 10 seconds",
        """\
RETURN sector, COUNT(*)
PATTERN Stock S+
WHERE [company, sector] AND S.price > NEXT(S).price
GROUP-BY sector
WITHIN 10 minutes SLIDE 10 seconds""",
    ),
    "COGRA q4, the bare word quoted": (
        """RETURN patient, COUNT(*)
PATTERN SEQ(Activity S, Activity A+, Activity F)
SEMANTICS contiguous
WHERE [patient] AND S.rate < 60 AND F.rate > 100 AND
A.type = 'passive' GROUP-BY patient
WITHIN 10 minutes SLIDE 30 seconds""",
        """\
RETURN patient, COUNT(*)
PATTERN SEQ(Activity S, Activity A+, Activity F)
SEMANTICS contiguous
WHERE [patient] AND S.rate < 60 AND F.rate > 100 AND A.type = 'passive'
GROUP-BY patient
WITHIN 10 minutes SLIDE 30 seconds""",
    ),
    "HAMLET q1": (
        """RETURN	T.district, COUNT(*), SUM(T.duration)
	PATTERN	SEQ(Request R, Travel T+, NOT Pickup P)
	WHERE	[driver, rider] GROUP-BY T.district
	WITHIN	30 min SLIDE 1 min""",
        """\
RETURN T.district, COUNT(*), SUM(T.duration)
PATTERN SEQ(Request R, Travel T+, NOT Pickup P)
WHERE [driver, rider]
GROUP-BY T.district
WITHIN 30 minutes SLIDE 1 minute""",
    ),
    "HAMLET q2, the bare word quoted": (
        """RETURN	T.district, COUNT(*), AVG(T.speed)
	PATTERN	SEQ(Request R, Travel T+, Dropoff D)
	WHERE	[driver, rider] AND R.type='Pool' GROUP-BY T.district
	WITHIN	30 min SLIDE 5 min""",
        """\
RETURN T.district, COUNT(*), AVG(T.speed)
PATTERN SEQ(Request R, Travel T+, Dropoff D)
WHERE [driver, rider] AND R.type = 'Pool'
GROUP-BY T.district
WITHIN 30 minutes SLIDE 5 minutes""",
    ),
    "HAMLET q3": (
        """RETURN	T.district, COUNT(*), SUM(T.duration)
	PATTERN	SEQ(Request R, Travel T+, Cancel C)
	WHERE	[driver, rider] AND T.speed<10 GROUP-BY T.district
	WITHIN	20 min SLIDE 1 min""",
        """\
RETURN T.district, COUNT(*), SUM(T.duration)
PATTERN SEQ(Request R, Travel T+, Cancel C)
WHERE [driver, rider] AND T.speed < 10
GROUP-BY T.district
WITHIN 20 minutes SLIDE 1 minute""",
    ),
    "CET Q1": (
        """PATTERN Check+ c[ ]
WHERE c.type = 'notcovered' AND
      c.destination = NEXT(c).source
WITHIN 1 day SLIDE 10 minutes""",
        """\
PATTERN Check c+
WHERE c.type = 'notcovered' AND c.destination = NEXT(c).source
WITHIN 1 day SLIDE 10 minutes""",
    ),
    "CET Q2": (
        """PATTERN SEQ(Activity a, Activity+ b[])
 WHERE [personID] AND b.rate < NEXT(b).rate AND
 a.rate*2 < b.rate AND b.type = 'passive'
 WITHIN 10 minutes SLIDE 1 minute""",
        """\
PATTERN SEQ(Activity a, Activity b+)
WHERE [personID] AND b.rate < NEXT(b).rate AND a.rate * 2 < b.rate AND b.type = 'passive'
WITHIN 10 minutes SLIDE 1 minute""",
    ),
    "CET Q3": (
        """PATTERN Stock+ s[]
 WHERE [companyID] AND s.price < NEXT(s).price
 WITHIN 1 hour SLIDE 30 minutes""",
        """\
PATTERN Stock s+
WHERE [companyID] AND s.price < NEXT(s).price
WITHIN 1 hour SLIDE 30 minutes""",
    ),
    "A-Seq application I": (
        """PATTERN <SEQ(TypeUsername,TypePassword,ClickSubmit)>
  WHERE <TypePassword.value!=TypeUsername.Password>
  GROUP BY <IP>
  [AGG COUNT] [WITHIN 10s]""",
        """\
RETURN COUNT(*)
PATTERN SEQ(TypeUsername, TypePassword, ClickSubmit)
WHERE TypePassword.value <> TypeUsername.Password
GROUP-BY IP
WITHIN 10 seconds""",
    ),
    "A-Seq application II": (
        """PATTERN <SEQ(Kindle, KindleCase, Stylus)>
  WHERE <Kindle.userId=KindleCase.userId=Stylus.userId>
  [AGG COUNT] [WITHIN 1hour]""",
        """\
RETURN COUNT(*)
PATTERN SEQ(Kindle, KindleCase, Stylus)
WHERE Kindle.userId = KindleCase.userId AND KindleCase.userId = Stylus.userId
WITHIN 1 hour""",
    ),
    "A-Seq section 2.2": (
        "Pattern SEQ(TypeUsername a, TypePassword b, ClickSubmit c)\nWITHIN 5s",
        """\
PATTERN SEQ(TypeUsername a, TypePassword b, ClickSubmit c)
WITHIN 5 seconds""",
    ),
    "A-Seq negation": (
        "PATTERN (VK, BK, !REC, VC, BC) AGG COUNT WITHIN 1hour",
        """\
RETURN COUNT(*)
PATTERN SEQ(VK, BK, NOT REC, VC, BC)
WITHIN 1 hour""",
    ),
    "ACEL Q1, Q14": (
        "PATTERN seq(JobStart a, Mapper+ b[ ], JobEnd c) "
        "WHERE a.job_id = b[i].job_id and a.job_id = c.job_id "
        "RETURN AVG(b[ ].period), MAX(b[ ].period)",
        """\
RETURN AVG(b.period), MAX(b.period)
PATTERN SEQ(JobStart a, Mapper b+, JobEnd c)
WHERE a.job_id = b.job_id AND a.job_id = c.job_id""",
    ),
    "ACEL Q13, with straight quotes": (
        """PATTERN SEQ(NEWS a, STOCK+ b[])
WHERE a.type = 'bad' and b[i].symbol = 'GOOG'
RETURN sum(b[].volume)""",
        """\
RETURN SUM(b.volume)
PATTERN SEQ(NEWS a, STOCK b+)
WHERE a.type = 'bad' AND b.symbol = 'GOOG'""",
    ),
    "ACEL Q16": (
        "RETURN sector, COUNT(*) PATTERN Stock S+ "
        "WHERE [company, sector] AND S.price > NEXT(S).price",
        """\
RETURN sector, COUNT(*)
PATTERN Stock S+
WHERE [company, sector] AND S.price > NEXT(S).price""",
    ),
    "ACEL Q17": (
        "RETURN mapper, SUM(M.cpu) PATTERN SEQ(Start S, Measurement M+, End E) "
        "WHERE [job, mapper] AND M.load < NEXT(M).load",
        """\
RETURN mapper, SUM(M.cpu)
PATTERN SEQ(Start S, Measurement M+, End E)
WHERE [job, mapper] AND M.load < NEXT(M).load""",
    ),
    "ACEL Q18": (
        "RETURN COUNT (*) PATTERN OakSt, MainSt, StateSt WHERE [vehicle]",
        """\
RETURN COUNT(*)
PATTERN SEQ(OakSt, MainSt, StateSt)
WHERE [vehicle]""",
    ),
    "ACEL Q19": (
        "RETURN T.district, COUNT(*), SUM(T.duration) "
        "PATTERN SEQ(Request R, Travel T+, Cancel C) WHERE [driver, rider]",
        """\
RETURN T.district, COUNT(*), SUM(T.duration)
PATTERN SEQ(Request R, Travel T+, Cancel C)
WHERE [driver, rider]""",
    ),
    "ACEL Q20": (
        "RETURN driver, COUNT(*) PATTERN SEQ(Accept, (SEQ(Call, Cancel))+, Finish) "
        "SEMANTICS skip-till-next-match WHERE [driver]",
        """\
RETURN driver, COUNT(*)
PATTERN SEQ(Accept, (SEQ(Call, Cancel))+, Finish)
SEMANTICS skip-till-next-match
WHERE [driver]""",
    ),
    "ACEL Q21, the bare word quoted": (
        "RETURN patient, MIN(M.rate), MAX(M.rate) PATTERN Measurement M+ SEMANTICS contiguous "
        "WHERE [patient] AND M.rate < NEXT(M).rate AND M.activity = 'passive'",
        """\
RETURN patient, MIN(M.rate), MAX(M.rate)
PATTERN Measurement M+
SEMANTICS contiguous
WHERE [patient] AND M.rate < NEXT(M).rate AND M.activity = 'passive'""",
    ),
}


@pytest.mark.parametrize(("text", "printed"), PAPERS.values(), ids=PAPERS.keys())
def test_a_query_of_the_papers(text: str, printed: str) -> None:
    query = parse(text)
    named = name_variables(query)

    assert to_text(query) == printed
    assert parse(printed) == query
    assert parse(to_text(named)) == named


def test_the_papers_bare_words_are_refused_with_the_way_out() -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        parse("PATTERN Measurement M+ WHERE M.activity = passive")

    assert caught.value.remedy == "Quote it as a string ('passive') or write VARIABLE.passive."
