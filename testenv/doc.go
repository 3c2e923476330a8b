// Package testenv gives tests, the demo and benchmarks a throwaway Postgres that looks like a Supabase project:
// the same roles and rights, schemas auth, storage, realtime and extensions, and the same default privileges.
//
// A test package starts one server, when its first test asks for it, and each test gets a database of its own:
//
//	func TestMain(m *testing.M) { testenv.Main(m) }
//
//	func TestNotes(t *testing.T) {
//		db := testenv.New(t)                            // dropped when the test ends
//		admin := db.Connect(t, "postgres")              // what helixd connects as: not a superuser
//		user := db.NewUser(t)                           // a row of auth.users
//		app := db.AsUser(t, user.ID)                    // what PostgREST gives to supabase-js
//		...
//	}
//
// Where a test fails, the lines that the server logged meanwhile are kept under .helix/test-logs.
//
// # Where the server comes from
//
// Local server binaries with pgvector are used where they exist (testenv/setup.sh installs them), else a container
// engine. The environment decides otherwise:
//
//	HELIX_TESTENV=local|docker     one of the two, and no other
//	HELIX_TESTENV_BINDIR=<dir>     the folder of initdb and postgres
//	HELIX_TESTENV_IMAGE=<image>    the container's image: a supabase/postgres one, pgvector/pgvector, or what
//	                               testenv/image.sh builds
//	HELIX_TESTENV_LOGS=<dir>       where the logs of failed tests go
//
// testenv/test-17.sh runs the tests on Postgres 17, in containers of the image that testenv/image.sh builds.
//
// In a supabase/postgres image the databases of tests are still copied from template0 and shaped by the same files:
// what the image keeps in its own database postgres (extensions, event triggers, schema realtime) is not in them. Its
// roles and settings are, as they belong to the server.
//
// # What it does not imitate
//
// There is no supautils. On a hosted project it lets role postgres make policies on realtime.messages and
// storage.objects, which it does not own; here postgres is a member of the owning roles instead, which also lets it
// alter those tables. [Database.DenyRealtimePolicies] takes that away in one database. Services are not there either:
// Auth's, Storage's and Realtime's tables are, with nobody reading them.
package testenv
