#!/usr/bin/env python3
"""Records accounts.txt: CREATE USER, GRANT, REVOKE, roles, SHOW GRANTS, SHOW CREATE USER.

    accounts.py SOCKET > accounts.txt

The server must be fresh and nobody else's. Salted passwords are written as `0x#`.
"""
import re, sys
import pymysql
from recorder import run

root = pymysql.connect(unix_socket=sys.argv[1], user="root", autocommit=True, charset="utf8mb4")
cursor = root.cursor()
for statement in ["set global print_identified_with_as_hex = on", "set print_identified_with_as_hex = on",
                  "drop database if exists d1", "drop database if exists d2", "create database d1", "create database d2",
                  "create table d1.t (a int, b int, c int)", "create table d1.t2 (a int)", "create table d2.t (a int)",
                  "create procedure d1.p() select 1", "create function d1.f() returns int deterministic return 1", "use d1"]:
    cursor.execute(statement)
out = []


def case(*statements):
    """`user: statement` runs as that user at localhost."""
    cursor.execute("select user, host from mysql.user where user not like 'mysql.%' and user != 'root'")
    for user, host in cursor.fetchall():
        cursor.execute("drop user %s@%s", (user, host))
    cursor.execute("set role none")
    out.append("")
    sessions = {}
    for statement in statements:
        who, match = "", re.match(r"(\w+): ", statement)
        if match:
            who, statement = match[1], statement[match.end():]
        if who and who not in sessions:
            sessions[who] = pymysql.connect(unix_socket=sys.argv[1], user=who, autocommit=True).cursor()
        run(sessions[who] if who else cursor, statement, out, f"[{who}] " if who else "")
    for session in sessions.values():
        session.connection.close()


SHOW = "SHOW GRANTS FOR u@localhost"
U = "CREATE USER u@localhost"
CU = "SHOW CREATE USER u@localhost"
STATIC = """ALTER;ALTER ROUTINE;CREATE;CREATE ROUTINE;CREATE ROLE;CREATE TEMPORARY TABLES;CREATE VIEW;CREATE USER;DELETE;DROP
DROP ROLE;EVENT;EXECUTE;FILE;GRANT OPTION;INDEX;INSERT;LOCK TABLES;PROCESS;REFERENCES;RELOAD;REPLICATION CLIENT
REPLICATION SLAVE;SELECT;SHOW DATABASES;SHOW VIEW;SHUTDOWN;SUPER;TRIGGER;CREATE TABLESPACE;UPDATE;USAGE;ALL
ALL PRIVILEGES;PROXY""".replace("\n", ";").split(";")
LEVELS = ["*.*", "d1.*", "d1.t", "PROCEDURE d1.p", "FUNCTION d1.f", "*", "t", "nodb.*", "d1.nosuch"]
for privilege in STATIC:
    for level in LEVELS[:5]:
        case(U, f"GRANT {privilege} ON {level} TO u@localhost", SHOW)
    case(U, f"GRANT {privilege} (a) ON d1.t TO u@localhost", SHOW)
for level in LEVELS:
    case(U, f"GRANT SELECT, INSERT ON {level} TO u@localhost", SHOW, f"REVOKE SELECT ON {level} FROM u@localhost", SHOW,
         f"REVOKE INSERT ON {level} FROM u@localhost", SHOW)
    case(U, f"GRANT ALL ON {level} TO u@localhost WITH GRANT OPTION", SHOW,
         f"REVOKE GRANT OPTION ON {level} FROM u@localhost", SHOW, f"REVOKE ALL ON {level} FROM u@localhost", SHOW)
    case(U, f"REVOKE SELECT ON {level} FROM u@localhost", SHOW, f"REVOKE ALL ON {level} FROM u@localhost", SHOW)
    case(f"GRANT EXECUTE ON {level} TO nobody@localhost", f"REVOKE EXECUTE ON {level} FROM nobody@localhost")
