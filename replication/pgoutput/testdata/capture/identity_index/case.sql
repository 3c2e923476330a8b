-- The old tuple holds the columns of the chosen index.
create table note (id int primary key, owner int not null, slot int not null, body text);
create unique index note_owner_slot on note (owner, slot);
alter table note replica identity using index note_owner_slot;
create publication capture for table note;
insert into note values (1, 7, 1, 'one');
select pg_create_logical_replication_slot('capture', 'pgoutput');
update note set body = 'ein';
update note set slot = 2;
update note set id = 10;
delete from note;
