//! Any bytes as the body of a log record, carried out on a page: an operation that does not suit its page is refused
//! and changes nothing; none leaves the page or panics.
//!
//! Input: which page (beyond the sound ones: as the next 1300 bytes say, if their layout passes), then the body.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};
use meseta_fuzz::{Input, pages};
use meseta_storage::PageNo;
use meseta_storage::page;
use meseta_storage::page::bytes::{PageBuffer, PageMut, PageRef};
use meseta_storage::redo::Op;

fuzz_target!(|data: &[u8]| -> Corpus {
    let mut input = Input(data);
    let which = input.below(pages::SOUND_COUNT + 1);
    let mut image = if which < pages::SOUND_COUNT {
        pages::sound(which)
    } else {
        let bytes = input.bytes(1300);
        let mut image = PageBuffer::boxed();
        image.bytes_mut()[..bytes.len()].copy_from_slice(bytes);
        if page::check_layout(PageRef::of(&image)).is_err() {
            return Corpus::Reject; // such a page is not let in from the disk
        }
        image
    };
    let mut body = input.0;
    while !body.is_empty() {
        let Ok((page, op, rest)) = Op::decode(body) else { break };
        assert!(rest.len() < body.len());
        let mut again = Vec::new();
        op.encode(page, &mut again);
        assert_eq!(Op::decode(&again), Ok((page, op, &[][..])), "an operation survives its encoding");
        body = rest;
        let before = image.bytes().to_vec();
        if op.redo(PageNo(8), &mut PageMut::of(&mut image)).is_err() {
            assert!(before == image.bytes(), "a refused operation changed its page");
        }
    }
    Corpus::Keep
});
