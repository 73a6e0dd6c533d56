// go-sql-driver through database/sql: every type there and back, prepared and not, errors by number, transactions,
// several statements at once, large values; over TCP with and without TLS, compressed, and over the Unix socket.
package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
)

const database = "clients_go"

// A column of the table of types.
type column struct {
	kind, columnType string
	values           []string
}

// check ends the program if something went wrong.
func check(err error, doing string) {
	if err != nil {
		fail("%s: %v", doing, err)
	}
}

func fail(format string, arguments ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", arguments...)
	os.Exit(1)
}

func same(got, expected any, where string) {
	if !reflect.DeepEqual(got, expected) {
		fail("%s: got %#v, expected %#v", where, got, expected)
	}
}

// hasNumber looks whether an error is MySQL's of this number.
func hasNumber(err error, number uint16, doing string) {
	var told *mysql.MySQLError
	if !errors.As(err, &told) || told.Number != number {
		fail("%s: expected error %d, got %v", doing, number, err)
	}
}

func readTypes(path string) []column {
	text, err := os.ReadFile(path)
	check(err, path)
	var columns []column
	for _, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		if fields := strings.Split(line, "\t"); !strings.HasPrefix(line, "#") {
			columns = append(columns, column{fields[0], fields[1], fields[2:]})
		}
	}
	return columns
}

// complaints are what the driver would log.
type complaints struct{ way string }

func (c complaints) Print(words ...any) {
	fail("%s: the driver complains: %s", c.way, fmt.Sprint(words...))
}

// connect gives connections that come this way.
func connect(way, name string, change func(*mysql.Config)) *sql.DB {
	config := mysql.NewConfig()
	config.User, config.Passwd, config.DBName = os.Getenv("USER"), os.Getenv("PASSWORD"), name
	config.Net, config.Addr = "tcp", os.Getenv("HOST")+":"+os.Getenv("PORT")
	config.ParseTime, config.Loc = true, time.UTC
	config.Params = map[string]string{"time_zone": "'+00:00'"}
	switch way {
	case "tls":
		// The certificate is the server's own.
		config.TLSConfig = "skip-verify"
	case "compressed":
		check(config.Apply(mysql.EnableCompression(true)), "compression")
	case "socket":
		config.Net, config.Addr = "unix", os.Getenv("SOCKET")
	}
	// What the driver complains of is a fault, though it goes on: sequence numbers that are not due, for one.
	config.Logger = complaints{way}
	if change != nil {
		change(config)
	}
	connector, err := mysql.NewConnector(config)
	check(err, "connector")
	return sql.OpenDB(connector)
}

// sent is a value as it is handed to the driver.
func sent(kind, text string) any {
	switch kind {
	case "integer", "bit", "year":
		if strings.HasPrefix(text, "-") {
			number, err := strconv.ParseInt(text, 10, 64)
			check(err, text)
			return number
		}
		number, err := strconv.ParseUint(text, 10, 64)
		check(err, text)
		return number
	case "float":
		number, err := strconv.ParseFloat(text, 32)
		check(err, text)
		return float32(number)
	case "double":
		number, err := strconv.ParseFloat(text, 64)
		check(err, text)
		return number
	case "date":
		value, err := time.Parse("2006-01-02", text)
		check(err, text)
		return value
	case "datetime":
		value, err := time.Parse("2006-01-02 15:04:05.999999", text)
		check(err, text)
		return value
	case "bytes":
		value, err := hex.DecodeString(text)
		check(err, text)
		return value
	default:
		return text
	}
}

// agree says whether what came is what was sent.
func agree(kind, text string, got any) bool {
	switch kind {
	case "integer", "year":
		return fmt.Sprint(plain(got)) == text
	case "float":
		number, err := strconv.ParseFloat(fmt.Sprint(plain(got)), 64)
		return err == nil && float32(number) == sent(kind, text)
	case "double":
		number, err := strconv.ParseFloat(fmt.Sprint(plain(got)), 64)
		return err == nil && number == sent(kind, text)
	case "date", "datetime":
		value, is := got.(time.Time)
		return is && value.Equal(sent(kind, text).(time.Time))
	case "bit":
		value, is := got.([]byte)
		return is && strconv.FormatUint(binary.BigEndian.Uint64(append(make([]byte, 8-len(value)), value...)), 10) == text
	case "bytes":
		value, is := got.([]byte)
		return is && bytes.Equal(value, sent(kind, text).([]byte))
	case "json":
		var a, b any
		value, is := got.([]byte)
		return is && json.Unmarshal(value, &a) == nil && json.Unmarshal([]byte(text), &b) == nil && reflect.DeepEqual(a, b)
	default:
		return plain(got) == text
	}
}

// plain is bytes as text, and the rest as it is.
func plain(value any) any {
	if text, is := value.([]byte); is {
		return string(text)
	}
	return value
}