DYNAMIC = "BACKUP_ADMIN XA_RECOVER_ADMIN ROLE_ADMIN SYSTEM_USER CONNECTION_ADMIN system_variables_admin".split()
for privilege in DYNAMIC:
    case(U, f"GRANT {privilege} ON *.* TO u@localhost", SHOW, f"REVOKE {privilege} ON *.* FROM u@localhost", SHOW)
    case(U, f"GRANT {privilege} ON d1.* TO u@localhost", SHOW)
    case(U, f"GRANT {privilege} ON d1.t TO u@localhost", SHOW)
    case(U, f"GRANT {privilege}, SELECT ON *.* TO u@localhost WITH GRANT OPTION", SHOW)
case(U, "GRANT BACKUP_ADMIN, ROLE_ADMIN ON *.* TO u@localhost", "GRANT XA_RECOVER_ADMIN ON *.* TO u@localhost WITH GRANT OPTION",
     SHOW, "REVOKE GRANT OPTION ON *.* FROM u@localhost", SHOW, "REVOKE ALL ON *.* FROM u@localhost", SHOW)
case(U, "GRANT NONSENSE ON *.* TO u@localhost", "GRANT BACKUP_ADMINX, SELECT ON *.* TO u@localhost", SHOW)
case(U, "REVOKE NONSENSE ON *.* FROM u@localhost", "REVOKE BACKUP_ADMIN ON *.* FROM u@localhost", SHOW)
case(U, "GRANT ALL ON *.* TO u@localhost", SHOW, "REVOKE BACKUP_ADMIN, SELECT ON *.* FROM u@localhost", SHOW,
     "REVOKE ALL PRIVILEGES, GRANT OPTION FROM u@localhost", SHOW)
case(U, "GRANT SELECT ON *.* TO u@localhost", "GRANT INSERT ON d1.* TO u@localhost", "GRANT UPDATE ON d1.t TO u@localhost",
     "GRANT EXECUTE ON PROCEDURE d1.p TO u@localhost", "GRANT SELECT ON d2.t TO u@localhost", SHOW,
     "REVOKE ALL ON d1.* FROM u@localhost", SHOW, "REVOKE ALL, GRANT OPTION FROM u@localhost", SHOW)
case(U, "GRANT SELECT (a, b), INSERT (c), UPDATE ON d1.t TO u@localhost", SHOW, "REVOKE SELECT (a) ON d1.t FROM u@localhost",
     SHOW, "REVOKE SELECT (b), INSERT (c) ON d1.t FROM u@localhost", SHOW, "REVOKE UPDATE ON d1.t FROM u@localhost", SHOW)
case(U, "GRANT SELECT (a), SELECT (b), SELECT ON d1.t TO u@localhost", SHOW, "REVOKE SELECT ON d1.t FROM u@localhost", SHOW)
case(U, "GRANT SELECT (nosuch) ON d1.t TO u@localhost", "GRANT SELECT (a) ON *.* TO u@localhost",
     "GRANT SELECT (a) ON d1.* TO u@localhost", "GRANT DELETE (a) ON d1.t TO u@localhost",
     "GRANT REFERENCES (a) ON d1.t TO u@localhost", SHOW)
case(U, "GRANT CREATE ON d1.nosuch TO u@localhost", SHOW, "GRANT SELECT ON d1.nosuch TO u@localhost", SHOW)
case(U, "GRANT SELECT ON `d\\_`.* TO u@localhost", "GRANT INSERT ON `d%`.* TO u@localhost", SHOW)
case(U, "GRANT SELECT ON `we``ird`.* TO u@localhost", "GRANT SELECT ON D1.T TO u@localhost", SHOW)
case(U, "GRANT EXECUTE ON PROCEDURE d1.nosuch TO u@localhost", "GRANT SELECT ON PROCEDURE d1.p TO u@localhost",
     "REVOKE EXECUTE ON PROCEDURE d1.p FROM u@localhost", "REVOKE EXECUTE ON FUNCTION d1.f FROM u@localhost", SHOW)
