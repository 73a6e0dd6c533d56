// MySQL Connector/J: every type there and back, prepared by the server and by the driver, errors by number, transactions,
// several statements at once, batches, large values; over TCP with and without TLS, compressed.

import com.mysql.cj.MysqlType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Properties;

class Client {
    static final String DATABASE = "clients_java";

    /** A column of the table of types. */
    record Column(String kind, String type, List<String> values) {
        String value(int row) {
            return values.get(row % values.size());
        }
    }

    /** Something that may fail. */
    interface Run {
        void run() throws SQLException;
    }

    static void same(Object got, Object expected, String where) {
        if (!Objects.equals(got, expected)) {
            throw new AssertionError(where + ": got " + got + ", expected " + expected);
        }
    }

    static void fails(int number, Run run) throws SQLException {
        try {
            run.run();
        } catch (SQLException error) {
            same(error.getErrorCode(), number, error.getMessage());
            return;
        }
        throw new AssertionError("error " + number + " did not come");
    }

    static Connection connect(String way, String database, String... options) throws SQLException {
        Properties properties = new Properties();
        properties.setProperty("user", System.getenv("USER"));
        properties.setProperty("password", System.getenv("PASSWORD"));
        // The certificate is the server's own, so it is not looked at.
        properties.setProperty("sslMode", way.equals("tls") ? "REQUIRED" : "DISABLED");
        properties.setProperty("allowPublicKeyRetrieval", "true");
        properties.setProperty("useCompression", String.valueOf(way.equals("compressed")));
        properties.setProperty("connectionTimeZone", "UTC");
        properties.setProperty("forceConnectionTimeZoneToSession", "true");
        properties.setProperty("yearIsDateType", "false");
        properties.setProperty("tinyInt1isBit", "false");
        for (String option : options) {
            String[] parts = option.split("=");
            properties.setProperty(parts[0], parts[1]);
        }
        String url = "jdbc:mysql://" + System.getenv("HOST") + ":" + System.getenv("PORT") + "/" + database;
        return DriverManager.getConnection(url, properties);
    }

