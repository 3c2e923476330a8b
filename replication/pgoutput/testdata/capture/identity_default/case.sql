-- The key alone is sent as the old tuple, and only when it changed.
create table note (id int primary key, body text, score int);
create publication capture for table note;
insert into note values (1, 'one', 1), (2, 'two', null);
select pg_create_logical_replication_slot('capture', 'pgoutput');
update note set body = 'ein' where id = 1;
update note set id = 20 where id = 2;
update note set score = null where id = 1;
delete from note;
