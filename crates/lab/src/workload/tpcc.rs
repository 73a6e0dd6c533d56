//! TPC-C: five transactions of a wholesaler, in the standard's mix, and the standard's checks of the data afterwards.
//!
//! ```text
//! 45 % new order (1 % of them rolled back) | 43 % payment | 4 % order status | 4 % delivery | 4 % stock level
//! ```
//!
//! Clients belong to warehouses in turn. Keying and think times are off unless asked for, as in most published runs;
//! what
//! is measured is then no TPC-C result in the standard's sense, and is not called tpmC.
//!
//! Invariants: those of clause 3.3.2, asked by [`Tpcc::checks`].
//!
//! Source: TPC Benchmark C, Standard Specification, revision 5.11.

use std::time::{Duration, Instant};

use meseta_protocol::row::Row;
use meseta_protocol::value::Value;

use crate::generator::connection::Connection;
use crate::generator::statement::{Parameter, Statement, double, int, text};
use crate::generator::{Failure, Kind, Result, Session, Workload};
use crate::load::{Filling, LoadPlan};
use crate::random::Random;

const DISTRICTS: i64 = 10;
const CUSTOMERS: i64 = 3000;
const ITEMS: i64 = 100_000;
/// Orders from this one on have not been delivered yet.
const FIRST_NEW_ORDER: i64 = 2101;
/// The constants of the non-uniform draws, the same for loading and running (clause 2.1.6 allows any within bounds).
const C_LAST: i64 = 157;
const C_CUSTOMER: i64 = 733;
const C_ITEM: i64 = 4211;
const DATE: &str = "2026-01-01 00:00:00";

/// The workload.
#[derive(Debug, Clone)]
pub struct Tpcc {
    /// Warehouses.
    pub warehouses: i64,
    /// Whether clients take the standard's keying and think times.
    pub keying: bool,
    /// The engine of its tables.
    pub engine: String,
}

