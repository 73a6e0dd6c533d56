//! The table: sysbench's `sbtest`, in a store of its own, with memory for all of it.
//!
//! `create table sbtest (id int primary key auto_increment, k int, c char(120), pad char(60), key k_1 (k))`

use std::path::Path;
use std::sync::Arc;

use meseta_engine::lock::Mode;
use meseta_engine::row::{Column, ColumnType, IntegerWidth, KeyPart, KeyRange, Value, VersionHeader};
use meseta_engine::rows::RowChange;
use meseta_engine::table::{
    BytesOnly, ColumnDefinition, Entry, IndexDefinition, KEY_LEN_MAX, PartDefinition, Table, TableDefinition,
    TableIndex,
};
use meseta_engine::{Engine, EngineOptions};
use meseta_storage::{Durability, Store, StoreOptions};

use crate::Result;
use crate::rng::Rng;

/// The number of the column that is the key.
pub const ID: u16 = 0;
/// The number of the indexed column.
pub const K: u16 = 1;
/// The number of the longer text.
pub const C: u16 = 2;

/// About as many bytes does a row take in both indexes.
pub const ROW_BYTES: u64 = 280;

const DATABASE: &str = "bench";
const INTEGER: Column = Column::new(ColumnType::Signed(IntegerWidth::Four));
const ID_PART: KeyPart = KeyPart::new(ID, INTEGER);

/// Digits of each group in the texts.
const GROUP: usize = 11;

/// An engine with the table.
pub struct Sbtest {
    /// The engine.
    pub engine: Engine,
    /// The table.
    pub table: Arc<Table>,
    /// Rows loaded, which are there in the end, too: their ids are 1 and so on.
    pub rows: u32,
}

impl Sbtest {
    /// Creates the store and loads the table.
    pub fn load(dir: &Path, rows: u32, options: StoreOptions) -> Result<Self> {
        let engine = Engine::open(Store::open(dir, options)?, EngineOptions::default())?;
        let mut session = engine.session()?;
        session.create_database(DATABASE, &[])?;
        session.create_table(definition())?;
        let table = Arc::clone(session.schema().table_named(DATABASE, "sbtest")?);

        let mut rng = Rng::new(0);
        let mut texts = Texts::new(&mut rng);
        let mut by_k = Vec::with_capacity(rows as usize);
        // The trees are filled below the engine: no undo, no locks, and headers that everybody sees, as those of an index
        // that was built. All rows but the last, which goes the usual way, so that the column counts on from it.
        table.rows().index.tree.bulk_load((1..rows).map(|id| {
            texts.renew_all(&mut rng);
            let k = random_id(rows, &mut rng);
            by_k.push((k, id));
            entry(table.rows(), id as i32, &texts.row(id as i32, k))
        }))?;
        by_k.sort_unstable();
        let index = &table.indexes[usize::from(K)];
        let entries = by_k.into_iter().map(|(k, id)| entry(index, id as i32, &texts.row(id as i32, k)));
        index.index.tree.bulk_load(entries)?;
        let last = session.insert_row(&table, &texts.row(rows as i32, 1), Mode::Shared)?;
        if last != RowChange::Done {
            return Err("the last row was there before".into());
        }
        session.commit()?;
        drop(session);
        engine.store().checkpoint()?;
        Ok(Self { engine, table, rows })
    }

    /// A key that was loaded.
    pub fn random_id(&self, rng: &mut Rng) -> i32 {
        random_id(self.rows, rng)
    }

    /// Purges what can be, and has the log written: what a cell leaves is not the next one's.
    pub fn settle(&self) -> Result<()> {
        self.engine.keep_house()?;
        let store = self.engine.store();
        Ok(store.commit(store.log_end(), Durability::Flush)?)
    }

    /// Closes the store.
    pub fn close(self) -> Result<()> {
        let store = self.engine.store().clone();
        drop(self.engine);
        Ok(store.close()?)
    }
}

fn definition() -> TableDefinition {
    let text = |max_len| Column::new(ColumnType::Variable { max_len });
    let columns = vec![
        ColumnDefinition::new("id", INTEGER),
        ColumnDefinition::new("k", INTEGER),
        ColumnDefinition::new("c", text(120)),
        ColumnDefinition::new("pad", text(60)),
    ];
    let by_k = IndexDefinition::new("k_1", false, vec![PartDefinition::new(K)]);
    let definition = TableDefinition::new(DATABASE, "sbtest", columns).with_primary_key(&[ID]).with_index(by_k);
    TableDefinition { auto_increment: Some(ID), ..definition }
}

/// An index's entry of a row, with its header.
fn entry(index: &TableIndex, id: i32, values: &[Value<'_>]) -> (Vec<u8>, Vec<u8>) {
    let (mut primary_key, mut entry) = (Vec::new(), Entry::default());
    set_key(id, &mut primary_key);
    index.layout.entry(values, &primary_key, &BytesOnly, &mut entry).expect("the values suit the columns");
    let mut value = VersionHeader::BUILT.to_bytes().to_vec();
    value.extend_from_slice(&entry.payload);
    (entry.key, value)
}

/// Makes the key of a row.
pub fn set_key(id: i32, key: &mut Vec<u8>) {
    key.clear();
    ID_PART.append(Value::Signed(id.into()), KEY_LEN_MAX, key).expect("an integer is a short key");
}

/// The keys of so many rows from one on.
pub fn range_from(id: i32, count: i32) -> KeyRange {
    let mut range = KeyRange { from: Vec::new(), to: Some(Vec::new()) };
    set_key(id, &mut range.from);
    range.to.iter_mut().for_each(|to| set_key(id + count, to));
    range
}

fn random_id(rows: u32, rng: &mut Rng) -> i32 {
    rng.below(rows.into()) as i32 + 1
}

/// The texts of a row: groups of digits with dashes between them, as sysbench makes them.
pub struct Texts {
    c: [u8; 119],
    pad: [u8; 59],
}

impl Texts {
    /// New ones.
    pub fn new(rng: &mut Rng) -> Self {
        let mut texts = Texts { c: [b'-'; 119], pad: [b'-'; 59] };
        texts.renew_all(rng);
        texts
    }

    fn renew_all(&mut self, rng: &mut Rng) {
        self.c.chunks_mut(GROUP + 1).chain(self.pad.chunks_mut(GROUP + 1)).for_each(|group| renew_group(group, rng));
    }

    /// Makes the longer text one that was not there before. That is done by its first group: making all of it would
    /// cost as much as a part of what is measured.
    pub fn renew(&mut self, rng: &mut Rng) {
        renew_group(&mut self.c, rng);
    }

    /// The longer text.
    pub fn c(&self) -> &[u8] {
        &self.c
    }

    /// A row with these texts.
    pub fn row(&self, id: i32, k: i32) -> [Value<'_>; 4] {
        [Value::Signed(id.into()), Value::Signed(k.into()), Value::Bytes(&self.c), Value::Bytes(&self.pad)]
    }
}

fn renew_group(group: &mut [u8], rng: &mut Rng) {
    let mut number = rng.below(10_u64.pow(GROUP as u32));
    for digit in &mut group[..GROUP] {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}
