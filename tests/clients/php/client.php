<?php
// PHP's two drivers, PDO and mysqli: every type there and back, as text and by prepared statements; numbers and dates that are sent
// as texts, as PDO sends all of them; cursors, values in pieces, several statements at once, errors, transactions; over TCP and the
// Unix socket.

declare(strict_types=1);

const DATABASE = 'clients_php';

function same(mixed $got, mixed $expected, string $where): void
{
    if ($got !== $expected) {
        throw new Exception("$where: got " . var_export($got, true) . ', expected ' . var_export($expected, true));
    }
}

function fails(int $number, callable $run): void
{
    try {
        $run();
    } catch (PDOException | mysqli_sql_exception $error) {
        same($error instanceof PDOException ? $error->errorInfo[1] : $error->getCode(), $number, $error->getMessage());
        return;
    }
    throw new Exception("error $number did not come");
}

/** Columns as [kind, type, values]. */
function read_types(string $path): array
{
    $columns = [];
    foreach (file($path, FILE_IGNORE_NEW_LINES) as $line) {
        if (!str_starts_with($line, '#')) {
            $parts = explode("\t", $line);
            $columns[] = [$parts[0], $parts[1], array_slice($parts, 2)];
        }
    }
    return $columns;
}

/** What a value is sent as. */
function sent(string $kind, string $text): string|int
{
    return match ($kind) {
        'bytes' => hex2bin($text),
        // (A text is no number of bits.)
        'bit' => strlen($text) < 19 ? (int) $text : $text,
        default => $text,
    };
}

/** A value in a form in which what was sent and what has come are the same. */
function plain(string $kind, mixed $value): mixed
{
    return match ($kind) {
        'integer', 'year' => (string) $value,
        'float' => pack('g', (float) $value),
        'double' => (float) $value,
        'json' => json_decode($value),
        // Without trailing zeros of a fraction.
        'time', 'datetime' => preg_replace('/(\.\d*?)0+$/', '$1', (string) $value),
        default => $value,
    };
}

function check_rows(array $rows, array $columns, string $where): void
{
    $count = max(array_map(fn($column) => count($column[2]), $columns));
    same(count($rows), $count + 1, "$where: rows");
    foreach ($rows as $number => $row) {
        foreach ($columns as $at => [$kind, $type, $values]) {
            $got = $row[$at + 1];
            if ($number === $count) {
                same($got, null, "$where: $type, NULL");
                continue;
            }
            same($got === null, false, "$where: $type, row $number");
            $wanted = plain($kind, sent($kind, $values[$number % count($values)]));
            $same = $kind === 'json' ? plain($kind, $got) == $wanted : plain($kind, $got) === $wanted;
            same($same, true, "$where: $type, row $number: " . var_export($got, true));
        }
    }
}

function every_type(PDO $pdo, array $columns, string $where): void
{
    // (PHP shows bits as a number where it reads them as text, and not beyond what it has integers for.)
    $columns = array_values(array_filter($columns, fn($column) => $column[0] !== 'bit'));
    $names = implode(', ', array_map(fn($at) => "c$at {$columns[$at][1]}", array_keys($columns)));
    $pdo->exec("CREATE TABLE types (id INT PRIMARY KEY, $names)");
    $places = implode(', ', array_fill(0, count($columns) + 1, '?'));
    $insert = $pdo->prepare("INSERT INTO types VALUES ($places)");
    $count = max(array_map(fn($column) => count($column[2]), $columns));
    for ($row = 0; $row < $count; $row++) {
        $insert->execute([$row, ...array_map(fn($column) => sent($column[0], $column[2][$row % count($column[2])]), $columns)]);
        same($insert->rowCount(), 1, "$where: rows inserted");
    }
    $insert->execute([$count, ...array_fill(0, count($columns), null)]);
    check_rows($pdo->query('SELECT * FROM types ORDER BY id')->fetchAll(PDO::FETCH_NUM), $columns, "$where, text");
    $select = $pdo->prepare('SELECT * FROM types WHERE id >= ? ORDER BY id');
    $select->execute(['0']);
    check_rows($select->fetchAll(PDO::FETCH_NUM), $columns, "$where, prepared");
    foreach ($columns as $at => [$kind, $type, $values]) {
        if ($kind !== 'float' && $kind !== 'json') {
            $found = $pdo->prepare("SELECT COUNT(*) FROM types WHERE c$at = ? AND id = ?");
            $found->execute([sent($kind, $values[0]), '0']);
            same((int) $found->fetchColumn(), 1, "$where: $type found");
        }
    }
    $pdo->exec('DROP TABLE types');
}

