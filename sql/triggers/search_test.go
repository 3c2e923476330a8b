package triggers_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// found lists what a search finds, by the letters before the colon of each transcript.
func found(t *testing.T, app *pgx.Conn, query string) string {
	t.Helper()
	return get[string](t, app, `select coalesce(string_agg(split_part(v.transcript, ':', 1), ' ' order by v.transcript), '')
		from search_transcripts($1, 200) s join voice_recordings v using (id)`, query)
}

func TestSearchByLanguage(t *testing.T) {
	_, admin, user, app := migrated(t)
	exec(t, admin, `insert into voice_recordings (user_id, storage_path, transcript, detected_language, language) select $1, 'a/b', text, detected, hint from (values
		('en: I was running in the well-known park and/or the garden', 'en', 'de'),
		('gb: he runs often', 'en-GB', null),
		('de: die Läufer liefen durch die Häuser', 'de', null),
		('at: ein Läufer vor dem Haus', '', 'de_AT'),
		('fr: nous mangeons des pommes', 'FR', null),
		('es: las niñas cantando', 'es-419', null),
		('xx: running through Häuser', 'tlh', null),
		('no: running', null, null),
		('ja: 今日は牛乳を買います。東京で。', 'ja', null),
		('zh: 我们在东京买牛奶', 'zh-CN', null),
		('ko: 학교에서 만나요', 'ko', null),
		('th: โทรหาแม่เดี๋ยวนี้', 'th', null)) v (text, detected, hint)`, user.ID)
	for _, tt := range []struct{ name, query, want string }{
		{"English", "runs", "en gb"},
		{"EnglishAndAsItIs", "running", "en gb no xx"},
		{"German", "Läufer", "at de"},
		{"GermanPlural", "Haus", "at de"},
		{"UnknownAsItIs", "Häuser", "at de xx"},
		{"French", "pomme", "fr"},
		{"Spanish", "niña canta", "es"},
		{"Phrase", `"runs often"`, "gb"},
		{"PhraseInOtherOrder", `"often runs"`, ""},
		{"Or", "pomme or niña", "es fr"},
		{"Not", "running -park -through", "gb no"},
		{"NotAlone", "-running -Läufer -pomme", "es ja ko th zh"},
		{"Hyphen", "well-known", "en"},
		{"HyphenLeftOut", "well known park", "en"},
		{"HyphenInAPhrase", `"well-known park"`, "en"},
		{"Slash", "garden", "en"},
		{"StopWordsAlone", "the", ""},
		{"Japanese", "牛乳", "ja"},
		{"Kanji", "東京", "ja"},
		{"ChineseAndJapanese", "买", "zh"},
		{"AllParts", "牛乳 東京", "ja"},
		{"AllPartsAreNeeded", "牛乳 大阪", ""},
		{"Korean", "학교", "ko"},
		{"Thai", "แม่", "th"},
		{"Nothing", "", ""},
		{"PunctuationAlone", `"-'!`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := found(t, app, tt.query); got != tt.want {
				t.Errorf("%s finds %q, want %q", tt.query, got, tt.want)
			}
		})
	}
	t.Run("NullQuery", func(t *testing.T) {
		if n := get[int](t, app, "select count(*) from search_transcripts(null)"); n != 0 {
			t.Errorf("%d rows", n)
		}
	})
}