/// Statements: name and text. Their places are the constants below.
const STATEMENTS: [(&str, &str); 29] = [
    (
        "customer_discount",
        "SELECT c_discount, c_last, c_credit, w_tax FROM customer, warehouse WHERE w_id = ? AND c_w_id = w_id AND \
         c_d_id = ? AND c_id = ?",
    ),
    ("district_for_order", "SELECT d_next_o_id, d_tax FROM district WHERE d_id = ? AND d_w_id = ? FOR UPDATE"),
    ("district_next_order", "UPDATE district SET d_next_o_id = ? + 1 WHERE d_id = ? AND d_w_id = ?"),
    (
        "insert_order",
        "INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) VALUES (?, ?, ?, ?, \
         NOW(), ?, ?)",
    ),
    ("insert_new_order", "INSERT INTO new_orders (no_o_id, no_d_id, no_w_id) VALUES (?, ?, ?)"),
    ("item", "SELECT i_price, i_name, i_data FROM item WHERE i_id = ?"),
    (
        "stock_for_order",
        "SELECT s_quantity, s_data, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, s_dist_06, s_dist_07, \
         s_dist_08, s_dist_09, s_dist_10 FROM stock WHERE s_i_id = ? AND s_w_id = ? FOR UPDATE",
    ),
    (
        "update_stock",
        "UPDATE stock SET s_quantity = ?, s_ytd = s_ytd + ?, s_order_cnt = s_order_cnt + 1, s_remote_cnt = \
         s_remote_cnt + ? WHERE s_i_id = ? AND s_w_id = ?",
    ),
    (
        "insert_order_line",
        "INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, \
         ol_amount, ol_dist_info) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    ),
    ("warehouse_ytd", "UPDATE warehouse SET w_ytd = w_ytd + ? WHERE w_id = ?"),
    (
        "warehouse_address",
        "SELECT w_street_1, w_street_2, w_city, w_state, w_zip, w_name FROM warehouse WHERE w_id = ?",
    ),
    ("district_ytd", "UPDATE district SET d_ytd = d_ytd + ? WHERE d_w_id = ? AND d_id = ?"),
    (
        "district_address",
        "SELECT d_street_1, d_street_2, d_city, d_state, d_zip, d_name FROM district WHERE d_w_id = ? AND d_id = ?",
    ),
    ("customers_by_name", "SELECT c_id FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first"),
    (
        "customer_for_payment",
        "SELECT c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_credit, \
         c_credit_lim, c_discount, c_balance, c_since FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ? FOR \
                        UPDATE",
    ),
    ("customer_data", "SELECT c_data FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?"),
    (
        "update_bad_customer",
        "UPDATE customer SET c_balance = c_balance - ?, c_ytd_payment = c_ytd_payment + ?, c_payment_cnt = \
         c_payment_cnt + 1, c_data = ? WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
    ),
    (
        "update_customer",
        "UPDATE customer SET c_balance = c_balance - ?, c_ytd_payment = c_ytd_payment + ?, c_payment_cnt = \
         c_payment_cnt + 1 WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
    ),
    (
        "insert_history",
        "INSERT INTO history (h_c_d_id, h_c_w_id, h_c_id, h_d_id, h_w_id, h_date, h_amount, h_data) VALUES (?, ?, ?, \
         ?, ?, NOW(), ?, ?)",
    ),
    (
        "customer_balance",
        "SELECT c_balance, c_first, c_middle, c_last FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
    ),
    (
        "last_order",
        "SELECT o_id, o_entry_d, COALESCE(o_carrier_id, 0) FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_c_id = \
         ? ORDER BY o_id DESC LIMIT 1",
    ),
    (
        "order_lines",
        "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line WHERE ol_w_id = ? AND \
         ol_d_id = ? AND ol_o_id = ?",
    ),
    (
        "oldest_new_order",
        "SELECT no_o_id FROM new_orders WHERE no_d_id = ? AND no_w_id = ? ORDER BY no_o_id LIMIT 1 FOR UPDATE",
    ),
    ("delete_new_order", "DELETE FROM new_orders WHERE no_o_id = ? AND no_d_id = ? AND no_w_id = ?"),
    ("order_customer", "SELECT o_c_id FROM orders WHERE o_id = ? AND o_d_id = ? AND o_w_id = ?"),
    ("deliver_order", "UPDATE orders SET o_carrier_id = ? WHERE o_id = ? AND o_d_id = ? AND o_w_id = ?"),
    ("deliver_lines", "UPDATE order_line SET ol_delivery_d = NOW() WHERE ol_o_id = ? AND ol_d_id = ? AND ol_w_id = ?"),
    ("delivered_amount", "SELECT SUM(ol_amount) FROM order_line WHERE ol_o_id = ? AND ol_d_id = ? AND ol_w_id = ?"),
    (
        "customer_delivered",
        "UPDATE customer SET c_balance = c_balance + ?, c_delivery_cnt = c_delivery_cnt + 1 WHERE c_id = ? AND \
         c_d_id = ? AND c_w_id = ?",
    ),
];
const CUSTOMER_DISCOUNT: usize = 0;
const DISTRICT_FOR_ORDER: usize = 1;
const DISTRICT_NEXT_ORDER: usize = 2;
const INSERT_ORDER: usize = 3;
const INSERT_NEW_ORDER: usize = 4;
const ITEM: usize = 5;
const STOCK_FOR_ORDER: usize = 6;
const UPDATE_STOCK: usize = 7;
const INSERT_ORDER_LINE: usize = 8;
const WAREHOUSE_YTD: usize = 9;
const WAREHOUSE_ADDRESS: usize = 10;
const DISTRICT_YTD: usize = 11;
const DISTRICT_ADDRESS: usize = 12;
const CUSTOMERS_BY_NAME: usize = 13;
const CUSTOMER_FOR_PAYMENT: usize = 14;
const CUSTOMER_DATA: usize = 15;
const UPDATE_BAD_CUSTOMER: usize = 16;
const UPDATE_CUSTOMER: usize = 17;
const INSERT_HISTORY: usize = 18;
const CUSTOMER_BALANCE: usize = 19;
const LAST_ORDER: usize = 20;
const ORDER_LINES: usize = 21;
const OLDEST_NEW_ORDER: usize = 22;
const DELETE_NEW_ORDER: usize = 23;
const ORDER_CUSTOMER: usize = 24;
const DELIVER_ORDER: usize = 25;
const DELIVER_LINES: usize = 26;
const DELIVERED_AMOUNT: usize = 27;
const CUSTOMER_DELIVERED: usize = 28;
/// Statements that are not prepared, and then the transactions, follow.
const OTHERS: [&str; 5] = ["begin", "commit", "rollback", "district_orders", "low_stock"];
const BEGIN: usize = STATEMENTS.len();
const COMMIT: usize = BEGIN + 1;
const ROLLBACK: usize = BEGIN + 2;
const DISTRICT_ORDERS: usize = BEGIN + 3;
const LOW_STOCK: usize = BEGIN + 4;
const TRANSACTIONS: [&str; 6] =
    ["NEW_ORDER", "NEW_ORDER rolled back", "PAYMENT", "ORDER_STATUS", "DELIVERY", "STOCK_LEVEL"];
const NEW_ORDER: usize = BEGIN + OTHERS.len();

const TABLES: [&str; 9] =
    ["order_line", "new_orders", "orders", "history", "stock", "item", "customer", "district", "warehouse"];

impl Tpcc {
    /// How its tables are made and filled.
    pub fn load_plan(&self, seed: u64) -> LoadPlan {
        let w = self.warehouses as u64;
        let mut plan = LoadPlan { seed, before: self.definitions(), ..LoadPlan::default() };
        let mut fill = |head: &str, rows: u64, piece: u64, make: fn(&mut Random, i64, &mut Vec<u8>)| {
            plan.fillings.push(Filling {
                head: format!("INSERT INTO {head} VALUES "),
                rows: 0..rows,
                make: Box::new(move |random, row, to| make(random, row as i64, to)),
                piece,
            });
        };
        let per_warehouse = (DISTRICTS * CUSTOMERS) as u64;
        fill("item (i_id, i_im_id, i_name, i_price, i_data)", ITEMS as u64, 5000, put_item);
        fill("warehouse", w, 100, put_warehouse);
        fill("district", w * DISTRICTS as u64, 1000, put_district);
        fill("stock", w * ITEMS as u64, 2000, put_stock);
        fill("customer", w * per_warehouse, 1000, put_customer);
        fill(
            "history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)",
            w * per_warehouse,
            5000,
            put_history,
        );
        fill("orders", w * per_warehouse, 5000, put_order);
        fill("new_orders", w * (DISTRICTS * (CUSTOMERS - FIRST_NEW_ORDER + 1)) as u64, 9000, put_new_order);
        fill("order_line", w * per_warehouse, 500, put_order_lines);
        plan.after = vec![
            "CREATE INDEX idx_customer ON customer (c_w_id, c_d_id, c_last, c_first)".to_owned(),
            "CREATE INDEX idx_orders ON orders (o_w_id, o_d_id, o_c_id, o_id)".to_owned(),
        ];
        plan
    }

    fn definitions(&self) -> Vec<String> {
        let address = |p: &str| {
            format!(
                "{p}_street_1 VARCHAR(20), {p}_street_2 VARCHAR(20), {p}_city VARCHAR(20), {p}_state CHAR(2), \
                 {p}_zip CHAR(9)"
            )
        };
        let stock: Vec<String> = (1..=10).map(|d| format!("s_dist_{d:02} CHAR(24)")).collect();
        [
            format!(
                "warehouse (w_id INT NOT NULL, w_name VARCHAR(10), {}, w_tax DECIMAL(4,4), w_ytd DECIMAL(12,2), \
                 PRIMARY KEY (w_id))",
                address("w")
            ),
            format!(
                "district (d_id TINYINT NOT NULL, d_w_id INT NOT NULL, d_name VARCHAR(10), {}, d_tax DECIMAL(4,4), \
                 d_ytd DECIMAL(12,2), d_next_o_id INT, PRIMARY KEY (d_w_id, d_id))",
                address("d")
            ),
            format!(
                "customer (c_id INT NOT NULL, c_d_id TINYINT NOT NULL, c_w_id INT NOT NULL, c_first VARCHAR(16), \
                 c_middle CHAR(2), c_last VARCHAR(16), {}, c_phone CHAR(16), c_since DATETIME, c_credit CHAR(2), \
                 c_credit_lim DECIMAL(12,2), c_discount DECIMAL(4,4), c_balance DECIMAL(12,2), c_ytd_payment \
                 DECIMAL(12,2), \
                 c_payment_cnt SMALLINT, c_delivery_cnt SMALLINT, c_data VARCHAR(500), PRIMARY KEY (c_w_id, c_d_id, \
                        c_id))",
                address("c")
            ),
            "history (h_c_id INT, h_c_d_id TINYINT, h_c_w_id INT, h_d_id TINYINT, h_w_id INT, h_date DATETIME, \
             h_amount DECIMAL(6,2), h_data VARCHAR(24))"
                .to_owned(),
            "new_orders (no_o_id INT NOT NULL, no_d_id TINYINT NOT NULL, no_w_id INT NOT NULL, \
             PRIMARY KEY (no_w_id, no_d_id, no_o_id))"
                .to_owned(),
            "orders (o_id INT NOT NULL, o_d_id TINYINT NOT NULL, o_w_id INT NOT NULL, o_c_id INT, o_entry_d DATETIME, \
             o_carrier_id TINYINT, o_ol_cnt TINYINT, o_all_local TINYINT, PRIMARY KEY (o_w_id, o_d_id, o_id))"
                .to_owned(),
            "order_line (ol_o_id INT NOT NULL, ol_d_id TINYINT NOT NULL, ol_w_id INT NOT NULL, ol_number TINYINT NOT \
             NULL, \
             ol_i_id INT, ol_supply_w_id INT, ol_delivery_d DATETIME, ol_quantity TINYINT, ol_amount DECIMAL(6,2), \
             ol_dist_info CHAR(24), PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number))"
                .to_owned(),
            "item (i_id INT NOT NULL, i_im_id INT, i_name VARCHAR(24), i_price DECIMAL(5,2), i_data VARCHAR(50), \
             PRIMARY KEY (i_id))"
                .to_owned(),
            format!(
                "stock (s_i_id INT NOT NULL, s_w_id INT NOT NULL, s_quantity SMALLINT, {}, s_ytd DECIMAL(8,0), \
                 s_order_cnt SMALLINT, s_remote_cnt SMALLINT, s_data VARCHAR(50), PRIMARY KEY (s_w_id, s_i_id))",
                stock.join(", ")
            ),
        ]
        .into_iter()
        .map(|table| format!("CREATE TABLE {table} ENGINE={} DEFAULT CHARSET=latin1", self.engine))
        .collect()
    }

    /// Statements that drop its tables.
    pub fn cleanup(&self) -> Vec<String> {
        TABLES.iter().chain(["lab_load"].iter()).map(|table| format!("DROP TABLE IF EXISTS {table}")).collect()
    }

    /// Statements that read its tables.
    pub fn prewarm(&self) -> Vec<String> {
        let read = [
            "SELECT SUM(s_quantity) FROM stock",
            "SELECT SUM(c_balance) FROM customer",
            "SELECT SUM(ol_amount) FROM order_line",
            "SELECT SUM(o_ol_cnt) FROM orders",
            "SELECT SUM(i_price) FROM item",
        ];
        let analyze = TABLES.iter().map(|table| format!("ANALYZE TABLE {table}"));
        analyze.chain(read.iter().map(|text| (*text).to_owned())).collect()
    }

    /// Its name in reports.
    pub fn name(&self) -> String {
        format!("TPC-C, {} warehouse{}", self.warehouses, if self.warehouses == 1 { "" } else { "s" })
    }

    /// The consistency conditions of clause 3.3.2: each question gives the rows that violate one.
    pub fn checks(&self) -> Vec<(String, String)> {
        const LINES: &str = "SELECT ol_w_id w, ol_d_id d, ol_o_id o, COUNT(*) lines_of, SUM(ol_delivery_d IS NULL) \
                        undelivered \
                             FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id";
        let checks = [
            ("1: a warehouse's year is that of its districts",
             "SELECT w_id FROM warehouse JOIN (SELECT d_w_id, SUM(d_ytd) s FROM district GROUP BY d_w_id) d ON \
              d_w_id = w_id WHERE w_ytd <> s".to_owned()),
            ("2: a district's next order follows its last one",
             "SELECT d_w_id, d_id FROM district JOIN (SELECT o_w_id, o_d_id, MAX(o_id) m FROM orders GROUP BY \
              o_w_id, o_d_id) o ON o_w_id = d_w_id AND o_d_id = d_id WHERE d_next_o_id - 1 <> m".to_owned()),
            ("3: new orders have no gaps",
             "SELECT no_w_id, no_d_id FROM new_orders GROUP BY no_w_id, no_d_id HAVING MAX(no_o_id) - MIN(no_o_id) + \
              1 <> COUNT(*)".to_owned()),
            ("4: orders tell the number of a district's lines",
             "SELECT o_w_id, o_d_id FROM (SELECT o_w_id, o_d_id, SUM(o_ol_cnt) s FROM orders GROUP BY o_w_id, \
              o_d_id) o JOIN (SELECT ol_w_id, ol_d_id, COUNT(*) n FROM order_line GROUP BY ol_w_id, ol_d_id) l ON \
                        ol_w_id = o_w_id AND ol_d_id = o_d_id WHERE s <> n".to_owned()),
            ("5: an order without a carrier is a new order",
             "SELECT o_id FROM orders LEFT JOIN new_orders ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = \
              o_id WHERE (o_carrier_id IS NULL) <> (no_o_id IS NOT NULL) LIMIT 1".to_owned()),
            ("6: each order has its lines",
             format!("SELECT o_id FROM orders JOIN ({LINES}) l ON w = o_w_id AND d = o_d_id AND o = o_id WHERE \
                      o_ol_cnt <> lines_of LIMIT 1")),
            ("7: lines are delivered with their order",
             format!("SELECT o_id FROM orders JOIN ({LINES}) l ON w = o_w_id AND d = o_d_id AND o = o_id WHERE \
                      undelivered <> IF(o_carrier_id IS NULL, lines_of, 0) LIMIT 1")),
            ("8: a warehouse's year is its history",
             "SELECT w_id FROM warehouse JOIN (SELECT h_w_id, SUM(h_amount) s FROM history GROUP BY h_w_id) h ON \
              h_w_id = w_id WHERE w_ytd <> s".to_owned()),
            ("9: a district's year is its history",
             "SELECT d_w_id, d_id FROM district JOIN (SELECT h_w_id, h_d_id, SUM(h_amount) s FROM history GROUP BY \
              h_w_id, h_d_id) h ON h_w_id = d_w_id AND h_d_id = d_id WHERE d_ytd <> s".to_owned()),
            ("12: a customer's balance and payments are what was delivered",
             "SELECT c_id FROM customer LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, SUM(ol_amount) s FROM orders JOIN \
              order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_delivery_d IS NOT NULL \
                        GROUP BY o_w_id, o_d_id, o_c_id) x ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id \
                        WHERE c_balance + c_ytd_payment <> COALESCE(s, 0) LIMIT 1".to_owned()),
        ];
        checks.into_iter().map(|(meaning, question)| (format!("consistency {meaning}"), question)).collect()
    }
}

/// Names of customers are three of these.
fn last_name(number: i64) -> String {
    const SYLLABLES: [&str; 10] = ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"];
    let part = |divisor: i64| SYLLABLES[(number / divisor).rem_euclid(10) as usize];
    [part(100), part(10), part(1)].concat()
}

/// The standard's skewed draw from `x..=y`.
fn skewed(random: &mut Random, a: i64, c: i64, x: i64, y: i64) -> i64 {
    ((random.between(0, a) | random.between(x, y)) + c) % (y - x + 1) + x
}

fn letters(random: &mut Random, least: i64, most: i64) -> String {
    (0..random.between(least, most)).map(|_| char::from(b'a' + random.below(26) as u8)).collect()
}

fn digits(random: &mut Random, count: usize) -> String {
    (0..count).map(|_| char::from(b'0' + random.below(10) as u8)).collect()
}

/// Text that says ORIGINAL in one case of ten.
fn data(random: &mut Random) -> String {
    let mut text = letters(random, 26, 50);
    if random.below(10) == 0 {
        let at = random.below(text.len() as u64 - 8) as usize;
        text.replace_range(at..at + 8, "ORIGINAL");
    }
    text
}

fn address(random: &mut Random) -> String {
    let state = letters(random, 2, 2).to_uppercase();
    format!(
        "'{}','{}','{}','{state}','{}11111'",
        letters(random, 10, 20),
        letters(random, 10, 20),
        letters(random, 10, 20),
        digits(random, 4)
    )
}

/// Warehouse, district and place in it, of a number that counts through all of them.
fn place(number: i64, in_district: i64) -> (i64, i64, i64) {
    let district = number / in_district;
    (district / DISTRICTS + 1, district % DISTRICTS + 1, number % in_district + 1)
}

/// Lines of an order that is loaded: 5 to 15, a function of the order, so that both tables agree.
fn line_count(w: i64, d: i64, o: i64) -> i64 {
    5 + Random::new((w * DISTRICTS + d) as u64, o as u64).below(11) as i64
}

/// The customer of an order that is loaded: a permutation in each district. (1487 has no divisor in common with 3000.)
fn order_customer(w: i64, d: i64, o: i64) -> i64 {
    (o * 1487 + d * 977 + w * 331) % CUSTOMERS + 1
}

fn put_item(random: &mut Random, row: i64, to: &mut Vec<u8>) {
    let (image, name) = (random.between(1, 10_000), letters(random, 14, 24));
    let cents = random.between(100, 10_000);
    let text = format!("({},{image},'{name}',{}.{:02},'{}')", row + 1, cents / 100, cents % 100, data(random));
    to.extend_from_slice(text.as_bytes());
}

fn put_warehouse(random: &mut Random, row: i64, to: &mut Vec<u8>) {
    let name = letters(random, 6, 10);
    let address = address(random);
    let text = format!("({},'{name}',{address},0.{:04},300000.00)", row + 1, random.between(0, 2000));
    to.extend_from_slice(text.as_bytes());
}

fn put_district(random: &mut Random, row: i64, to: &mut Vec<u8>) {
    let name = letters(random, 6, 10);
    let address = address(random);
    let (w, d) = (row / DISTRICTS + 1, row % DISTRICTS + 1);
    let text = format!("({d},{w},'{name}',{address},0.{:04},30000.00,{})", random.between(0, 2000), CUSTOMERS + 1);
    to.extend_from_slice(text.as_bytes());
}

fn put_stock(random: &mut Random, row: i64, to: &mut Vec<u8>) {
    let (w, i) = (row / ITEMS + 1, row % ITEMS + 1);
    to.extend_from_slice(format!("({i},{w},{}", random.between(10, 100)).as_bytes());
    for _ in 0..10 {
        to.extend_from_slice(format!(",'{}'", letters(random, 24, 24)).as_bytes());
    }
    to.extend_from_slice(format!(",0,0,0,'{}')", data(random)).as_bytes());
}

fn put_customer(random: &mut Random, row: i64, to: &mut Vec<u8>) {
    let (w, d, c) = place(row, CUSTOMERS);
    let last = last_name(if c <= 1000 { c - 1 } else { skewed(random, 255, C_LAST, 0, 999) });
    let first = letters(random, 8, 16);
    let address = address(random);
    let phone = digits(random, 16);
    let credit = if random.below(10) == 0 { "BC" } else { "GC" };
    let discount = random.between(0, 5000);
    let data = letters(random, 300, 500);
    let text = format!(
        "({c},{d},{w},'{first}','OE','{last}',{address},'{phone}','{DATE}','{credit}',50000.00,\
         0.{discount:04},-10.00,10.00,1,0,'{data}')"
    );
    to.extend_from_slice(text.as_bytes());
}

fn put_history(random: &mut Random, row: i64, to: &mut Vec<u8>) {
    let (w, d, c) = place(row, CUSTOMERS);
    to.extend_from_slice(format!("({c},{d},{w},{d},{w},'{DATE}',10.00,'{}')", letters(random, 12, 24)).as_bytes());
}

fn put_order(random: &mut Random, row: i64, to: &mut Vec<u8>) {
    let (w, d, o) = place(row, CUSTOMERS);
    let carrier = if o < FIRST_NEW_ORDER { random.between(1, 10).to_string() } else { "NULL".to_owned() };
    let (customer, lines) = (order_customer(w, d, o), line_count(w, d, o));
    to.extend_from_slice(format!("({o},{d},{w},{customer},'{DATE}',{carrier},{lines},1)").as_bytes());
}

fn put_new_order(_random: &mut Random, row: i64, to: &mut Vec<u8>) {
    let (w, d, o) = place(row, CUSTOMERS - FIRST_NEW_ORDER + 1);
    to.extend_from_slice(format!("({},{d},{w})", o + FIRST_NEW_ORDER - 1).as_bytes());
}

/// All lines of an order.
fn put_order_lines(random: &mut Random, row: i64, to: &mut Vec<u8>) {
    let (w, d, o) = place(row, CUSTOMERS);
    for line in 1..=line_count(w, d, o) {
        let item = random.between(1, ITEMS);
        let cents = random.between(1, 999_999);
        let (date, amount) = if o < FIRST_NEW_ORDER {
            (format!("'{DATE}'"), "0.00".to_owned())
        } else {
            ("NULL".to_owned(), format!("{}.{:02}", cents / 100, cents % 100))
        };
        let comma = if line > 1 { "," } else { "" };
        let info = letters(random, 24, 24);
        to.extend_from_slice(format!("{comma}({o},{d},{w},{line},{item},{w},{date},5,{amount},'{info}')").as_bytes());
    }
}

impl Workload for Tpcc {
    type Session = TpccSession;

    fn kinds(&self) -> Vec<Kind> {
        let statements = STATEMENTS.iter().map(|(name, _)| *name).chain(OTHERS).map(Kind::statement);
        statements.chain(TRANSACTIONS.into_iter().map(Kind::transaction)).collect()
    }

    fn session(&self, client: usize, _clients: usize, random: Random) -> TpccSession {
        let statement = |(kind, (_, text)): (usize, &(&str, &str))| Statement::new(kind, text);
        TpccSession {
            warehouses: self.warehouses,
            keying: self.keying,
            home: client as i64 % self.warehouses + 1,
            stock_district: (client as i64 / self.warehouses) % DISTRICTS + 1,
            random,
            statements: STATEMENTS.iter().enumerate().map(statement).collect(),
            district_orders: Statement::new(
                DISTRICT_ORDERS,
                "SELECT d_next_o_id FROM district WHERE d_id = ? AND d_w_id = ?",
            ),
            low_stock: Statement::new(
                LOW_STOCK,
                "SELECT COUNT(DISTINCT s_i_id) FROM order_line, stock WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id \
                 < ? \
                 AND ol_o_id >= ? AND s_w_id = ? AND s_i_id = ol_i_id AND s_quantity < ?",
            ),
        }
    }

    fn prepared_statements(&self) -> usize {
        STATEMENTS.len() + 2
    }
}

/// A value of a row, kept.
#[derive(Debug, Clone)]
enum Cell {
    Number(i64),
    Text(Vec<u8>),
    Nothing,
}

impl Cell {
    fn number(&self) -> i64 {
        match self {
            Cell::Number(number) => *number,
            Cell::Text(text) => std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).unwrap_or(0),
            Cell::Nothing => 0,
        }
    }

    /// A DECIMAL, in hundredths.
    fn cents(&self) -> i64 {
        match self {
            Cell::Text(text) => std::str::from_utf8(text)
                .ok()
                .and_then(|text| text.parse::<f64>().ok())
                .map_or(0, |value| (value * 100.0).round() as i64),
            other => other.number() * 100,
        }
    }

    fn bytes(&self) -> &[u8] {
        if let Cell::Text(text) = self { text } else { b"" }
    }
}