    static List<Column> readTypes(String path) throws Exception {
        List<Column> columns = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of(path), StandardCharsets.UTF_8)) {
            if (!line.startsWith("#")) {
                List<String> fields = Arrays.asList(line.split("\t", -1));
                columns.add(new Column(fields.get(0), fields.get(1), fields.subList(2, fields.size())));
            }
        }
        return columns;
    }

    /** A time without the zeros at the end of its fraction. */
    static String timeOf(String text) {
        return text.contains(".") ? text.replaceFirst("\\.?0*$", "") : text;
    }

    static LocalDateTime dateTimeOf(String text) {
        return LocalDateTime.parse(text.replace(' ', 'T'));
    }

    /** A value as it is handed to the driver. */
    static void send(PreparedStatement statement, int place, String kind, String text) throws SQLException {
        switch (kind) {
            case "integer", "bit", "year" -> {
                BigInteger number = new BigInteger(text);
                if (number.bitLength() < 64) {
                    statement.setLong(place, number.longValue());
                } else {
                    statement.setObject(place, number, MysqlType.BIGINT_UNSIGNED);
                }
            }
            case "decimal" -> statement.setBigDecimal(place, new BigDecimal(text));
            case "float" -> statement.setFloat(place, Float.parseFloat(text));
            case "double" -> statement.setDouble(place, Double.parseDouble(text));
            case "date" -> statement.setObject(place, LocalDate.parse(text));
            case "time" -> statement.setString(place, text);
            case "datetime" -> statement.setObject(place, dateTimeOf(text));
            case "bytes" -> statement.setBytes(place, HexFormat.of().parseHex(text));
            default -> statement.setString(place, text);
        }
    }

    /** Whether what came is what was sent. */
    static void check(ResultSet rows, int place, String kind, String text, String where) throws SQLException {
        switch (kind) {
            case "integer", "year" -> same(rows.getObject(place, BigInteger.class), new BigInteger(text), where);
            case "bit" -> same(new BigInteger(1, rows.getBytes(place)), new BigInteger(text), where);
            case "decimal" -> same(rows.getBigDecimal(place), new BigDecimal(text), where);
            case "float" -> same(rows.getFloat(place), Float.parseFloat(text), where);
            case "double" -> same(rows.getDouble(place), Double.parseDouble(text), where);
            case "date" -> same(rows.getObject(place, LocalDate.class), LocalDate.parse(text), where);
            // (The driver loses the sign of some.)
            case "time" -> {
                if (!text.startsWith("-")) {
                    same(timeOf(rows.getString(place)), timeOf(text), where);
                }
            }
            case "datetime" -> same(rows.getObject(place, LocalDateTime.class), dateTimeOf(text), where);
            case "bytes" -> same(HexFormat.of().formatHex(rows.getBytes(place)), text, where);
            default -> same(rows.getString(place), text, where);
        }
    }

    static void everyType(String way, List<Column> columns) throws SQLException {
        int count = columns.stream().mapToInt(column -> column.values.size()).max().orElseThrow();
        for (String prepares : List.of("true", "false")) {
            try (Connection connection = connect(way, DATABASE, "useServerPrepStmts=" + prepares, "cachePrepStmts=true");
                    Statement statement = connection.createStatement()) {
                StringBuilder definition = new StringBuilder("CREATE TABLE types (id INT PRIMARY KEY");
                for (int number = 0; number < columns.size(); number++) {
                    definition.append(", c" + number + " " + columns.get(number).type);
                }
                statement.execute(definition + ")");
                String insert = "INSERT INTO types VALUES (?" + ", ?".repeat(columns.size()) + ")";
                for (int row = 0; row <= count; row++) {
                    try (PreparedStatement prepared = connection.prepareStatement(insert)) {
                        prepared.setInt(1, row);
                        for (int number = 0; number < columns.size(); number++) {
                            Column column = columns.get(number);
                            if (row == count) {
                                prepared.setNull(2 + number, Types.NULL);
                            } else {
                                send(prepared, 2 + number, column.kind, column.value(row));
                            }
                        }
                        same(prepared.executeUpdate(), 1, "rows");
                    }
                }
                String select = "SELECT * FROM types WHERE id >= ? ORDER BY id";
                // All rows at once, and by a cursor of the server.
                for (int fetch : new int[] {0, 2}) {
                    try (PreparedStatement prepared = connection.prepareStatement(select)) {
                        prepared.setFetchSize(fetch);
                        prepared.setInt(1, 0);
                        int row = 0;
                        try (ResultSet rows = prepared.executeQuery()) {
                            for (; rows.next(); row++) {
                                same(rows.getInt("id"), row, "id");
                                for (int number = 0; number < columns.size(); number++) {
                                    Column column = columns.get(number);
                                    String where = column.type + ", row " + row + ", prepared by the server: " + prepares;
                                    if (row == count) {
                                        same(rows.getObject(2 + number), null, where);
                                    } else {
                                        check(rows, 2 + number, column.kind, column.value(row), where);
                                    }
                                }
                            }
                        }
                        same(row, count + 1, "rows");
                    }
                }
                statement.execute("DROP TABLE types");
            }
        }
    }

    static void errors(String way) throws SQLException {
        for (String prepares : List.of("true", "false")) {
            try (Connection connection = connect(way, DATABASE, "useServerPrepStmts=" + prepares);
                    Statement statement = connection.createStatement()) {
                statement.execute("CREATE TABLE numbers (id INT PRIMARY KEY, n TINYINT NOT NULL)");
                statement.execute("INSERT INTO numbers VALUES (1, 1)");
                String insert = "INSERT INTO numbers VALUES (?, ?)";
                for (int[] wrong : new int[][] {{1062, 1, 1}, {1264, 2, 1000}, {1048, 2, 0}}) {
                    fails(wrong[0], () -> {
                        try (PreparedStatement prepared = connection.prepareStatement(insert)) {
                            prepared.setInt(1, wrong[1]);
                            prepared.setObject(2, wrong[2] == 0 ? null : wrong[2]);
                            prepared.executeUpdate();
                        }
                    });
                }
                fails(1146, () -> connection.prepareStatement("SELECT * FROM nowhere").executeQuery());
                fails(1054, () -> connection.prepareStatement("SELECT nothing FROM numbers").executeQuery());
                fails(1064, () -> connection.prepareStatement("SELEKT 1").execute());
                fails(1064, () -> statement.execute("SELECT 1; SELECT 2"));
                statement.execute("DROP TABLE numbers");
            }
        }
    }

    static long count(Statement statement) throws SQLException {
        try (ResultSet rows = statement.executeQuery("SELECT COUNT(*) FROM counted")) {
            rows.next();
            return rows.getLong(1);
        }
    }

    static void transactions(String way) throws SQLException {
        try (Connection connection = connect(way, DATABASE, "rewriteBatchedStatements=true");
                Connection other = connect(way, DATABASE);
                Statement statement = connection.createStatement();
                Statement beside = other.createStatement()) {
            statement.execute("CREATE TABLE counted (id INT AUTO_INCREMENT PRIMARY KEY, n INT)");
            for (int level : new int[] {Connection.TRANSACTION_READ_COMMITTED, Connection.TRANSACTION_REPEATABLE_READ}) {
                connection.setTransactionIsolation(level);
                same(connection.getTransactionIsolation(), level, "isolation");
                connection.setAutoCommit(false);
                long before = count(statement);
                statement.executeUpdate("INSERT INTO counted (n) VALUES (1), (2)", Statement.RETURN_GENERATED_KEYS);
                try (ResultSet keys = statement.getGeneratedKeys()) {
                    same(keys.next() && keys.getLong(1) > 0 && keys.next(), true, "generated keys");
                }
                same(count(statement) - count(beside), 2L, "inside");
                connection.rollback();
                same(count(statement), before, "after rollback");
                statement.executeUpdate("INSERT INTO counted (n) VALUES (3)");
                connection.commit();
                connection.setAutoCommit(true);
                same(count(beside), before + 1, "after commit");
            }
            // A batch, which the driver makes one statement of.
            try (PreparedStatement prepared = connection.prepareStatement("INSERT INTO counted (n) VALUES (?)")) {
                for (int number = 0; number < 500; number++) {
                    prepared.setInt(1, number);
                    prepared.addBatch();
                }
                same(prepared.executeBatch().length, 500, "a batch");
            }
            same(count(statement), 502L, "after the batch");
            connection.setReadOnly(true);
            fails(0, () -> statement.executeUpdate("DELETE FROM counted"));
            connection.setReadOnly(false);
            statement.execute("DROP TABLE counted");
        }
    }

    static void several(String way) throws SQLException {
        try (Connection connection = connect(way, DATABASE, "allowMultiQueries=true");
                Statement statement = connection.createStatement()) {
            same(statement.execute("SELECT 1; SET @a = 2; SELECT @a"), true, "a result");
            same(statement.getMoreResults(), false, "the second has no rows");
            same(statement.getMoreResults(), true, "the third has");
            try (ResultSet rows = statement.getResultSet()) {
                same(rows.next() ? rows.getInt(1) : 0, 2, "the third");
            }
            fails(1146, () -> statement.execute("SELECT 1; SELECT * FROM nowhere; SELECT 2"));
            // A statement that takes too long is killed from beside.
            statement.setQueryTimeout(1);
            fails(0, () -> statement.execute("SELECT SLEEP(20), 1 FROM (SELECT 1) AS one WHERE SLEEP(20)"));
            statement.setQueryTimeout(0);
            same(connection.isValid(5), true, "the connection");
        }
    }

    static void large(String way) throws SQLException {
        for (String prepares : List.of("true", "false")) {
            try (Connection connection = connect(way, DATABASE, "useServerPrepStmts=" + prepares);
                    Statement statement = connection.createStatement()) {
                statement.execute("CREATE TABLE large (id INT PRIMARY KEY, b LONGBLOB)");
                for (int size : new int[] {(1 << 24) - 1, 1 << 24, (17 << 20) + 3}) {
                    byte[] value = new byte[size];
                    for (int at = 0; at < size; at++) {
                        value[at] = (byte) (at * 31 + at / 251);
                    }
                    try (PreparedStatement insert = connection.prepareStatement("REPLACE INTO large VALUES (1, ?)")) {
                        insert.setBytes(1, value);
                        insert.executeUpdate();
                    }
                    try (PreparedStatement select = connection.prepareStatement("SELECT b FROM large WHERE id = ?")) {
                        select.setInt(1, 1);
                        try (ResultSet rows = select.executeQuery()) {
                            rows.next();
                            same(Arrays.equals(rows.getBytes(1), value), true, size + " bytes");
                        }
                    }
                }
                // In pieces: COM_STMT_SEND_LONG_DATA.
                try (PreparedStatement insert = connection.prepareStatement("REPLACE INTO large VALUES (2, ?)")) {
                    insert.setBinaryStream(1, new java.io.ByteArrayInputStream(new byte[3 << 20]));
                    insert.executeUpdate();
                }
                try (ResultSet rows = statement.executeQuery("SELECT LENGTH(b) FROM large WHERE id = 2")) {
                    rows.next();
                    same(rows.getInt(1), 3 << 20, "a stream");
                }
                statement.execute("DROP TABLE large");
            }
        }
    }

    /** What tools ask a driver. */
    static void metadata(String way) throws SQLException {
        try (Connection connection = connect(way, DATABASE); Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE parent (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20) NOT NULL, "
                    + "price DECIMAL(10,2), UNIQUE KEY by_name (name))");
            statement.execute("CREATE TABLE child (p INT UNSIGNED, FOREIGN KEY (p) REFERENCES parent (id))");
            DatabaseMetaData data = connection.getMetaData();
            same(data.getDatabaseProductName(), "MySQL", "product");
            List<String> seen = new ArrayList<>();
            try (ResultSet rows = data.getTables(DATABASE, null, "%", new String[] {"TABLE"})) {
                while (rows.next()) {
                    seen.add(rows.getString("TABLE_NAME"));
                }
            }
            try (ResultSet rows = data.getColumns(DATABASE, null, "parent", "%")) {
                while (rows.next()) {
                    seen.add(rows.getString("COLUMN_NAME") + " " + rows.getString("TYPE_NAME") + " " + rows.getInt("COLUMN_SIZE"));
                }
            }
            try (ResultSet rows = data.getPrimaryKeys(DATABASE, null, "parent")) {
                while (rows.next()) {
                    seen.add("primary " + rows.getString("COLUMN_NAME"));
                }
            }
            try (ResultSet rows = data.getIndexInfo(DATABASE, null, "parent", true, false)) {
                while (rows.next()) {
                    seen.add("index " + rows.getString("INDEX_NAME"));
                }
            }
            try (ResultSet rows = data.getImportedKeys(DATABASE, null, "child")) {
                while (rows.next()) {
                    seen.add(rows.getString("FKCOLUMN_NAME") + " -> " + rows.getString("PKTABLE_NAME"));
                }
            }
            same(seen, List.of("child", "parent", "id INT UNSIGNED 10", "name VARCHAR 20", "price DECIMAL 10", "primary id",
                    "index by_name", "index PRIMARY", "p -> parent"), "metadata");
            statement.execute("DROP TABLE child, parent");
        }
    }

    static void facts(String way) throws SQLException {
        try (Connection connection = connect(way, DATABASE); Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SHOW STATUS LIKE 'Ssl_cipher'")) {
            rows.next();
            same(!rows.getString(2).isEmpty(), way.equals("tls"), "whether it is encrypted");
        }
    }

    public static void main(String[] arguments) throws Exception {
        List<Column> columns = readTypes(arguments[0]);
        for (String way : List.of("plain", "tls", "compressed")) {
            try (Connection connection = connect(way, ""); Statement statement = connection.createStatement()) {
                statement.execute("DROP DATABASE IF EXISTS " + DATABASE);
                statement.execute("CREATE DATABASE " + DATABASE);
            }
            facts(way);
            everyType(way, columns);
            errors(way);
            transactions(way);
            several(way);
            metadata(way);
            large(way);
            try (Connection connection = connect(way, ""); Statement statement = connection.createStatement()) {
                statement.execute("DROP DATABASE " + DATABASE);
            }
            System.out.println("Connector/J, " + way + ": " + columns.size() + " types, errors, transactions, large values");
        }
    }
}
