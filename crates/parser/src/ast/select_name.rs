//! What an unaliased column of a result is called.

use super::*;

impl<'a> SelectItem<'a> {
    /// The column's name: its alias; else the column's, the text of a string, or the source text. `text` is the
    /// statement. None for `*`.
    ///
    /// The texts of version comments (`/*!50000 + 1 */`) are in the source text with their marks, which MySQL removes.
    pub fn name(&self, text: &'a [u8]) -> Option<&'a [u8]> {
        let SelectItem::Expression { expression, alias, span } = self else { return None };
        if let Some(alias) = alias {
            return Some(alias.0);
        }
        // A sign that changes nothing is not in the tree in MySQL.
        let mut named = expression;
        while let ExpressionKind::Unary { operator: UnaryOperator::Plus, operand } = named.kind {
            named = operand;
        }
        Some(match named.kind {
            ExpressionKind::Column(name) => name.column.text.0,
            ExpressionKind::Literal(Literal::String(string)) => {
                let first = &string.value.0[..(string.first_length as usize).min(string.value.len())];
                // Blanks and control characters in front of a string are not part of the name.
                let start = first.iter().position(|byte| *byte > b' ' && *byte != 127).unwrap_or(first.len());
                &first[start..]
            }
            ExpressionKind::Literal(Literal::Null) => b"NULL",
            ExpressionKind::Literal(Literal::Integer(digits) | Literal::Decimal(digits) | Literal::Float(digits)) => {
                digits.0
            }
            ExpressionKind::Parameter(_) => b"?",
            _ => span.of(text),
        })
    }
}
