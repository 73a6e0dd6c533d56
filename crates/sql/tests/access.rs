//! Indexes find what reading everything finds: conditions by chance, over two tables with the same rows, of which one has
//! indexes.

mod support;

use support::{Server, run};

/// Numbers by chance, the same in each run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn one_of<'c>(&mut self, choices: &[&'c str]) -> &'c str {
        choices[self.below(choices.len() as u64) as usize]
    }

    /// A value for a column: mostly one that is there.
    fn value(&mut self, column: &str) -> String {
        match (column, self.below(12)) {
            (_, 0) => "NULL".to_owned(),
            ("c", _) => format!("'{}'", self.one_of(&["a", "B", "b", "cc", "", "ä", "123456789", "1234567890"])),
            ("d", _) => format!("{}{}", self.below(3), self.one_of(&["", ".5", ".25", "e0"])),
            ("e", 1) => format!("'2024-03-0{} 10:00:00'", 1 + self.below(5)),
            ("e", _) => format!("DATE'2024-03-0{}'", 1 + self.below(5)),
            ("v", _) => self.one_of(&["'a'", "X'6100'", "'ab'", "'b'", "'abc'"]).to_owned(),
            (_, 1) => format!("{}.5", self.below(9)),
            (_, 2) => "-1".to_owned(),
            (_, 3) => format!("'{}'", self.below(9)),
            _ => self.below(9).to_string(),
        }
    }

    fn condition(&mut self, depth: u32) -> String {
        let column = self.one_of(&["a", "b", "c", "d", "e", "v", "id"]);
        match self.below(if depth == 0 { 6 } else { 9 }) {
            0 | 1 => {
                format!("{column} {} {}", self.one_of(&["=", "<", "<=", ">", ">=", "<>", "<=>"]), self.value(column))
            }
            2 => format!("{column} BETWEEN {} AND {}", self.value(column), self.value(column)),
            3 => {
                let values: Vec<String> = (0..1 + self.below(4)).map(|_| self.value(column)).collect();
                format!("{column} {}IN ({})", self.one_of(&["", "", "NOT "]), values.join(", "))
            }
            4 => {
                let rows: Vec<String> =
                    (0..1 + self.below(3)).map(|_| format!("({}, {})", self.value("a"), self.value("b"))).collect();
                format!("(a, b) IN ({})", rows.join(", "))
            }
            5 if self.below(2) == 0 => {
                let (operator, other) = (self.one_of(&["<", "<=", ">", ">="]), self.one_of(&["b", "c", "id", "d"]));
                let (values, of_others) = (self.value(column), self.value(other));
                match self.below(3) {
                    0 => format!("({values}, {of_others}) {operator} ({column}, {other})"),
                    _ => format!("({column}, {other}) {operator} ({values}, {of_others})"),
                }
            }
            5 => format!("{column} IS {}NULL", self.one_of(&["", "NOT "])),
            6 => format!("({} OR {})", self.condition(depth - 1), self.condition(depth - 1)),
            7 => format!("({} AND {})", self.condition(depth - 1), self.condition(depth - 1)),
            _ => format!("a {} b", self.one_of(&["=", "<"])),
        }
    }

    /// One of some conjunctions that all begin with the first column of an index: of what they say of the others the index
    /// tells all, some, or nothing.
    fn one_of_conjunctions(&mut self) -> String {
        let behind = if self.below(3) == 0 { format!(" AND {}", self.condition(0)) } else { String::new() };
        if self.below(4) == 0 {
            return format!("(a, c) IN ((1, 0), (2, {})){behind}", self.one_of(&["0", "123456789"]));
        }
        let conjunctions: Vec<String> = (0..1 + self.below(3)).map(|_| format!("({})", self.conjunction())).collect();
        format!("({}){behind}", conjunctions.join(" OR "))
    }

    /// What begins with `a`, and says up to two things more.
    fn conjunction(&mut self) -> String {
        let mut all = vec![match self.below(4) {
            0 => format!("a BETWEEN {} AND {}", self.value("a"), self.value("a")),
            1 => "a IS NULL".to_owned(),
            _ => format!("a {} {}", self.one_of(&["=", "=", "<", ">="]), self.value("a")),
        }];
        for _ in 0..self.below(3) {
            all.push(match self.below(6) {
                0 => format!("COALESCE(b, a) > {}", self.below(9)),
                1 => format!("(b = {} OR b = {})", self.value("b"), self.value("b")),
                2 => format!("c >= {}", self.value("c")),
                3 => format!("a < {}", self.value("a")),
                _ => format!("b {} {}", self.one_of(&["=", "<=", ">"]), self.value("b")),
            });
        }
        all.join(" AND ")
    }
}

