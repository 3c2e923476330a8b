-- option: binary
-- Values in the send form of their types; a type without one would come as text.
create table note (id bigint primary key, body text, at timestamptz, score float8, ok bool, key uuid);
alter table note replica identity full;
create publication capture for table note;
select pg_create_logical_replication_slot('capture', 'pgoutput');
insert into note values (1, 'é', '2026-01-02 03:04:05+00', 0.5, true, '00112233-4455-6677-8899-aabbccddeeff');
update note set body = '', ok = null;
delete from note;
