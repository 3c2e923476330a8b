-- The whole old tuple is sent; a null in it is a null.
create table note (id int primary key, body text, score int);
alter table note replica identity full;
create publication capture for table note;
insert into note values (1, 'one', null);
select pg_create_logical_replication_slot('capture', 'pgoutput');
update note set body = 'ein' where id = 1;
update note set id = 10, body = null;
delete from note;