#[test]
fn indexes_find_what_reading_everything_finds() {
    let server = Server::new();
    let mut session = server.session();
    let session = &mut session;
    let columns = "id INT NOT NULL, a INT, b INT UNSIGNED, c VARCHAR(9), d DECIMAL(5, 1), e DATE, v BINARY(2)";
    let keys = "PRIMARY KEY (id), KEY (a, b), KEY (b DESC, c), KEY (c, a), KEY (d, a), KEY (e), KEY (v, d)";
    run(session, &format!("CREATE TABLE plain ({columns})"));
    run(session, &format!("CREATE TABLE keyed ({columns}, {keys})"));
    let mut chance = Chance(7);
    let rows: Vec<String> = (0..200)
        .map(|id| {
            let of = |chance: &mut Chance, column| match chance.value(column) {
                value if column == "b" && value == "-1" => "8".to_owned(),
                value if column == "c" && value.len() > 11 => "'123456789'".to_owned(),
                value if column == "v" && value == "'abc'" => "X'FFFF'".to_owned(),
                value => value,
            };
            let values: Vec<String> = ["a", "b", "c", "d", "e", "v"].map(|column| of(&mut chance, column)).into();
            format!("({id}, {})", values.join(", "))
        })
        .collect();
    for table in ["plain", "keyed"] {
        assert_eq!(run(session, &format!("INSERT INTO {table} VALUES {}", rows.join(", "))), ["ok 200"]);
    }
    for turn in 0..2400 {
        let condition = if turn % 2 == 0 { chance.condition(3) } else { chance.one_of_conjunctions() };
        let of =
            |session: &mut _, table| run(session, &format!("SELECT id FROM {table} WHERE {condition} ORDER BY id"));
        assert_eq!(of(session, "keyed"), of(session, "plain"), "{condition}");
        // Of groups that are large hardly any is read.
        let of_groups = chance.one_of(&[
            "SELECT DISTINCT e FROM T WHERE C ORDER BY e",
            "SELECT v, MAX(d) FROM T WHERE C GROUP BY v ORDER BY v",
            "SELECT v, MAX(d) FROM T WHERE C GROUP BY v ORDER BY v DESC",
            "SELECT COUNT(DISTINCT v), COUNT(DISTINCT e) FROM T WHERE C ",
            "SELECT DISTINCT v FROM T WHERE e = DATE'2024-03-02' AND C ORDER BY v",
            "SELECT DISTINCT e FROM T WHERE e > DATE'2024-03-02' OR e IS NULL ORDER BY e DESC",
            "SELECT MAX(d) FROM T WHERE v = 'a' AND C ",
        ]);
        let of_all = match chance.below(3) {
            0 => "TRUE".to_owned(),
            1 => format!("e {} {}", chance.one_of(&["<", ">=", "<=>"]), chance.value("e")),
            _ => condition.clone(),
        };
        let of = |session: &mut _, table: &str| {
            run(session, &of_groups.replace(" T ", &format!(" {table} ")).replace("C ", &format!("{of_all} ")))
        };
        assert_eq!(of(session, "keyed"), of(session, "plain"), "{of_groups}: {of_all}");
        // Once each, and not only when they are put in order.
        let of = |session: &mut _, table| run(session, &format!("SELECT COUNT(*) FROM {table} WHERE {condition}"));
        assert_eq!(of(session, "keyed"), of(session, "plain"), "{condition}");
    }
    // Of two tables: what follows from an OR, and what does not.
    for _ in 0..300 {
        let of_both = |chance: &mut Chance| {
            let of_one = |chance: &mut Chance, table: &str| {
                let column = chance.one_of(&["a", "b", "c", "d", "id"]);
                let operator = chance.one_of(&["=", "=", "<", ">=", "<>", "<=>"]);
                format!("{table}.{column} {operator} {}", chance.value(column))
            };
            let all: Vec<String> = (0..1 + chance.below(3))
                .map(|_| match chance.below(5) {
                    0 | 1 => "l.id = r.a".to_owned(),
                    2 => format!("r.b {} l.a", chance.one_of(&["=", "<", "<=>"])),
                    3 => of_one(chance, "l"),
                    _ => of_one(chance, "r"),
                })
                .collect();
            format!("({})", all.join(" AND "))
        };
        let either: Vec<String> = (0..2 + chance.below(2)).map(|_| of_both(&mut chance)).collect();
        let either = either.join(" OR ");
        let join = chance.one_of(&["JOIN keyed r ON", "LEFT JOIN keyed r ON", "JOIN keyed r WHERE"]);
        let of = |session: &mut _, condition: &str| {
            run(session, &format!("SELECT COUNT(*), SUM(l.id), SUM(r.id) FROM plain l {join} {condition}"))
        };
        assert_eq!(of(session, &format!("({either})")), of(session, &format!("({either}) IS TRUE")), "{join} {either}");
    }
    // Joined, with conditions written either way around; and with a derived table, which is kept.
    for on in
        ["l.a = r.id", "r.id = l.a", "(r.a, r.b) IN ((l.a, l.b), (l.id, 3))", "r.a = l.b OR r.b = l.a AND l.id < 50"]
    {
        let of = |session: &mut _, right: &str| {
            run(session, &format!("SELECT l.id, r.id FROM plain l LEFT JOIN {right} r ON {on} ORDER BY 1, 2"))
        };
        let expected = of(session, "plain");
        assert!(expected.len() > 200, "{on}");
        for right in ["keyed", "(SELECT * FROM plain)", "(SELECT MIN(id) id, a, b FROM plain GROUP BY a, b, id)"] {
            assert_eq!(of(session, right), expected, "{right} on {on}");
        }
    }
}
