package main_test

import (
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors/llm/llmtest"
	"github.com/helixd/helixd/reactors/voice/provider/providertest"
)

// providersPatience is how long it may take until what waited for a provider is done:
// helixd leaves one that fails alone for a time that doubles.
const providersPatience = 3 * time.Minute

// outage takes both providers away, while memories and recordings come; healed is one of
// their own, on a good connection.
func outage(how fault) func(c *chaos) {
	return func(c *chaos) {
		c.models.set(how)
		c.speech.set(how)
		if how == healed {
			c.model.Always(func(llmtest.Request) llmtest.Step { return llmtest.Step{Status: failure()} })
			c.recogniser.Always(func(providertest.Request) providertest.Step { return providertest.Step{Status: failure()} })
		}
		var memory string
		c.admin("postgres", func(conn *pgx.Conn) {
			memory = get[string](c.t, conn, "insert into memories (user_id, type, content) values ($1, 'episodic', 'on the hill') returning id::text", c.db.NewUser(c.t).ID)
			if !c.withoutDecoder {
				for range 3 {
					c.recordings++
					exec1(c.t, conn, "insert into voice_recordings (user_id, audio_data) values ($1, $2)", c.clients.user, beep(c.recordings, time.Second))
				}
			}
		})
		c.lasts(time.Duration(1000+c.rng.IntN(2000)) * time.Millisecond)
		c.model.Always(nil)
		c.recogniser.Always(nil)
		c.models.set(healed)
		c.speech.set(healed)
		began := time.Now()
		c.admin("postgres", func(conn *pgx.Conn) {
			for !get[bool](c.t, conn, `select (select embedding is not null from memories where id = $1::text::uuid)
				and not exists (select from voice_recordings where status in ('pending', 'processing'))`, memory) {
				if time.Since(began) > providersPatience {
					c.t.Fatalf("%s after the providers are well, recordings or a memory still wait: %s", providersPatience,
						get[string](c.t, conn, "select coalesce(string_agg(concat_ws(' ', status, attempts, error), '; '), 'the memory') from voice_recordings where status in ('pending', 'processing')"))
				}
				c.lasts(50 * time.Millisecond)
			}
		})
	}
}

func failure() int {
	return []int{http.StatusInternalServerError, http.StatusServiceUnavailable, http.StatusTooManyRequests}[rand.IntN(3)]
}
