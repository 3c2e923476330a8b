package voice_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors/reactortest"
	"github.com/helixd/helixd/reactors/voice"
	"github.com/helixd/helixd/testenv"
)

func TestConformance(t *testing.T) {
	reactortest.Run(t, reactortest.Suite{Reactor: voice.Reactor{}, Write: func(t *testing.T, db *testenv.Database, app *pgx.Conn) {
		admin := db.Connect(t, "postgres")
		for _, sql := range []string{
			"insert into voice_recordings (audio_data) select '\\x01' from generate_series(1, 20) n",
			"insert into voice_recordings (storage_path) values ('voice/a')",
			"update voice_recordings set keep_audio = true",
			"update voice_recordings set audio_data = '\\x02' where audio_data is not null and id in (select id from voice_recordings limit 5)",
			"delete from voice_recordings where id in (select id from voice_recordings limit 3)",
		} {
			if _, err := app.Exec(t.Context(), sql); err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
		}
		if _, err := admin.Exec(t.Context(), "update voice_recordings set status = 'failed' where storage_path is not null"); err != nil {
			t.Fatal(err)
		}
		if _, err := app.Exec(t.Context(), "update voice_recordings set status = 'pending' where status = 'failed'"); err != nil {
			t.Fatal(err)
		}
	}})
}