case(U, "GRANT ALL ON PROCEDURE d1.p TO u@localhost WITH GRANT OPTION", SHOW, "DROP USER u@localhost", SHOW)
case(U, "GRANT USAGE ON *.* TO u@localhost WITH GRANT OPTION", SHOW, "REVOKE USAGE ON *.* FROM u@localhost", SHOW)
case(U, "GRANT SELECT ON mysql.user TO u@localhost", "GRANT SELECT ON information_schema.* TO u@localhost",
     "GRANT SELECT ON performance_schema.* TO u@localhost", "GRANT INSERT ON information_schema.tables TO u@localhost", SHOW)
# Creating, altering, renaming, dropping.
case(U, U, "CREATE USER IF NOT EXISTS u@localhost", "CREATE USER v@localhost, u@localhost", "SHOW GRANTS FOR v@localhost")
case("DROP USER nobody@localhost", "DROP USER IF EXISTS nobody@localhost", "DROP USER nobody, nobody2@localhost")
case(U, "DROP USER u@localhost, nobody", SHOW, "DROP USER IF EXISTS u@localhost, nobody", SHOW)
case("CREATE USER a", "CREATE USER a@'%'", "CREATE USER 'a'@'10.%'", "CREATE USER ''@localhost", "SHOW GRANTS FOR a",
     "SHOW GRANTS FOR ''@localhost", "SHOW GRANTS FOR a@'10.%'", "SHOW GRANTS FOR b", "SHOW CREATE USER a")
case("CREATE USER 'abcdefghijklmnopqrstuvwxyz1234567'@localhost", "CREATE USER 'abcdefghijklmnopqrstuvwxyz123456'@localhost",
     "CREATE USER u@'" + "h" * 256 + "'", "CREATE USER u@'HOST.Example'", "SHOW CREATE USER u@'host.example'")
case(U, "CREATE USER v@localhost", "RENAME USER u@localhost TO w@localhost", "SHOW GRANTS FOR w@localhost",
     "RENAME USER w@localhost TO v@localhost", "RENAME USER nobody TO x", "RENAME USER w@localhost TO w2@localhost, nobody TO x",
     "SHOW GRANTS FOR w2@localhost", "SHOW GRANTS FOR w@localhost")
case(U, "GRANT SELECT ON d1.* TO u@localhost", "GRANT INSERT (a) ON d1.t TO u@localhost", "GRANT BACKUP_ADMIN ON *.* TO u@localhost",
     "RENAME USER u@localhost TO u@'10.0.0.%'", "SHOW GRANTS FOR u@'10.0.0.%'", "DROP USER u@'10.0.0.%'", U, SHOW)
