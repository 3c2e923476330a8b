-- A TOASTed value that an UPDATE leaves alone is not sent: unchanged, not null.
-- Under FULL the old tuple has it.
create table doc (id int primary key, title text, body text);
alter table doc alter body set storage external;
create table doc_full (like doc including all);
alter table doc_full replica identity full;
create publication capture for table doc, doc_full;
select pg_create_logical_replication_slot('capture', 'pgoutput');
insert into doc values (1, 'a', repeat('x', 2500));
insert into doc_full values (1, 'a', repeat('y', 2500));
update doc set title = 'b';
update doc_full set title = 'b';
update doc set body = repeat('z', 2500);
update doc set body = null;
