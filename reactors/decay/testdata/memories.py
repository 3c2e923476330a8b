"""Makes memories.json with py-fsrs 6.3.1 (MIT), https://github.com/open-spaced-repetition/py-fsrs,
commit 3abe686e9c05, as it is published, on the path:

    PYTHONPATH=py-fsrs python3 memories.py > memories.json

Each case is a memory whose every grade is Good. "days" is py-fsrs itself, with
gaps of whole days or less than one. "hours" has any gaps; there the retrievability
counts hours, as helixd's does, where py-fsrs rounds down to days.
"""
import json
import random
from datetime import datetime, timedelta, timezone

from fsrs import Card, Rating, Scheduler


class Hours(Scheduler):
    def get_card_retrievability(self, card, current_datetime=None):
        days = (current_datetime - card.last_review) / timedelta(days=1)
        return (1 + self._FACTOR * days / card.stability) ** self._DECAY


def run(scheduler, gaps):
    at = datetime(2020, 2, 28, 12, tzinfo=timezone.utc)
    card, _ = scheduler.review_card(Card(), Rating.Good, at)
    states = [[card.stability, card.difficulty]]
    for hours in gaps:
        at += timedelta(hours=hours)
        card, _ = scheduler.review_card(card, Rating.Good, at)
        states.append([card.stability, card.difficulty])
    return {"gaps": gaps, "states": states}


rng = random.Random(6)
daily = [[24 * rng.choice([1, 1, 2, 3, 7, 30, 365]) for _ in range(12)] for _ in range(10)]
daily += [[rng.choice([1, 12, 24, 24, 72, 240]) if rng.random() < 0.5 else 24 for _ in range(15)] for _ in range(10)]
daily += [[1] * 20, [24] * 40, [24 * 36500], [23, 24, 25 - 1, 0.25, 24 * 10]]
anyhow = [[rng.choice([1, 24, 100, 1000]) * 2 ** -rng.randrange(5) * rng.randrange(1, 50) for _ in range(15)] for _ in range(20)]
anyhow += [[23.5, 24.5, 36, 0.5, 1000.75]]
print(json.dumps({"days": [run(Scheduler(enable_fuzzing=False), g) for g in daily],
                  "hours": [run(Hours(enable_fuzzing=False), g) for g in anyhow]}))
