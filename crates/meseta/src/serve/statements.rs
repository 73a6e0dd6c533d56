//! A session's prepared statements, by number.
//!
//! ```text
//! (1, statement) (2, statement) (4, taken) (5, statement)     ascending; 3 was closed
//! ```
//!
//! Numbers are given in ascending order and none twice, so a statement is as a rule as far from the first as their numbers
//! are: one look, in one cache line. Else a binary search. To close one moves those behind it.

use meseta_protocol::execute::{LongData, ParameterTypes};
use meseta_sql::session::PreparedStatement;

use super::cursor::Cursor;

/// A prepared statement, and what the protocol keeps of it.
pub struct ClientStatement {
    /// The statement.
    pub prepared: PreparedStatement,
    /// The types that its parameters had last.
    pub types: ParameterTypes,
    /// What COM_STMT_SEND_LONG_DATA has brought.
    pub long_data: LongData,
    /// Rows that wait to be fetched.
    pub cursor: Option<Cursor>,
}

/// The statements.
#[derive(Default)]
pub struct Statements {
    /// By ascending number; `None` while one is taken.
    all: Vec<(u32, Option<Box<ClientStatement>>)>,
    /// The number of the last.
    last: u32,
}

impl Statements {
    /// The number of the one that is prepared next.
    fn next_number(&self) -> u32 {
        self.last.wrapping_add(1).max(1)
    }

    /// Adds a statement; returns its number.
    pub fn add(&mut self, prepared: PreparedStatement) -> u32 {
        let (types, long_data) = (ParameterTypes::default(), LongData::default());
        let statement = Box::new(ClientStatement { prepared, types, long_data, cursor: None });
        self.last = self.next_number();
        match self.place(self.last) {
            // Numbers have come round.
            Ok(place) => self.all[place].1 = Some(statement),
            Err(place) => self.all.insert(place, (self.last, Some(statement))),
        }
        self.last
    }

    /// One that is not taken.
    pub fn get_mut(&mut self, number: u32) -> Option<&mut ClientStatement> {
        let place = self.place(number).ok()?;
        self.all[place].1.as_deref_mut()
    }

    /// Has the first of them brought near: their places.
    pub fn prefetch(&self) {
        meseta_prefetch::beginning(&self.all);
    }

    /// Takes one out for as long as it is executed: values are borrowed from it.
    pub fn take(&mut self, number: u32) -> Option<Box<ClientStatement>> {
        let place = self.place(number).ok()?;
        self.all[place].1.take()
    }

    /// Puts back what was taken.
    pub fn put_back(&mut self, number: u32, statement: Box<ClientStatement>) {
        if let Ok(place) = self.place(number) {
            self.all[place].1 = Some(statement);
        }
    }

    /// Closes one, if it is there.
    pub fn close(&mut self, number: u32) {
        if let Ok(place) = self.place(number) {
            self.all.remove(place);
        }
    }

    /// Closes all. Their numbers are not given again.
    pub fn close_all(&mut self) {
        self.all.clear();
    }

    /// Where a number is, or where it would be.
    fn place(&self, number: u32) -> Result<usize, usize> {
        let number_at = |place: usize| self.all.get(place).map(|&(number, _)| number);
        let guess = number.wrapping_sub(number_at(0).unwrap_or(0)) as usize;
        if number_at(guess) == Some(number) {
            return Ok(guess);
        }
        self.all.binary_search_by_key(&number, |&(number, _)| number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_numbers(numbers: &[u32]) -> Statements {
        let all = numbers.iter().map(|&number| (number, None)).collect();
        Statements { all, last: numbers.last().copied().unwrap_or(0) }
    }

    #[test]
    fn a_number_is_found_where_it_is() {
        let statements = of_numbers(&[3, 4, 7, 8, 20]);
        let places = [3, 4, 7, 8, 20].map(|number| statements.place(number));
        assert_eq!(places, [Ok(0), Ok(1), Ok(2), Ok(3), Ok(4)]);
        let gaps = [0, 2, 5, 6, 9, 21, u32::MAX].map(|number| statements.place(number));
        assert_eq!(gaps, [Err(0), Err(0), Err(2), Err(2), Err(4), Err(5), Err(5)]);
        assert_eq!(Statements::default().place(0), Err(0));
    }

    #[test]
    fn what_is_closed_leaves_the_others() {
        let mut statements = of_numbers(&[1, 2, 3, 4]);
        statements.close(2);
        statements.close(2);
        assert_eq!([1, 2, 3, 4].map(|number| statements.place(number).is_ok()), [true, false, true, true]);
        statements.close_all();
        assert_eq!((statements.place(1), statements.next_number()), (Err(0), 5), "no number is given twice");
    }

    #[test]
    fn numbers_come_round_past_zero() {
        assert_eq!(of_numbers(&[u32::MAX]).next_number(), 1);
    }
}
