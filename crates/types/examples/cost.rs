//! What the operations cost that rows meet most: nanoseconds each. `cargo run --release -p meseta-types --example cost`

use std::hint::black_box;
use std::time::Instant;

use meseta_types::{Collation, Decimal, SqlMode, double, temporal};

fn measure(name: &str, mut operation: impl FnMut()) {
    const TIMES: u32 = 200_000;
    let mut best = f64::INFINITY;
    for _ in 0..7 {
        let start = Instant::now();
        (0..TIMES).for_each(|_| operation());
        best = best.min(start.elapsed().as_nanos() as f64 / f64::from(TIMES));
    }
    println!("{name:44} {best:8.1} ns");
}

fn main() {
    let collation = Collation::Utf8mb4_0900AiCi;
    let a = b"the quick brown fox jumps over";
    let (same, last, case) = (*a, *b"the quick brown fox jumps ovez", *b"The Quick Brown Fox Jumps Over");
    measure("compare 30 bytes, the same", || {
        black_box(collation.compare(black_box(a), black_box(&same)));
    });
    measure("compare 30 bytes, the last differs", || {
        black_box(collation.compare(black_box(a), black_box(&last)));
    });
    measure("compare 30 bytes, other case", || {
        black_box(collation.compare(black_box(a), black_box(&case)));
    });
    let mut out = Vec::with_capacity(256);
    measure("append a sort key, 30 bytes", || {
        out.clear();
        collation.append_sort_key(black_box(a), None, &mut out);
    });
    let padded = Collation::Utf8mb4UnicodeCi;
    measure("compare 30 bytes, other case, unicode_ci", || {
        black_box(padded.compare(black_box(a), black_box(&case)));
    });
    measure("append a sort key, 30 bytes, unicode_ci", || {
        out.clear();
        padded.append_sort_key(black_box(a), None, &mut out);
    });
    let accents = "Été à la plage, déjà bronzé".as_bytes();
    measure("append a sort key, 27 letters, unicode_ci", || {
        out.clear();
        padded.append_sort_key(black_box(accents), None, &mut out);
    });
    let (x, y) = (Decimal::from_parts(123_456_789, 2), Decimal::from_parts(-98_765, 4));
    measure("decimal +", || {
        black_box(black_box(x).add(&black_box(y))).ok();
    });
    measure("decimal *", || {
        black_box(black_box(x).mul(&black_box(y))).ok();
    });
    measure("decimal /", || {
        black_box(black_box(x).div(&black_box(y), 4)).ok();
    });
    measure("print a decimal", || {
        out.clear();
        black_box(x).append_text(&mut out);
    });
    measure("print a double", || {
        out.clear();
        double::append_double(black_box(1234.5678), &mut out);
    });
    measure("read a date and time", || {
        black_box(temporal::parse_datetime(black_box(b"2024-05-06 07:08:09.123456"), SqlMode::DEFAULT));
    });
}
