#!/usr/bin/env python3
"""Records privileges.txt: which statements an account may run, and what it is told of those that it may not.

    privileges.py PORT > privileges.txt

The server must be fresh and nobody else's, with root@localhost without a password. Each case: what `u`@`%` is granted, then
statements of his.
"""
import sys
import pymysql
from recorder import escape, run

root = pymysql.connect(host="127.0.0.1", port=int(sys.argv[1]), user="root", autocommit=True, charset="utf8mb4").cursor()
out = []
TABLES = ["drop database if exists d1", "drop database if exists d2", "create database d1", "create database d2",
          "create table d1.t (a int primary key, b int, c int)", "create table d1.t2 (a int primary key, x int)",
          "create table d2.t (a int primary key)"]


def case(grants, statements):
    for statement in TABLES + ["drop user if exists u", "drop user if exists z@localhost", "create user u identified by 'x'"] + grants:
        root.execute(statement)
    out.append("")
    for grant in grants:
        out.append(f"> {escape(grant)}")
    user = pymysql.connect(host="127.0.0.1", port=int(sys.argv[1]), user="u", password="x", autocommit=True).cursor()
    for statement in statements:
        run(user, statement, out, "[u] ")
    user.connection.close()


QUERIES = """select 1; select * from d1.t; select 1 from d1.t; select a from d1.t; select b from d1.t; select t.b from d1.t
select d1.t.b from d1.t; select x.b from d1.t x; select x.* from d1.t x; select count(*) from d1.t
select a from d1.t where b = 1; select a from d1.t order by c; select a + c from d1.t; select a as q from d1.t order by q
select a from d1.t group by a having max(b) > 1; select d.a from (select * from d1.t) d; select d.b from (select b from d1.t) d
with w as (select b from d1.t) select * from w; with w as (select a from d1.t) select * from w
select t.a from d1.t natural join d1.t2; select t.a from d1.t, d1.t2; select t.a from d1.t join d1.t2 using (a)
select t.a from d1.t join d1.t2 on t.a = t2.a; select t.a from d1.t left join d1.t2 on t2.x = 1; select exists(select * from d1.t)
select 1 from d1.t where a = 1 and exists (select x from d1.t2); select a from d1.t where a in (select a from d1.t2)
select a from d1.t where a in (select x from d1.t2 where t2.a = t.a); select a from d1.t union select b from d1.t
select a from d1.t union select a from d1.t order by 1; table d1.t; values row(1); select * from d1.nothing; select * from nodb.t
select (select max(b) from d1.t); select max(a) over (order by b) from d1.t; select case when b then a end from d1.t
select a from d1.t where a between 1 and b; select a from d1.t where (a, b) in ((1, 2)); select if(c, 1, 2) from d1.t
select * from d1.t for update; select a from d1.t for update; select a from d1.t for share; select a from d1.t lock in share mode
do (select a from d1.t); set @a = (select max(a) from d1.t); explain select a from d1.t; explain select b from d1.t
select default(b) from d1.t; select * from d1.t, d2.t; select * from d1.t join (d1.t2 join d2.t on 1) on 1"""
CHANGES = """insert into d1.t values (10, 1, 1); insert into d1.t (a) values (11); insert into d1.t (c) values (1); insert into d1.t set a = 12
insert into d1.t () values (); insert into d1.t (a, b) values (13, a); insert into d1.t (a) values (default(b))
insert into d1.t (a) values ((select max(a) from d1.t2)); insert into d1.t (a) select a from d1.t2; insert into d1.t select * from d1.t where 0
insert into d1.t (a) values (10) on duplicate key update b = 1; insert into d1.t (a) values (10) on duplicate key update c = 1
insert into d1.t (a) values (10) on duplicate key update b = c; insert into d1.t (a) values (10) on duplicate key update b = values(c)
insert into d1.t values (10, 1, 1) as n on duplicate key update b = n.c; insert ignore into d1.t (a) values (10)
replace into d1.t values (10, 2, 3); replace into d1.t (a) values (10); replace into d1.t (a) select a from d1.t2
update d1.t set a = 1 where 0; update d1.t set b = 1; update d1.t set c = 1; update d1.t set b = c; update d1.t set b = a
update d1.t set b = 1 where c = 1; update d1.t set b = 1 where a = 1; update d1.t set b = 1 order by c; update d1.t x set x.b = 2
update d1.t set b = (select 1); update d1.t set b = (select max(x) from d1.t2); update d1.t, d1.t2 set t.b = 1; update d1.t, d1.t2 set t.b = t2.x
update d1.t join d1.t2 on t.a = t2.a set t2.x = 1; explain update d1.t set b = 1; explain delete from d1.t
delete from d1.t where 0; delete from d1.t where a = 99; delete from d1.t order by a limit 0; delete from d1.t limit 0
delete d1.t from d1.t; delete d1.t from d1.t join d1.t2 on 0; delete d1.t2 from d1.t join d1.t2 on 0; delete from d1.t using d1.t join d1.t2 on 0
delete from d1.t where a in (select a from d1.t2)
load data infile '/nowhere/x' into table d1.t; load data infile '/nowhere/x' replace into table d1.t"""
DEFINITIONS = """create table d1.n (a int); create table d1.n2 like d1.t; create table d1.n3 as select * from d1.t2; create table d1.n4 as select 1 a
create temporary table d1.n5 (a int); alter table d1.t add d int; alter table d1.t rename d1.t9; alter table d1.t9 rename d1.t; alter table d1.t rename d2.z
rename table d1.t to d1.t9; rename table d1.t9 to d1.t; rename table d1.t to d2.z; create index i on d1.t (b); drop index i on d1.t
create table d1.f (a int, foreign key (a) references d1.t (a)); alter table d1.t2 add foreign key (a) references d1.t (a)
create view d1.v as select 1; drop view d1.v; create database d3; alter database d1 character set utf8mb4; drop database d3
drop table d1.n; drop table if exists d1.n2, d1.nothing; drop table d1.n3; drop table d1.nothing; drop table d1.f; truncate d1.t2; truncate d1.nothing
create procedure d1.p() select 1; create function d1.f() returns int return 1; create trigger d1.tr before insert on d1.t for each row set @a = 1
create event d1.e on schedule every 1 day do select 1; call d1.p(); select d1.f(); create tablespace x add datafile 'x.ibd'; drop database d1"""
SHOWS = """use d1; use d2; use nodb; use mysql; use information_schema; show tables from d1; show tables from d2; show full tables from d1; show databases like 'd%'
show table status from d2; show columns from d1.t; show full columns from d1.t; show columns from d1.nothing; desc d1.t2; show index from d1.t
show create table d1.t; show create database d1; show create database nodb; show triggers from d1; show events from d1; show open tables from d1
select table_name from information_schema.tables where table_schema = 'd1' order by 1
select table_name, column_name, privileges from information_schema.columns where table_schema = 'd1' order by 1, ordinal_position
select schema_name from information_schema.schemata where schema_name like 'd%' order by 1
select index_name, column_name from information_schema.statistics where table_schema = 'd1' order by table_name, index_name
select * from information_schema.user_privileges where grantee = "'u'@'%'" order by 3; select * from information_schema.schema_privileges where grantee = "'u'@'%'" order by 3, 4
select * from information_schema.table_privileges where grantee = "'u'@'%'" order by 3, 4, 5; select * from information_schema.column_privileges where grantee = "'u'@'%'" order by 3, 4, 5, 6
select user from mysql.user where user = 'u'; select db from mysql.db where user = 'u'; show grants; show grants for root@localhost
show create user root@localhost; analyze table d1.t; check table d1.t; checksum table d1.t; optimize table d1.t; repair table d1.t"""
ADMINISTRATION = """lock tables d1.t read; unlock tables; lock tables d1.t write; unlock tables; lock tables d2.t read; unlock tables; flush tables
flush tables d1.t with read lock; unlock tables; flush privileges; flush status; flush user_resources; flush logs; show engine innodb status
show engine innodb mutex; show binary logs; show binary log status; show replicas; set global max_connections = 151; set @@global.sql_mode = @@global.sql_mode
set session sql_log_bin = 0; set session binlog_format = row; set persist max_connections = 151; set persist_only max_connections = 151
set global transaction isolation level repeatable read; set session transaction isolation level repeatable read; set global local_infile = 0
set resource group x; lock instance for backup; unlock instance; purge binary logs to 'x'; xa recover; kill 99999999
select 1 into outfile '/nowhere/x'; select 1 into dumpfile '/nowhere/x'; create user z@localhost; rename user z@localhost to y@localhost; drop user y@localhost
create role z; drop role z; grant select on d1.* to u; revoke select on d1.* from u; alter user root@localhost account unlock; set password for root@localhost = ''
set default role none to root@localhost; insert into information_schema.tables values (1); delete from information_schema.tables
update information_schema.tables set table_name = 'x'; drop table information_schema.tables; create table information_schema.x (a int)
create database information_schema; drop database information_schema; alter table information_schema.tables add x int; create table performance_schema.x (a int)
drop database mysql; create database mysql; insert into mysql.user (user) values ('x'); update mysql.user set user = 'x'; delete from mysql.user where 0
drop table mysql.user; create table mysql.x (a int); savepoint a; start transaction read only; commit; set names utf8mb4; show warnings; show status like 'uptimex'"""
QUERIES, CHANGES, DEFINITIONS, SHOWS, ADMINISTRATION = (
    [one.strip() for one in text.replace("\n", "; ").split("; ")] for text in (QUERIES, CHANGES, DEFINITIONS, SHOWS, ADMINISTRATION))
