-- Transactional logical messages come in their place; a transaction that has
-- only those is nothing to apply, and neither are the others.
create table note (id int primary key);
create publication capture for table note;
select pg_create_logical_replication_slot('capture', 'pgoutput');
begin;
select pg_logical_emit_message(true, 'helix', 'first');
insert into note values (1);
select pg_logical_emit_message(true, 'other', '');
select pg_logical_emit_message(false, 'helix', 'at once');
insert into note values (2);
commit;
select pg_logical_emit_message(true, 'helix', 'alone');
select pg_logical_emit_message(false, 'helix', 'outside');
insert into note values (3);
begin; select pg_logical_emit_message(true, 'helix', 'rolled back'); insert into note values (4); rollback;
begin; insert into note values (5); select pg_logical_emit_message(true, 'helix', '\xc3a9'::bytea); commit;
