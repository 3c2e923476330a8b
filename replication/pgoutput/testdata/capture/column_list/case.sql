-- Columns outside of the list are in no tuple; an UPDATE of one looks empty.
-- Rows outside of the filter do not come, and one that enters it is inserted.
create table note (id int primary key, body text, audio bytea, owner int, gen int generated always as (owner + 1) stored);
create table todo (id int primary key, done bool);
create publication capture for table note (id, owner), todo where (id > 10);
select pg_create_logical_replication_slot('capture', 'pgoutput');
insert into note values (1, 'body', '\x00ff', 7);
update note set audio = '\x01';
update note set id = 2;
delete from note;
insert into todo values (1, false), (11, false);
update todo set id = 12 where id = 1;
update todo set id = 2 where id = 11;