func TestSearchHighlights(t *testing.T) {
	_, admin, user, app := migrated(t)
	highlight := func(language, transcript, query string) string {
		t.Helper()
		exec(t, admin, "delete from voice_recordings")
		exec(t, admin, "insert into voice_recordings (user_id, storage_path, transcript, detected_language) values ($1, 'a/b', $2, $3)", user.ID, transcript, language)
		return get[string](t, app, "select coalesce((select highlights from search_transcripts($1)), '')", query)
	}
	for _, tt := range []struct{ name, language, transcript, query, want string }{
		{"Stems", "en", "she was running along the sea", "run", "she was <b>running</b> along the sea"},
		{"Hyphen", "en", "the well-known sea", "known", "the well-<b>known</b> sea"},
		{"Image", "en", `look <img src=x onerror="alert(1)"> here`, "look", `<b>look</b> &lt;img src=x onerror="alert(1)"&gt; here`},
		{"MatchInATag", "en", "<b>bold</b> & <script>alert(1)</script>", "alert", "bold&lt;/b&gt; &amp; &lt;script&gt;<b>alert</b>(1)&lt;/script"},
		{"EntityStaysText", "en", "write &lt;b&gt; like that", "like", "write &amp;lt;b&amp;gt; <b>like</b> that"},
		{"Japanese", "ja", "今日は<b>牛乳</b>を買います", "牛乳", "今日は&lt;b&gt;<b>牛乳</b>&lt;/b&gt;を買います"},
		{"MarkupInAJapaneseQuery", "ja", "今日はR&D日本<x>です", "r&d日本<", "今日は<b>R&amp;D日本&lt;</b>x&gt;です"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := highlight(tt.language, tt.transcript, tt.query); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
	t.Run("NoMarkupButOurs", func(t *testing.T) {
		for _, evil := range []string{"<img src=x onerror=alert(1)>", "<<b>script>x</<b>script>", "<b", "sea<svg/onload=alert(1)>", "http://sea.example/?a=<script>&b=1", "a@sea.example<br>",
			"&<&>&lt;<", "sea-<i>-sea", "<!-- sea --><sea>", "sea </b><b><sea x='", "\x01<\x02>"} {
			for _, language := range []string{"en", "tlh"} {
				got := highlight(language, strings.Repeat(evil+" sea ", 20), "sea")
				if !strings.Contains(got, "<b>sea</b>") {
					t.Errorf("%q: no match in %q", evil, got)
				}
				if rest := strings.NewReplacer("<b>", "", "</b>", "").Replace(got); strings.ContainsAny(rest, "<>") || strings.Count(got, "<b>") != strings.Count(got, "</b>") {
					t.Errorf("%q: markup is left in %q", evil, got)
				}
			}
		}
	})
}

// TestTranscriptsOfAnySize: whatever a transcript is, its row is stored, and found
// by what its first four hours say.
func TestTranscriptsOfAnySize(t *testing.T) {
	_, admin, user, app := migrated(t)
	for name, text := range map[string]string{
		// Each character a word of its own, all of them different in turn: of three and of four bytes.
		"CJK":            "select string_agg(chr(19968 + n % 20000) || chr(19968 + n / 20000), ' ') from generate_series(1, 120000) n",
		"AstralCJK":      "select string_agg(chr(131072 + n % 40000) || chr(131072 + n / 40000), ' ') from generate_series(1, 120000) n",
		"AstralSingle":   "select string_agg(chr(131072 + n % 42000), ' ') from generate_series(1, 120000) n",
		"Hyphens":        "select string_agg(chr(131072 + n % 40000) || '-' || chr(131072 + (n * 7) % 40000), ' ') from generate_series(1, 120000) n",
		"ManyHyphens":    "select string_agg(chr(131072 + n % 40000) || chr(131072 + n / 300), '-') from generate_series(1, 120000) n",
		"Paths":          "select string_agg('http://' || md5(n::text) || '.example/' || md5(n::text) || '?q=' || n, ' ') from generate_series(1, 20000) n",
		"Emoji":          "select string_agg(chr(127744 + n % 500) || n, '') from generate_series(1, 100000) n",
		"LongWords":      "select string_agg(repeat(md5(n::text), 60), ' ') from generate_series(1, 2000) n",
		"OneLongWord":    "select repeat('a', 1000000)",
		"Growing":        "select string_agg(chr(570) || chr(570 + 4 * (n % 2)) || n, ' ') from generate_series(1, 100000) n",
		"Ligatures":      "select string_agg(chr(65276) || chr(1570 + n % 60) || chr(1570 + n / 60 % 60) || chr(1570 + n / 3600), ' ') from generate_series(1, 120000) n",
		"EmailAddresses": "select string_agg(md5(n::text) || '@' || md5(n::text) || '.example', ' ') from generate_series(1, 20000) n",
	} {
		for _, language := range []string{"en", "ar", "tr", "xx"} {
			t.Run(name+"/"+language, func(t *testing.T) {
				exec(t, admin, "delete from voice_recordings")
				exec(t, app, "insert into voice_recordings (storage_path, language) values ('a/b', $1)", language)
				exec(t, admin, "update voice_recordings set status = 'done', transcript = 'zebra ' || ("+text+")")
				if got := get[int](t, app, "select count(highlights) from search_transcripts('zebra')"); got != 1 {
					t.Errorf("%d are found of %s", got, user.ID)
				}
			})
		}
	}
}

// TestSearchIsTheCallers: what others said is not found, and the function behind
// it is nobody's to call.
func TestSearchIsTheCallers(t *testing.T) {
	db, admin, alice, app := migrated(t)
	bob := db.NewUser(t)
	exec(t, admin, `insert into voice_recordings (user_id, storage_path, transcript, detected_language) values ($1, 'a/b', 'my sea 東京', 'en'), ($2, 'a/b', 'her sea 東京', 'en')`, alice.ID, bob.ID)
	exec(t, admin, "create policy everyone on voice_recordings for all using (true) with check (true)")
	for _, query := range []string{"sea", "東京"} {
		if got := get[string](t, app, "select string_agg(highlights, '|') from search_transcripts($1)", query); !strings.Contains(got, "my") || strings.Contains(got, "her") {
			t.Errorf("%s finds %s", query, got)
		}
		if n := get[int](t, db.AsService(t), "select count(*) from search_transcripts($1)", query); n != 0 {
			t.Errorf("the service, which is nobody, finds %d rows", n)
		}
	}
	// A policy of the app's that hides a row hides it here.
	exec(t, admin, "create policy hidden on voice_recordings as restrictive for select to authenticated using (transcript not like 'my%')")
	for _, query := range []string{"sea", "東京"} {
		if n := get[int](t, app, "select count(*) from search_transcripts($1)", query); n != 0 {
			t.Errorf("%s finds %d rows that a policy hides", query, n)
		}
	}
	refuses(t, db.AsAnon(t), denied, "search_transcripts", "select search_transcripts('sea')")
	for name, conn := range map[string]*pgx.Conn{"Authenticated": app, "Anon": db.AsAnon(t), "Service": db.AsService(t)} {
		t.Run(name, func(t *testing.T) {
			refuses(t, conn, denied, "schema helix", "select helix.find_transcripts('sea')")
		})
	}
}
