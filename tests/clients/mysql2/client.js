// mysql2: every type there and back, as text (`query`) and prepared (`execute`), errors by number, transactions, several
// statements at once, large values; over TCP with and without TLS, compressed, and over the Unix socket.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import mysql from 'mysql2/promise';

const database = 'clients_mysql2';
const { HOST, PORT, SOCKET, USER, PASSWORD } = process.env;

function connect(way, more = {}) {
  const where = way === 'socket' ? { socketPath: SOCKET } : { host: HOST, port: Number(PORT) };
  // The certificate is the server's own.
  if (way === 'tls') where.ssl = { rejectUnauthorized: false };
  if (way === 'compressed') where.compress = true;
  return mysql.createConnection({
    ...where,
    user: USER,
    password: PASSWORD,
    charset: 'utf8mb4',
    // Dates stay text, and large numbers do where a double does not hold them.
    dateStrings: true,
    supportBigNumbers: true,
    ...more,
  });
}

function readTypes(path) {
  const lines = readFileSync(path, 'utf8').replace(/\n$/, '').split('\n');
  return lines
    .filter((line) => !line.startsWith('#'))
    .map((line) => line.split('\t'))
    .map(([kind, type, ...values]) => ({ kind, type, values }));
}

// A value as it is handed to the driver.
function sent(kind, text) {
  switch (kind) {
    case 'bit':
      return Buffer.from(BigInt(text).toString(16).padStart(16, '0').replace(/^(00)*(?=..)/, ''), 'hex');
    case 'integer':
    case 'year':
      return Number.isSafeInteger(Number(text)) ? Number(text) : text;
    case 'float':
    case 'double':
      return Number(text);
    case 'bytes':
      return Buffer.from(text, 'hex');
    default:
      return text;
  }
}

// Whether two times are the same. (The driver drops zeros of a fraction's microseconds, now at its end, now at its begin.)
function isSameTime(got, text) {
  const [[whole, fraction = '0'], [wanted, micros = '0']] = [got.split('.'), text.split('.')];
  return whole === wanted && [Number(fraction), Number(fraction.padEnd(6, '0'))].includes(Number(micros));
}

// Whether what came is what was sent.
function check(kind, text, got, where) {
  switch (kind) {
    case 'integer':
    case 'year':
      return assert.equal(String(got), text, where);
    case 'bit':
      return assert.equal(BigInt(`0x${got.toString('hex')}`), BigInt(text), where);
    case 'float':
      return assert.equal(Math.fround(got), Math.fround(text), where);
    case 'double':
      // The driver's own reading of digits is off by a bit or two.
      return assert.ok(Math.abs(got - Number(text)) <= 1e-15 * Math.abs(Number(text)), `${where}: ${got}`);
    case 'bytes':
      return assert.equal(got.toString('hex'), text, where);
    case 'json':
      return assert.deepEqual(got, JSON.parse(text), where);
    case 'time':
    case 'datetime':
      return assert.ok(isSameTime(got, text), `${where}: got ${got}, expected ${text}`);
    default:
      return assert.equal(got, text, where);
  }
}

async function everyType(connection, columns) {
  const places = `(?${', ?'.repeat(columns.length)})`;
  const count = Math.max(...columns.map((column) => column.values.length));
  for (const how of ['query', 'execute']) {
    const names = columns.map(({ type }, number) => `c${number} ${type}`);
    await connection.query(`CREATE TABLE types (id INT PRIMARY KEY, ${names.join(', ')})`);
    for (let row = 0; row <= count; row++) {
      const values = columns.map(({ kind, values }) => (row < count ? sent(kind, values[row % values.length]) : null));
      // A statement for each row: numbers are sent as doubles, and those that no double holds as text, which a statement
      // that has seen a double would take for one.
      const [result] = await connection[how](`INSERT /* ${row} */ INTO types VALUES ${places}`, [row, ...values]);
      assert.equal(result.affectedRows, 1);
    }
    const [rows] = await connection[how]({
      sql: 'SELECT * FROM types WHERE id >= ? ORDER BY id',
      values: [0],
      rowsAsArray: true,
    });
    assert.equal(rows.length, count + 1);
    rows.forEach(([id, ...got], row) => {
      assert.equal(id, row);
      columns.forEach(({ kind, type, values }, number) => {
        const where = `${how}: ${type}, row ${row}`;
        if (row === count) assert.equal(got[number], null, where);
        else check(kind, values[row % values.length], got[number], where);
      });
    });
    await connection.query('DROP TABLE types');
  }
}

function fails(number, promise) {
  return assert.rejects(promise, (error) => error.errno === number || assert.equal(error.errno, number, error.message));
}

