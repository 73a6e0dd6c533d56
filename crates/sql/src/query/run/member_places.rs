//! Members of ENUMs and SETs in rows that are kept: there most are texts, since their definitions are not kept beside them, and
//! become members again when the rows are shown.

use meseta_types::{DataType, Datum, Members};

use crate::expression::Expr;
use crate::query::plan::Source;

/// Where in a row there are members, and of what.
#[derive(Default)]
pub struct MemberPlaces<'a>(Vec<(usize, &'a DataType)>);

fn has_members(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Enum(_) | DataType::Set(_))
}

impl<'a> MemberPlaces<'a> {
    /// In rows of these values. (What is computed of members is none.)
    pub fn in_items(items: &'a [Expr]) -> Self {
        let is_member = |item: &Expr| item.as_column().is_some() && has_members(&item.data_type);
        let places = items.iter().enumerate().filter(|(_, item)| is_member(item));
        Self(places.map(|(place, item)| (place, &item.data_type)).collect())
    }

    /// In rows of values of these types.
    pub fn in_types(types: impl Iterator<Item = &'a DataType>) -> Self {
        Self(types.enumerate().filter(|(_, of)| has_members(of)).collect())
    }

    /// In rows with the slots of these sources.
    pub fn in_slots(sources: &'a [Source]) -> Self {
        let of = |source: &'a Source| {
            Self::in_columns(source).0.into_iter().map(|(column, of)| (source.first_slot + column, of))
        };
        Self(sources.iter().flat_map(of).collect())
    }

    /// In rows of one source's columns.
    pub fn in_columns(source: &'a Source) -> Self {
        let member = |column: usize| source.type_of(column).filter(|of| has_members(of)).map(|of| (column, of));
        Self((0..source.width).filter_map(member).collect())
    }

    /// The same in rows that have the value of such a place in this one, if they have it.
    pub fn moved(self, place_of: impl Fn(usize) -> Option<usize>) -> Self {
        Self(self.0.into_iter().filter_map(|(place, of)| Some((place_of(place)?, of))).collect())
    }

    /// The same in rows with so many values more in front.
    pub fn behind(self, values: usize) -> Self {
        Self(self.0.into_iter().map(|(place, of)| (place + values, of)).collect())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The type of the member in a place; `None` if none is there.
    pub fn type_at(&self, place: usize) -> Option<&'a DataType> {
        self.0.iter().find(|(found, _)| *found == place).map(|(_, of)| *of)
    }

    /// The member with this number that a value in a place is; `None` if none is there.
    pub fn member(&self, place: usize, number: u64) -> Option<Datum<'_>> {
        member_of(self.type_at(place)?, |_, _| number)
    }

    /// Makes texts in these places members.
    pub fn restore<'v>(&self, row: &mut [Datum<'v>])
    where
        'a: 'v,
    {
        for &(place, of) in &self.0 {
            let Datum::Text(text, collation) = row[place] else { continue };
            let number = |members: &Members, is_set| match is_set {
                // (Kept as a text, what is no member is in no member's collation.)
                false if text.is_empty() && collation != members.collation() => 0,
                false => members.find(text).unwrap_or(0),
                true => members.parse_set(text).0,
            };
            if let Some(member) = member_of(of, number) {
                row[place] = member;
            }
        }
    }
}

/// A member of an ENUM or SET, by its number: that of its members, and whether it is a SET's, tells it.
fn member_of(of: &DataType, number: impl FnOnce(&Members, bool) -> u64) -> Option<Datum<'_>> {
    let (members, set) = match of {
        DataType::Enum(members) => (members, false),
        DataType::Set(members) => (members, true),
        _ => return None,
    };
    Some(Datum::Member { number: number(members, set), members, set })
}
