//! Properties that hold for all values: decimals against an independent implementation, order of sort keys and stored
//! forms, and that no bytes make anything panic.

use std::str::FromStr;

use bumpalo::Bump;
use meseta_types::temporal::{self, DateTime, Time};
use meseta_types::*;
use num_bigint::BigInt;
use proptest::prelude::*;

/// An unscaled integer of up to 65 digits, and a scale.
fn number() -> impl Strategy<Value = (BigInt, u8)> {
    ("-?[0-9]{1,65}", 0u8..=30).prop_map(|(digits, scale)| (BigInt::from_str(&digits).expect("digits"), scale))
}

fn decimal((unscaled, scale): &(BigInt, u8)) -> Decimal {
    let negative = if unscaled.sign() == num_bigint::Sign::Minus { "-" } else { "" };
    let digits = format!("{:0>1$}", unscaled.magnitude().to_string(), usize::from(*scale) + 1);
    let (whole, fraction) = digits.split_at(digits.len() - usize::from(*scale));
    Decimal::parse_exact(&format!("{negative}{whole}.{fraction}")).expect("a decimal")
}

fn up(unscaled: &BigInt, by: u8) -> BigInt {
    unscaled * BigInt::from(10).pow(by.into())
}

fn same(ours: std::result::Result<Decimal, decimal::Overflow>, unscaled: BigInt, scale: u8) {
    let digits = unscaled.magnitude().to_string().len();
    match ours {
        Ok(ours) if digits <= 65 => assert_eq!(ours, decimal(&(unscaled, scale))),
        Ok(_) => {}
        Err(_) => assert!(digits > 65, "{unscaled} fits"),
    }
}

fn some_bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..most)
}

/// A text in the character set of a collation, if that has characters, and all of these.
fn own(collation: Collation, text: &str) -> Option<Vec<u8>> {
    let mut own = Vec::new();
    let converted = Charset::Utf8mb4.convert(text.as_bytes(), collation.charset(), &mut own);
    (converted.replaced == 0 && collation.charset() != Charset::Binary).then_some(own)
}

fn weights(collation: Collation, text: &[u8]) -> Vec<u8> {
    let mut weights = Vec::new();
    collation.append_weight_string(text, None, &mut weights);
    weights
}

