//! How long reading takes: nanoseconds a statement, best of nine rounds, with an arena and a normaliser that are reused.

use meseta_parser::{Arena, Normaliser, Options, parse};
use std::hint::black_box;
use std::time::Instant;

fn best_of(rounds: u32, turns: u32, mut work: impl FnMut()) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..rounds {
        let start = Instant::now();
        for _ in 0..turns {
            work();
        }
        best = best.min(start.elapsed().as_nanos() as f64 / f64::from(turns));
    }
    best
}

fn main() {
    let row = "(501885,'08566691963-88624912351-16662227201-46648573979-64646226163-77505759394-75470094713',\
               '15161106334-50535565977')";
    let rows: Vec<String> = (0..1000).map(|k| format!("({k},{}", &row[1..])).collect();
    let thousand = format!("INSERT INTO sbtest1 (k, c, pad) VALUES {}", rows.join(","));
    let one = format!("INSERT INTO sbtest1 (k, c, pad) VALUES {row}");
    let statements = [
        ("point select", "SELECT c FROM sbtest1 WHERE id=12345"),
        ("range", "SELECT c FROM sbtest1 WHERE id BETWEEN 12345 AND 12444 ORDER BY c"),
        ("sum", "SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN 12345 AND 12444"),
        ("update", "UPDATE sbtest1 SET k=k+1 WHERE id=12345"),
        ("delete", "DELETE FROM sbtest1 WHERE id=12345"),
        ("insert 1", &one),
        ("insert 1000", &thousand),
        (
            "join",
            "SELECT c_discount, c_last, c_credit, w_tax FROM customer1, warehouse1 \
             WHERE w_id = 1 AND c_w_id = w_id AND c_d_id = 5 AND c_id = 1234",
        ),
        ("begin", "BEGIN"),
    ];
    println!("{:16} {:>10} {:>10} {:>10}", "", "bytes", "parse ns", "shape ns");
    for (name, text) in statements {
        let turns = if text.len() > 10_000 { 200 } else { 200_000 };
        let mut arena = Arena::with_capacity(4096);
        let parsing = best_of(9, turns, || {
            arena.reset();
            let parsed = parse(&arena, black_box(text.as_bytes()), 0, Options::default());
            black_box(&parsed.is_ok());
        });
        let mut normaliser = Normaliser::new();
        let shaping = best_of(9, turns, || {
            let shape = normaliser.shape(black_box(text.as_bytes()), 0, Options::default());
            black_box(shape.hash(1));
        });
        println!("{name:16} {:10} {parsing:10.0} {shaping:10.0}", text.len());
    }
}
