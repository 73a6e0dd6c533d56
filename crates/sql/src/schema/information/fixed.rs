//! What does not change: character sets, collations, engines, keywords, plugins.

use meseta_types::text::Pad;
use meseta_types::{Charset, Collation};

use super::{Cell, Simple, View, Wanted};

pub(super) static TABLES: &[Simple] = &[
    Simple { name: "CHARACTER_SETS", rows: character_sets },
    Simple { name: "COLLATIONS", rows: collations },
    Simple { name: "COLLATION_CHARACTER_SET_APPLICABILITY", rows: applicability },
    Simple { name: "ENGINES", rows: engines },
    Simple { name: "KEYWORDS", rows: keywords },
    Simple { name: "PLUGINS", rows: plugins },
];

fn description(charset: Charset) -> &'static str {
    match charset {
        Charset::Utf8mb4 => "UTF-8 Unicode",
        Charset::Utf8mb3 => "UTF-8 Unicode",
        Charset::Latin1 => "cp1252 West European",
        Charset::Ascii => "US ASCII",
        Charset::Binary => "Binary pseudo charset",
    }
}

pub(super) fn character_sets(_: &View<'_>, _: Wanted<'_>) -> Vec<Vec<Cell>> {
    let mut all = Charset::ALL;
    all.sort_unstable_by_key(|charset| charset.name());
    let row = |charset: Charset| {
        vec![
            Cell::text(charset.name()),
            Cell::text(charset.default_collation().name()),
            Cell::text(description(charset)),
            Cell::Unsigned(charset.max_len().into()),
        ]
    };
    all.into_iter().map(row).collect()
}

fn sort_length(collation: Collation) -> u64 {
    match collation {
        Collation::Utf8mb4_0900AiCi => 0,
        Collation::Utf8mb4UnicodeCi
        | Collation::Utf8mb3UnicodeCi
        | Collation::Utf8mb4Unicode520Ci
        | Collation::Utf8mb3Unicode520Ci => 8,
        _ => 1,
    }
}

fn by_name() -> Vec<Collation> {
    let mut all = Collation::ALL.to_vec();
    all.sort_unstable_by_key(|collation| collation.name());
    all
}

pub(super) fn collations(_: &View<'_>, _: Wanted<'_>) -> Vec<Vec<Cell>> {
    let row = |collation: Collation| {
        vec![
            Cell::text(collation.name()),
            Cell::text(collation.charset().name()),
            Cell::Unsigned(collation.id().into()),
            Cell::text(if collation.is_default() { "Yes" } else { "" }),
            Cell::text("Yes"),
            Cell::Unsigned(sort_length(collation)),
            Cell::text(if collation.pad() == Pad::Space { "PAD SPACE" } else { "NO PAD" }),
        ]
    };
    by_name().into_iter().map(row).collect()
}

fn applicability(_: &View<'_>, _: Wanted<'_>) -> Vec<Vec<Cell>> {
    let row = |collation: Collation| vec![Cell::text(collation.name()), Cell::text(collation.charset().name())];
    by_name().into_iter().map(row).collect()
}

pub(super) fn engines(_: &View<'_>, _: Wanted<'_>) -> Vec<Vec<Cell>> {
    let comment = "Supports transactions, row-level locking, and foreign keys";
    vec![["InnoDB", "DEFAULT", comment, "YES", "YES", "YES"].map(Cell::text).to_vec()]
}

fn keywords(_: &View<'_>, _: Wanted<'_>) -> Vec<Vec<Cell>> {
    let mut all: Vec<(&str, bool)> = meseta_parser::Keyword::all().collect();
    all.sort_unstable();
    let row = |(word, is_reserved): (&str, bool)| vec![Cell::text(word), Cell::Signed(is_reserved.into())];
    all.into_iter().map(row).collect()
}

fn plugins(_: &View<'_>, _: Wanted<'_>) -> Vec<Vec<Cell>> {
    let row = |name: &str, kind: &str, what: &str| {
        let cells = [name, "1.0", "ACTIVE", kind, "1.0"].map(Cell::text);
        let rest = [Cell::Null, Cell::Null, Cell::text("Meseta"), Cell::text(what)];
        let end = [Cell::text("PROPRIETARY"), Cell::text("FORCE")];
        cells.into_iter().chain(rest).chain(end).collect::<Vec<_>>()
    };
    vec![
        row("mysql_native_password", "AUTHENTICATION", "Native MySQL authentication"),
        row("caching_sha2_password", "AUTHENTICATION", "Caching sha2 authentication"),
        row("InnoDB", "STORAGE ENGINE", "Transactions, row-level locking, and foreign keys"),
    ]
}