proptest! {
    #[test]
    fn decimals_compute_as_big_integers_do(a in number(), b in number()) {
        let scale = a.1.max(b.1);
        let (x, y) = (up(&a.0, scale - a.1), up(&b.0, scale - b.1));
        same(decimal(&a).add(&decimal(&b)), &x + &y, scale);
        same(decimal(&a).sub(&decimal(&b)), &x - &y, scale);
        prop_assert_eq!(decimal(&a).cmp(&decimal(&b)), x.cmp(&y));
        if b.0 != BigInt::ZERO {
            same(Ok(decimal(&a).rem(&decimal(&b)).expect("not by zero")), &x % &y, scale);
            same(decimal(&a).div_whole(&decimal(&b)).map(|whole| whole.expect("not by zero")), &x / &y, 0);
        }
        if a.1 + b.1 <= 38 {
            same(decimal(&a).mul(&decimal(&b)), &a.0 * &b.0, a.1 + b.1);
        }
    }

    #[test]
    fn packed_decimals_come_back_in_order(a in "-?[0-9]{1,35}", b in "-?[0-9]{1,35}", precision in 35u8..=65) {
        let scale = 30.min(precision - 35);
        let pack = |text: &str| {
            let (fitted, _) = Decimal::parse_exact(text).expect("digits").fit(precision, scale);
            let mut packed = Vec::new();
            fitted.append_packed(precision, &mut packed);
            assert_eq!(packed.len(), decimal::packed_len(precision));
            assert_eq!(decimal::unpack(&packed, scale), fitted);
            (fitted, packed)
        };
        let ((a, packed_a), (b, packed_b)) = (pack(&a), pack(&b));
        prop_assert_eq!(a.cmp(&b), packed_a.cmp(&packed_b));
    }

    #[test]
    fn doubles_come_back_from_their_text(bits: u64) {
        let number = f64::from_bits(bits);
        prop_assume!(number.is_finite());
        let mut text = Vec::new();
        double::append_double(number, &mut text);
        prop_assert_eq!(double::parse_double(&text).value, number);
    }

    #[test]
    fn sort_keys_order_as_texts_do(
        a in "[ a-dA-D\tß~é日😀]{0,6}",
        b in "[ a-dA-D\tß~é日😀]{0,6}",
        more in "[a-c ]{0,14}",
    ) {
        for collation in Collation::ALL {
            let own = |text: &str| {
                let mut out = Vec::new();
                Charset::Utf8mb4.convert(text.as_bytes(), collation.charset(), &mut out);
                out
            };
            let key = |text: &[u8]| {
                let mut key = Vec::new();
                collation.append_sort_key(text, None, &mut key);
                key
            };
            let (a, b) = (own(&a), own(&b));
            let order = collation.compare(&a, &b);
            prop_assert_eq!(order, key(&a).cmp(&key(&b)), "{} {:?} {:?}", collation.name(), a, b);
            let a = [&a[..], &own(&more)].concat();
            let mut front = key(&a);
            front.resize(16, 0);
            prop_assert_eq!(collation.sort_key_head(&a).to_be_bytes().to_vec(), front, "{}", collation.name());
        }
    }

    /// Words are written at a stretch, and other characters one by one.
    #[test]
    fn a_sort_key_is_made_of_those_of_its_characters(text in "[a-dA-Dß~é日😀]{0,6}[a-d]{0,90}[a-dß😀]{0,3}") {
        for collation in Collation::ALL {
            let key = |text: &str| {
                let (mut own, mut key) = (Vec::new(), Vec::new());
                Charset::Utf8mb4.convert(text.as_bytes(), collation.charset(), &mut own);
                collation.append_sort_key(&own, None, &mut key);
                key
            };
            // What is behind all texts that are not blank.
            let end = key("");
            let mut expected: Vec<u8> = Vec::new();
            for character in text.chars() {
                let own = key(character.encode_utf8(&mut [0; 4]));
                expected.extend_from_slice(&own[..own.len() - end.len()]);
            }
            expected.extend_from_slice(&end);
            prop_assert_eq!(key(&text), expected, "{} {}", collation.name(), text);
        }
    }

    /// An index finds all that a pattern can match.
    #[test]
    fn what_matches_a_pattern_begins_as_the_pattern(
        head in "[a-cA-C \u{e4}\u{df}\u{301}_%\\\\]{0,5}",
        text in "[a-cA-C \u{e4}\u{df}\u{301}s_%]{0,8}",
        characters in 1usize..6,
    ) {
        let pattern = format!("{head}%");
        for collation in Collation::ALL {
            for text in [text.clone(), format!("{}{text}", head.replace(['\\', '%'], ""))] {
                if !collation.like(text.as_bytes(), pattern.as_bytes(), Some(92)) {
                    continue;
                }
                for characters in [None, Some(characters)] {
                    let (mut beginning, mut key) = (Vec::new(), Vec::new());
                    collation.append_like_range(pattern.as_bytes(), Some(92), characters, &mut beginning);
                    collation.append_sort_key(text.as_bytes(), characters, &mut key);
                    prop_assert!(key.starts_with(&beginning), "{text:?} like {pattern:?} in {}", collation.name());
                }
            }
        }
    }

    /// LIKE is what its definition says, however far it goes back.
    #[test]
    fn a_pattern_matches_as_it_is_defined(
        text in "[abAsB_%|1éß\u{301}\u{1} ]{0,12}",
        pattern in "[abAsB_%|1éß\u{301}\u{1} ]{0,7}",
    ) {
        fn matches(collation: Collation, text: &[char], pattern: &[char]) -> bool {
            let weight = |character: char| weights(collation, &own(collation, &character.to_string()).expect("as the whole"));
            let same = |one: char, other: char| weight(one) == weight(other);
            match (pattern, text) {
                ([], _) => text.is_empty(),
                (['|', literal, rest @ ..], _) => {
                    text.first().is_some_and(|&first| same(first, *literal)) && matches(collation, &text[1..], rest)
                }
                (['%', rest @ ..], _) => (0..=text.len()).any(|at| matches(collation, &text[at..], rest)),
                (_, []) => false,
                (['_', rest @ ..], [_, behind @ ..]) => matches(collation, behind, rest),
                ([literal, rest @ ..], [first, behind @ ..]) => {
                    same(*literal, *first) && matches(collation, behind, rest)
                }
            }
        }
        let (texts, patterns): (Vec<char>, Vec<char>) = (text.chars().collect(), pattern.chars().collect());
        for &collation in Collation::ALL {
            let (Some(own_text), Some(own_pattern)) = (own(collation, &text), own(collation, &pattern)) else { continue };
            let expected = matches(collation, &texts, &patterns);
            let found = collation.like(&own_text, &own_pattern, Some(u32::from(b'|')));
            prop_assert_eq!(found, expected, "{:?} LIKE {:?}, {:?}", text, pattern, collation);
        }
    }

    /// A text is found where the weights of what follows begin with its own.
    #[test]
    fn a_text_is_found_as_it_is_defined(
        text in "[abAsB1éß\u{301}\u{1}\\[Ä ]{0,12}",
        wanted in "[abAsB1éß\u{301}\u{1}\\[Ä ]{0,4}",
        from in 0usize..14,
    ) {
        let characters: Vec<char> = text.chars().collect();
        for &collation in Collation::ALL {
            let (Some(own_text), Some(own_wanted)) = (own(collation, &text), own(collation, &wanted)) else { continue };
            let behind = |at: usize| own(collation, &characters[at..].iter().collect::<String>()).expect("as the whole");
            let begins = |at: &usize| {
                let behind = behind(*at);
                own_wanted.is_empty()
                    || !behind.is_empty() && weights(collation, &behind).starts_with(&weights(collation, &own_wanted))
            };
            let expected = (from..=characters.len()).find(begins);
            let found = collation.find(&own_text, &own_wanted, from);
            prop_assert_eq!(found.map(|found| found.0), expected, "{:?} in {:?}, {:?}", wanted, text, collation);
            if let Some((number, at)) = found {
                prop_assert_eq!(own_text.len() - at, behind(number).len());
            }
        }
    }


    #[test]
    fn any_bytes_are_some_text(a in some_bytes(12), b in some_bytes(8)) {
        for collation in Collation::ALL {
            let mut out = Vec::new();
            prop_assert_eq!(collation.compare(&a, &b), collation.compare(&b, &a).reverse());
            collation.like(&a, &b, Some(92));
            collation.find(&a, &b, 1);
            collation.append_upper(&a, &mut out);
            collation.append_weight_string(&a, Some(3), &mut out);
            collation.append_like_range(&b, Some(92), None, &mut out);
            collation.charset().substring(&a, 1, 2);
            collation.charset().append_reversed(&a, &mut out);
        }
        temporal::parse_datetime(&a, SqlMode::NONE);
        temporal::parse_time(&a, SqlMode::NONE);
        temporal::scan_date(&a, &b);
        Decimal::parse(&a);
        double::parse_double(&a);
        let _ = json::parse(&a);
        let _ = json::Path::parse(&b);
    }

    #[test]
    fn damaged_documents_are_read_without_panic(at: prop::sample::Index, byte: u8, cut: prop::sample::Index) {
        let text = br#"{"a": [1, -2.5, "text", null, true, {"b": 18446744073709551615}], "key": 70000, "d": [[[]]]}"#;
        let mut document = json::parse(text).expect("JSON").to_document().expect("shallow");
        let place = at.index(document.len());
        document[place] = byte;
        document.truncate(cut.index(document.len()) + 1);
        let mut out = Vec::new();
        json::append_text(&document, &mut out);
        json::compare(&document, &document);
        json::extract(&document, &[json::Path::parse(b"$**.b").expect("a path")]);
        json::Element::root(&document).depth();
    }

    #[test]
    fn stored_bytes_load_as_something(
        bytes in some_bytes(40),
        micros in -3_020_399_000_000i64..=3_020_399_000_000,
        decimals in 0u8..=6,
    ) {
        let arena = Bump::new();
        for data_type in [
            DataType::decimal(65, 30),
            DataType::Date,
            DataType::Time { decimals },
            DataType::DateTime { decimals },
            DataType::Timestamp { decimals },
            DataType::Bit { width: 64 },
            DataType::Json,
        ] {
            data_type.load(Stored::Bytes(&bytes), &Zone::UTC).to_text(&arena);
        }
        let time = Time::from_micros(micros).0.round(decimals, true).0;
        let mut packed = Vec::new();
        time.append_packed(decimals, &mut packed);
        prop_assert_eq!(Time::unpack(&packed), time);
        if let Some(value) = DateTime::from_total_micros(micros.unsigned_abs() as i64 * 90 + 40_000_000_000_000_000) {
            let value = value.round(decimals, true).expect("a year below 9999");
            packed.clear();
            value.append_packed(decimals, &mut packed);
            prop_assert_eq!(DateTime::unpack(&packed), value);
        }
    }
}