OPTIONS = ["IDENTIFIED BY 'secret'", "IDENTIFIED WITH caching_sha2_password BY 'x'", "IDENTIFIED WITH 'nosuch' BY 'x'",
           "IDENTIFIED WITH mysql_native_password BY 'x'", "IDENTIFIED WITH caching_sha2_password",
           "IDENTIFIED WITH sha256_password BY 'x'", "IDENTIFIED BY ''",
           "REQUIRE SSL", "REQUIRE X509", "REQUIRE NONE", "REQUIRE SUBJECT '/CN=a' AND ISSUER '/CN=b' AND CIPHER 'c'",
           "REQUIRE ISSUER '/CN=b'", "WITH MAX_QUERIES_PER_HOUR 5 MAX_UPDATES_PER_HOUR 6 MAX_CONNECTIONS_PER_HOUR 7 MAX_USER_CONNECTIONS 8",
           "WITH MAX_USER_CONNECTIONS 2", "WITH MAX_USER_CONNECTIONS 0", "PASSWORD EXPIRE", "PASSWORD EXPIRE NEVER",
           "PASSWORD EXPIRE DEFAULT", "PASSWORD EXPIRE INTERVAL 30 DAY", "PASSWORD EXPIRE INTERVAL 0 DAY",
           "PASSWORD EXPIRE INTERVAL 70000 DAY", "PASSWORD HISTORY 5", "PASSWORD HISTORY DEFAULT", "PASSWORD HISTORY 0",
           "PASSWORD REUSE INTERVAL 9 DAY", "PASSWORD REUSE INTERVAL DEFAULT", "PASSWORD REUSE INTERVAL 0 DAY",
           "PASSWORD REQUIRE CURRENT", "PASSWORD REQUIRE CURRENT OPTIONAL", "PASSWORD REQUIRE CURRENT DEFAULT",
           "FAILED_LOGIN_ATTEMPTS 3 PASSWORD_LOCK_TIME 2", "FAILED_LOGIN_ATTEMPTS 3", "PASSWORD_LOCK_TIME UNBOUNDED",
           "FAILED_LOGIN_ATTEMPTS 4 PASSWORD_LOCK_TIME UNBOUNDED", "FAILED_LOGIN_ATTEMPTS 0 PASSWORD_LOCK_TIME 0",
           "FAILED_LOGIN_ATTEMPTS 32768", "ACCOUNT LOCK", "ACCOUNT UNLOCK", "COMMENT 'hello'", "ATTRIBUTE '{\"a\": 1}'",
           "ATTRIBUTE 'x'", "COMMENT 'it''s'", "IDENTIFIED BY 'x' REQUIRE SSL WITH MAX_USER_CONNECTIONS 3 PASSWORD HISTORY 2 ACCOUNT LOCK COMMENT 'c'",
           "IDENTIFIED BY RANDOM PASSWORD ACCOUNT LOCK", "IDENTIFIED WITH caching_sha2_password AS 'x'",
           "IDENTIFIED WITH caching_sha2_password AS '$A$005$aaaaaaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb'"]
for option in OPTIONS:
    if "RANDOM" not in option:
        case(f"{U} {option}", CU, SHOW)
        case(U, f"ALTER USER u@localhost {option}", CU)
case("ALTER USER nobody@localhost ACCOUNT LOCK", "ALTER USER IF EXISTS nobody@localhost ACCOUNT LOCK",
     "ALTER USER nobody@localhost, nobody2@localhost IDENTIFIED BY 'x'")
case(U, "ALTER USER u@localhost REQUIRE SSL PASSWORD HISTORY 3 COMMENT 'a'", "ALTER USER u@localhost ATTRIBUTE '{\"b\": 2}'",
     "ALTER USER u@localhost ACCOUNT LOCK", CU, "ALTER USER u@localhost REQUIRE NONE ACCOUNT UNLOCK", CU)
case(U, "SET PASSWORD FOR u@localhost = 'x'", CU, "SET PASSWORD FOR nobody@localhost = 'x'", "SET PASSWORD FOR u@localhost = ''", CU)
case(U, "u: SET PASSWORD = 'x'", "u: ALTER USER USER() IDENTIFIED BY 'y'", "u: ALTER USER u@localhost IDENTIFIED BY 'z'",
     "u: SHOW GRANTS", "u: SHOW CREATE USER CURRENT_USER()", "u: SHOW CREATE USER root@localhost", "u: SHOW GRANTS FOR root@localhost")
# Roles.
case("CREATE ROLE r", "CREATE ROLE r", "CREATE ROLE IF NOT EXISTS r", "SHOW GRANTS FOR r", "SHOW CREATE USER r", "DROP ROLE r", "DROP ROLE r",
     "DROP ROLE IF EXISTS r")
case(U, "CREATE ROLE r, r2", "GRANT SELECT ON d1.* TO r", "GRANT r TO u@localhost", SHOW, SHOW + " USING r", SHOW + " USING r2",
     "GRANT r2 TO u@localhost WITH ADMIN OPTION", SHOW, SHOW + " USING r, r2", "REVOKE r FROM u@localhost", SHOW,
     "REVOKE r FROM u@localhost", "REVOKE nosuch FROM u@localhost", "GRANT nosuch TO u@localhost", "GRANT r TO nobody@localhost")
