//! Functions: their arguments, and what a function's own binder works with.

use meseta_errors::{ER_M_BIGGER_THAN_D, ER_TOO_BIG_PRECISION, ER_TOO_BIG_SCALE, ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT};
use meseta_parser::ast::{self, CallExtra};
use meseta_types::json::Path;
use meseta_types::{CastType, Charset, Collated, Collation, DataType, Derivation};

use super::operator::{comparer_of, interval_unit, is_given_text, numeric_operand, result_of};
use super::parameter::{exact_beside, point_beside_dates, text_parameter_of};
use super::{BindFacts, Binder, unify, unify_compared};
use crate::error::{Error, Result};
use crate::expression::comparer::Comparer;
use crate::expression::function::{self, Function};
use crate::expression::kind::{Call, ExprKind, Extra, JsonFallback, JsonValue};
use crate::expression::typing::{self, collated_of};
use crate::expression::value::Value;
use crate::expression::{Expr, merge_types};

/// The arguments of a call, bound; what a function's binder looks at and changes.
pub(in crate::expression) struct Arguments<'b, 'f> {
    pub name: &'static str,
    pub list: Vec<Expr>,
    pub extra: Extra,
    pub facts: &'b BindFacts<'f>,
}

/// What a function's binder finds out.
pub(in crate::expression) struct Typed {
    pub data_type: DataType,
    pub nullable: bool,
    pub collated: Collated,
}

impl Typed {
    pub fn nullable(self) -> Typed {
        Typed { nullable: true, ..self }
    }

    pub fn not_null(self) -> Typed {
        Typed { nullable: false, ..self }
    }
}

impl Arguments<'_, '_> {
    /// A result of a type, NULL if an argument is.
    pub fn typed(&self, data_type: DataType) -> Typed {
        let collated = collated_of(&data_type, Derivation::Coercible, self.facts.collation);
        Typed { data_type, nullable: self.list.iter().any(|argument| argument.nullable), collated }
    }

    /// A text of so many characters, with this collation.
    pub fn text(&self, characters: u64, collated: Collated) -> Typed {
        let data_type = typing::string_type(characters, collated.collation);
        Typed { data_type, nullable: self.list.iter().any(|argument| argument.nullable), collated }
    }

    /// A text of ASCII in the connection's character set.
    pub fn ascii(&self, characters: u64) -> Typed {
        let collated = Collated { collation: self.facts.collation, derivation: Derivation::Coercible, ascii: true };
        self.text(characters, collated)
    }

    /// A text of ASCII that is announced as CHAR: of dates.
    pub fn ascii_char(&self, length: u32) -> Typed {
        let data_type = DataType::Char { length, collation: self.facts.collation };
        Typed { data_type, ..self.ascii(length.into()) }
    }

    /// Bytes.
    pub fn bytes(&self, length: u64) -> Typed {
        let collated = Collated { collation: Collation::Binary, derivation: Derivation::Coercible, ascii: false };
        self.text(length, collated)
    }

    /// A text of the session, in utf8mb3.
    pub fn system_text(&self, characters: u64) -> Typed {
        let collated =
            Collated { collation: Collation::Utf8mb3GeneralCi, derivation: Derivation::SystemConstant, ascii: true };
        self.text(characters, collated)
    }

    pub fn argument(&self, number: usize) -> Option<&Expr> {
        self.list.get(number)
    }

    pub fn type_of(&self, number: usize) -> &DataType {
        self.list.get(number).map_or(&DataType::Null, |argument| &argument.data_type)
    }

    /// Characters of an argument's longest text.
    pub fn characters(&self, number: usize) -> u64 {
        self.list.get(number).map_or(0, |argument| typing::characters(&argument.data_type))
    }

    /// Puts some arguments into one character set, and says which collation is theirs.
    pub fn unify(&mut self, from: usize, to: usize) -> Result<Collated> {
        let name = self.name;
        let facts = self.facts;
        let to = to.min(self.list.len());
        let mut some: Vec<&mut Expr> = self.list.iter_mut().take(to).skip(from).collect();
        unify(&mut some, name, facts)
    }

    /// Makes some arguments comparable with each other as texts.
    pub fn unify_compared(&mut self, from: usize, to: usize) -> Result<Collated> {
        let name = self.name;
        let facts = self.facts;
        let to = to.min(self.list.len());
        let mut some: Vec<&mut Expr> = self.list.iter_mut().take(to).skip(from).collect();
        unify_compared(&mut some, name, facts)
    }

