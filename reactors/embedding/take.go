package embedding

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors/llm"
	"github.com/helixd/helixd/reactors/redact"
)

// text is what is to be sent of a memory.
type text struct {
	id     uuid.UUID
	rev    int64
	tries  int
	text   string
	tokens int64
}

// take reads the user's newest texts that are ready, but for those in not, for one
// request of at most most. Work for memories that want nothing any more goes.
func (s *Service) take(ctx context.Context, user uuid.UUID, most int, not []text, r *redact.Redactor) ([]text, error) {
	skip := make([]uuid.UUID, len(not))
	for i, t := range not {
		skip[i] = t.id
	}
	for {
		texts, done, err := s.read(ctx, user, most, skip, r)
		if err != nil {
			return nil, err
		}
		if len(done) > 0 {
			ids, revs := make([]uuid.UUID, len(done)), make([]int64, len(done))
			for i, t := range done {
				ids[i], revs[i] = t.id, t.rev
			}
			// One that is another user's by now has its work from the Reactor.
			_, err := s.pool.Exec(ctx, `delete from helix.embedding_work w using unnest($1::uuid[], $2::bigint[]) as d (id, rev)
				where w.memory_id = d.id and w.user_id = $3
					and not exists (select from public.memories m where m.id = d.id and m.user_id = w.user_id and m.content_rev <> d.rev)`, ids, revs, user)
			if err != nil {
				return nil, fmt.Errorf("forget memories that want no embedding: %w", err)
			}
		}
		if len(texts) > 0 || len(done) == 0 {
			return texts, nil
		}
	}
}

func (s *Service) read(ctx context.Context, user uuid.UUID, most int, skip []uuid.UUID, r *redact.Redactor) (texts, done []text, err error) {
	rows, err := s.pool.Query(ctx, `select w.memory_id, coalesce(m.content_rev, 0), coalesce(left(m.content, $3), ''), coalesce(length(m.content) > $3, false),
			coalesce(m.embedding is null or m.embedding_stale, false), case when w.content_rev is distinct from m.content_rev then 0 else w.tries end
		from helix.embedding_work w left join public.memories m on m.id = w.memory_id and m.user_id = w.user_id
		where w.user_id = $1 and (w.retry_at is null or w.retry_at <= clock_timestamp() or w.content_rev is distinct from m.content_rev)
			and w.memory_id <> all ($4)
		order by w.created_at desc nulls last, w.memory_id limit $2`, user, most, window, skip)
	if err != nil {
		return nil, nil, fmt.Errorf("read memories: %w", err)
	}
	defer rows.Close()
	var tokens int64
	for rows.Next() {
		var t text
		var content string
		var more, wants bool
		if err := rows.Scan(&t.id, &t.rev, &content, &more, &wants, &t.tries); err != nil {
			return nil, nil, fmt.Errorf("read memories: %w", err)
		}
		if wants {
			t.text = prepare(content, more, r)
		}
		if t.text == "" { // it has no words, or an embedding
			done = append(done, t)
			continue
		}
		t.tokens = llm.EstimateTokens(t.text)
		// What has failed before is asked by itself.
		if len(texts) > 0 && (t.tries > 0 || texts[0].tries > 0 || tokens+t.tokens > mostRequestTokens) {
			break
		}
		tokens += t.tokens
		texts = append(texts, t)
	}
	if err := rows.Err(); err != nil {
		return nil, nil, fmt.Errorf("read memories: %w", err)
	}
	return texts, done, nil
}
