/*M!999999\- enable the sandbox mode */ 

/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
/*!40101 SET @OLD_CHARACTER_SET_RESULTS=@@CHARACTER_SET_RESULTS */;
/*!40101 SET @OLD_COLLATION_CONNECTION=@@COLLATION_CONNECTION */;
/*!40101 SET NAMES utf8mb4 */;
/*!40103 SET @OLD_TIME_ZONE=@@TIME_ZONE */;
/*!40103 SET TIME_ZONE='+00:00' */;
/*!40014 SET @OLD_UNIQUE_CHECKS=@@UNIQUE_CHECKS, UNIQUE_CHECKS=0 */;
/*!40014 SET @OLD_FOREIGN_KEY_CHECKS=@@FOREIGN_KEY_CHECKS, FOREIGN_KEY_CHECKS=0 */;
/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;
/*!40111 SET @OLD_SQL_NOTES=@@SQL_NOTES, SQL_NOTES=0 */;
DROP TABLE IF EXISTS `a_children`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `a_children` (
  `id` int NOT NULL AUTO_INCREMENT,
  `parent` int DEFAULT NULL COMMENT 'a "comment" with ''quotes''',
  `code` varchar(10) CHARACTER SET latin1 COLLATE latin1_swedish_ci DEFAULT NULL,
  `self` int DEFAULT NULL,
  PRIMARY KEY (`id`),
  KEY `parent` (`parent`),
  KEY `selfk` (`self`),
  KEY `children_2` (`code`),
  CONSTRAINT `children_1` FOREIGN KEY (`parent`) REFERENCES `parents` (`id`) ON DELETE CASCADE ON UPDATE SET NULL,
  CONSTRAINT `children_2` FOREIGN KEY (`code`) REFERENCES `parents` (`code`) ON UPDATE CASCADE,
  CONSTRAINT `children_3` FOREIGN KEY (`self`) REFERENCES `a_children` (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=100 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `a_children` WRITE;
/*!40000 ALTER TABLE `a_children` DISABLE KEYS */;
INSERT INTO `a_children` VALUES
(7,1,'one',8),
(8,1,'two',8),
(9,NULL,NULL,NULL);
/*!40000 ALTER TABLE `a_children` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `bytes`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `bytes` (
  `id` int NOT NULL,
  `a` binary(4) DEFAULT NULL,
  `b` varbinary(20) DEFAULT 'abc',
  `c` tinyblob,
  `d` blob,
  `e` mediumblob,
  `f` longblob,
  PRIMARY KEY (`id`),
  KEY `d` (`d`(5))
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `bytes` WRITE;
/*!40000 ALTER TABLE `bytes` DISABLE KEYS */;
INSERT INTO `bytes` VALUES
(1,0x00FF0000,0x0A0D00271A5C22,0x80,0xFFFE,0x6D656469756D,0x00),
(2,NULL,'','','','',''),
(3,0x61626364,NULL,NULL,NULL,NULL,NULL);
/*!40000 ALTER TABLE `bytes` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `computed`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `computed` (
  `id` int NOT NULL,
  `price` decimal(10,2) NOT NULL DEFAULT ((1.5 * 2)),
  `count` int DEFAULT '3',
  `total` decimal(20,2) GENERATED ALWAYS AS ((`price` * `count`)) VIRTUAL,
  `label` varchar(40) GENERATED ALWAYS AS (concat(_utf8mb4'n',`id`,_utf8mb4'-',`count`)) STORED NOT NULL,
  `doc` json DEFAULT NULL,
  `name` varchar(20) GENERATED ALWAYS AS (json_unquote(json_extract(`doc`,_utf8mb4'$.name'))) VIRTUAL,
  `hidden` int DEFAULT '9' /*!80023 INVISIBLE */,
  PRIMARY KEY (`id`),
  UNIQUE KEY `label` (`label`),
  KEY `total` (`total`),
  KEY `name` (`name`) /*!80000 INVISIBLE */,
  CONSTRAINT `cheap` CHECK ((`price` < 1000)),
  CONSTRAINT `computed_chk_1` CHECK ((`count` >= 0)),
  CONSTRAINT `never` CHECK ((`price` > 100000)) /*!80016 NOT ENFORCED */
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
DROP TABLE IF EXISTS `empty`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `empty` (
  `id` int NOT NULL,
  `v` varchar(10) DEFAULT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `empty` WRITE;
/*!40000 ALTER TABLE `empty` DISABLE KEYS */;
/*!40000 ALTER TABLE `empty` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `keyless`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `keyless` (
  `a` int DEFAULT NULL,
  `b` varchar(5) DEFAULT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `keyless` WRITE;
/*!40000 ALTER TABLE `keyless` DISABLE KEYS */;
INSERT INTO `keyless` VALUES
(1,'x'),
(1,'x'),
(NULL,NULL);
/*!40000 ALTER TABLE `keyless` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `moments`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `moments` (
  `id` bigint NOT NULL,
  `d` date DEFAULT '2000-01-01',
  `t` time DEFAULT NULL,
  `t6` time(6) DEFAULT NULL,
  `dt` datetime DEFAULT CURRENT_TIMESTAMP,
  `dt6` datetime(6) DEFAULT NULL,
  `ts` timestamp NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  `ts3` timestamp(3) NULL DEFAULT NULL,
  PRIMARY KEY (`id`),
  KEY `d` (`d`,`t`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci ROW_FORMAT=DYNAMIC;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `moments` WRITE;
/*!40000 ALTER TABLE `moments` DISABLE KEYS */;
INSERT INTO `moments` VALUES
(1,'1000-01-01','-838:59:59','12:34:56.789012','1000-01-01 00:00:00','9999-12-31 23:59:59.999999','2038-01-19 03:14:07','1970-01-01 00:00:01.001'),
(2,'9999-12-31','838:59:59','00:00:00.000001','2024-02-29 12:00:00','2024-02-29 12:00:00.500000','2001-02-03 04:05:06','2001-02-03 04:05:06.789'),
(3,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
/*!40000 ALTER TABLE `moments` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `numbers`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `numbers` (
  `id` int unsigned NOT NULL AUTO_INCREMENT,
  `a` tinyint DEFAULT '-1',
  `b` smallint unsigned NOT NULL DEFAULT '7',
  `c` mediumint DEFAULT NULL,
  `d` int DEFAULT NULL,
  `e` bigint DEFAULT NULL,
  `f` bigint unsigned DEFAULT NULL,
  `g` decimal(65,30) DEFAULT NULL,
  `h` decimal(10,2) unsigned NOT NULL DEFAULT '1.50',
  `i` float DEFAULT NULL,
  `j` double DEFAULT NULL,
  `k` float(7,3) DEFAULT NULL,
  `l` double(10,2) DEFAULT NULL,
  `m` bit(1) DEFAULT NULL,
  `n` bit(13) DEFAULT b'1010',
  `o` year DEFAULT NULL,
  `p` int(5) unsigned zerofill DEFAULT NULL,
  `q` tinyint(1) DEFAULT NULL,
  `r` tinyint(1) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `e` (`e`),
  KEY `ab` (`a`,`b` DESC),
  KEY `c` (`c`) USING BTREE COMMENT 'an index'
) ENGINE=InnoDB AUTO_INCREMENT=6 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci COMMENT='numbers, it''s';
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `numbers` WRITE;
/*!40000 ALTER TABLE `numbers` DISABLE KEYS */;
INSERT INTO `numbers` VALUES
(1,-128,0,-8388608,-2147483648,-9223372036854775808,18446744073709551615,-12345678901234567890123456789012345.123456789012345678901234567890,99999999.99,0.0015,1.7976931348623157e308,1234.567,12345678.90,0x01,0x1FFF,1901,00042,1,0),
(2,127,65535,8388607,2147483647,9223372036854775807,0,0.000000000000000000000000000000,0.00,0,0,0.000,0.00,0x00,0x0000,2155,99999,0,1),
(5,NULL,1,NULL,NULL,NULL,NULL,NULL,1.00,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
/*!40000 ALTER TABLE `numbers` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `odd ``name```;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `odd ``name``` (
  `select` int NOT NULL,
  `a b` int DEFAULT NULL,
  `ünïcödé` int DEFAULT NULL,
  PRIMARY KEY (`select`),
  KEY `key with space` (`a b`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `odd ``name``` WRITE;
/*!40000 ALTER TABLE `odd ``name``` DISABLE KEYS */;
INSERT INTO `odd ``name``` VALUES
(1,2,3);
/*!40000 ALTER TABLE `odd ``name``` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `parents`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `parents` (
  `id` int NOT NULL,
  `code` varchar(10) NOT NULL,
  `x` int DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `code` (`code`),
  UNIQUE KEY `pair` (`x`,`code`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COMMENT='those who are referred to';
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `parents` WRITE;
/*!40000 ALTER TABLE `parents` DISABLE KEYS */;
INSERT INTO `parents` VALUES
(1,'one',10),
(2,'two',20),
(3,'three',NULL);
/*!40000 ALTER TABLE `parents` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `texts`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `texts` (
  `id` int NOT NULL,
  `a` char(10) NOT NULL DEFAULT 'x',
  `b` varchar(255) DEFAULT 'it''s "quoted" \\ back',
  `c` char(5) CHARACTER SET latin1 COLLATE latin1_swedish_ci DEFAULT NULL,
  `d` varchar(20) CHARACTER SET ascii COLLATE ascii_bin DEFAULT NULL,
  `e` varchar(30) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci DEFAULT NULL,
  `f` varchar(30) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL,
  `g` tinytext,
  `h` text,
  `i` mediumtext,
  `j` longtext CHARACTER SET latin1 COLLATE latin1_bin,
  `k` enum('a','b''c','d,e') DEFAULT 'a',
  `l` set('x','y','z') NOT NULL DEFAULT 'x,z',
  `m` json DEFAULT NULL,
  `n` varchar(50) CHARACTER SET utf8mb3 COLLATE utf8mb3_general_ci DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `b` (`b`(20)),
  KEY `h` (`h`(10)),
  KEY `k` (`k`,`l`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `texts` WRITE;
/*!40000 ALTER TABLE `texts` DISABLE KEYS */;
INSERT INTO `texts` VALUES
(1,'abc','tab	newline\nquote\' dq\" bs\\ nul\0 ctrl\Z','äöü','ascii','Straße','ΑΒΓ','tiny','tttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt','medium','längö','b\'c','y','{\"a\": [1, 2.5, \"x\", null, true], \"ü\": \"é\"}','日本語'),
(2,'','','','','','','','','','','d,e','','[]',''),
(3,'😀','😀😀',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'x,y,z','\"s\"',NULL);
/*!40000 ALTER TABLE `texts` ENABLE KEYS */;
UNLOCK TABLES;
/*!40103 SET TIME_ZONE=@OLD_TIME_ZONE */;

/*!40101 SET SQL_MODE=@OLD_SQL_MODE */;
/*!40014 SET FOREIGN_KEY_CHECKS=@OLD_FOREIGN_KEY_CHECKS */;
/*!40014 SET UNIQUE_CHECKS=@OLD_UNIQUE_CHECKS */;
/*!40101 SET CHARACTER_SET_CLIENT=@OLD_CHARACTER_SET_CLIENT */;
/*!40101 SET CHARACTER_SET_RESULTS=@OLD_CHARACTER_SET_RESULTS */;
/*!40101 SET COLLATION_CONNECTION=@OLD_COLLATION_CONNECTION */;
/*!40111 SET SQL_NOTES=@OLD_SQL_NOTES */;

