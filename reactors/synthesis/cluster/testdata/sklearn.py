"""Writes sklearn.json: scikit-learn's labels of fixed inputs, which equality_test.go makes as well.

python3 with scikit-learn 1.3 or newer (testenv/sklearn.sh makes one): python3 -P sklearn.py > sklearn.json

Inputs come from a generator that both sides have, so that the file holds labels only; intents is the embeddings of
../../testdata/intents. Distances are made of float32 rows in float64, so that they are those of the rows and not of
an order of summation.

Mutual reachability has many equal distances, those to a row's core, and numpy sorts equal ones differently with AVX-512,
with AVX2 and without, so that scikit-learn's HDBSCAN differs from itself by an adjusted Rand index of down to .73 on these
inputs. Where that is below .999 to a run that sorts stably, the labels are those of that run; else they are those of
scikit-learn as it is.
"""

import json
import os
import sys
import warnings

import numpy as np
import sklearn
from sklearn.cluster import DBSCAN, HDBSCAN, KMeans
from sklearn.cluster._hdbscan import hdbscan as internals
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

warnings.simplefilter("ignore", ConvergenceWarning)


class Random:
    """SplitMix64 (Steele, Lea and Flood 2014); a normal is the sum of twelve uniforms less six."""

    def __init__(self, seed):
        self.state = seed

    def uniform(self, n):
        with np.errstate(over="ignore"):
            z = np.uint64(self.state) + np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
            self.state = int(z[-1]) if n else self.state
            z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            return ((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53

    def normal(self, rows, dim):
        u = self.uniform(rows * dim * 12).reshape(rows, dim, 12)
        total = np.zeros((rows, dim))
        for i in range(12):  # in order, as the other side adds
            total += u[:, :, i]
        return total - 6


def unit(x):
    total = np.zeros(len(x))
    for i in range(x.shape[1]):
        total += x[:, i] * x[:, i]
    return (x / np.sqrt(total)[:, None]).astype(np.float32)


def blobs(seed, dim, sizes, spread, noise, copies=0):
    """Directions with normal deviations around them, normal noise, and copies of the first rows."""
    r = Random(seed)
    centres = unit(r.normal(len(sizes), dim)).astype(np.float64)
    parts = [centres[i] + spread * (1 + i % 3) / dim**0.5 * r.normal(n, dim) for i, n in enumerate(sizes)]
    x = np.concatenate(parts + [r.normal(noise, dim)])
    return unit(np.concatenate([x, x[:copies]]))


def chains(seed, dim, chain, step):
    """Random walks on the sphere: clusters that are long, not round."""
    r = Random(seed)
    parts = []
    for n in chain:
        steps = step / dim**0.5 * r.normal(n, dim)
        steps[0] += unit(r.normal(1, dim))[0]
        parts.append(np.cumsum(steps, axis=0))
    return unit(np.concatenate(parts + [r.normal(sum(chain) // 5, dim)]))


def intents():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../testdata/intents/intents.f32")
    return np.fromfile(path, dtype="<f4").reshape(-1, 512)


inputs = {
    "blobs of 50 in 2": lambda: blobs(1, 2, [18, 20], 0.05, 12),
    "blobs of 300 in 3": lambda: blobs(2, 3, [60, 80, 50, 40], 0.08, 70),
    "blobs of 500 in 16": lambda: blobs(3, 16, [120, 90, 60, 40, 30, 10], 0.4, 150),
    "copies of 600 in 8": lambda: blobs(4, 8, [100, 80, 50], 0.3, 70, copies=300),
    "chains of 720 in 3": lambda: chains(5, 3, [200, 150, 150, 100], 0.02),
    "chains of 1200 in 32": lambda: chains(6, 32, [400, 300, 300], 0.15),
    "blobs of 2000 in 64": lambda: blobs(7, 64, [400, 300, 250, 200, 150, 100, 60, 40], 0.5, 500),
    "chains of 1500 in 128": lambda: chains(9, 128, [500, 400, 300, 50], 0.1),
    "blobs of 1000 in 256": lambda: blobs(10, 256, [150, 140, 130, 120, 110, 100, 50], 0.4, 200),
    "blobs of 400 in 1536": lambda: blobs(8, 1536, [80, 70, 60, 50, 40], 0.6, 100),
    "intents": intents,
}


def cosine(x):
    x = x.astype(np.float64)
    d = np.clip(1 - x @ x.T, 0, 2)
    d[d < 2.0**-22] = 0  # what float32 rows cannot tell
    np.fill_diagonal(d, 0)
    return (d + d.T) / 2


def stably(mst):
    return internals.make_single_linkage(mst[np.argsort(mst["distance"], kind="stable")])


def hdbscan(d, least, samples):
    def labels():
        return HDBSCAN(min_cluster_size=least, min_samples=samples, metric="precomputed").fit(d.copy()).labels_

    as_it_is, own = labels(), internals._process_mst
    internals._process_mst = stably
    stable = labels()
    internals._process_mst = own
    agreement = adjusted_rand_score(as_it_is, stable)
    return ("numpy", as_it_is) if agreement >= 0.999 else ("stable", stable)


def main():
    out = {"sklearn": sklearn.__version__, "cases": []}

    def case(name, method, labels, **options):
        out["cases"].append({"input": name, "method": method, **options, "labels": labels.tolist()})

    for name, make in inputs.items():
        x = make()
        d = cosine(x)
        for least, samples in [(5, 5), (10, 3), (15, 15)]:
            sort, labels = hdbscan(d, least, samples)
            case(name, "hdbscan", labels, sort=sort, min_cluster_size=least, min_samples=samples)
        near = np.sort(d, axis=1)[:, 4]
        for q in (0.3, 0.7):  # a little beyond a distance, so that none lies on it
            eps = float(np.round(np.quantile(near, q) * 1.0001 + 1e-5, 7))
            case(name, "dbscan", DBSCAN(eps=eps, min_samples=5, metric="precomputed").fit(d).labels_, eps=eps, min_samples=5)
        for k, how in [(3, "rows"), (12, "rows"), (12, "far")]:
            # Rows spread over the input; or one of them and the others where no row is, so that clusters go empty.
            init = x[[i * len(x) // k for i in range(k)]].copy()
            if how == "far":
                init[1:] = -3 * x.mean(axis=0)
            labels = KMeans(n_clusters=k, init=init.astype(np.float64), n_init=1).fit(x.astype(np.float64)).labels_
            case(name, "kmeans", labels, k=k, init=how)
    encoded = json.dumps(out, separators=(",", ":"))
    sys.stdout.write(encoded.replace('{"input"', '\n{"input"').rstrip() + "\n")


main()