    /// The common type of some arguments.
    pub fn common_type(&mut self, from: usize) -> Result<(DataType, Collated)> {
        let name = self.name;
        let facts = self.facts;
        let mut some: Vec<&mut Expr> = self.list.iter_mut().skip(from).collect();
        result_of(&mut some, name, facts)
    }

    /// How two arguments compare, texts in this collation.
    pub fn comparer(&self, left: usize, right: usize, collation: Collation) -> Comparer {
        match (self.list.get(left), self.list.get(right)) {
            (Some(left), Some(right)) => {
                let refuses = is_given_text(left) || is_given_text(right);
                Comparer { refuses, ..comparer_of(left, right, collation) }
            }
            _ => Comparer::open(collation),
        }
    }

    /// Hexadecimal literals become numbers.
    pub fn numbers(&mut self) {
        self.list = std::mem::take(&mut self.list).into_iter().map(numeric_operand).collect();
    }

    /// A hexadecimal literal becomes a number.
    pub fn number(&mut self, number: usize) {
        self.exchange(number, numeric_operand);
    }

    /// The same; and a column of TEXT becomes the number that it begins with.
    pub fn double(&mut self, number: usize) {
        self.exchange(number, |argument| numeric_operand(argument).double_operand());
    }

    /// Puts something else for an argument, if it is there.
    fn exchange(&mut self, number: usize, other: impl FnOnce(Expr) -> Expr) {
        if number < self.list.len() {
            let argument = self.list.remove(number);
            self.list.insert(number, other(argument));
        }
    }

    /// An argument becomes what it is beside dates, another argument, as [`point_beside_dates`] has it.
    pub fn point_beside_dates(&mut self, number: usize, dates: usize) {
        if number < self.list.len() {
            let argument = self.list.remove(number);
            self.list.insert(number, point_beside_dates(&self.list[dates], argument, self.facts));
        }
    }

    /// Texts of parameters become numbers, if all else are exact ones.
    pub fn exact_parameters(&mut self) {
        let mut others = DataType::Null;
        for argument in self.list.iter().filter(|argument| text_parameter_of(argument, self.facts).is_none()) {
            others = merge_types(&others, &argument.data_type, self.facts.collation);
        }
        let list = std::mem::take(&mut self.list).into_iter();
        self.list = list.map(|argument| exact_beside(&others, argument, self.facts)).collect();
    }

    /// A constant argument as an integer.
    pub fn constant_integer(&self, number: usize) -> Option<i64> {
        let mut context = meseta_types::Context::new(self.facts.mode);
        self.list
            .get(number)?
            .as_constant()?
            .to_integer(&mut context)
            .map(|(number, unsigned)| if unsigned { i64::try_from(number as u64).unwrap_or(i64::MAX) } else { number })
    }

    /// Paths that are constants, read once: every so many arguments, from one on. NULL ones, wrong ones and others are left to the
    /// evaluation.
    pub fn constant_paths(&mut self, from: usize, step: usize) {
        let mut paths = Vec::new();
        for argument in self.list.iter().skip(from).step_by(step) {
            match argument.as_constant() {
                Some(meseta_types::Datum::Text(text, _)) => match Path::parse(text) {
                    Ok(path) => paths.push(path),
                    Err(_) => return,
                },
                _ => return,
            }
        }
        if !paths.is_empty() {
            self.extra = Extra::Paths(paths.into());
        }
    }
}

impl Binder<'_, '_> {
    pub(super) fn call(&mut self, call: &ast::Call<'_>) -> Result<Expr> {
        let written = String::from_utf8_lossy(call.name.name.text.0);
        let name = written.to_lowercase();
        let arguments = call.arguments.iter().map(|argument| self.any(argument)).collect::<Result<Vec<_>>>()?;
        let native = if call.name.schema.is_none() { function::find(&name) } else { None };
        let Some(native) = native else {
            if call.name.schema.is_none() && function::is_missing(&name) {
                return Err(Error::not_yet(&name.to_uppercase()));
            }
            return self.scope.stored_function(&call.name, arguments);
        };
        let extra = match &call.extra {
            CallExtra::None | CallExtra::NoParentheses => Extra::None,
            CallExtra::Unit(unit) => Extra::Unit(interval_unit(*unit)),
            CallExtra::FormatOf(kind) => Extra::Text(
                match kind {
                    ast::TemporalFormat::Date => "date",
                    ast::TemporalFormat::Time => "time",
                    ast::TemporalFormat::Datetime => "datetime",
                }
                .into(),
            ),
            CallExtra::Trim(side) => Extra::Sides(*side != ast::TrimSide::Trailing, *side != ast::TrimSide::Leading),
            CallExtra::Using(name) => Extra::Charset(Charset::parse(&String::from_utf8_lossy(name))?),
            CallExtra::WeightString { binary, length } => {
                Extra::Weight(*binary, Some(parse_number(length).unwrap_or(u64::MAX).min(65_535) as u32))
            }
            CallExtra::Aliases(_) => {
                return Err(Error::new(meseta_errors::ER_WRONG_PARAMETERS_TO_NATIVE_FCT, &[&native.name]));
            }
        };
        let describes =
            call.arguments.first().map(|first| super::describe::describe(first, self.facts.text, &*self.scope));
        let extra = match (extra, describes) {
            (Extra::None, Some(text)) if native.describes => Extra::Text(if call.arguments.len() > 1 {
                let rest: Vec<Box<str>> = call
                    .arguments
                    .iter()
                    .map(|argument| super::describe::describe(argument, self.facts.text, &*self.scope))
                    .collect();
                format!("{}({})", native.name, rest.join(",")).into()
            } else {
                format!("{}({text})", native.name).into()
            }),
            (extra, _) => extra,
        };
        self.build_native(native, &written, arguments, extra)
    }

