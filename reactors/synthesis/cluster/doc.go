// Package cluster finds the groups of rows that are alike, and says how sure each is.
//
// Graph is the default: a network of nearest neighbours with the weights of UMAP,
// communities by Leiden, its resolution picked by silhouette and modularity, rows that are
// much less alike left as noise, and a confidence that is the measured probability that
// the cluster recurs when the rows had been somewhat different ones.
package cluster
