package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

// printer writes for people: plain lines of at most 80 columns, with colour on a terminal only.
type printer struct {
	w      io.Writer
	colour bool
}

func newPrinter(f *os.File) *printer {
	info, err := f.Stat()
	terminal := err == nil && info.Mode()&os.ModeCharDevice != 0
	return &printer{w: f, colour: terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

func (p *printer) line(format string, args ...any) {
	fmt.Fprintf(p.w, format+"\n", args...)
}

// step says what is being done, and then what came of it and how long it took.
func (p *printer) step(what string, do func() (result string, err error)) error {
	fmt.Fprintf(p.w, "   %-22s ", what+"…")
	begun := time.Now()
	result, err := do()
	if err != nil {
		fmt.Fprintln(p.w, p.bad("failed"))
		return err
	}
	fmt.Fprintf(p.w, "%-42s %s\n", result, p.dim(fmt.Sprintf("%7.1f s", time.Since(begun).Seconds())))
	return nil
}

// note is a row of the story: who did what, the clock it goes by, and the text.
func (p *printer) note(who, what string, c clock, text string) {
	p.line("   %-7s %-15s %s %s", who, what, p.dim(fmt.Sprintf("%-26s", c)), text)
}

// detail is a line under a row.
func (p *printer) detail(format string, args ...any) {
	p.line("%11s %s", "", p.dim(fmt.Sprintf(format, args...)))
}

func (p *printer) bold(s string) string { return p.paint("1", s) }
func (p *printer) dim(s string) string  { return p.paint("2", s) }
func (p *printer) good(s string) string { return p.paint("32", s) }
func (p *printer) bad(s string) string  { return p.paint("31", s) }

func (p *printer) paint(code, s string) string {
	if !p.colour {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}
