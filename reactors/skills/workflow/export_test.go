package workflow

import (
	"context"
	"encoding/json"
)

// SelectNodes is the way of every mapping: a path's nodes in a decoded document.
func SelectNodes(path string, document any) (nodes []any, parse, eval error) {
	q, err := parseQuery(path)
	if err != nil {
		return nil, err, nil
	}
	nodes, err = q.nodes(document, &walk{left: pathBudget})
	return nodes, nil, err
}

// Holds evaluates a condition over documents by name.
func Holds(condition string, documents map[string]string) (holds bool, parse, eval error) {
	ids := []string{}
	for id := range documents {
		if id != "input" {
			ids = append(ids, id)
		}
	}
	c, err := parseCondition(condition, ids)
	if err != nil {
		return false, err, nil
	}
	k := newKnown(ids)
	for id, doc := range documents {
		if _, err := k.add(id, json.RawMessage(doc)); err != nil {
			return false, nil, err
		}
	}
	holds, err = c.holds(context.Background(), k)
	return holds, nil, err
}
