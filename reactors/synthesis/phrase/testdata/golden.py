"""Makes golden.json: TF-IDF cosines by scikit-learn, and c-TF-IDF by scikit-learn's CountVectorizer and numpy.

python3 golden.py > golden.json     (Debian 12: python3-sklearn 1.2.1, python3-numpy 1.24.2)

The words are their own stems, in lower-case ASCII, and each text is one clause with one stop word in a row at most, so
that scikit-learn finds the same words and pairs of words as package phrase.
"""
import json
import random

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

WORDS = ("cat dog bird fish tree boat moon star rain wind snow bread milk salt corn lamp desk chair road ship sand rock "
         "leaf root seed farm barn gold iron glass").split()
STOP = ["the", "of", "and", "with"]
rng = random.Random(6)


def text(words):
    chosen = [rng.choice(words) for _ in range(rng.randint(2, 9))]
    out = []
    for w in chosen:
        if rng.random() < 0.4:
            out.append(rng.choice(STOP))
        out.append(w)
    return " ".join(out)


texts = [text(WORDS) for _ in range(40)]
vectors = TfidfVectorizer(sublinear_tf=True, smooth_idf=True, stop_words=STOP).fit_transform(texts)
cosines = (vectors @ vectors.T).toarray()

clusters = [[text(WORDS[i * 6:i * 6 + 9]) for _ in range(n)] for i, n in enumerate([12, 7, 20, 3])]
counter = CountVectorizer(ngram_range=(1, 2), stop_words=STOP)
counts = counter.fit_transform([" ".join(c) for c in clusters])  # only to fix the vocabulary
single = CountVectorizer(ngram_range=(1, 2), stop_words=STOP, vocabulary=counter.vocabulary_)
terms = counter.get_feature_names_out()
X = np.array([single.transform(c).toarray().sum(axis=0) for c in clusters], dtype=float)
for j, t in enumerate(terms):  # the same word twice is no phrase
    if " " in t and len(set(t.split())) == 1:
        X[:, j] = 0
A = X.sum(axis=1).mean()
f = X.sum(axis=0)
with np.errstate(divide="ignore"):
    W = X / X.sum(axis=1, keepdims=True) * np.where(f > 0, np.log(1 + A / f), 0)
weights = [{t: float(W[i, j]) for j, t in enumerate(terms) if X[i, j] > 0} for i in range(len(clusters))]

print(json.dumps({
    "texts": texts,
    "cosines": [[round(float(x), 9) for x in row] for row in cosines],
    "clusters": clusters,
    "weights": weights,
}, indent=None, separators=(",", ":")))