ALL = QUERIES + CHANGES + DEFINITIONS + SHOWS + ADMINISTRATION
HARMLESS = [one for one in ALL if not one.startswith(("flush", "drop database mysql", "insert into mysql", "update mysql", "delete from mysql",
            "drop table mysql", "create table mysql", "create database mysql", "set password for root", "alter user root", "set persist"))]
case([], ALL)
case(["grant select on d1.t to u"], QUERIES + CHANGES + SHOWS)
case(["grant select (a) on d1.t to u"], QUERIES + SHOWS)
case(["grant select (a), insert (a, b), update (b), references (a) on d1.t to u"], QUERIES + CHANGES + SHOWS)
case(["grant select (a), select (b), select (c) on d1.t to u"], QUERIES + SHOWS)
case(["grant select (a) on d1.t to u", "grant select (x) on d1.t2 to u"], QUERIES + SHOWS)
case(["grant insert on d1.t to u"], QUERIES + CHANGES + SHOWS)
case(["grant insert (a), select (a) on d1.t to u", "grant select on d1.t2 to u"], CHANGES)
case(["grant update on d1.t to u"], CHANGES + SHOWS)
case(["grant update on d1.t to u", "grant select on d1.* to u"], QUERIES + CHANGES)
case(["grant delete on d1.t to u"], CHANGES + SHOWS)
case(["grant select, delete on d1.t to u", "grant select on d1.t2 to u"], QUERIES + CHANGES)
case(["grant select, insert, update, delete on d1.* to u"], QUERIES + CHANGES + SHOWS)
case(["grant create on d1.* to u"], SHOWS + DEFINITIONS)
case(["grant drop on d1.* to u"], SHOWS + DEFINITIONS[:-1])
case(["grant create, insert, drop, alter on d1.* to u"], DEFINITIONS[:-1])
case(["grant create, drop, references, index, alter, insert, select on d1.* to u"], DEFINITIONS[:-1])
case(["grant create temporary tables, create view, create routine, event, trigger, execute on d1.* to u"], SHOWS + DEFINITIONS[:-1])
case(["grant all on d1.* to u"], QUERIES + CHANGES + SHOWS + DEFINITIONS[:-1])
case(["grant all on `d\\_`.* to u"], SHOWS)
case(["grant select on `d%`.* to u"], QUERIES + SHOWS)
case(["grant select, lock tables on d1.* to u"], ADMINISTRATION + SHOWS)
case(["grant lock tables on *.* to u"], ADMINISTRATION[:8])
case(["grant process on *.* to u"], ADMINISTRATION + SHOWS)
case(["grant show databases on *.* to u"], SHOWS)
case(["grant reload on *.* to u"], [one for one in ADMINISTRATION if not one.startswith(("flush logs", "flush tables d1"))])
case(["grant flush_tables, flush_status on *.* to u"], [one for one in ADMINISTRATION if one.startswith("flush") and "lock" not in one])
case(["grant create user on *.* to u"], ADMINISTRATION)
case(["grant file on *.* to u"], CHANGES + ADMINISTRATION)
case(["grant super on *.* to u"], HARMLESS[-1:] + [one for one in ADMINISTRATION if one in HARMLESS and not one.startswith(("purge", "lock instance"))])
case(["grant system_variables_admin on *.* to u"], [one for one in ADMINISTRATION if one.startswith("set ") and "role" not in one and "password" not in one])
case(["grant session_variables_admin, backup_admin, xa_recover_admin on *.* to u"], [one for one in ADMINISTRATION if one in HARMLESS])
case(["grant select on *.* to u"], QUERIES + CHANGES + SHOWS + [one for one in ADMINISTRATION if one in HARMLESS])
print("# Recorded by privileges.py from MySQL 9.7.")
print("\n".join(out))
for statement in ["drop database if exists d1", "drop database if exists d2", "drop database if exists d3", "drop user u", "drop user if exists z@localhost"]:
    root.execute(statement)
