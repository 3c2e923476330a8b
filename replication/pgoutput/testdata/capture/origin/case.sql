-- A transaction that was replicated from elsewhere names its origin.
create table note (id int primary key);
create publication capture for table note;
select pg_create_logical_replication_slot('capture', 'pgoutput');
select pg_replication_origin_create('elsewhere');
select pg_replication_origin_session_setup('elsewhere');
begin;
select pg_replication_origin_xact_setup('16/B374D848', '2026-01-02 03:04:05+00');
insert into note values (1);
commit;
select pg_replication_origin_session_reset();
select pg_replication_origin_drop('elsewhere');
insert into note values (2);
