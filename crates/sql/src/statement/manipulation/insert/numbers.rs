//! The numbers that one statement gives a counting column.
//!
//! ```text
//!   VALUES of n rows     n numbers, at the first row that needs one; later as many as there are rows left
//!   a query's rows       1, 2, 4, 8, ... at a time
//!   SET insert_id = v    v, v + 1, ...
//! ```
//!
//! So rows that are given side by side have numbers side by side, whoever else inserts meanwhile: clients count on from
//! LAST_INSERT_ID(). What no row takes is lost.
//!
//! # Invariants
//! 1. A number of a row that did not come to be (IGNORE, ON DUPLICATE KEY UPDATE) is the next row's.
//! 2. Behind a row that was given a number of its own, numbers go on above it, if there has been one before.
//!
//! # Source
//! The manual, "AUTO_INCREMENT Handling in InnoDB", lock mode 2 (interleaved).

/// As many are reserved at a time for rows of which nobody knows how many there are.
const RESERVED_MAX: u64 = 65_535;

/// What a statement has reserved.
pub struct Numbers {
    /// How far a number is from the next one.
    step: u64,
    /// Rows of the statement, if it is known how many.
    rows: Option<u64>,
    /// The next number; 0 if there has been none.
    next: u64,
    /// So many are reserved from it on.
    left: u64,
    /// Rows for which there may be no number yet, as far as was thought when some were last reserved.
    expected: u64,
    reservations: u32,
}

impl Numbers {
    /// Nothing is reserved yet.
    pub fn new(rows: Option<u64>, step: u64) -> Self {
        Self { step: step.max(1), rows, next: 0, left: 0, expected: 0, reservations: 0 }
    }

    /// Whether none have been reserved yet.
    pub fn is_first(&self) -> bool {
        self.reservations == 0
    }

    /// How many to reserve before the next number is taken; `None` if it is reserved already.
    pub fn wanted(&mut self) -> Option<u64> {
        if self.left > 0 {
            return None;
        }
        if self.expected == 0 {
            self.expected = match self.rows {
                Some(rows) if self.reservations == 0 => rows,
                _ => (1 << self.reservations.min(16)).min(RESERVED_MAX),
            };
        }
        self.reservations += 1;
        Some(self.expected)
    }

    /// So many have been reserved, from this one on.
    pub fn reserved(&mut self, first: u64, count: u64) {
        (self.next, self.left) = (first, count);
    }

    /// Takes the next number. On entry: there is one.
    pub fn take(&mut self) -> u64 {
        let number = self.next;
        self.next = number.saturating_add(self.step);
        self.left -= 1;
        number
    }

    /// The row that took this number has not come to be.
    pub fn put_back(&mut self, number: u64) {
        self.next = number;
        self.left = self.left.saturating_add(1);
    }

    /// A row has come to be that was given a number of its own.
    pub fn given(&mut self, number: u64) {
        if self.next > 0 && number >= self.next {
            let passed = (number - self.next) / self.step + 1;
            self.next = self.next.saturating_add(passed.saturating_mul(self.step));
            self.left = self.left.saturating_sub(passed);
        }
    }

    /// Another row has its number.
    pub fn count_row(&mut self) {
        self.expected = self.expected.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of rows: `None` wants one, `Some` was given one. The column's own counter begins at 11.
    fn numbers(known: bool, step: u64, rows: &[Option<u64>]) -> (Vec<u64>, u64) {
        let mut counter = 11;
        let mut numbers = Numbers::new(known.then_some(rows.len() as u64), step);
        let all = rows.iter().map(|row| {
            let number = row.unwrap_or_else(|| {
                if let Some(wanted) = numbers.wanted() {
                    numbers.reserved(counter, wanted);
                    counter += wanted * step;
                }
                numbers.take()
            });
            numbers.count_row();
            if row.is_some() {
                numbers.given(number);
                counter = counter.max(number + 1);
            }
            number
        });
        (all.collect(), counter)
    }

    #[test]
    fn rows_of_a_known_number_have_numbers_side_by_side() {
        assert_eq!(numbers(true, 1, &[None; 4]), (vec![11, 12, 13, 14], 15));
        assert_eq!(numbers(true, 5, &[None; 3]), (vec![11, 16, 21], 26));
    }

    #[test]
    fn rows_of_an_unknown_number_take_more_and_more() {
        assert_eq!(numbers(false, 1, &[None; 4]), (vec![11, 12, 13, 14], 18));
    }

    #[test]
    fn numbers_go_on_above_one_that_was_given() {
        let rows = [Some(10), None, Some(5), None, Some(20), None];
        assert_eq!(numbers(true, 1, &rows), (vec![10, 11, 5, 12, 20, 21], 23));
        assert_eq!(numbers(true, 1, &[None, Some(12), None, None]), (vec![11, 12, 13, 14], 15));
    }

    #[test]
    fn a_number_that_was_not_used_is_the_next_one() {
        let mut numbers = Numbers::new(Some(2), 1);
        assert_eq!(numbers.wanted(), Some(2));
        numbers.reserved(11, 2);
        assert_eq!(numbers.take(), 11);
        numbers.put_back(11);
        assert_eq!((numbers.wanted(), numbers.take(), numbers.take()), (None, 11, 12));
    }
}
