-- Transactions that touch nothing published are not sent at all, by this
-- version; what is rolled back, a savepoint's too, never is.
create table note (id int primary key);
create table other (id int primary key);
create publication capture for table note;
select pg_create_logical_replication_slot('capture', 'pgoutput');
insert into other values (1);
begin; create table third (id int); drop table third; commit;
insert into note values (1);
begin; insert into note values (2); rollback;
begin; insert into note values (3); savepoint s; insert into note values (4); rollback to s; insert into note values (5); commit;
