-- Types that are not built in are named in Type messages.
create type mood as enum ('sad', 'ok');
create domain short as varchar(8);
create type pair as (a int, b text);
create table note (id int primary key, mood mood, label short, pair pair, moods mood[], code char(3));
create publication capture for table note;
select pg_create_logical_replication_slot('capture', 'pgoutput');
insert into note values (1, 'ok', 'label', (1, 'x'), '{sad,ok}', 'c');
update note set mood = 'sad';
