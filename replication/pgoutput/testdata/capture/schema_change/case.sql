-- The relation is described again after each change of it, also in the middle
-- of a transaction; rows before it keep the description that they came with.
create table note (id int primary key, body text);
create publication capture for table note;
select pg_create_logical_replication_slot('capture', 'pgoutput');
insert into note values (1, 'a');
alter table note add column score numeric(6, 2) default 1.5;
insert into note values (2, 'b', 2);
begin;
insert into note values (3, 'c', 3);
alter table note drop column body;
insert into note values (4, 4);
alter table note rename column score to points;
alter table note replica identity full;
update note set points = 5 where id = 4;
commit;
alter table note rename to memo;
delete from memo where id = 4;
