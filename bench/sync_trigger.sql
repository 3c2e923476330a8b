-- What the reactor sync does under last write wins, as a trigger of the app's own table: the versions of an entity that
-- none includes, the winner among them, the join of all clocks, each device's newest write, and every version that
-- lost. It tells nobody by Realtime, knows no other policy, and does not bound the versions that stand.
create table public.bench_entities (
  user_id uuid, entity_type text, entity_id uuid,
  clock jsonb not null, -- of the winner, as all up to data
  content_hash text not null,
  device_id text not null,
  last_modified timestamptz not null,
  deleted boolean not null,
  data jsonb,
  vector_clock jsonb not null,
  resolution text not null,
  revision bigint not null,
  seen jsonb not null,
  siblings int not null,
  primary key (user_id, entity_type, entity_id)
) with (fillfactor = 90);
create table public.bench_siblings (
  user_id uuid, entity_type text, entity_id uuid,
  clock jsonb,
  content_hash text,
  device_id text not null,
  last_modified timestamptz not null,
  deleted boolean not null,
  data jsonb,
  primary key (user_id, entity_type, entity_id, clock)
);
create table public.bench_conflicts (
  like public.bench_siblings,
  kind text not null,
  primary key (user_id, entity_type, entity_id, clock, content_hash)
);

-- In plpgsql, which keeps the plan; SQL with a subquery would be planned anew in each statement.
create function public.bench_includes(a jsonb, b jsonb) returns boolean language plpgsql immutable as $$
begin
  return not exists (select from jsonb_each(b) where value::bigint > coalesce((a -> key)::bigint, 0));
end $$;
create function public.bench_join(a jsonb, b jsonb) returns jsonb language plpgsql immutable as $$
begin
  return (select coalesce(jsonb_object_agg(key, counter), '{}') from (
    select key, max(value::bigint) as counter from (select * from jsonb_each(a) union all select * from jsonb_each(b)) c
    group by key having max(value::bigint) > 0) j);
end $$;
create function public.bench_id(v public.bench_siblings) returns text language sql immutable as $$
  select encode(substr(sha256(convert_to('{' || coalesce(string_agg(to_json(key) || ':' || value, ',' order by key collate "C"), '') || '}'
    || v.content_hash, 'UTF8')), 1, 16), 'hex') from jsonb_each(v.clock)
$$;
create function public.bench_beats(a public.bench_siblings, b public.bench_siblings) returns boolean language sql immutable as $$
  select (not a.deleted, a.last_modified, a.device_id collate "C", a.content_hash collate "C")
       > (not b.deleted, b.last_modified, b.device_id collate "C", b.content_hash collate "C")
    or (not a.deleted, a.last_modified, a.device_id, a.content_hash) = (not b.deleted, b.last_modified, b.device_id, b.content_hash)
      and a.clock <> b.clock and public.bench_id(a) > public.bench_id(b)
$$;

create procedure public.bench_lose(kind text, v public.bench_siblings) language sql as $$
  insert into public.bench_conflicts select v.*, kind on conflict do nothing
$$;

create function public.bench_merge(s public.sync_state) returns void language plpgsql security definer set search_path = public as $$
declare
  e bench_entities;
  v bench_siblings; -- the new version
  m bench_siblings;
  winner bench_siblings;
  stands bench_siblings[]; -- the versions before, the winner first
  kept bench_siblings[] = '{}'; -- those that go on to stand
  replaced bench_siblings[] = '{}';
  placed text = 'added';
  outcome text;
  counter bigint;
  last_counter bigint;
  last_content text;
  clamped boolean = s.last_modified > clock_timestamp() + interval '5 minutes';
  over boolean;
  under boolean;
  grown boolean;
  winner_stands boolean = true;
