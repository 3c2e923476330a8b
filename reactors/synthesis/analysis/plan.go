package analysis

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors/llm"
	"github.com/helixd/helixd/reactors/redact"
	"github.com/helixd/helixd/reactors/synthesis/analysis/local"
)

// plan is what is to be asked about an order's texts, and in which parts.
type plan struct {
	kind   kind
	in     *input
	veil   *redact.Session
	parts  []part
	sent   int // texts in parts
	cut    int // of those, texts that a part has not the room for
	groups *grouping
}

// part is what one request is about.
type part struct {
	texts  []int // of plan.in.texts
	prompt string
}

// ref is the id that a text has in requests: what an app's ids look like is nobody's
// business, and a short one is not written wrong.
func ref(text int) string { return "t" + strconv.Itoa(text+1) }

// newPlan decides what is asked. The same order over the same texts, with the same
// settings, makes the same requests.
func newPlan(ctx context.Context, c Config, user uuid.UUID, k kind, in *input, names []string) (*plan, error) {
	redactor, err := redact.New(c.Redact.With(names))
	if err != nil {
		return nil, fmt.Errorf("redact: %w", err)
	}
	p := &plan{kind: k, in: in, veil: redactor.Session(salt(user, in))}
	veiled := make([]string, len(in.texts))
	for i := range in.texts {
		veiled[i] = p.redact(&in.texts[i])
		if i%64 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	if p.groups, err = groupTexts(ctx, veiled); err != nil {
		return nil, err
	}
	head := p.head(veiled, c.ChunkTokens/4)
	room := c.ChunkTokens - llm.EstimateTokens(head+introduction(len(in.texts), len(in.texts)))
	lines := make([]string, len(in.texts))
	costs := make([]int64, len(in.texts))
	whole := make([]bool, len(in.texts))
	for i := range in.texts {
		lines[i], whole[i] = p.line(i, veiled[i], room)
		costs[i] = llm.EstimateTokens(lines[i])
	}
	chosen := choose(costs, p.groups, room*int64(c.MostChunks)*9/10) // parts are not filled to the brim
	var parts [][]int
	left := int64(0)
	for _, i := range chosen {
		if costs[i] > left || len(parts) == 0 {
			if len(parts) == c.MostChunks {
				break
			}
			parts, left = append(parts, nil), room
		}
		parts[len(parts)-1] = append(parts[len(parts)-1], i)
		left -= costs[i]
		p.sent++
		if !whole[i] {
			p.cut++
		}
	}
	for _, texts := range parts {
		var b strings.Builder
		b.WriteString(introduction(len(texts), len(in.texts)))
		b.WriteString(head)
		for _, i := range texts {
			b.WriteString(lines[i])
		}
		p.parts = append(p.parts, part{texts, b.String()})
	}
	return p, nil
}

// redact gives a text as it may leave. One that is cut is redacted with what comes
// next, and cut then: half of a card's number is none, and would stay.
func (p *plan) redact(t *local.Text) string {
	rest := p.in.rest[t.ID]
	veiled := p.veil.Redact(t.Text + rest)
	if rest == "" {
		return veiled
	}
	end := max(len(veiled)-len(rest), 0)
	for end > 0 {
		over := len(p.veil.Restore(veiled[:end])) - len(t.Text)
		if over <= 0 {
			break
		}
		end = max(end-over, 0)
	}
	return strings.ToValidUTF8(veiled[:end], "")
}

// salt makes placeholders of one analysis its own, and those of the same one again
// the same.
func salt(user uuid.UUID, in *input) string {
	h := sha256.New()
	h.Write(user[:])
	for i := range in.texts {
		fmt.Fprintf(h, "%d %s", len(in.texts[i].Text), in.texts[i].Text)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func introduction(here, all int) string {
	return fmt.Sprintf("What this person wrote: %d of %d texts, the oldest first, after a line of statistics of all of them.\n", here, all)
}

// head is a line of statistics of all texts, as they may leave: key phrases are of
// texts that are redacted already. Of so many tokens at most, it says what it can.
func (p *plan) head(veiled []string, most int64) string {
	bare := make([]string, len(veiled))
	for i, text := range veiled {
		bare[i] = withoutPlaceholders(text)
	}
	s := describe(p.in.texts, bare, p.groups)
	text := line(map[string]any{"statistics": s})
	if llm.EstimateTokens(text) > most {
		s.Groups = nil
		text = line(map[string]any{"statistics": s})
	}
	if llm.EstimateTokens(text) > most {
		s.About = nil
		text = line(map[string]any{"statistics": s})
	}
	return text
}

// line is a text as it is sent, cut to what a part has room for; whole is false
// where it was.
func (p *plan) line(i int, veiled string, room int64) (_ string, whole bool) {
	t := &p.in.texts[i]
	entry := struct {
		ID      string   `json:"id"`
		At      string   `json:"at,omitempty"`
		Valence *float64 `json:"valence,omitempty"`
		Text    string   `json:"text"`
	}{ID: ref(i), Text: strings.ToValidUTF8(veiled, " ")}
	if !t.Time.IsZero() {
		entry.At = t.Time.Format("2006-01-02T15:04")
	}
	if t.Valence != nil {
		v := math.Round(*t.Valence*100) / 100
		entry.Valence = &v
	}
	full := line(entry)
	if llm.EstimateTokens(full) <= room {
		return full, true
	}
	// What escapes need is not known before: half as much each time.
	text := entry.Text
	for most := min(int(room)*2, len(text)); ; most /= 2 {
		entry.Text = strings.ToValidUTF8(text[:most], "") + " […]"
		if short := line(entry); llm.EstimateTokens(short) <= room || most < 2 {
			return short, false
		}
	}
}

// texts are those of a part.
func (p *plan) texts(of []int) []local.Text {
	texts := make([]local.Text, len(of))
	for i, t := range of {
		texts[i] = p.in.texts[t]
	}
	return texts
}