fn cells(row: Row<'_>) -> Vec<Cell> {
    let cell = |value| match value {
        Ok(Value::Int(number)) => Cell::Number(number),
        Ok(Value::UInt(number)) => Cell::Number(i64::try_from(number).unwrap_or(i64::MAX)),
        Ok(Value::Bytes(bytes)) => Cell::Text(bytes.to_vec()),
        _ => Cell::Nothing,
    };
    row.values().map(cell).collect()
}

/// A client.
#[derive(Debug)]
pub struct TpccSession {
    warehouses: i64,
    keying: bool,
    home: i64,
    stock_district: i64,
    random: Random,
    statements: Vec<Statement>,
    district_orders: Statement,
    low_stock: Statement,
}

/// A line of an order that is being placed.
#[derive(Debug, Clone, Copy)]
struct Line {
    item: i64,
    supplier: i64,
    quantity: i64,
}

impl TpccSession {
    async fn run(&mut self, connection: &mut Connection, which: usize, values: &[Parameter<'_>]) -> Result<()> {
        connection.run(&mut self.statements[which], values).await.map(|_| ())
    }

    async fn rows(
        &mut self,
        connection: &mut Connection,
        which: usize,
        values: &[Parameter<'_>],
    ) -> Result<Vec<Vec<Cell>>> {
        let mut rows = Vec::new();
        connection.run_rows(&mut self.statements[which], values, |row| rows.push(cells(row))).await?;
        Ok(rows)
    }

    /// The one row that there must be.
    async fn row(&mut self, connection: &mut Connection, which: usize, values: &[Parameter<'_>]) -> Result<Vec<Cell>> {
        let name = STATEMENTS[which].0;
        let missing =
            || Failure::Unexpected(format!("{name} found nothing: was the data loaded with the same --warehouses?"));
        self.rows(connection, which, values).await?.into_iter().next().ok_or_else(missing)
    }

    fn customer_id(&mut self) -> i64 {
        skewed(&mut self.random, 1023, C_CUSTOMER, 1, CUSTOMERS)
    }

    fn other_warehouse(&mut self) -> i64 {
        let other = self.random.between(1, self.warehouses - 1);
        if other >= self.home { other + 1 } else { other }
    }

    /// Returns whether it was committed.
    async fn new_order(&mut self, connection: &mut Connection) -> Result<bool> {
        let (w, d, c) = (self.home, self.random.between(1, DISTRICTS), self.customer_id());
        let is_wrong = self.random.below(100) == 0;
        let count = self.random.between(5, 15);
        let mut lines = Vec::with_capacity(count as usize);
        for number in 1..=count {
            let is_remote = self.warehouses > 1 && self.random.below(100) == 0;
            let item = skewed(&mut self.random, 8191, C_ITEM, 1, ITEMS);
            lines.push(Line {
                item: if is_wrong && number == count { ITEMS + 1 } else { item },
                supplier: if is_remote { self.other_warehouse() } else { w },
                quantity: self.random.between(1, 10),
            });
        }
        let all_local = i64::from(lines.iter().all(|line| line.supplier == w));
        connection.query(BEGIN, b"BEGIN").await?;
        let customer = self.row(connection, CUSTOMER_DISCOUNT, &[int(w), int(d), int(c)]).await?;
        let _ = customer;
        let district = self.row(connection, DISTRICT_FOR_ORDER, &[int(d), int(w)]).await?;
        let o = district[0].number();
        self.run(connection, DISTRICT_NEXT_ORDER, &[int(o), int(d), int(w)]).await?;
        self.run(connection, INSERT_ORDER, &[int(o), int(d), int(w), int(c), int(count), int(all_local)]).await?;
        self.run(connection, INSERT_NEW_ORDER, &[int(o), int(d), int(w)]).await?;
        for (number, line) in lines.iter().enumerate() {
            let item = self.rows(connection, ITEM, &[int(line.item)]).await?;
            let Some(item) = item.first() else {
                connection.query(ROLLBACK, b"ROLLBACK").await?;
                return Ok(false);
            };
            let stock = self.row(connection, STOCK_FOR_ORDER, &[int(line.item), int(line.supplier)]).await?;
            let left = stock[0].number() - line.quantity;
            let quantity = if left >= 10 { left } else { left + 91 };
            let remote = i64::from(line.supplier != w);
            let values = [int(quantity), int(line.quantity), int(remote), int(line.item), int(line.supplier)];
            self.run(connection, UPDATE_STOCK, &values).await?;
            let amount = (item[0].cents() * line.quantity) as f64 / 100.0;
            let info = stock.get(1 + d as usize).map_or(&b""[..], Cell::bytes);
            let values = [
                int(o),
                int(d),
                int(w),
                int(number as i64 + 1),
                int(line.item),
                int(line.supplier),
                int(line.quantity),
                double(amount),
                text(info),
            ];
            self.run(connection, INSERT_ORDER_LINE, &values).await?;
        }
        connection.query(COMMIT, b"COMMIT").await?;
        Ok(true)
    }

    /// A customer's number, by name in 60 cases of 100: the one in the middle of those of that name.
    async fn find_customer(&mut self, connection: &mut Connection, w: i64, d: i64) -> Result<i64> {
        if self.random.below(100) >= 60 {
            return Ok(self.customer_id());
        }
        let name = last_name(skewed(&mut self.random, 255, C_LAST, 0, 999));
        let found = self.rows(connection, CUSTOMERS_BY_NAME, &[int(w), int(d), text(name.as_bytes())]).await?;
        let middle = found.len().div_ceil(2).max(1) - 1;
        match found.get(middle) {
            Some(row) => Ok(row[0].number()),
            None => Err(Failure::Unexpected(format!("no customer is called {name}: was the data loaded?"))),
        }
    }

    async fn payment(&mut self, connection: &mut Connection) -> Result<()> {
        let (w, d) = (self.home, self.random.between(1, DISTRICTS));
        let is_remote = self.warehouses > 1 && self.random.below(100) < 15;
        let (cw, cd) = if is_remote { (self.other_warehouse(), self.random.between(1, DISTRICTS)) } else { (w, d) };
        let amount = self.random.between(100, 500_000) as f64 / 100.0;
        connection.query(BEGIN, b"BEGIN").await?;
        self.run(connection, WAREHOUSE_YTD, &[double(amount), int(w)]).await?;
        let warehouse = self.row(connection, WAREHOUSE_ADDRESS, &[int(w)]).await?;
        self.run(connection, DISTRICT_YTD, &[double(amount), int(w), int(d)]).await?;
        let district = self.row(connection, DISTRICT_ADDRESS, &[int(w), int(d)]).await?;
        let c = self.find_customer(connection, cw, cd).await?;
        let key = [int(cw), int(cd), int(c)];
        let customer = self.row(connection, CUSTOMER_FOR_PAYMENT, &key).await?;
        if customer[9].bytes() == b"BC" {
            let old = self.row(connection, CUSTOMER_DATA, &key).await?;
            let mut data = format!("| {c} {cd} {cw} {d} {w} {amount:.2} ").into_bytes();
            data.extend_from_slice(old[0].bytes());
            data.truncate(500);
            let values = [double(amount), double(amount), text(&data), key[0], key[1], key[2]];
            self.run(connection, UPDATE_BAD_CUSTOMER, &values).await?;
        } else {
            let values = [double(amount), double(amount), key[0], key[1], key[2]];
            self.run(connection, UPDATE_CUSTOMER, &values).await?;
        }
        let mut data = warehouse[5].bytes().to_vec();
        data.extend_from_slice(b"    ");
        data.extend_from_slice(district[5].bytes());
        data.truncate(24);
        let values = [int(cd), int(cw), int(c), int(d), int(w), double(amount), text(&data)];
        self.run(connection, INSERT_HISTORY, &values).await?;
        connection.query(COMMIT, b"COMMIT").await?;
        Ok(())
    }

    async fn order_status(&mut self, connection: &mut Connection) -> Result<()> {
        let (w, d) = (self.home, self.random.between(1, DISTRICTS));
        connection.query(BEGIN, b"BEGIN").await?;
        let c = self.find_customer(connection, w, d).await?;
        let key = [int(w), int(d), int(c)];
        self.row(connection, CUSTOMER_BALANCE, &key).await?;
        let order = self.row(connection, LAST_ORDER, &key).await?;
        self.run(connection, ORDER_LINES, &[int(w), int(d), int(order[0].number())]).await?;
        connection.query(COMMIT, b"COMMIT").await?;
        Ok(())
    }

    async fn delivery(&mut self, connection: &mut Connection) -> Result<()> {
        let (w, carrier) = (self.home, self.random.between(1, 10));
        connection.query(BEGIN, b"BEGIN").await?;
        for d in 1..=DISTRICTS {
            let oldest = self.rows(connection, OLDEST_NEW_ORDER, &[int(d), int(w)]).await?;
            let Some(oldest) = oldest.first() else { continue };
            let key = [int(oldest[0].number()), int(d), int(w)];
            self.run(connection, DELETE_NEW_ORDER, &key).await?;
            let customer = self.row(connection, ORDER_CUSTOMER, &key).await?;
            self.run(connection, DELIVER_ORDER, &[int(carrier), key[0], key[1], key[2]]).await?;
            self.run(connection, DELIVER_LINES, &key).await?;
            let amount = self.row(connection, DELIVERED_AMOUNT, &key).await?[0].cents() as f64 / 100.0;
            let values = [double(amount), int(customer[0].number()), int(d), int(w)];
            self.run(connection, CUSTOMER_DELIVERED, &values).await?;
        }
        connection.query(COMMIT, b"COMMIT").await?;
        Ok(())
    }

    async fn stock_level(&mut self, connection: &mut Connection) -> Result<()> {
        let (w, d, level) = (self.home, self.stock_district, self.random.between(10, 20));
        connection.query(BEGIN, b"BEGIN").await?;
        let mut next = 0;
        let first = |row: Row<'_>| next = cells(row).first().map_or(0, Cell::number);
        connection.run_rows(&mut self.district_orders, &[int(d), int(w)], first).await?;
        let values = [int(w), int(d), int(next), int(next - 20), int(w), int(level)];
        connection.run(&mut self.low_stock, &values).await?;
        connection.query(COMMIT, b"COMMIT").await?;
        Ok(())
    }

    /// The standard's keying time before a transaction, and think time after it, in seconds.
    async fn wait(&mut self, connection: &Connection, seconds: f64, is_think: bool) {
        if self.keying {
            let seconds = if is_think { self.random.exponential(seconds).min(10.0 * seconds) } else { seconds };
            connection.sleep(Duration::from_secs_f64(seconds)).await;
        }
    }
}

impl Session for TpccSession {
    async fn start(&mut self, connection: &mut Connection) -> Result<()> {
        for statement in self.statements.iter_mut().chain([&mut self.district_orders, &mut self.low_stock]) {
            connection.prepare(statement).await?;
        }
        Ok(())
    }

    async fn event(&mut self, connection: &mut Connection) -> Result<()> {
        let pick = self.random.below(100);
        // The transaction's place in `TRANSACTIONS`, its keying time and its mean think time.
        let (which, keying, think) = match pick {
            0..45 => (0, 18.0, 12.0),
            45..88 => (2, 3.0, 12.0),
            88..92 => (3, 2.0, 10.0),
            92..96 => (4, 2.0, 5.0),
            _ => (5, 2.0, 5.0),
        };
        self.wait(connection, keying, false).await;
        let begun = Instant::now();
        let mut counted = which;
        match which {
            0 => {
                if !self.new_order(connection).await? {
                    counted = 1;
                }
            }
            2 => self.payment(connection).await?,
            3 => self.order_status(connection).await?,
            4 => self.delivery(connection).await?,
            _ => self.stock_level(connection).await?,
        }
        connection.count_transaction(NEW_ORDER + counted, begun);
        self.wait(connection, think, true).await;
        Ok(())
    }

    async fn before_retry(&mut self, connection: &mut Connection) -> Result<()> {
        connection.query(ROLLBACK, b"ROLLBACK").await.map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_of_syllables() {
        assert_eq!(
            (last_name(0), last_name(371), last_name(999)),
            ("BARBARBAR".to_owned(), "PRICALLYOUGHT".to_owned(), "EINGEINGEING".to_owned())
        );
    }

    #[test]
    fn orders_are_a_permutation_of_customers() {
        let mut customers: Vec<i64> = (1..=CUSTOMERS).map(|o| order_customer(3, 7, o)).collect();
        customers.sort_unstable();
        assert_eq!(customers, (1..=CUSTOMERS).collect::<Vec<_>>());
    }

    #[test]
    fn lines_of_an_order_agree_with_the_order() {
        for row in [0, 2999, 3000, 30_001, 299_999] {
            let (w, d, o) = place(row, CUSTOMERS);
            let (mut order, mut lines) = (Vec::new(), Vec::new());
            put_order(&mut Random::new(1, 1), row, &mut order);
            put_order_lines(&mut Random::new(2, 2), row, &mut lines);
            let lines = String::from_utf8(lines).unwrap();
            assert_eq!(lines.matches(&format!("({o},{d},{w},")).count() as i64, line_count(w, d, o));
            assert!(String::from_utf8(order).unwrap().ends_with(&format!(",{},1)", line_count(w, d, o))));
        }
    }

    #[test]
    fn skewed_draws_stay_in_range() {
        let mut random = Random::new(9, 9);
        for _ in 0..10_000 {
            assert!((1..=CUSTOMERS).contains(&skewed(&mut random, 1023, C_CUSTOMER, 1, CUSTOMERS)));
            assert!((1..=ITEMS).contains(&skewed(&mut random, 8191, C_ITEM, 1, ITEMS)));
        }
    }

    #[test]
    fn each_statement_has_the_parameters_it_is_given() {
        let counts: Vec<usize> = STATEMENTS.iter().map(|(_, text)| text.matches('?').count()).collect();
        assert_eq!(counts, [3, 2, 3, 6, 3, 1, 2, 5, 9, 2, 1, 3, 2, 3, 3, 3, 6, 5, 7, 3, 3, 3, 2, 3, 3, 4, 3, 3, 4]);
        assert_eq!(STATEMENTS[CUSTOMER_DELIVERED].0, "customer_delivered");
        assert_eq!(STATEMENTS[INSERT_HISTORY].0, "insert_history");
    }
}
