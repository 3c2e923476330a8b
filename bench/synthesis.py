"""Clusters vectors with scikit-learn, for the section clusters: a job on stdin, what it took on stdout."""

import json
import resource
import sys
import time

import numpy as np
from sklearn.cluster import DBSCAN, HDBSCAN, KMeans
from sklearn.metrics.pairwise import cosine_distances


def cluster(x, job):
    if job["method"] == "hdbscan":
        h = HDBSCAN(min_cluster_size=job["min_cluster_size"], min_samples=job["min_samples"], metric="precomputed")
        return h.fit(cosine_distances(x)).labels_
    if job["method"] == "dbscan":
        return DBSCAN(eps=job["eps"], min_samples=job["min_samples"], metric="cosine").fit(x).labels_
    if job["init"] is None:
        return KMeans(n_clusters=job["k"], n_init=3, random_state=1).fit(x).labels_
    return KMeans(n_clusters=job["k"], init=x[job["init"]], n_init=1).fit(x).labels_


job = json.load(sys.stdin)
# The libraries' threads start with their first work.
cluster(np.random.default_rng(1).normal(size=(200, job["dim"])).astype(np.float32), job | {"k": 2, "init": None})
x = np.fromfile(job["path"], dtype="<f4").reshape(-1, job["dim"])
began = time.perf_counter()
labels = cluster(x, job)
took = time.perf_counter() - began
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
json.dump({"seconds": took, "peak_mb": peak, "labels": labels.tolist()}, sys.stdout)
