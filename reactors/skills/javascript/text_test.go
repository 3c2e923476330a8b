package javascript_test

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

func jsonValue() *rapid.Generator[any] {
	leaf := rapid.OneOf(
		rapid.Just(any(nil)), rapid.Map(rapid.Bool(), toAny[bool]), rapid.Map(rapid.String(), toAny[string]),
		rapid.Map(rapid.Float64Range(-1e300, 1e300).Filter(func(n float64) bool { return n != 0 }), toAny[float64]),
	)
	var tree func(depth int) *rapid.Generator[any]
	tree = func(depth int) *rapid.Generator[any] {
		if depth == 0 {
			return leaf
		}
		inner := tree(depth - 1)
		return rapid.OneOf(leaf,
			rapid.Map(rapid.SliceOfN(inner, 0, 4), func(s []any) any {
				if s == nil {
					return []any{}
				}
				return s
			}),
			rapid.Map(rapid.MapOfN(rapid.String(), inner, 0, 4), toAny[map[string]any]))
	}
	return tree(3)
}

func toAny[T any](v T) any { return v }

func TestJSONGoesThroughAToolUnchanged(t *testing.T) {
	loaded := load(t, `export default async (input, helix) => {
  const there = (await helix.call("echo", input)).request
  return structuredClone(JSON.parse(new TextDecoder("utf-8", { ignoreBOM: true }).decode(new TextEncoder().encode(JSON.stringify(there)))))
}`)
	rapid.Check(t, func(t *rapid.T) {
		want := jsonValue().Draw(t, "value")
		input, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		out, err := loaded.Run(context.Background(), (&parent{serve: echo}).env(string(input)))
		if err != nil {
			t.Fatal(err)
		}
		var got any
		if err := json.Unmarshal(out, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s became %s: %v", input, out, err)
		}
	})
}