#[test]
fn each_day_has_a_number() {
    for number in 1..=3_652_424 {
        let date = temporal::from_day_number(number).expect("a day");
        assert_eq!(temporal::day_number(date), number);
    }
    assert_eq!(temporal::from_day_number(3_652_425), None);
}

#[test]
fn zones_know_gaps() {
    let zone = Zone::parse("Europe/Rome").expect("a zone");
    let at = |text: &str| temporal::parse_datetime(text.as_bytes(), SqlMode::NONE).value.expect("a date");
    assert_eq!(zone.to_utc(at("2024-07-01 12:00:00")), Some(temporal::Instant::At(1_719_828_000)));
    assert_eq!(zone.to_utc(at("2024-03-31 02:30:00")), Some(temporal::Instant::InGap(1_711_846_800)));
    assert_eq!(zone.from_utc(1_719_828_000, 0), Some(at("2024-07-01 12:00:00")));
    assert!(Zone::parse("Nowhere/Land").is_err_and(|error| error.number == 1298));
}

#[test]
fn types_print_as_show_create_table_does() {
    let zerofill = Number { unsigned: true, zerofill: true };
    let int = DataType::Integer { size: IntegerSize::Int, number: zerofill, display_width: None };
    assert_eq!(int.to_string(), "int(10) unsigned zerofill");
    assert_eq!(DataType::integer(IntegerSize::Big, true).to_string(), "bigint unsigned");
    assert_eq!(DataType::DateTime { decimals: 3 }.to_string(), "datetime(3)");
    let latin1 = DataType::varchar(10, Collation::Latin1SwedishCi);
    let declaration = latin1.declaration(Collation::Utf8mb4_0900AiCi);
    assert_eq!(declaration, "varchar(10) CHARACTER SET latin1 COLLATE latin1_swedish_ci");
    let mut text = Vec::new();
    int.append_text(Datum::Unsigned(7), &mut text);
    assert_eq!(text, b"0000000007");
}
