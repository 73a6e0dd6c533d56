//! What single variables ask of their values beyond their type: names of character sets, zones, engines, locales.

use meseta_errors::{
    ER_INVALID_DEFAULT_UTF8MB4_COLLATION, ER_UNKNOWN_CHARACTER_SET, ER_UNKNOWN_COLLATION, ER_UNKNOWN_STORAGE_ENGINE,
    ErrorCode,
};
use meseta_types::{Charset, Collation, SqlError, Warnings, Zone};

use super::convert::{convert, text_of, wrong_type, wrong_value};
use super::registry::{Definition, Variable};
use super::sql_mode::SqlModes;
use super::value::{Input, Value};
use crate::error::{Error, Result};

/// Of a locale that is not in the list.
const ER_UNKNOWN_LOCALE: ErrorCode = ErrorCode(1649);

/// The locales in MySQL's order: a number is a place in it.
const LOCALES: &str = "en_US en_GB ja_JP sv_SE de_DE fr_FR ar_AE ar_BH ar_JO ar_SA ar_SY be_BY bg_BG ca_ES cs_CZ da_DK \
    de_AT es_ES et_EE eu_ES fi_FI fo_FO gl_ES gu_IN he_IL hi_IN hr_HR hu_HU id_ID is_IS it_CH ko_KR lt_LT lv_LV mk_MK \
    mn_MN ms_MY nb_NO nl_NL pl_PL pt_BR pt_PT ro_RO ru_RU ru_UA sk_SK sl_SI sq_AL sr_RS ta_IN te_IN th_TH tr_TR uk_UA \
    ur_PK vi_VN zh_CN zh_TW ar_DZ ar_EG ar_IN ar_IQ ar_KW ar_LB ar_LY ar_MA ar_OM ar_QA ar_SD ar_TN ar_YE de_BE de_CH \
    de_LU en_AU en_CA en_IN en_NZ en_PH en_ZA en_ZW es_AR es_BO es_CL es_CO es_CR es_DO es_EC es_GT es_HN es_MX es_NI \
    es_PA es_PE es_PR es_PY es_SV es_US es_UY es_VE fr_BE fr_CA fr_CH fr_LU it_IT nl_BE no_NO sv_FI zh_HK el_GR rm_CH";

/// The engines that a table may be said to be of; all are ours.
const ENGINES: &[&str] = &[
    "InnoDB",
    "MyISAM",
    "MEMORY",
    "CSV",
    "ARCHIVE",
    "BLACKHOLE",
    "MRG_MYISAM",
    "FEDERATED",
    "ndbcluster",
    "PERFORMANCE_SCHEMA",
];