case(U, "CREATE ROLE r, r2, r3", "GRANT r2 TO r", "GRANT r3 TO r2", "GRANT r TO u@localhost", "GRANT INSERT ON d1.t TO r3",
     "GRANT CREATE ROLE ON *.* TO r2", SHOW + " USING r", "GRANT r TO r3", "GRANT r TO r")
case(U, "CREATE ROLE r, r2", "GRANT SELECT ON *.* TO r", "GRANT r, r2 TO u@localhost", "SET DEFAULT ROLE r TO u@localhost", CU,
     "u: SELECT CURRENT_ROLE()", "u: SHOW GRANTS", "u: SET ROLE r2", "u: SELECT CURRENT_ROLE()", "u: SHOW GRANTS", "u: SET ROLE ALL",
     "u: SELECT CURRENT_ROLE()", "u: SET ROLE NONE", "u: SELECT CURRENT_ROLE()", "u: SET ROLE DEFAULT", "u: SELECT CURRENT_ROLE()",
     "u: SET ROLE ALL EXCEPT r", "u: SELECT CURRENT_ROLE()", "u: SET ROLE nosuch", "u: SET DEFAULT ROLE ALL TO u@localhost",
     "u: SET DEFAULT ROLE NONE TO u@localhost", "SET DEFAULT ROLE nosuch TO u@localhost", "SET DEFAULT ROLE r TO nobody@localhost", CU)
case(U, "CREATE ROLE r", "SET DEFAULT ROLE r TO u@localhost", "GRANT r TO u@localhost", "SET DEFAULT ROLE ALL TO u@localhost", CU,
     "DROP ROLE r", SHOW, CU)
case("CREATE ROLE r", "CREATE USER u@localhost DEFAULT ROLE r", "SHOW GRANTS FOR u@localhost", CU, "ALTER USER u@localhost DEFAULT ROLE NONE", CU)
case("CREATE ROLE 'r'@'h'", "SHOW GRANTS FOR r@h", "GRANT 'r'@'h' TO root@localhost", "SHOW GRANTS", "REVOKE r@h FROM root@localhost")
# What others may.
case(U, "CREATE USER v@localhost", "u: GRANT SELECT ON d1.* TO v@localhost", "u: GRANT SELECT ON *.* TO v@localhost",
     "u: GRANT SELECT ON d1.t TO v@localhost", "u: GRANT SELECT (a) ON d1.t TO v@localhost",
     "u: GRANT EXECUTE ON PROCEDURE d1.p TO v@localhost", "u: CREATE USER x", "u: DROP USER v@localhost", "u: CREATE ROLE x",
     "u: DROP ROLE x", "u: RENAME USER v@localhost TO x", "u: ALTER USER v@localhost ACCOUNT LOCK", "u: SET PASSWORD FOR v@localhost = 'x'",
     "u: GRANT BACKUP_ADMIN ON *.* TO v@localhost", "u: REVOKE SELECT ON d1.* FROM v@localhost", "u: REVOKE ALL, GRANT OPTION FROM v@localhost",
     "u: GRANT r TO v@localhost", "u: SHOW GRANTS FOR v@localhost", "u: SHOW CREATE USER v@localhost",
     "u: SET DEFAULT ROLE NONE TO v@localhost", "u: GRANT PROXY ON v@localhost TO u@localhost")
case(U, "CREATE USER v@localhost", "GRANT SELECT, INSERT ON d1.* TO u@localhost WITH GRANT OPTION", "u: GRANT SELECT ON d1.* TO v@localhost",
     "u: GRANT SELECT, UPDATE ON d1.* TO v@localhost", "u: GRANT INSERT ON d1.t TO v@localhost", "u: GRANT SELECT ON d2.* TO v@localhost",
     "u: GRANT ALL ON d1.* TO v@localhost", "u: GRANT DELETE ON d1.t TO v@localhost", "SHOW GRANTS FOR v@localhost",
     "u: REVOKE INSERT ON d1.t FROM v@localhost", "SHOW GRANTS FOR v@localhost", "u: GRANT SELECT ON d1.* TO nobody@localhost")