/** Numbers and dates that are texts on the wire: what they are beside something decides. */
function texts(PDO $pdo): void
{
    $pdo->exec('CREATE TABLE accounts (id INT PRIMARY KEY, n BIGINT, d DECIMAL(30, 10), day DATE)');
    $pdo->exec("INSERT INTO accounts VALUES (1, 9007199254740993, 12345678901234567890.1, '2024-02-29'), (2, 1, 1, NULL), (3, 1, 1, NULL)");
    $run = function (string $statement, array $values) use ($pdo) {
        $prepared = $pdo->prepare($statement);
        $prepared->execute($values);
        return $prepared->columnCount() ? $prepared->fetchAll(PDO::FETCH_NUM) : $prepared->rowCount();
    };
    same($run('UPDATE accounts SET n = n + ?, d = d - ? WHERE id = ?', ['1', '0.1', '1']), 1, 'rows changed');
    $read = $run('SELECT CAST(n AS CHAR), CAST(d AS CHAR) FROM accounts WHERE id = ?', ['1']);
    same($read, [['9007199254740994', '12345678901234567890.0000000000']], 'exact numbers');
    same($run('SELECT id FROM accounts WHERE day BETWEEN ? AND ?', ['2024-02-01', '2024-02-31']), [[1]], 'a month');
    same($run('SELECT id FROM accounts WHERE day = ?', ['no day']), [], 'a day that is none');
    same(count($run('SELECT id FROM accounts ORDER BY id LIMIT ? OFFSET ?', ['1', '1'])), 1, 'LIMIT');
    same($run('UPDATE accounts SET n = 7 ORDER BY id DESC LIMIT ?', ['2']), 2, 'UPDATE with LIMIT');
    same($run('DELETE FROM accounts ORDER BY id DESC LIMIT ?', ['1']), 1, 'DELETE with LIMIT');
    $pdo->exec('DROP TABLE accounts');
}

function transactions(PDO $pdo, PDO $other): void
{
    $pdo->exec('CREATE TABLE counted (id INT AUTO_INCREMENT PRIMARY KEY, s VARCHAR(9) UNIQUE)');
    $insert = $pdo->prepare('INSERT INTO counted (s) VALUES (:s)');
    $insert->execute(['s' => 'a']);
    same($pdo->lastInsertId(), '1', 'the id');
    $pdo->beginTransaction();
    $insert->execute(['s' => 'b']);
    same([$pdo->inTransaction(), (int) $other->query('SELECT COUNT(*) FROM counted')->fetchColumn()], [true, 1], 'within');
    fails(1062, fn() => $insert->execute(['s' => 'A']));
    $pdo->rollBack();
    same((int) $pdo->query('SELECT COUNT(*) FROM counted')->fetchColumn(), 1, 'after rollBack');
    fails(1146, fn() => $pdo->prepare('SELECT * FROM nowhere WHERE n = ?')->execute(['1']));
    fails(1064, fn() => $pdo->query('SELEKT 1'));
    $pdo->exec('DROP TABLE counted');
}

