-- A transaction of 5,000 rows between two small ones.
create table note (id int primary key);
create publication capture for table note;
select pg_create_logical_replication_slot('capture', 'pgoutput');
insert into note values (0);
insert into note select generate_series(1, 5000);
insert into note values (5001);