case(U, "CREATE USER v@localhost", "GRANT CREATE USER ON *.* TO u@localhost", "u: CREATE USER w", "u: DROP USER w", "u: ALTER USER v@localhost ACCOUNT LOCK",
     "u: CREATE ROLE rr", "u: DROP ROLE rr", "u: SHOW CREATE USER v@localhost", "u: GRANT SELECT ON *.* TO v@localhost",
     "u: REVOKE ALL, GRANT OPTION FROM v@localhost", "u: DROP USER root@localhost", "u: ALTER USER root@localhost ACCOUNT LOCK")
case(U, "CREATE USER v@localhost", "GRANT SELECT ON d1.t TO u@localhost WITH GRANT OPTION", "u: GRANT SELECT ON d1.t TO v@localhost",
     "u: GRANT SELECT (a) ON d1.t TO v@localhost", "u: GRANT UPDATE ON d1.t TO v@localhost", "u: GRANT SELECT ON d1.t2 TO v@localhost",
     "SHOW GRANTS FOR v@localhost")
case(U, "CREATE USER v@localhost", "GRANT UPDATE (a) ON d1.t TO u@localhost WITH GRANT OPTION", "u: GRANT UPDATE (a) ON d1.t TO v@localhost",
     "u: GRANT UPDATE (b) ON d1.t TO v@localhost", "u: GRANT UPDATE ON d1.t TO v@localhost", "SHOW GRANTS FOR v@localhost")
case(U, "CREATE USER v@localhost", "CREATE ROLE r", "GRANT r TO u@localhost WITH ADMIN OPTION", "u: GRANT r TO v@localhost", "SHOW GRANTS FOR v@localhost",
     "u: REVOKE r FROM v@localhost", "GRANT ROLE_ADMIN ON *.* TO v@localhost", "v: GRANT r TO v@localhost", "SHOW GRANTS FOR v@localhost")
case(U, "CREATE USER v@localhost", "GRANT BACKUP_ADMIN ON *.* TO u@localhost WITH GRANT OPTION", "u: GRANT BACKUP_ADMIN ON *.* TO v@localhost",
     "u: GRANT ROLE_ADMIN ON *.* TO v@localhost", "u: GRANT SELECT ON *.* TO v@localhost", "SHOW GRANTS FOR v@localhost")
case(U, "CREATE USER v@localhost", "GRANT PROXY ON v@localhost TO u@localhost", SHOW, "GRANT PROXY ON v@localhost TO u@localhost WITH GRANT OPTION", SHOW,
     "REVOKE PROXY ON v@localhost FROM u@localhost", SHOW, "REVOKE PROXY ON v@localhost FROM u@localhost")
case("SHOW GRANTS", "SHOW GRANTS FOR root@localhost", "SHOW GRANTS FOR CURRENT_USER", "SHOW PRIVILEGES", "SHOW CREATE USER CURRENT_USER")
case(U, "REVOKE IF EXISTS SELECT ON d1.* FROM u@localhost", "REVOKE IF EXISTS SELECT ON d1.* FROM nobody@localhost IGNORE UNKNOWN USER",
     "REVOKE SELECT ON d1.* FROM nobody@localhost IGNORE UNKNOWN USER", "REVOKE SELECT ON *.* FROM nobody@localhost",
     "REVOKE ALL, GRANT OPTION FROM nobody@localhost", "REVOKE ALL, GRANT OPTION FROM u@localhost, nobody@localhost")
print("# Recorded by accounts.py from MySQL 9.7.")
text = "\n".join(out)
print(re.sub(r"0x24(41)?[0-9A-F]{20,}", "0x#", text))
cursor.execute("drop database d1"); cursor.execute("drop database d2")