func everyType(way string, columns []column) {
	// With interpolation values are written into the text; without, statements are prepared.
	for _, interpolate := range []bool{true, false} {
		db := connect(way, database, func(config *mysql.Config) { config.InterpolateParams = interpolate })
		var names []string
		count := 0
		for number, column := range columns {
			names = append(names, fmt.Sprintf("c%d %s", number, column.columnType))
			count = max(count, len(column.values))
		}
		_, err := db.Exec("CREATE TABLE types (id INT PRIMARY KEY, " + strings.Join(names, ", ") + ")")
		check(err, "CREATE TABLE types")
		insert := "INSERT INTO types VALUES (?" + strings.Repeat(", ?", len(columns)) + ")"
		for row := 0; row <= count; row++ {
			values := []any{row}
			for _, column := range columns {
				if row == count {
					values = append(values, nil)
				} else {
					values = append(values, sent(column.kind, column.values[row%len(column.values)]))
				}
			}
			_, err := db.Exec(insert, values...)
			check(err, fmt.Sprintf("row %d, interpolated: %v", row, interpolate))
		}
		rows, err := db.Query("SELECT * FROM types WHERE id >= ? ORDER BY id", 0)
		check(err, "SELECT * FROM types")
		got := make([]any, 1+len(columns))
		places := make([]any, len(got))
		for number := range got {
			places[number] = &got[number]
		}
		row := 0
		for ; rows.Next(); row++ {
			check(rows.Scan(places...), "scan")
			for number, column := range columns {
				where := fmt.Sprintf("%s, row %d, interpolated: %v", column.columnType, row, interpolate)
				if row == count {
					same(got[1+number], nil, where)
				} else if text := column.values[row%len(column.values)]; !agree(column.kind, text, got[1+number]) {
					fail("%s: got %#v, expected %s", where, got[1+number], text)
				}
			}
		}
		check(rows.Err(), "rows")
		same(row, count+1, "rows")
		_, err = db.Exec("DROP TABLE types")
		check(err, "DROP TABLE types")
		check(db.Close(), "close")
	}
}

func errorsByNumber(db *sql.DB) {
	run := func(statement string) error { _, err := db.Exec(statement); return err }
	check(run("CREATE TABLE numbers (id INT PRIMARY KEY, n TINYINT NOT NULL)"), "CREATE")
	check(run("INSERT INTO numbers VALUES (1, 1)"), "INSERT")
	for statement, number := range map[string]uint16{
		"INSERT INTO numbers VALUES (1, 1)":         1062,
		"INSERT INTO numbers VALUES (2, NULL)":      1048,
		"INSERT INTO numbers VALUES (2, 128)":       1264,
		"SELECT * FROM nowhere":                     1146,
		"SELECT nothing FROM numbers":               1054,
		"SELEKT 1":                                  1064,
		"SELECT 1; SELECT 2":                        1064,
		"INSERT INTO numbers SELECT 1 + id FROM no": 1146,
	} {
		hasNumber(run(statement), number, statement)
		// The same where statements are prepared.
		prepared, err := db.Prepare(statement)
		if err == nil {
			_, err = prepared.Exec()
			prepared.Close()
		}
		hasNumber(err, number, "prepared: "+statement)
	}
	_, err := db.Exec("INSERT INTO numbers VALUES (?, ?)", 1, 2)
	hasNumber(err, 1062, "with parameters")
	_, err = db.Exec("INSERT INTO numbers VALUES (?, ?)", 2, 1000)
	hasNumber(err, 1264, "with parameters")
	check(run("DROP TABLE numbers"), "DROP")
}

func transactions(db *sql.DB) {
	_, err := db.Exec("CREATE TABLE counted (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, n INT)")
	check(err, "CREATE")
	count := func(in interface {
		QueryRow(string, ...any) *sql.Row
	}) (count int) {
		check(in.QueryRow("SELECT COUNT(*) FROM counted").Scan(&count), "COUNT")
		return
	}
	for _, level := range []sql.IsolationLevel{sql.LevelRepeatableRead, sql.LevelReadCommitted, sql.LevelReadUncommitted} {
		before := count(db)
		transaction, err := db.BeginTx(context.Background(), &sql.TxOptions{Isolation: level})
		check(err, "begin")
		result, err := transaction.Exec("INSERT INTO counted (n) VALUES (?), (?)", 1, nil)
		check(err, "INSERT")
		affected, _ := result.RowsAffected()
		same(affected, int64(2), "rows")
		same(count(transaction), before+2, "inside")
		if level == sql.LevelReadCommitted {
			check(transaction.Rollback(), "rollback")
			same(count(db), before, "after rollback")
		} else {
			check(transaction.Commit(), "commit")
			same(count(db), before+2, "after commit")
		}
	}
	reading, err := db.BeginTx(context.Background(), &sql.TxOptions{ReadOnly: true})
	check(err, "begin read only")
	_, err = reading.Exec("DELETE FROM counted")
	hasNumber(err, 1792, "a change in a transaction that reads")
	check(reading.Rollback(), "rollback")
	// Many at once, each with a prepared statement of its own.
	var all sync.WaitGroup
	db.SetMaxOpenConns(32)
	for client := range 32 {
		all.Add(1)
		go func() {
			defer all.Done()
			statement, err := db.Prepare("UPDATE counted SET n = COALESCE(n, 0) + ? WHERE id = ?")
			check(err, "prepare")
			defer statement.Close()
			for range 20 {
				_, err := statement.Exec(1, 1+client%2)
				check(err, "update")
			}
		}()
	}
	all.Wait()
	var sum int
	check(db.QueryRow("SELECT SUM(n) FROM counted WHERE id < 3").Scan(&sum), "SUM")
	same(sum, 1+32*20, "what all counted")
	_, err = db.Exec("DROP TABLE counted")
	check(err, "DROP")
}

