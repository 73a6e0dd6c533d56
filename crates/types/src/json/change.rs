//! Changing documents at paths: JSON_SET and its relatives.
//!
//! # Source
//! MySQL Reference Manual, "Functions That Modify JSON Values". A value that is no array counts as an array of itself.

use super::Tree;
use super::path::{Leg, Path};

/// What is done where a path leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// A value where there is none.
    Insert,
    /// Another value where there is one.
    Replace,
    /// Either.
    Set,
    /// A value behind those of an array.
    Append,
    /// A value between those of an array.
    InsertBetween,
    /// What is there goes.
    Remove,
}

impl Path {
    /// Whether it leads to the whole document.
    pub fn is_root(&self) -> bool {
        self.legs().is_empty()
    }

    /// Whether it leads to a cell of an array.
    pub fn is_cell(&self) -> bool {
        matches!(self.legs().last(), Some(Leg::Element(_)))
    }
}

/// Changes a document at a path without wildcards. What the path does not lead to stays as it is.
pub fn change<'a>(document: &mut Tree<'a>, path: &Path, how: Change, value: Tree<'a>) {
    let legs = path.legs();
    match how {
        Change::Append => append(document, legs, value),
        Change::Remove => remove(document, legs),
        Change::InsertBetween => insert_between(document, legs, value),
        Change::Insert | Change::Replace | Change::Set => match seek(document, legs) {
            Some(there) if how != Change::Insert => *there = value,
            Some(_) => {}
            None if how != Change::Replace => add(document, legs, value),
            None => {}
        },
    }
}

/// The element that a path leads to.
fn seek<'t, 'a>(tree: &'t mut Tree<'a>, legs: &[Leg]) -> Option<&'t mut Tree<'a>> {
    let Some((leg, rest)) = legs.split_first() else { return Some(tree) };
    match (leg, tree) {
        (Leg::Member(key), Tree::Object(members)) => {
            let member = members.iter_mut().rfind(|(name, _)| **name == **key)?;
            seek(&mut member.1, rest)
        }
        (Leg::Element(index), Tree::Array(elements)) => {
            let at = usize::try_from(index.resolve(elements.len())).ok()?;
            seek(elements.get_mut(at)?, rest)
        }
        (Leg::Element(index), other) if !matches!(other, Tree::Array(_)) && index.resolve(1) == 0 => seek(other, rest),
        _ => None,
    }
}

fn take<'a>(tree: &mut Tree<'a>) -> Tree<'a> {
    std::mem::replace(tree, Tree::Null)
}

/// Adds what is not there to its parent.
fn add<'a>(document: &mut Tree<'a>, legs: &[Leg], value: Tree<'a>) {
    let Some((last, front)) = legs.split_last() else { return };
    let Some(parent) = seek(document, front) else { return };
    match (last, parent) {
        (Leg::Member(key), Tree::Object(members)) => members.push((key.clone().into(), value)),
        (Leg::Element(index), Tree::Array(elements)) => {
            let at = if index.resolve(elements.len()) < 0 { 0 } else { elements.len() };
            elements.insert(at, value);
        }
        (Leg::Element(index), parent) => {
            let alone = take(parent);
            *parent = Tree::Array(if index.resolve(1) < 0 { vec![value, alone] } else { vec![alone, value] });
        }
        _ => {}
    }
}

fn append<'a>(document: &mut Tree<'a>, legs: &[Leg], value: Tree<'a>) {
    match seek(document, legs) {
        Some(Tree::Array(elements)) => elements.push(value),
        Some(there) => {
            let alone = take(there);
            *there = Tree::Array(vec![alone, value]);
        }
        None => {}
    }
}

fn insert_between<'a>(document: &mut Tree<'a>, legs: &[Leg], value: Tree<'a>) {
    if let Some((Leg::Element(index), front)) = legs.split_last()
        && let Some(Tree::Array(elements)) = seek(document, front)
    {
        let at = usize::try_from(index.resolve(elements.len())).unwrap_or(0).min(elements.len());
        elements.insert(at, value);
    }
}

fn remove(document: &mut Tree<'_>, legs: &[Leg]) {
    let Some((last, front)) = legs.split_last() else { return };
    match (last, seek(document, front)) {
        (Leg::Member(key), Some(Tree::Object(members))) => members.retain(|(name, _)| **name != **key),
        (Leg::Element(index), Some(Tree::Array(elements))) => {
            if let Ok(at) = usize::try_from(index.resolve(elements.len()))
                && at < elements.len()
            {
                elements.remove(at);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    fn changed(document: &str, path: &str, how: Change) -> String {
        let mut tree = parse(document.as_bytes()).unwrap();
        change(&mut tree, &Path::parse(path.as_bytes()).unwrap(), how, Tree::Signed(9));
        let mut out = Vec::new();
        super::super::append_text(&tree.to_document().unwrap(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn documents_change_where_a_path_leads() {
        for (document, path, how, wanted) in [
            ("{}", "$.a", Change::Set, "{\"a\": 9}"),
            ("{\"a\": 1}", "$.a", Change::Insert, "{\"a\": 1}"),
            ("{\"a\": 1}", "$.a", Change::Replace, "{\"a\": 9}"),
            ("{\"a\": 1}", "$.b", Change::Replace, "{\"a\": 1}"),
            ("{\"a\": 1}", "$.a[1]", Change::Set, "{\"a\": [1, 9]}"),
            ("{\"a\": 1}", "$.a[0]", Change::Set, "{\"a\": 9}"),
            ("[1]", "$[5]", Change::Insert, "[1, 9]"),
            ("[1]", "$[last-5]", Change::Insert, "[9, 1]"),
            ("1", "$", Change::Set, "9"),
            ("\"x\"", "$.b[1]", Change::Set, "\"x\""),
            ("[1, 2]", "$[0]", Change::InsertBetween, "[9, 1, 2]"),
            ("[1, 2]", "$[7]", Change::InsertBetween, "[1, 2, 9]"),
            ("[1, [2]]", "$[1]", Change::Append, "[1, [2, 9]]"),
            ("{\"a\": 1}", "$.a", Change::Append, "{\"a\": [1, 9]}"),
            ("[1, 2]", "$[last]", Change::Remove, "[1]"),
            ("{\"a\": {\"b\": 1}}", "$.a.b", Change::Remove, "{\"a\": {}}"),
            ("{\"a\": 1}", "$.x.y", Change::Remove, "{\"a\": 1}"),
        ] {
            assert_eq!(changed(document, path, how), wanted, "{document} {path} {how:?}");
        }
    }
}
