//! Plain tables in Markdown, aligned so that they read well in a terminal too.

use std::fmt::{self, Display};

/// A table being filled row by row.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns.
    pub fn new(head: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let mut table = Table::default();
        table.push(head);
        table
    }

    /// Adds a row.
    pub fn push(&mut self, row: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(row.into_iter().map(Into::into).collect());
    }

    /// Whether there is anything below the head.
    pub fn is_empty(&self) -> bool {
        self.rows.len() < 2
    }
}

impl Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.first().map_or(0, Vec::len);
        let widths: Vec<usize> = (0..columns)
            .map(|column| {
                let texts = self.rows.iter().filter_map(|row| row.get(column));
                texts.map(|text| text.chars().count()).max().unwrap_or(0).max(3)
            })
            .collect();
        for (number, row) in self.rows.iter().enumerate() {
            for (column, width) in widths.iter().enumerate() {
                let text = row.get(column).map_or("", String::as_str);
                // The first column is words, the others are numbers.
                if column == 0 { write!(f, "| {text:<width$} ")? } else { write!(f, "| {text:>width$} ")? }
            }
            writeln!(f, "|")?;
            if number == 0 {
                for (column, width) in widths.iter().enumerate() {
                    let line = "-".repeat(width + 1);
                    if column == 0 { write!(f, "|{line}-")? } else { write!(f, "|{line}:")? }
                }
                writeln!(f, "|")?;
            }
        }
        Ok(())
    }
}

/// A rate in three digits.
pub fn rate(per_second: f64) -> String {
    match per_second {
        r if r >= 99_950_000.0 => format!("{:.0}M", r / 1e6),
        r if r >= 9_995_000.0 => format!("{:.1}M", r / 1e6),
        r if r >= 999_500.0 => format!("{:.2}M", r / 1e6),
        r if r >= 99_950.0 => format!("{:.0}k", r / 1e3),
        r if r >= 9_995.0 => format!("{:.1}k", r / 1e3),
        r if r >= 999.5 => format!("{:.2}k", r / 1e3),
        r => format!("{r:.0}"),
    }
}

/// A ratio.
pub fn ratio(of: f64, to: f64) -> String {
    if to > 0.0 { format!("{:.2}", of / to) } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::new(["what", "how much"]);
        table.push(["a", "1"]);
        assert_eq!(table.to_string(), "| what | how much |\n|------|---------:|\n| a    |        1 |\n");
    }

    #[test]
    fn rates_keep_three_digits() {
        let shown = [12.0, 999.9, 12_345.0, 123_456.0, 999_900.0, 12_345_678.0].map(rate);
        assert_eq!(shown, ["12", "1.00k", "12.3k", "123k", "1.00M", "12.3M"]);
    }
}
