-- Rows of built-in types, a null, an empty string, a row of no columns, and
-- one transaction of several rows beside single ones.
create table note (id bigint primary key, body text, score float8, at timestamptz, tags text[], meta jsonb);
create table bare ();
create publication capture for table note, bare with (publish = 'insert');
select pg_create_logical_replication_slot('capture', 'pgoutput');
insert into note values (1, 'first', 0.5, '2026-01-02 03:04:05+00', '{a,b}', '{"k": [1, null]}');
insert into note values (2, null, null, null, null, null), (3, '', 'NaN', 'infinity', '{}', 'null');
insert into bare default values;
update note set body = 'not published' where id = 1;
