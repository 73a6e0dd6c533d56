//! Documents as text: `{"a": [1, 2.0, null]}`.

use super::{Element, MAX_DEPTH};
use crate::double::append_double;
use crate::integer::{append_signed, append_unsigned};

/// Appends a document as text, in utf8mb4.
pub fn append_text(document: &[u8], out: &mut Vec<u8>) {
    Element::root(document).append_text(out);
}

impl Element<'_> {
    /// Appends it as text.
    pub fn append_text(&self, out: &mut Vec<u8>) {
        self.append_at(0, out);
    }

    fn append_at(&self, depth: usize, out: &mut Vec<u8>) {
        let quoted = |write: &dyn Fn(&mut Vec<u8>), out: &mut Vec<u8>| {
            out.push(b'"');
            write(out);
            out.push(b'"');
        };
        match *self {
            Element::Null => out.extend_from_slice(b"null"),
            Element::Bool(true) => out.extend_from_slice(b"true"),
            Element::Bool(false) => out.extend_from_slice(b"false"),
            Element::Signed(number) => append_signed(number, out),
            Element::Unsigned(number) => append_unsigned(number, 0, out),
            Element::Double(number) => {
                let start = out.len();
                append_double(number, out);
                // A double shows that it is one.
                if out[start..].iter().all(|byte| byte.is_ascii_digit() || *byte == b'-') {
                    out.extend_from_slice(b".0");
                }
            }
            Element::Decimal(number) => number.append_text(out),
            Element::Text(text) => append_quoted(text, out),
            Element::Date(date) => quoted(&|out| date.append_text(out), out),
            Element::Time(time) => quoted(&|out| time.append_text(6, out), out),
            Element::DateTime(value) => quoted(&|out| value.append_text(6, out), out),
            Element::Opaque(kind, bytes) => quoted(
                &|out| {
                    out.extend_from_slice(format!("base64:type{kind}:").as_bytes());
                    append_base64(bytes, out);
                },
                out,
            ),
            _ if depth >= MAX_DEPTH => out.extend_from_slice(b"null"),
            Element::Array(elements) => {
                out.push(b'[');
                for (number, element) in elements.values().enumerate() {
                    if number > 0 {
                        out.extend_from_slice(b", ");
                    }
                    element.append_at(depth + 1, out);
                }
                out.push(b']');
            }
            Element::Object(members) => {
                out.push(b'{');
                for (number, (key, value)) in members.members().enumerate() {
                    if number > 0 {
                        out.extend_from_slice(b", ");
                    }
                    append_quoted(key, out);
                    out.extend_from_slice(b": ");
                    value.append_at(depth + 1, out);
                }
                out.push(b'}');
            }
        }
    }
}

/// Appends a text as a JSON string.
pub fn append_quoted(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for byte in text {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\r' => out.extend_from_slice(b"\\r"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0c => out.extend_from_slice(b"\\f"),
            ..0x20 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            other => out.push(*other),
        }
    }
    out.push(b'"');
}

/// Appends a document's text; of a string, the string itself (JSON_UNQUOTE, `->>`).
pub fn unquote(document: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    match Element::root(document) {
        Element::Text(text) => out.extend_from_slice(text),
        element => {
            element.append_text(out);
            // Dates and the like are strings in a document.
            if out[start..].len() >= 2 && out[start] == b'"' {
                out.pop();
                out.remove(start);
            }
        }
    }
}

fn append_base64(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            out.push(if place <= chunk.len() { DIGITS[(bits >> (18 - 6 * place)) as usize & 63] } else { b'=' });
        }
    }
}
