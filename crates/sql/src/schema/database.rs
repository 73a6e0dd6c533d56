//! A database: its default collation.

use meseta_types::Collation;

use super::attributes::{Damaged, Writer, fields};

/// What is known of a database, its name and tables aside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Database {
    /// That of its tables, if they do not name one.
    pub collation: Collation,
    /// READ ONLY.
    pub read_only: bool,
}

const COLLATION: u8 = 1;
const READ_ONLY: u8 = 2;

impl Database {
    /// With this collation.
    pub const fn new(collation: Collation) -> Self {
        Self { collation, read_only: false }
    }

    /// As the engine keeps it.
    pub fn attributes(self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.number(COLLATION, self.collation.id().into()).some_number(READ_ONLY, self.read_only.into());
        writer.finish()
    }

    /// From the engine's attributes; no bytes are the defaults.
    pub fn read(attributes: &[u8]) -> Result<Self, Damaged> {
        let mut database = Self::new(Collation::Utf8mb4_0900AiCi);
        for field in fields(attributes)? {
            match field.tag {
                COLLATION => {
                    database.collation = Collation::from_id(field.small()?).ok_or(Damaged("no such collation"))?;
                }
                READ_ONLY => database.read_only = field.number()? != 0,
                _ => {}
            }
        }
        Ok(database)
    }
}
