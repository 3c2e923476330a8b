#!/usr/bin/env python3
"""Writes kleinberg.json: states of Kleinberg's burst automaton ("Bursty and hierarchical
structure in streams", 2002), found by an independent, plain dynamic programme over the
whole matrix of transitions, as the paper defines it.

    python3 kleinberg.py        (numpy)
"""
import json
import numpy as np


def kleinberg(gaps, s, gamma, levels):
    n = len(gaps)
    mean = sum(gaps) / n
    rate = np.array([s ** i / mean for i in range(levels)])
    i, j = np.meshgrid(range(levels), range(levels), indexing="ij")
    transition = np.where(j > i, (j - i) * gamma * np.log(n), 0.0)  # from i to j
    cost = np.where(np.arange(levels) == 0, 0.0, np.inf)
    back = []
    for gap in gaps:
        way = cost[:, None] + transition
        back.append(way.argmin(axis=0))
        cost = way.min(axis=0) + rate * gap - np.log(rate)  # -ln of the density rate * e^(-rate * gap)
    state = int(cost.argmin())
    states = []
    for came in reversed(back):
        states.append(state)
        state = int(came[state])
    return states[::-1], float(cost.min())


random = np.random.default_rng(6)
cases = []
for name, gaps, s, gamma, levels in [
    ("poisson", random.exponential(1, 80), 2, 1, 5),
    ("one burst", np.r_[random.exponential(10, 30), random.exponential(0.5, 20), random.exponential(10, 30)], 2, 1, 6),
    ("nested", np.r_[random.exponential(10, 30), random.exponential(1, 20), random.exponential(0.05, 20),
                     random.exponential(1, 20), random.exponential(10, 30)], 2, 1, 9),
    ("two states", np.r_[random.exponential(5, 40), random.exponential(1, 20), random.exponential(5, 40)], 3, 0.5, 2),
    ("sessions", np.tile(np.r_[random.exponential(5, 9), 1440 * random.uniform(1, 3)], 6), 2, 1, 10),
]:
    states, cost = kleinberg(gaps, s, gamma, levels)
    cases.append({"name": name, "gaps": gaps.tolist(), "scale": s, "gamma": gamma, "levels": levels,
                  "states": states, "cost": cost})

with open("kleinberg.json", "w") as f:
    json.dump(cases, f)
    f.write("\n")
