package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/migrations"
	"github.com/helixd/helixd/replication/stream"
)

var (
	pendingMigrations = Kind{"pending", Fail}
	newerMigrations   = Kind{"newer", Fail}

	foreignOwner = Kind{"another-role", Fail}

	noForeignKey = Kind{"missing", Warn}
	notValid     = Kind{"not-valid", Info}

	noIdentity   = Kind{"nothing", Fail}
	fullIdentity = Kind{"full", Info}

	noPublication  = Kind{"not-made", Info}
	drift          = Kind{"drift", Warn}
	refusesUpdates = Kind{"refuses-updates", Fail}
	missingTable   = Kind{"table-missing", Fail}
)

var schemaChecks = []Check{
	{"migrations", []Kind{pendingMigrations, newerMigrations}, database, lookAtMigrations},
	{"owners", []Kind{foreignOwner}, database, lookAtOwners},
	{"foreign-keys", []Kind{noForeignKey, notValid}, schema, lookAtForeignKeys},
	{"replica-identity", []Kind{noIdentity, fullIdentity}, schema, lookAtIdentity},
	{"publication", []Kind{noPublication, drift, refusesUpdates, missingTable}, schema, lookAtPublication},
}

func tableNames() []string {
	var names []string
	for _, t := range migrations.Tables {
		names = append(names, t.Name)
	}
	return names
}

func lookAtMigrations(ctx context.Context, d *Doctor) ([]Finding, error) {
	conn, err := d.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Release()
	pending, err := migrations.Pending(ctx, conn.Conn())
	var newer *migrations.NewerError
	if errors.As(err, &newer) {
		return []Finding{newerMigrations.found("Install the newest helixd here, too: the one that ran helixd migrate.", "",
			"the schema is newer than this helixd, which neither runs nor migrates it: it has %s", newer.File)}, nil
	}
	if err != nil {
		return nil, err
	}
	all := migrations.All()
	if len(pending) > 0 {
		what := fmt.Sprintf("the schema lacks %d of %d migrations, from %s on", len(pending), len(all), pending[0].File())
		if len(pending) == len(all) {
			what = "helixd's schema is not there yet"
		}
		return []Finding{pendingMigrations.found("Run: helixd migrate", "", "%s", what)}, nil
	}
	return fine("all %d migrations are applied", len(all)), nil
}

func lookAtOwners(ctx context.Context, d *Doctor) ([]Finding, error) {
	tables, err := rowsOf[struct{ Table, Owner, User string }](ctx, d, `select format('%I.%I', n.nspname, c.relname), c.relowner::regrole::text, quote_ident(current_user)
		from pg_class c join pg_namespace n on n.oid = c.relnamespace
		where c.relkind in ('r', 'p', 'v') and not pg_has_role(c.relowner, 'usage')
			and (n.nspname = 'public' and c.relname = any ($1) or n.nspname = 'helix') order by 1`, append(tableNames(), migrations.Views...))
	if err != nil {
		return nil, err
	}
	var found []Finding
	for _, t := range tables {
		found = append(found, foreignOwner.found("Run as that role or an administrator:", fmt.Sprintf("alter table %s owner to %s;", t.Table, t.User),
			"%s belongs to role %s: helixd migrate can neither adopt nor change it", t.Table, t.Owner))
	}
	if found == nil {
		return fine("helixd owns the tables that it has to"), nil
	}
	return found, nil
}

