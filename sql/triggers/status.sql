-- Whether helixd is there, for apps: one row a reactor that the leader recorded,
-- or one for all.
do $$
begin
  if exists (select from pg_catalog.pg_proc where oid = to_regprocedure('helix.status()') and not 'details' = any (proargnames)) then
    drop view if exists public.helix_status;
    drop function helix.status();
  end if;
end $$;

create or replace function helix.status()
returns table (reactor text, running boolean, healthy boolean, lag_seconds double precision, queue_depth bigint, updated_at timestamptz,
  details jsonb)
language sql stable security definer set search_path = '' as $$
  select coalesce(r.reactor, 'helixd'), s.running, s.running and s.lag < 60 and h.paused is null and (here.replica or coalesce(p.active, false)) and coalesce((w.details ->> 'healthy')::boolean, r.queue is null),
    s.lag, q.depth, l.heartbeat_at, case when h.paused is null then w.details else coalesce(w.details, '{}') || jsonb_build_object('paused', h.paused) end
  from (
    -- of a read replica: it has its own end of the WAL, and no slots to show
    select replica, case when replica then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end as wal_end
    from pg_is_in_recovery() as replica) here
  left join helix.reactors r on true
  left join lateral (select * from helix.leaders where slot = r.slot or r.slot is null order by heartbeat_at desc limit 1) l on true
  left join helix.checkpoints c on c.slot = l.slot
  left join pg_catalog.pg_replication_slots p on p.slot_name = l.slot
  left join lateral (
    -- that of the last apply says nothing of one that does not come, so a checkpoint
    -- that falls behind counts as well
    select greatest(case when c.updated_at > now() - interval '10 seconds' then c.lag_seconds end,
      case when here.wal_end - c.lsn > 64 << 20 then extract(epoch from now() - c.updated_at) end, 0) as seconds) lag on true
  cross join lateral (
    select coalesce(l.heartbeat_at > now() - interval '10 seconds' and (l.left_at is null or l.left_at < l.heartbeat_at), false) as running) a
  cross join lateral (
    select a.running, case when a.running then lag.seconds else extract(epoch from now() - l.heartbeat_at) end::double precision as lag) s
  cross join lateral (
    select count(*) as depth from (select from helix.river_job j
      where j.state in ('available', 'pending', 'retryable', 'running')
        and (j.queue = r.queue and r.reactor not in ('skills', 'voice', 'embedding') or r.reactor is null)
      union all
      select from public.skill_runs where status = 'queued' and r.reactor = 'skills' -- a job works many of these
      union all
      select from public.voice_recordings where status = 'pending' and r.reactor = 'voice' -- and one of these does
      union all
      select from helix.embedding_work where r.reactor = 'embedding'
      limit 10000) waiting) q
  left join lateral (
    -- of the processes that work its jobs the one that is worst off
    select w.details -> r.reactor as details from helix.workers w
    where w.heartbeat_at > now() - interval '10 seconds' and w.details ? r.reactor
    order by (w.details -> r.reactor ->> 'healthy')::boolean, w.holder limit 1) w on true
  left join lateral (
    -- by whom, and why, is not for clients
    select jsonb_build_object('what', what, 'since', since, 'until', until) as paused from helix.paused
    where what in ('stream', r.reactor) and ended_at is null and (until is null or until > now())
    order by what <> 'stream' limit 1) h on true
$$;
comment on function helix.status() is 'queue_depth counts to 10,000; details is what its workers say of themselves, and without one that has jobs is not healthy; details.paused: an operator holds it back; lag_seconds of one that is not running is since its last sign';
revoke all on function helix.status() from public, anon, authenticated, service_role;
grant execute on function helix.status() to authenticated, service_role;

create or replace view public.helix_status with (security_invoker = true) as
select reactor, running, healthy, lag_seconds, queue_depth, updated_at, details from helix.status();
comment on view public.helix_status is 'whether processing is online, and how far behind';
revoke all on public.helix_status from public, anon, authenticated, service_role;
grant select on public.helix_status to authenticated, service_role;
