-- Several tables in turn, in one transaction and over two, with quoted names.
create schema "Other Schema";
create table note (id int primary key);
create table "Other Schema"."Ünïcode ""table" (id int primary key, "Col umn" text);
create publication capture for table note, "Other Schema"."Ünïcode ""table";
select pg_create_logical_replication_slot('capture', 'pgoutput');
begin;
insert into note values (1);
insert into "Other Schema"."Ünïcode ""table" values (1, 'a');
insert into note values (2);
insert into "Other Schema"."Ünïcode ""table" values (2, 'b');
commit;
insert into "Other Schema"."Ünïcode ""table" values (3, 'c');
insert into note values (3);