begin
  v = row(s.user_id, s.entity_type, s.entity_id,
    case jsonb_typeof(s.vector_clock -> 'clocks') when 'object' then s.vector_clock -> 'clocks' else s.vector_clock end,
    encode(substr(sha256(convert_to(case when s.deleted then 'd' when s.data is null then 'n' else 'j' end || coalesce(s.data::text, ''), 'UTF8')), 1, 8), 'hex'),
    s.device_id, case when clamped then clock_timestamp() else s.last_modified end, s.deleted, s.data);
  if v.clock @? '$.* ? (@ == 0)' then
    v.clock = bench_join(v.clock, '{}');
  end if;
  counter = coalesce((v.clock -> v.device_id)::bigint, 0);
  insert into bench_entities values (v.user_id, v.entity_type, v.entity_id, v.clock, v.content_hash, v.device_id, v.last_modified,
    v.deleted, v.data, v.clock, 'none', 1,
    case when counter > 0 then jsonb_build_object(v.device_id, jsonb_build_array(counter, v.content_hash)) else '{}' end, 0)
    on conflict do nothing;
  if found then
    return;
  end if;

  select * into e from bench_entities b
    where (b.user_id, b.entity_type, b.entity_id) = (s.user_id, s.entity_type, s.entity_id) for update;
  if s.base_revision = e.revision and counter > coalesce((e.vector_clock -> v.device_id)::bigint, 0) then
    v.clock = bench_join(v.clock, e.vector_clock);
  end if;
  last_counter = (e.seen -> v.device_id -> 0)::bigint;
  last_content = e.seen -> v.device_id ->> 1;
  winner = row(e.user_id, e.entity_type, e.entity_id, e.clock, e.content_hash, e.device_id, e.last_modified, e.deleted, e.data);
  stands = array[winner];
  if e.siblings > 0 then
    stands = stands || array(select b from bench_siblings b
      where (b.user_id, b.entity_type, b.entity_id) = (s.user_id, s.entity_type, s.entity_id));
  end if;
  foreach m in array stands loop
    over = bench_includes(v.clock, m.clock);
    under = bench_includes(m.clock, v.clock);
    if over and under and v.content_hash = m.content_hash then
      if clamped or not bench_beats(v, m) then
        placed = 'duplicate';
        exit;
      end if;
      placed = 'retold';
      replaced = replaced || m;
    elsif over and under and bench_beats(m, v) then
      placed = 'fork lost';
      exit;
    elsif over then
      replaced = replaced || m;
    elsif under then
      placed = 'included';
      exit;
    else
      kept = kept || m;
    end if;
  end loop;

  outcome = e.resolution;
  if placed in ('added', 'retold') then
    kept = kept || v;
    winner = v;
    for i in 1 .. cardinality(kept) - 1 loop
      if bench_beats(kept[i], winner) then
        winner = kept[i];
      end if;
    end loop;
  end if;
  if placed = 'retold' and (winner.content_hash <> e.content_hash or winner.clock <> e.clock) then
    placed = 'added';
  end if;
  case placed
  when 'included' then
    if v.content_hash <> e.content_hash and (counter, v.content_hash) is distinct from (last_counter, last_content) then
      if counter > 0 and counter = last_counter then
        call bench_lose('fork', v);
      elsif counter = 0 or counter < last_counter then
        call bench_lose('stale', v);
      end if;
    end if;
  when 'fork lost' then
    call bench_lose('fork', v);
    outcome = 'last_write_wins';
  when 'added' then
    outcome = 'fast_forward';
    foreach m in array replaced loop
      if m.content_hash <> v.content_hash and (m.clock = v.clock
          or m.device_id = v.device_id and counter > 0 and (m.clock -> m.device_id)::bigint = counter) then
        call bench_lose('fork', m);
        outcome = 'last_write_wins';
      end if;
      winner_stands = winner_stands and (m.content_hash <> e.content_hash or m.clock <> e.clock);
    end loop;
    if cardinality(kept) > 1 then
      outcome = 'last_write_wins';
      if winner is distinct from v then
        call bench_lose('concurrent', v);
      elsif winner_stands then
        call bench_lose('concurrent', stands[1]);
      end if;
    end if;
  else null;
  end case;

  if placed in ('added', 'retold') and (e.siblings > 0 or cardinality(kept) > 1) then
    delete from bench_siblings b where (b.user_id, b.entity_type, b.entity_id) = (s.user_id, s.entity_type, s.entity_id);
    insert into bench_siblings select k.* from unnest(kept) k where k is distinct from winner;
    e.siblings = cardinality(kept) - 1;
  end if;
  grown = not bench_includes(e.vector_clock, v.clock);
  update bench_entities b set clock = winner.clock, content_hash = winner.content_hash, device_id = winner.device_id,
    last_modified = winner.last_modified, deleted = winner.deleted, data = winner.data,
    vector_clock = case when not grown then e.vector_clock when bench_includes(v.clock, e.vector_clock) then v.clock
      else bench_join(e.vector_clock, v.clock) end,
    resolution = outcome,
    revision = e.revision + (placed = 'added' or outcome <> e.resolution or grown)::int,
    seen = case when counter = 0 or (counter, v.content_hash collate "C") <= (last_counter, last_content collate "C") then e.seen
      else e.seen || jsonb_build_object(v.device_id, jsonb_build_array(counter, v.content_hash)) end,
    siblings = e.siblings
    where (b.user_id, b.entity_type, b.entity_id) = (s.user_id, s.entity_type, s.entity_id);
end $$;

create function public.bench_sync() returns trigger language plpgsql security definer set search_path = public as $$
begin
  perform bench_merge(new);
  return null;
end $$;