    /// A call of one of our own by its name in the table.
    pub(super) fn internal_call(&mut self, name: &str, arguments: &[ast::Expression<'_>]) -> Result<Expr> {
        let arguments = arguments.iter().map(|argument| self.any(argument)).collect::<Result<Vec<_>>>()?;
        self.build(name, arguments, Extra::None)
    }

    pub(super) fn build(&mut self, name: &str, arguments: Vec<Expr>, extra: Extra) -> Result<Expr> {
        match function::find(name) {
            Some(native) => self.build_native(native, native.name, arguments, extra),
            None => Err(Error::not_yet(&name.to_uppercase())),
        }
    }

    fn build_native(
        &mut self,
        native: &'static Function,
        written: &str,
        list: Vec<Expr>,
        extra: Extra,
    ) -> Result<Expr> {
        let count = list.len();
        if count < native.least.into() || (native.most != u8::MAX && count > native.most.into()) {
            return Err(Error::new(ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, &[&written]));
        }
        let list = list.into_iter().map(Expr::check_scalar).collect::<Result<Vec<_>>>()?;
        let mut arguments = Arguments { name: native.name, list, extra, facts: self.facts };
        let typed = (native.bind)(&mut arguments)?;
        let call = Call { function: native, arguments: arguments.list, extra: arguments.extra };
        let Typed { data_type, nullable, collated } = typed;
        let nullable = nullable || native.is_always_nullable();
        Ok(Expr { kind: ExprKind::Call(Box::new(call)), data_type, nullable, collated }.fold(self.facts.mode))
    }

    pub(super) fn json_path(
        &mut self,
        column: &ast::ColumnName<'_>,
        path: &ast::Text<'_>,
        unquote: bool,
    ) -> Result<Expr> {
        let document = self.column(column)?;
        let collation = self.facts.collation;
        let path_type = typing::string_type(path.len() as u64, collation);
        let path = Expr::constant(Value::Text(path.0.into(), collation), path_type, collation);
        let found = self.build("json_extract", vec![document, path], Extra::None)?;
        if unquote { self.build("json_unquote", vec![found], Extra::None) } else { Ok(found) }
    }

    pub(super) fn json_value(&mut self, call: &ast::JsonValue<'_>) -> Result<Expr> {
        let document = self.scalar(&call.document)?;
        let path = Path::parse(&call.path)?;
        let target = match &call.returning {
            Some(target) => cast_type(target, self.facts)?,
            None => CastType::Char(Some(512), Collation::Utf8mb4_0900AiCi),
        };
        let mut fallback = |given: &Option<ast::JsonFallback<'_>>| -> Result<JsonFallback> {
            Ok(match given {
                None | Some(ast::JsonFallback::Null) => JsonFallback::Null,
                Some(ast::JsonFallback::Error) => JsonFallback::Error,
                Some(ast::JsonFallback::Default(value)) => {
                    let value = self.scalar(value)?;
                    JsonFallback::Default(self.cast_to(value, target, "json_value".into()).fold(self.facts.mode))
                }
            })
        };
        let (on_empty, on_error) = (fallback(&call.on_empty)?, fallback(&call.on_error)?);
        let extra = Extra::JsonValue(Box::new(JsonValue { path, target, on_empty, on_error }));
        let template = self.cast_to(document, target, "json_value".into());
        let (data_type, collated) = (template.data_type, template.collated);
        let ExprKind::Cast(cast) = template.kind else { return Err(Error::not_yet("JSON_VALUE of this")) };
        let Some(native) = function::find("json_value") else { return Err(Error::not_yet("JSON_VALUE")) };
        let call = Call { function: native, arguments: vec![cast.operand], extra };
        Ok(Expr { kind: ExprKind::Call(Box::new(call)), data_type, nullable: true, collated })
    }
}

