-- One message for several tables; tables outside of the publication are not in it.
create table note (id serial primary key);
create table tag (note int references note);
create table other (note int references note);
create publication capture for table note, tag;
select pg_create_logical_replication_slot('capture', 'pgoutput');
insert into note default values;
truncate tag;
truncate note restart identity cascade;
begin; insert into note default values; truncate note, tag, other; insert into tag values (null); commit;
