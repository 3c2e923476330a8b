#!/usr/bin/env python3
"""Writes lombscargle.json: scipy's Lomb-Scargle periodograms of a few series.

    python3 lombscargle.py        (scipy 1.10.1 of Debian 12: apt-get install python3-scipy)
"""
import json
import numpy as np
from scipy.signal import lombscargle

random = np.random.default_rng(6)
cases = []


def case(name, t, y, omega):
    cases.append({
        "name": name, "t": t.tolist(), "y": y.tolist(), "omega": omega.tolist(),
        "power": lombscargle(t, y, omega).tolist(),
        "normalized": lombscargle(t, y, omega, normalize=True).tolist(),
    })


grid = np.linspace(0.05, 6, 40)
t = np.sort(random.uniform(0, 30, 60))
case("uneven", t, np.sin(1.7 * t + 0.4) + 0.3 * random.standard_normal(60), grid)
case("noise", t, random.standard_normal(60), grid)
case("with a mean", t, 2 + np.cos(0.9 * t), grid)
t = np.arange(0, 24 * 14, 3.0)
case("even hours", t, np.cos(2 * np.pi * (t - 19) / 24) + 0.2 * random.standard_normal(len(t)),
     2 * np.pi * np.array([1 / 168, 1 / 84, 1 / 24, 1 / 12, 1 / 10]))
case("two points", np.array([0.0, 1.3]), np.array([1.0, -0.5]), np.array([0.7, 1.1]))

with open("lombscargle.json", "w") as f:
    json.dump(cases, f)
    f.write("\n")