pub(super) fn parse_number(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// The type that CAST names. Errors: 1426 (precision), 1425 (scale).
pub(in crate::expression) fn cast_type(target: &ast::CastType<'_>, facts: &BindFacts<'_>) -> Result<CastType> {
    let number =
        |digits: &Option<ast::Text<'_>>| digits.as_ref().map(|digits| parse_number(digits).unwrap_or(u64::MAX));
    let length = |digits: &Option<ast::Text<'_>>| -> Option<u32> {
        number(digits).map(|length| u32::try_from(length).unwrap_or(u32::MAX))
    };
    let fraction = |digits: &Option<ast::Text<'_>>, name: &str| -> Result<u8> {
        let decimals = number(digits).unwrap_or(0);
        if decimals > 6 {
            return Err(Error::new(ER_TOO_BIG_PRECISION, &[&decimals, &name, &6]));
        }
        Ok(decimals as u8)
    };
    Ok(match target {
        ast::CastType::Binary { length: digits } => CastType::Binary(length(digits)),
        ast::CastType::Char { length: digits, character_set, binary, national } => {
            let charset = match character_set {
                Some(name) => Charset::parse(&String::from_utf8_lossy(name))?,
                None if *national => Charset::Utf8mb3,
                None => facts.collation.charset(),
            };
            let collation = if *binary {
                charset.binary_collation()
            } else if charset == facts.collation.charset() {
                facts.collation
            } else {
                charset.default_collation()
            };
            match collation {
                Collation::Binary => CastType::Binary(length(digits)),
                _ => CastType::Char(length(digits), collation),
            }
        }
        ast::CastType::Signed => CastType::Signed,
        ast::CastType::Unsigned => CastType::Unsigned,
        ast::CastType::Date => CastType::Date,
        ast::CastType::Year => CastType::Year,
        ast::CastType::Time { precision } => CastType::Time(fraction(precision, "CAST")?),
        ast::CastType::Datetime { precision } => CastType::DateTime(fraction(precision, "CAST")?),
        ast::CastType::Decimal { precision, scale } => {
            let precision = number(precision).filter(|precision| *precision > 0).unwrap_or(10);
            let scale = number(scale).unwrap_or(0);
            if scale > 30 {
                return Err(Error::new(ER_TOO_BIG_SCALE, &[&scale, &"CAST", &30]));
            }
            if precision > 65 {
                return Err(Error::new(ER_TOO_BIG_PRECISION, &[&precision, &"CAST", &65]));
            }
            if scale > precision {
                return Err(Error::new(ER_M_BIGGER_THAN_D, &[&""]));
            }
            CastType::Decimal(precision as u8, scale as u8)
        }
        ast::CastType::Json => CastType::Json,
        ast::CastType::Real | ast::CastType::Double => CastType::Double,
        ast::CastType::Float { precision } => match number(precision) {
            None | Some(..=24) => CastType::Float,
            Some(25..=53) => CastType::Double,
            Some(other) => return Err(Error::new(ER_TOO_BIG_PRECISION, &[&other, &"CAST", &53])),
        },
        ast::CastType::Vector { .. } => return Err(Error::not_yet("VECTOR")),
        ast::CastType::Geometry(_) => return Err(Error::not_yet("geometry")),
    })
}

/// The type of MOD's result.
pub(in crate::expression) fn modulo_type(left: &DataType, right: &DataType) -> DataType {
    super::operator::arithmetic_type(meseta_types::arithmetic::Operator::Modulo, left, right, 4, false)
}

impl Expr {
    /// Has it yield values of this type: of a column that others are part of, too.
    pub(crate) fn conform_to(&mut self, data_type: &DataType) {
        let Some(function) = function::find("coalesce").filter(|_| self.data_type != *data_type) else { return };
        let nothing = Expr::constant(Value::NULL, DataType::Null, self.collated.collation);
        let inner = std::mem::replace(self, nothing);
        let collated = super::typing::collated_of(data_type, inner.collated.derivation, inner.collated.collation);
        let nullable = inner.nullable;
        let call = Call { function, arguments: vec![inner], extra: Extra::None };
        *self = Expr { kind: ExprKind::Call(Box::new(call)), data_type: data_type.clone(), nullable, collated };
    }
}
