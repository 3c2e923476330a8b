package main

import (
	"fmt"
	"slices"
	"strings"
)

const head = `// Written by examples/js/gen: helixd's tables, views and functions. Insert and Update have what a client may write.

export type Json = string | number | boolean | null | { [key: string]: Json | undefined } | Json[]

export type Database = {
  public: {
`

const tail = `    Enums: { [_ in never]: never }
    CompositeTypes: { [_ in never]: never }
  }
}

type Public = Database['public']

export type Tables<T extends keyof (Public['Tables'] & Public['Views'])> = (Public['Tables'] & Public['Views'])[T]['Row']
export type TablesInsert<T extends keyof Public['Tables']> = Public['Tables'][T]['Insert']
export type TablesUpdate<T extends keyof Public['Tables']> = Public['Tables'][T]['Update']
`

// printer indents.
type printer struct {
	strings.Builder
	depth int
}

func (p *printer) line(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if strings.HasPrefix(text, "}") || strings.HasPrefix(text, "]") {
		p.depth--
	}
	p.WriteString(strings.Repeat("  ", p.depth) + text + "\n")
	if strings.HasSuffix(text, "{") || strings.HasSuffix(text, "[") {
		p.depth++
	}
}

func (s *schema) typescript() string {
	p := &printer{depth: 2}
	p.line("Tables: {")
	for _, r := range s.relations {
		if !r.View {
			r.table(p)
		}
	}
	p.line("}")
	p.line("Views: {")
	for _, r := range s.relations {
		if r.View {
			p.line("%s: {", r.Name)
			r.row(p)
			p.line("Relationships: []")
			p.line("}")
		}
	}
	p.line("}")
	p.line("Functions: {")
	for _, f := range s.functions {
		f.print(p)
	}
	p.line("}")
	return head + p.String() + tail
}

func (r relation) row(p *printer) {
	p.line("Row: {")
	for _, c := range r.columns {
		p.line("%s: %s%s", c.Name, typescript(c.Type), orNull(c.Nullable))
	}
	p.line("}")
}

func (r relation) table(p *printer) {
	p.line("%s: {", r.Name)
	r.row(p)
	r.written(p, "Insert", r.Inserts, r.given, func(c column) bool { return c.Nullable || c.Defaulted })
	r.written(p, "Update", r.Updates, r.changed, func(column) bool { return true })
	if len(r.foreign) == 0 {
		p.line("Relationships: []")
		p.line("}")
		return
	}
	p.line("Relationships: [")
	for _, f := range r.foreign {
		p.line("{")
		p.line("foreignKeyName: %q", f.Name)
		p.line("columns: [%s]", quoted(f.Columns))
		p.line("isOneToOne: %v", f.One)
		p.line("referencedRelation: %q", f.Target)
		p.line("referencedColumns: [%s]", quoted(f.Targets))
		p.line("},")
	}
	p.line("]")
	p.line("}")
}

// written is what a client may write in one way, or never.
func (r relation) written(p *printer, how string, may bool, has func(string) bool, optional func(column) bool) {
	if !may {
		p.line("%s: never", how)
		return
	}
	p.line("%s: {", how)
	for _, c := range r.columns {
		if !has(c.Name) {
			continue
		}
		mark := ""
		if optional(c) {
			mark = "?"
		}
		p.line("%s%s: %s%s", c.Name, mark, typescript(c.Type), orNull(c.Nullable))
	}
	p.line("}")
}

func (f function) print(p *printer) {
	p.line("%s: {", f.Name)
	p.line("Args: {")
	inputs := 0
	for _, mode := range f.Modes {
		if mode == "i" {
			inputs++
		}
	}
	for i := range inputs {
		mark := ""
		if i >= inputs-f.Defaults {
			mark = "?"
		}
		p.line("%s%s: %s", f.Names[i], mark, typescript(f.Args[i]))
	}
	p.line("}")
	if !slices.Contains(f.Modes, "t") {
		p.line("Returns: %s", typescript(f.Returns))
		p.line("}")
		return
	}
	p.line("Returns: {")
	for i, mode := range f.Modes {
		if mode == "t" {
			p.line("%s: %s", f.Names[i], typescript(f.Args[i]))
		}
	}
	p.line("}[]")
	p.line("}")
}

// typescript is the type that a value has in the JSON of the Data API. A vector,
// a bytea and a time are strings there.
func typescript(sql string) string {
	if element, array := strings.CutSuffix(sql, "[]"); array {
		return typescript(element) + "[]"
	}
	switch sql {
	case "boolean":
		return "boolean"
	case "smallint", "integer", "bigint", "real", "double precision", "numeric":
		return "number"
	case "json", "jsonb":
		return "Json"
	default:
		return "string"
	}
}

func orNull(nullable bool) string {
	if nullable {
		return " | null"
	}
	return ""
}

func quoted(names []string) string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = fmt.Sprintf("%q", name)
	}
	return strings.Join(all, ", ")
}