function of_mysqli(mysqli $mysqli): void
{
    $mysqli->set_charset('utf8mb4');
    $mysqli->query('CREATE TABLE m (id INT AUTO_INCREMENT PRIMARY KEY, i INT, f DOUBLE, s VARCHAR(9), b LONGBLOB)');
    $insert = $mysqli->prepare('INSERT INTO m (i, f, s, b) VALUES (?, ?, ?, ?)');
    [$integer, $double, $text, $blob] = [-5, 0.1, 'ä', null];
    $insert->bind_param('idsb', $integer, $double, $text, $blob);
    $insert->send_long_data(3, str_repeat('x', 70000));
    $insert->send_long_data(3, 'yz');
    $insert->execute();
    same([$insert->affected_rows, $insert->insert_id], [1, 1], 'a value in pieces');
    [$integer, $double, $text] = [null, null, null];
    $insert->execute();
    $select = $mysqli->prepare('SELECT id, i, f, s, LENGTH(b) FROM m WHERE id <= ? ORDER BY id');
    foreach ([MYSQLI_CURSOR_TYPE_NO_CURSOR, MYSQLI_CURSOR_TYPE_READ_ONLY] as $cursor) {
        $select->attr_set(MYSQLI_STMT_ATTR_CURSOR_TYPE, $cursor);
        $most = 2;
        $select->bind_param('i', $most);
        $select->execute();
        $rows = $select->get_result()->fetch_all();
        same($rows[0], [1, -5, 0.1, 'ä', 70002], 'a row');
        same(array_slice($rows[1], 0, 4), [2, null, null, null], 'a row of NULLs');
    }
    $select->close();
    $results = [];
    $mysqli->multi_query("SELECT 1; UPDATE m SET i = 3 WHERE id = 2; SELECT 'x', NULL");
    do {
        $result = $mysqli->store_result();
        $results[] = $result ? $result->fetch_all() : $mysqli->info;
    } while ($mysqli->more_results() && $mysqli->next_result());
    same($results, [[['1']], 'Rows matched: 1  Changed: 1  Warnings: 0', [['x', null]]], 'several statements');
    fails(1054, fn() => $mysqli->prepare('SELECT nothing FROM m WHERE id = ?'));
    $mysqli->change_user(getenv('USER'), getenv('PASSWORD'), DATABASE);
    same($mysqli->query('SELECT DATABASE()')->fetch_row(), [DATABASE], 'begun anew');
    $mysqli->query('DROP TABLE m');
}

$columns = read_types($argv[1]);
[$host, $port, $socket] = [getenv('HOST'), getenv('PORT'), getenv('SOCKET')];
foreach (array_filter(['TCP' => "host=$host;port=$port", 'socket' => $socket ? "unix_socket=$socket" : '']) as $way => $place) {
    $connect = fn(bool $emulates, string $database) => new PDO(
        "mysql:$place;charset=utf8mb4" . ($database ? ";dbname=$database" : ''),
        getenv('USER'),
        getenv('PASSWORD'),
        [PDO::ATTR_EMULATE_PREPARES => $emulates, PDO::MYSQL_ATTR_INIT_COMMAND => "SET time_zone = '+00:00'"],
    );
    $connect(true, '')->exec('DROP DATABASE IF EXISTS ' . DATABASE);
    $connect(true, '')->exec('CREATE DATABASE ' . DATABASE);
    foreach ([true, false] as $emulates) {
        $pdo = $connect($emulates, DATABASE);
        every_type($pdo, $columns, $emulates ? 'emulated' : 'native');
        transactions($pdo, $connect($emulates, DATABASE));
    }
    texts($pdo);
    of_mysqli($socket && $way === 'socket'
        ? new mysqli(null, getenv('USER'), getenv('PASSWORD'), DATABASE, null, $socket)
        : new mysqli($host, getenv('USER'), getenv('PASSWORD'), DATABASE, (int) $port));
    $pdo->exec('DROP DATABASE ' . DATABASE);
    echo 'PHP ', PHP_VERSION, ", $way: ", count($columns), " types, texts as numbers and dates, errors, transactions\n";
}
