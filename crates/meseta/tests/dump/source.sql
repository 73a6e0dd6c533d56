-- Every type, every form of an index, foreign keys, generated columns, checks; `record` makes dump.sql of it.
CREATE TABLE `numbers` (
  `id` int unsigned NOT NULL AUTO_INCREMENT,
  `a` tinyint DEFAULT '-1', `b` smallint unsigned NOT NULL DEFAULT '7', `c` mediumint, `d` int, `e` bigint, `f` bigint unsigned,
  `g` decimal(65,30), `h` decimal(10,2) unsigned NOT NULL DEFAULT '1.50', `i` float, `j` double, `k` float(7,3), `l` double(10,2),
  `m` bit(1), `n` bit(13) DEFAULT b'1010', `o` year, `p` int(5) unsigned zerofill, `q` tinyint(1), `r` bool,
  PRIMARY KEY (`id`), UNIQUE KEY `e` (`e`), KEY `ab` (`a`,`b` DESC), KEY `c` (`c`) USING BTREE COMMENT 'an index'
) COMMENT='numbers, it''s';
INSERT INTO numbers VALUES (1,-128,0,-8388608,-2147483648,-9223372036854775808,18446744073709551615,-12345678901234567890123456789012345.123456789012345678901234567890,99999999.99,1.5e-3,1.7976931348623157e308,1234.567,12345678.90,b'1',b'1111111111111',1901,42,1,0),
 (2,127,65535,8388607,2147483647,9223372036854775807,0,0,0,0,0,0,0,b'0',0,2155,99999,0,1),
 (5,NULL,1,NULL,NULL,NULL,NULL,NULL,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE `moments` (
  `id` bigint NOT NULL, `d` date DEFAULT '2000-01-01', `t` time, `t6` time(6), `dt` datetime DEFAULT CURRENT_TIMESTAMP, `dt6` datetime(6),
  `ts` timestamp NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, `ts3` timestamp(3) NULL,
  PRIMARY KEY (`id`), KEY `d` (`d`,`t`)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
INSERT INTO moments VALUES (1,'1000-01-01','-838:59:59','12:34:56.789012','1000-01-01 00:00:00','9999-12-31 23:59:59.999999','2038-01-19 03:14:07','1970-01-01 00:00:01.001'),
 (2,'9999-12-31','838:59:59','00:00:00.000001','2024-02-29 12:00:00','2024-02-29 12:00:00.5','2001-02-03 04:05:06','2001-02-03 04:05:06.789'),(3,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE `texts` (
  `id` int NOT NULL, `a` char(10) NOT NULL DEFAULT 'x', `b` varchar(255) DEFAULT 'it''s "quoted" \\ back', `c` char(5) CHARACTER SET latin1 COLLATE latin1_swedish_ci,
  `d` varchar(20) CHARACTER SET ascii COLLATE ascii_bin, `e` varchar(30) COLLATE utf8mb4_general_ci, `f` varchar(30) COLLATE utf8mb4_bin,
  `g` tinytext, `h` text, `i` mediumtext, `j` longtext CHARACTER SET latin1 COLLATE latin1_bin, `k` enum('a','b''c','d,e') DEFAULT 'a', `l` set('x','y','z') NOT NULL DEFAULT 'x,z',
  `m` json, `n` varchar(50) CHARACTER SET utf8mb3 COLLATE utf8mb3_general_ci,
  PRIMARY KEY (`id`), UNIQUE KEY `b` (`b`(20)), KEY `h` (`h`(10)), KEY `k` (`k`,`l`)
) DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci;
INSERT INTO texts VALUES (1,'abc','tab\tnewline\nquote\' dq" bs\\ nul\0 ctrl\Z','äöü','ascii','Straße','ΑΒΓ','tiny',REPEAT('t',300),'medium','längö','b\'c','y','{"a": [1, 2.5, "x", null, true], "ü": "é"}','日本語'),
 (2,'','','','','','','','','','','d,e','','[]',''),(3,'😀','😀😀',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'x,y,z','"s"',NULL);
CREATE TABLE `bytes` (
  `id` int NOT NULL, `a` binary(4), `b` varbinary(20) DEFAULT 'abc', `c` tinyblob, `d` blob, `e` mediumblob, `f` longblob, PRIMARY KEY (`id`), KEY `d` (`d`(5))
);
INSERT INTO bytes VALUES (1,x'00ff',x'0a0d00271a5c22',x'80',x'fffe','medium',x'00'),(2,NULL,'','','','',''),(3,'abcd',NULL,NULL,NULL,NULL,NULL);
CREATE TABLE `parents` (`id` int NOT NULL, `code` varchar(10) NOT NULL, `x` int, PRIMARY KEY (`id`), UNIQUE KEY `code` (`code`), UNIQUE KEY `pair` (`x`,`code`)) DEFAULT CHARSET=latin1 COMMENT='those who are referred to';
INSERT INTO parents VALUES (1,'one',10),(2,'two',20),(3,'three',NULL);
CREATE TABLE `a_children` (
  `id` int NOT NULL AUTO_INCREMENT, `parent` int DEFAULT NULL COMMENT 'a "comment" with \'quotes\'', `code` varchar(10) CHARACTER SET latin1, `self` int,
  PRIMARY KEY (`id`), KEY `parent` (`parent`), KEY `selfk` (`self`),
  CONSTRAINT `children_1` FOREIGN KEY (`parent`) REFERENCES `parents` (`id`) ON DELETE CASCADE ON UPDATE SET NULL,
  CONSTRAINT `children_2` FOREIGN KEY (`code`) REFERENCES `parents` (`code`) ON UPDATE CASCADE,
  CONSTRAINT `children_3` FOREIGN KEY (`self`) REFERENCES `a_children` (`id`)
) AUTO_INCREMENT=100;
INSERT INTO a_children VALUES (8,1,'two',8),(7,1,'one',8),(9,NULL,NULL,NULL);
CREATE TABLE `computed` (
  `id` int NOT NULL, `price` decimal(10,2) NOT NULL DEFAULT (1.5 * 2), `count` int DEFAULT '3' CHECK (`count` >= 0),
  `total` decimal(20,2) GENERATED ALWAYS AS (`price` * `count`) VIRTUAL, `label` varchar(40) GENERATED ALWAYS AS (concat(_utf8mb4'n',`id`,'-',`count`)) STORED NOT NULL,
  `doc` json, `name` varchar(20) GENERATED ALWAYS AS (json_unquote(json_extract(`doc`,'$.name'))) VIRTUAL,
  `hidden` int DEFAULT '9' INVISIBLE,
  PRIMARY KEY (`id`), UNIQUE KEY `label` (`label`), KEY `total` (`total`), KEY `name` (`name`) INVISIBLE,
  CONSTRAINT `cheap` CHECK ((`price` < 1000)), CONSTRAINT `never` CHECK ((`price` > 100000)) NOT ENFORCED
);
INSERT INTO computed (id,price,count,doc,hidden) VALUES (1,9.99,3,'{"name": "first"}',1),(2,0.01,0,NULL,NULL),(3,DEFAULT,7,'{"name": 5}',DEFAULT);
CREATE TABLE `keyless` (`a` int, `b` varchar(5));
INSERT INTO keyless VALUES (1,'x'),(1,'x'),(NULL,NULL);
CREATE TABLE `odd ``name``` (`select` int NOT NULL, `a b` int, `ünïcödé` int, PRIMARY KEY (`select`), KEY `key with space` (`a b`));
INSERT INTO `odd ``name``` VALUES (1,2,3);
CREATE TABLE `empty` (`id` int NOT NULL, `v` varchar(10), PRIMARY KEY (`id`));