async function errors(connection) {
  await connection.query('CREATE TABLE numbers (id INT PRIMARY KEY, n TINYINT NOT NULL)');
  await connection.query('INSERT INTO numbers VALUES (1, 1)');
  for (const how of ['query', 'execute']) {
    await fails(1062, connection[how]('INSERT INTO numbers VALUES (?, ?)', [1, 1]));
    await fails(1048, connection[how]('INSERT INTO numbers VALUES (?, ?)', [2, null]));
    await fails(1264, connection[how]('INSERT INTO numbers VALUES (?, ?)', [2, 1000]));
    await fails(1146, connection[how]('SELECT * FROM nowhere'));
    await fails(1054, connection[how]('SELECT nothing FROM numbers'));
    await fails(1064, connection[how]('SELEKT 1'));
    await fails(1064, connection[how]('SELECT 1; SELECT 2'));
  }
  const [, fields] = await connection.query('SELECT * FROM numbers');
  assert.deepEqual(
    fields.map((field) => field.name),
    ['id', 'n'],
  );
  await connection.query('DROP TABLE numbers');
}

async function transactions(connection, other) {
  await connection.query('CREATE TABLE counted (id INT AUTO_INCREMENT PRIMARY KEY, n INT)');
  const count = async (where) => (await where.query('SELECT COUNT(*) AS n FROM counted'))[0][0].n;
  await connection.beginTransaction();
  const [result] = await connection.execute('INSERT INTO counted (n) VALUES (?), (?)', [1, 2]);
  assert.deepEqual([result.insertId, result.affectedRows], [1, 2]);
  assert.deepEqual([await count(connection), await count(other)], [2, 0]);
  await connection.rollback();
  assert.equal(await count(connection), 0);
  await connection.beginTransaction();
  await connection.execute('INSERT INTO counted (n) VALUES (?)', [3]);
  await connection.commit();
  assert.equal(await count(other), 1);
  const [changed] = await connection.execute('UPDATE counted SET n = ? WHERE n = ?', [3, 3]);
  assert.match(changed.info, /Rows matched: 1 {2}Changed: 0 {2}Warnings: 0/);
  await connection.query('DROP TABLE counted');
}

async function several(way) {
  const connection = await connect(way, { database, multipleStatements: true });
  const [results] = await connection.query("SELECT 1 AS a; SET @a = 2; SELECT @a AS b, 'x' AS c");
  assert.deepEqual([results[0], results[2]], [[{ a: 1 }], [{ b: 2, c: 'x' }]]);
  await fails(1146, connection.query('SELECT 1; SELECT * FROM nowhere; SELECT 2'));
  // Another account's session, and none of the old one's variables.
  await connection.changeUser({ user: USER, password: PASSWORD, database });
  const [[row]] = await connection.query('SELECT @a AS a, DATABASE() AS d');
  assert.deepEqual(row, { a: null, d: database });
  await connection.ping();
  await connection.end();
}

async function large(connection) {
  await connection.query('CREATE TABLE large (id INT PRIMARY KEY, b LONGBLOB)');
  for (const size of [(1 << 24) - 1, 1 << 24, (17 << 20) + 3]) {
    const value = Buffer.alloc(size, 'xyz\xff\0', 'latin1');
    await connection.execute('REPLACE INTO large VALUES (1, ?)', [value]);
    for (const how of ['query', 'execute']) {
      const [[row]] = await connection[how]('SELECT b, LENGTH(b) AS l FROM large WHERE id = ?', [1]);
      assert.equal(row.l, size);
      assert.ok(row.b.equals(value), `${size} bytes came back otherwise`);
    }
  }
  await connection.query('DROP TABLE large');
}

async function facts(connection, way) {
  const [[cipher]] = await connection.query("SHOW STATUS LIKE 'Ssl_cipher'");
  assert.equal(cipher.Value !== '', way === 'tls', 'whether it is encrypted');
  const [[row]] = await connection.query('SELECT CONNECTION_ID() AS id');
  assert.equal(row.id, connection.threadId);
}

async function main() {
  const columns = readTypes(process.argv[2]);
  for (const way of ['plain', 'tls', 'compressed', ...(SOCKET ? ['socket'] : [])]) {
    const first = await connect(way);
    await first.query(`DROP DATABASE IF EXISTS ${database}`);
    await first.query(`CREATE DATABASE ${database}`);
    await first.end();
    const connection = await connect(way, { database });
    const other = await connect(way, { database });
    await connection.query("SET time_zone = '+00:00'");
    await facts(connection, way);
    await everyType(connection, columns);
    await errors(connection);
    await transactions(connection, other);
    await several(way);
    await large(connection);
    await connection.query(`DROP DATABASE ${database}`);
    await connection.end();
    await other.end();
    console.log(`mysql2, ${way}: ${columns.length} types, errors, transactions, large values`);
  }
}

await main();
