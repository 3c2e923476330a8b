package javascript_test

import (
	"context"
	"testing"
)

func benchmark(b *testing.B, source, input string) {
	loaded := load(b, source)
	p := &parent{serve: echo}
	env := p.env(input)
	for b.Loop() {
		if _, err := loaded.Run(context.Background(), env); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTrivial(b *testing.B) { benchmark(b, `export default input => input`, `{"a":1}`) }

func BenchmarkFib25(b *testing.B) {
	benchmark(b, `const fib = n => n < 2 ? n : fib(n - 1) + fib(n - 2); export default () => fib(25)`, `null`)
}
