#!/usr/bin/python3
"""Makes graph.json, the golden values of the tests of Leiden, Fuzzy, ARI and NMI.

Debian 12: python3-networkx 2.8.8, python3-igraph 0.10.2, python3-leidenalg 0.9.1,
python3-scipy 1.10.1, python3-sklearn 1.2.1, python3-numpy 1.24.2.
"""
import json
import math
import pathlib

import igraph
import leidenalg
import networkx
import numpy
from scipy.optimize import brentq
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score, silhouette_samples

random = numpy.random.default_rng(1)


def modularity(edges, weights, nodes, resolution):
    """The median of 20 runs of leidenalg, as 1/2m sum (w - gamma k k / 2m)."""
    graph = igraph.Graph(n=nodes, edges=edges)
    median = numpy.median([
        leidenalg.find_partition(
            graph, leidenalg.RBConfigurationVertexPartition, weights=weights,
            resolution_parameter=resolution, seed=seed, n_iterations=-1,
        ).quality()
        for seed in range(20)
    ])
    return median / (2 * sum(weights))


def graphs():
    karate = networkx.karate_club_graph()
    planted = networkx.planted_partition_graph(10, 30, 0.4, 0.02, seed=1)
    lfr = networkx.LFR_benchmark_graph(
        300, 2.5, 1.5, 0.2, average_degree=8, max_degree=30, min_community=20, seed=10)
    for name, graph, weighted in (
        ("karate", karate, False), ("planted partition", planted, True), ("LFR", lfr, True),
    ):
        edges = sorted((min(e), max(e)) for e in graph.edges if e[0] != e[1])
        weights = [round(float(w), 3) for w in random.uniform(0.5, 1.5, len(edges))] if weighted else [1.0] * len(edges)
        yield {
            "name": name, "nodes": graph.number_of_nodes(),
            "edges": [[int(a), int(b), w] for (a, b), w in zip(edges, weights)],
            "modularity": {str(g): modularity(edges, weights, graph.number_of_nodes(), g) for g in (0.5, 1, 2, 5)},
        }


def fuzzy():
    """Memberships by their definition: sigma solves sum exp(-(d - rho)/sigma) = log2 k."""
    rows = random.normal(size=(40, 8)) + 3 * random.normal(size=(4, 8))[numpy.arange(40) % 4]
    rows = (rows / numpy.linalg.norm(rows, axis=1, keepdims=True)).astype("f4").astype("f8")
    rows /= numpy.linalg.norm(rows, axis=1, keepdims=True)
    k, n = 7, len(rows)
    similarity = rows @ rows.T
    member = numpy.zeros((n, n))
    for i in range(n):
        near = [j for j in numpy.argsort(-similarity[i]) if j != i][:k]
        distance = 1 - similarity[i, near]
        beyond = distance - distance.min()
        sigma = brentq(lambda s: numpy.exp(-beyond / s).sum() - math.log2(k), 1e-9, 1e3, xtol=1e-15)
        member[i, near] = numpy.exp(-beyond / sigma)
    union = member + member.T - member * member.T
    return {"k": k, "rows": rows.round(9).tolist(),
            "links": [[i, j, round(union[i, j], 6)] for i in range(n) for j in range(n) if union[i, j] > 0]}


def scores():
    for n, a, b in ((1, 1, 1), (2, 2, 1), (50, 1, 3), (60, 5, 5), (200, 4, 9), (200, 200, 7)):
        x = random.integers(0, a, n)
        y = numpy.where(random.random(n) < 0.7, x % b, random.integers(0, b, n))
        yield {"a": x.tolist(), "b": y.tolist(), "ari": adjusted_rand_score(x, y), "nmi": normalized_mutual_info_score(x, y)}


def silhouettes():
    rows = random.normal(size=(40, 6)) + 2 * random.normal(size=(4, 6))[numpy.arange(40) % 4]
    labels = numpy.arange(40) % 4
    labels[0] = 4  # alone
    return {"rows": rows.round(6).tolist(), "labels": labels.tolist(),
            "silhouette": silhouette_samples(rows.round(6), labels, metric="cosine").round(9).tolist()}


golden = {"graphs": list(graphs()), "fuzzy": fuzzy(), "scores": list(scores()), "silhouettes": silhouettes()}
pathlib.Path(__file__).with_name("graph.json").write_text(json.dumps(golden, separators=(",", ":")) + "\n")