func lookAtForeignKeys(ctx context.Context, d *Doctor) ([]Finding, error) {
	keys, err := rowsOf[struct {
		Table string
		Name  *string
		Valid bool
	}](ctx, d, `select c.relname, quote_ident(k.conname), coalesce(k.convalidated, false)
		from pg_class c left join pg_constraint k on k.conrelid = c.oid and k.contype = 'f' and k.confrelid = to_regclass('auth.users') and k.confdeltype = 'c'
		where c.relnamespace = 'public'::regnamespace and c.relname = any ($1) and c.relkind in ('r', 'p') order by 1`, tableNames())
	if err != nil {
		return nil, err
	}
	var found []Finding
	for _, k := range keys {
		switch {
		case k.Name == nil:
			found = append(found, noForeignKey.found("Run:", fmt.Sprintf("call helix.add_user_fkey('%s');", k.Table),
				"public.%s has no foreign key to auth.users: an account that is deleted leaves its rows", k.Table))
		case !k.Valid:
			found = append(found, notValid.found("Delete rows of users who are gone, then run:", fmt.Sprintf("alter table public.%s validate constraint %s;", k.Table, *k.Name),
				"the foreign key of public.%s to auth.users is NOT VALID: rows from before helixd may be of users who are gone, and are skipped", k.Table))
		}
	}
	if found == nil {
		return fine("an account that is deleted takes its rows along"), nil
	}
	return found, nil
}

func lookAtIdentity(ctx context.Context, d *Doctor) ([]Finding, error) {
	var names []string
	for name := range d.Tables {
		names = append(names, name)
	}
	slices.Sort(names)
	tables, err := rowsOf[struct {
		Table, Identity string
		Keyed, HasKey   bool
	}](ctx, d, `select t.name, c.relreplident::text, exists (select from pg_index i where i.indrelid = c.oid and i.indisvalid and case c.relreplident when 'i' then i.indisreplident when 'd' then i.indisprimary end),
			exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary)
		from unnest($1::text[]) t (name) join pg_class c on c.oid = to_regclass(t.name) order by 1`, names)
	if err != nil {
		return nil, err
	}
	var found []Finding
	for _, t := range tables {
		mend := fmt.Sprintf("alter table %s replica identity default;", t.Table)
		switch {
		case t.Identity == "f":
			found = append(found, fullIdentity.found("If nobody else needs it, run:", mend, "%s has REPLICA IDENTITY FULL: each update writes the whole old row to the WAL, audio and embeddings too", t.Table))
		case !t.Keyed:
			if !t.HasKey {
				mend = fmt.Sprintf("alter table %s add primary key (id); %s", t.Table, mend)
			}
			found = append(found, noIdentity.found("Run:", mend, "%s has no replica identity: every update of it by an app fails while it is published", t.Table))
		}
	}
	if found == nil {
		return fine("the streamed tables have replica identities"), nil
	}
	return found, nil
}

func lookAtPublication(ctx context.Context, d *Doctor) ([]Finding, error) {
	p, err := stream.CheckPublication(ctx, d.pool, d.Publication, d.Tables)
	var setup *stream.SetupError
	if errors.As(err, &setup) {
		return []Finding{missingTable.found(setup.Hint, "", "%s", setup.Problem)}, nil
	}
	if err != nil {
		return nil, err
	}
	var begun bool
	if err := d.pool.QueryRow(ctx, "select exists (select from helix.checkpoints where slot = $1)", d.Slot).Scan(&begun); err != nil {
		return nil, err
	}
	var found []Finding
	if p.Fault != "" && p.Fingerprint[""] == "" && !begun {
		remedy, err := d.byItself(ctx, "Run: helixd run")
		if err != nil {
			return nil, err
		}
		return []Finding{noPublication.found(remedy, "", "publication %s is not there yet; helixd run makes it", d.Publication)}, nil
	}
	if p.Fault != "" {
		remedy, err := d.byItself(ctx, repairs)
		if err != nil {
			return nil, err
		}
		found = append(found, drift.found(remedy, "", "publication %s is not as it must be: %s", d.Publication, p.Fault))
	}
	for _, table := range p.Refused {
		schema, name, _ := strings.Cut(table, ".")
		found = append(found, refusesUpdates.found("Run:", fmt.Sprintf("alter table %s replica identity default;", pgx.Identifier{schema, name}.Sanitize()),
			"publication %s hides columns of the replica identity of %s: every update of it by an app fails. A helixd that runs mends this, too", d.Publication, table))
	}
	if found == nil {
		return fine("publication %s carries what it must", d.Publication), nil
	}
	return found, nil
}
