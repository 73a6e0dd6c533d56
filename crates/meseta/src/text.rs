//! Figures as people read them, and the other way round.

use std::time::Duration;

use meseta_storage::{RecoveryFigures, WaitFigures};

/// A number of bytes: digits, perhaps with K, M or G behind them.
pub fn parse_bytes(text: &str) -> Result<usize, String> {
    let (digits, shift) = match text.as_bytes().last() {
        Some(b'K' | b'k') => (&text[..text.len() - 1], 10),
        Some(b'M' | b'm') => (&text[..text.len() - 1], 20),
        Some(b'G' | b'g') => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    let number: usize = digits.parse().map_err(|_| "expected bytes, or a number with K, M or G".to_owned())?;
    number.checked_mul(1 << shift).ok_or_else(|| "too large".to_owned())
}

/// A count with its thousands set apart: `12,345`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// How many a second.
pub fn rate(number: u64, time: Duration) -> String {
    count((number as f64 / time.as_secs_f64().max(1e-9)) as u64)
}

/// A time in the unit that suits it.
pub fn time(time: Duration) -> String {
    match time.as_nanos() {
        0..1_000 => format!("{} ns", time.as_nanos()),
        1_000..1_000_000 => format!("{:.0} µs", time.as_secs_f64() * 1e6),
        1_000_000..1_000_000_000 => format!("{:.1} ms", time.as_secs_f64() * 1e3),
        _ => format!("{:.2} s", time.as_secs_f64()),
    }
}

/// How the store had been left, and what recovery found.
pub fn recovery(found: &RecoveryFigures) -> String {
    let left = if found.was_closed { "was closed in order" } else { "was not closed" };
    if found.records == 0 && found.repaired_pages == 0 && found.finished_drops == 0 {
        return format!("{left}; nothing to recover");
    }
    let mut text = format!(
        "{left}; recovered: {} log records from {} to {}: {} changes repeated, {} already on their pages",
        count(found.records),
        found.checkpoint,
        found.end,
        count(found.applied),
        count(found.skipped),
    );
    if found.repaired_pages > 0 {
        text += &format!("; {} torn pages repaired", count(found.repaired_pages));
    }
    if found.finished_drops > 0 {
        text += &format!("; {} drops of trees finished", count(found.finished_drops));
    }
    format!("{text}; {}", time(found.elapsed))
}

/// The wait events that took the most time, as lines of a table.
pub fn wait_table(mut figures: Vec<WaitFigures>, lines: usize) -> Vec<String> {
    figures.retain(|figure| figure.count > 0);
    figures.sort_by_key(|figure| std::cmp::Reverse(figure.total));
    let head = format!("{:<24} {:>10} {:>10} {:>10}   what it waits for", "event", "waits", "total", "each");
    let row = |figure: &WaitFigures| {
        let each = figure.total / u32::try_from(figure.count).unwrap_or(u32::MAX);
        format!(
            "{:<24} {:>10} {:>10} {:>10}   {}",
            figure.event.name(),
            count(figure.count),
            time(figure.total),
            time(each),
            figure.event.help(),
        )
    };
    std::iter::once(head).chain(figures.iter().take(lines).map(row)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read() {
        assert_eq!(parse_bytes("4096"), Ok(4096));
        assert_eq!(parse_bytes("128M"), Ok(128 << 20));
        assert_eq!(parse_bytes("2g"), Ok(2 << 30));
        for bad in ["", "M", "-1", "1.5G", "12MB", "99999999999G"] {
            assert!(parse_bytes(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!([0, 999, 1000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn times_take_their_unit() {
        assert_eq!(time(Duration::from_nanos(7)), "7 ns");
        assert_eq!(time(Duration::from_micros(61)), "61 µs");
        assert_eq!(time(Duration::from_millis(1234)), "1.23 s");
    }
}