/// A value that the variable can have.
pub(super) fn check(
    definition: &Definition,
    input: Input<'_>,
    current: &Value,
    warnings: &mut Warnings,
) -> Result<Value> {
    match definition.name {
        "sql_mode" => {
            let modes = match input {
                Input::Text(text) => {
                    let text = text_of(text);
                    SqlModes::parse(&text).map_err(|name| wrong_value(definition, &name))?
                }
                Input::Signed(number) => u64::try_from(number)
                    .ok()
                    .and_then(SqlModes::of_bits)
                    .ok_or_else(|| wrong_value(definition, &number))?,
                Input::Fraction(_) => return Err(wrong_type(definition)),
                other => return Err(wrong_value(definition, &other)),
            };
            Ok(Value::Text(modes.completed(warnings)?.text().into()))
        }
        "character_set_results" if input == Input::Null => Ok(Value::Null),
        "character_set_client"
        | "character_set_connection"
        | "character_set_results"
        | "character_set_database"
        | "character_set_server"
        | "character_set_filesystem" => {
            let charset = charset(definition, input)?;
            Ok(Value::text(charset.name()))
        }
        "collation_connection" | "collation_server" | "collation_database" | "default_collation_for_utf8mb4" => {
            let collation = collation(definition, input)?;
            let fits = matches!(collation, Collation::Utf8mb4_0900AiCi | Collation::Utf8mb4GeneralCi);
            if definition.name == "default_collation_for_utf8mb4" && !fits {
                return Err(Error::new(ER_INVALID_DEFAULT_UTF8MB4_COLLATION, &[&collation.name()]));
            }
            Ok(Value::text(collation.name()))
        }
        "lc_time_names" | "lc_messages" => {
            let mut locales = LOCALES.split_ascii_whitespace();
            let found = match input {
                Input::Signed(number) => usize::try_from(number).ok().and_then(|at| locales.nth(at)),
                Input::Text(text) => locales.find(|name| text.eq_ignore_ascii_case(name.as_bytes())),
                Input::Fraction(_) => return Err(wrong_type(definition)),
                other => return Err(wrong_value(definition, &other)),
            };
            let unknown = || Error { code: ER_UNKNOWN_LOCALE, message: format!("Unknown locale: '{input}'") };
            found.map(Value::text).ok_or_else(unknown)
        }
        "time_zone" => match convert(definition, input, current, warnings)? {
            Value::Text(name) => Ok(Value::text(Zone::parse(&normalised_offset(&name))?.name())),
            _ => Err(wrong_value(definition, &input)),
        },
        "default_storage_engine" | "default_tmp_storage_engine" => {
            match convert(definition, input, current, warnings)? {
                Value::Text(name) => {
                    let known = if name.eq_ignore_ascii_case("heap") { "MEMORY" } else { &*name };
                    let found = ENGINES.iter().find(|engine| engine.eq_ignore_ascii_case(known));
                    let engine = found.ok_or_else(|| Error::new(ER_UNKNOWN_STORAGE_ENGINE, &[&name]))?;
                    Ok(Value::text(engine))
                }
                _ => Err(wrong_value(definition, &input)),
            }
        }
        "log_output" if matches!(input, Input::Signed(0) | Input::Text(b"")) => Err(wrong_value(definition, &input)),
        "session_track_system_variables" => {
            let value = convert(definition, input, current, warnings)?;
            for name in value.as_text().split(',').map(str::trim).filter(|name| !name.is_empty() && *name != "*") {
                if Variable::find(name).is_none() {
                    let text = format!("{name} is not a valid system variable and will be ignored.");
                    warnings.warn(SqlError::new(1231, text));
                }
            }
            Ok(value)
        }
        "timestamp" => match convert(definition, input, current, warnings)? {
            Value::Double(seconds) if seconds < 0.0 => {
                warnings.warn(SqlError::new(1292, format!("Truncated incorrect timestamp value: '{input}'")));
                Ok(Value::Double(0.0))
            }
            Value::Double(seconds) if seconds > 2_147_483_647.999_999 => Err(wrong_value(definition, &input)),
            value => Ok(value),
        },
        _ => match convert(definition, input, current, warnings)? {
            Value::Null if !nullable(definition) => Err(wrong_value(definition, &Input::Null)),
            value => Ok(value),
        },
    }
}

/// Whether a text can be set to NULL.
fn nullable(definition: &Definition) -> bool {
    let known = ["init_connect", "init_replica", "init_slave", "session_track_system_variables"];
    definition.default == Value::Null
        || known.contains(&definition.name)
        || definition.name.starts_with("external_table_")
}

/// `+2:00`, `+02:0` as `+02:00`; anything else as it is.
fn normalised_offset(name: &str) -> std::borrow::Cow<'_, str> {
    let parts = || {
        let sign = name.chars().next().filter(|sign| matches!(sign, '+' | '-'))?;
        let (hours, minutes) = name.get(1..)?.split_once(':')?;
        let number = |text: &str| -> Option<u8> {
            let short = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
            short.then(|| text.parse().ok()).flatten()
        };
        Some(format!("{sign}{:02}:{:02}", number(hours)?, number(minutes)?))
    };
    parts().map_or(name.into(), Into::into)
}

/// The character set of a name, or of the number of one of its collations.
fn charset(definition: &Definition, input: Input<'_>) -> Result<Charset> {
    match input {
        Input::Text(text) => Ok(Charset::parse(&text_of(text))?),
        Input::Signed(number) => {
            let collation = u16::try_from(number).ok().and_then(Collation::from_id);
            Ok(collation.ok_or_else(|| Error::new(ER_UNKNOWN_CHARACTER_SET, &[&number]))?.charset())
        }
        Input::Fraction(_) => Err(wrong_type(definition)),
        other => Err(wrong_value(definition, &other)),
    }
}

fn collation(definition: &Definition, input: Input<'_>) -> Result<Collation> {
    match input {
        Input::Text(text) => Ok(Collation::parse(&text_of(text))?),
        Input::Signed(number) => u16::try_from(number)
            .ok()
            .and_then(Collation::from_id)
            .ok_or_else(|| Error::new(ER_UNKNOWN_COLLATION, &[&number])),
        Input::Fraction(_) => Err(wrong_type(definition)),
        other => Err(wrong_value(definition, &other)),
    }
}
