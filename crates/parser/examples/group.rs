//! Prints each line of the standard input, an expression, with all groupings in parentheses; or the error.

use meseta_parser::{Arena, Options, Parenthesised, first_expression};
use std::io::BufRead;

fn main() {
    for line in std::io::stdin().lock().lines() {
        let text = format!("SELECT {}", line.expect("the input is UTF-8"));
        let arena = Arena::new();
        match first_expression(&arena, text.as_bytes(), Options::default()) {
            Ok(Some(expression)) => println!("{}", Parenthesised(&expression, text.as_bytes())),
            Ok(None) => println!("ERROR no expression"),
            Err(error) => println!("ERROR {} {}", error.code(), String::from_utf8_lossy(&error.near)),
        }
    }
}