func several(way string) {
	db := connect(way, database, func(config *mysql.Config) { config.MultiStatements = true })
	defer db.Close()
	rows, err := db.Query("SELECT 1; SELECT 'a', 2.5")
	check(err, "two statements")
	var number int
	same(rows.Next(), true, "a row")
	check(rows.Scan(&number), "scan")
	same([]any{number, rows.Next(), rows.NextResultSet(), rows.Next()}, []any{1, false, true, true}, "two results")
	var text, decimal string
	check(rows.Scan(&text, &decimal), "scan")
	same([]string{text, decimal}, []string{"a", "2.5"}, "the second")
	same([]bool{rows.Next(), rows.NextResultSet()}, []bool{false, false}, "the end")
	check(rows.Err(), "two statements")
	_, err = db.Exec("SET @a = 1; SELECT * FROM nowhere; SET @a = 2")
	hasNumber(err, 1146, "the second of three")
}

func large(way string) {
	for _, interpolate := range []bool{true, false} {
		db := connect(way, database, func(config *mysql.Config) {
			config.InterpolateParams = interpolate
			config.MaxAllowedPacket = 0 // as the server says
		})
		_, err := db.Exec("CREATE TABLE large (id INT PRIMARY KEY, b LONGBLOB)")
		check(err, "CREATE")
		for number, size := range []int{1<<24 - 1, 1 << 24, 17<<20 + 3} {
			value := bytes.Repeat([]byte{'x', 'y', 0x80, 0xff}, size/4+1)[:size]
			_, err := db.Exec("INSERT INTO large VALUES (?, ?)", number, value)
			check(err, "a large value")
			var got []byte
			check(db.QueryRow("SELECT b FROM large WHERE id = ?", number).Scan(&got), "a large value")
			if !bytes.Equal(got, value) {
				fail("%d bytes came back otherwise", size)
			}
		}
		_, err = db.Exec("DROP TABLE large")
		check(err, "DROP")
		check(db.Close(), "close")
	}
	// Beyond max_allowed_packet the statement is refused, and the connection with it.
	db := connect(way, database, nil)
	defer db.Close()
	var limit int
	check(db.QueryRow("SELECT @@max_allowed_packet").Scan(&limit), "max_allowed_packet")
	var length int
	err := db.QueryRow("SELECT LENGTH('" + strings.Repeat("x", limit) + "')").Scan(&length)
	if err == nil {
		fail("%d bytes were taken where %d are the limit", limit, limit)
	}
	check(db.QueryRow("SELECT 1").Scan(&length), "another connection")
}

func cancelled(db *sql.DB) {
	limited, stop := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer stop()
	began := time.Now()
	_, err := db.ExecContext(limited, "DO SLEEP(20)")
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 10*time.Second {
		fail("a statement that was given up: %v after %v", err, time.Since(began))
	}
	check(db.Ping(), "ping")
}

func numbersOfColumns(db *sql.DB) {
	rows, err := db.Query("SELECT CAST(1 AS UNSIGNED) AS u, CAST(1.5 AS DECIMAL(7,2)) AS d, 'x' AS s, NOW(6) AS t, 1e0 AS f")
	check(err, "types")
	types, err := rows.ColumnTypes()
	check(err, "types")
	var names []string
	for _, columnType := range types {
		names = append(names, columnType.Name()+" "+columnType.DatabaseTypeName())
	}
	precision, scale, _ := types[1].DecimalSize()
	same(names, []string{"u UNSIGNED BIGINT", "d DECIMAL", "s VARCHAR", "t DATETIME", "f DOUBLE"}, "types of columns")
	same([]int64{precision, scale}, []int64{7, 2}, "a decimal's size")
	check(rows.Close(), "close")
}

func main() {
	columns := readTypes(os.Args[1])
	ways := []string{"plain", "tls", "compressed"}
	if os.Getenv("SOCKET") != "" {
		ways = append(ways, "socket")
	}
	for _, way := range ways {
		first := connect(way, "", nil)
		for _, statement := range []string{"DROP DATABASE IF EXISTS " + database, "CREATE DATABASE " + database} {
			_, err := first.Exec(statement)
			check(err, statement)
		}
		check(first.Close(), "close")
		db := connect(way, database, nil)
		everyType(way, columns)
		errorsByNumber(db)
		numbersOfColumns(db)
		transactions(db)
		several(way)
		cancelled(db)
		large(way)
		_, err := db.Exec("DROP DATABASE " + database)
		check(err, "DROP DATABASE")
		check(db.Close(), "close")
		fmt.Printf("go-sql-driver, %s: %d types, errors, transactions, large values\n", way, len(columns))
	}
}
