//! Maps the names of types to what their columns hold.

use crate::schema::Type;

/// Whole numbers of so many bytes.
pub fn integer(bytes: u32, signed: bool) -> Type {
    let bits = bytes * 8;
    if signed {
        let half = 1_i128 << (bits - 1);
        Type::Int { min: -half, max: half - 1 }
    } else {
        // What is known of highest values is 64 bits wide.
        Type::Int { min: 0, max: ((1_i128 << bits) - 1).min(i64::MAX.into()) }
    }
}

/// The numbers in the first brackets: `numeric(10,2)`.
fn arguments(name: &str) -> Vec<u32> {
    let inner = name.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
    let inner = inner.map_or("", |(inner, _)| inner);
    inner.split(',').filter_map(|part| part.trim().parse().ok()).collect()
}

fn decimal(arguments: &[u32], precision: u32, scale: u32) -> Type {
    let precision = arguments.first().copied().unwrap_or(precision).min(30);
    let scale = match arguments.len() {
        0 => scale,
        _ => arguments.get(1).copied().unwrap_or(0),
    };
    Type::Decimal { precision, scale: scale.min(30) }
}

/// A type as `format_type` of PostgreSQL prints it.
pub fn postgres(name: &str) -> Type {
    let arguments = arguments(name);
    if name.ends_with("[]") {
        return Type::Other;
    }
    let bare = name.split('(').next().unwrap_or_default().trim();
    match bare {
        "boolean" => Type::Bool,
        "smallint" => integer(2, true),
        "integer" => integer(4, true),
        "bigint" => integer(8, true),
        "numeric" => decimal(&arguments, 12, 2),
        "real" | "double precision" => Type::Float,
        "text" | "citext" => Type::Text { most: None },
        "character varying" => Type::Text { most: arguments.first().copied() },
        "character" | "\"char\"" => {
            Type::Text { most: Some(arguments.first().copied().unwrap_or(1)) }
        }
        "bytea" => Type::Bytes { most: None },
        "date" => Type::Date,
        "uuid" => Type::Uuid,
        "json" | "jsonb" => Type::Json,
        "inet" => Type::Inet,
        _ if bare.starts_with("timestamp") => {
            Type::Moment { micros: arguments.first().is_none_or(|digits| *digits > 0) }
        }
        _ if bare.starts_with("time") && !name.contains("with time zone") => Type::Time,
        _ => Type::Other,
    }
}

/// `COLUMN_TYPE` of MySQL's information schema.
pub fn mysql(name: &str) -> Type {
    let small = name.to_ascii_lowercase();
    let arguments = arguments(&small);
    let signed = !small.contains("unsigned");
    let bare: String = small.chars().take_while(char::is_ascii_alphanumeric).collect();
    let length = |of: u32| Some(arguments.first().copied().unwrap_or(of));
    match bare.as_str() {
        "tinyint" if small.starts_with("tinyint(1)") => Type::Bool,
        "bit" if small == "bit(1)" => Type::Bool,
        "bit" => {
            Type::Int { min: 0, max: (1_i128 << length(1).map_or(1, |bits| bits.min(64))) - 1 }
        }
        "tinyint" => integer(1, signed),
        "smallint" => integer(2, signed),
        "mediumint" => integer(3, signed),
        "int" | "integer" => integer(4, signed),
        "bigint" => integer(8, signed),
        "year" => Type::Int { min: 1901, max: 2155 },
        "decimal" | "numeric" => decimal(&arguments, 10, 0),
        "float" | "double" | "real" => Type::Float,
        "char" | "varchar" => Type::Text { most: length(1) },
        "tinytext" => Type::Text { most: Some(63) },
        "text" | "mediumtext" | "longtext" => Type::Text { most: Some(16_000) },
        "binary" | "varbinary" => Type::Bytes { most: length(1) },
        "tinyblob" | "blob" | "mediumblob" | "longblob" => Type::Bytes { most: Some(255) },
        "date" => Type::Date,
        "time" => Type::Time,
        "datetime" | "timestamp" => {
            Type::Moment { micros: arguments.first().is_some_and(|digits| *digits >= 6) }
        }
        "json" => Type::Json,
        "uuid" => Type::Uuid,
        "inet4" => Type::Inet,
        "inet6" => Type::Inet6,
        "enum" => Type::Enum(quoted(name)),
        "set" => match quoted(name) {
            values if values.is_empty() => Type::Other,
            values => Type::Enum(values),
        },
        _ => Type::Other,
    }
}

/// The texts in `enum('a','it''s')`.
fn quoted(name: &str) -> Vec<String> {
    let (mut values, mut current, mut inside) = (Vec::new(), String::new(), false);
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, inside) {
            ('\'', true) if chars.peek() == Some(&'\'') => {
                chars.next();
                current.push('\'');
            }
            ('\\', true) => current.extend(chars.next().map(|escaped| match escaped {
                'n' => '\n',
                'r' => '\r',
                other => other,
            })),
            ('\'', true) => {
                values.push(std::mem::take(&mut current));
                inside = false;
            }
            ('\'', false) => inside = true,
            (c, true) => current.push(c),
            _ => {}
        }
    }
    values
}

/// A declared type in SQLite: its rules of affinity, and before them what the name says to people.
pub fn sqlite(declared: &str) -> Type {
    let small = declared.to_ascii_lowercase();
    let arguments = arguments(&small);
    let has = |word: &str| small.contains(word);
    match () {
        () if has("bool") => Type::Bool,
        () if has("datetime") || has("timestamp") => Type::Moment { micros: false },
        () if small == "date" => Type::Date,
        () if small == "time" => Type::Time,
        () if has("uuid") || has("guid") => Type::Uuid,
        () if has("json") => Type::Json,
        () if has("int") => integer(8, true),
        () if has("char") || has("clob") || has("text") => {
            Type::Text { most: arguments.first().copied() }
        }
        () if has("decimal") || has("numeric") => decimal(&arguments, 12, 2),
        () if has("real") || has("floa") || has("doub") => Type::Float,
        () if has("blob") => Type::Bytes { most: None },
        () if small.is_empty() => Type::Text { most: None },
        () => Type::Decimal { precision: 12, scale: 2 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_told_by_their_names() {
        assert_eq!(postgres("numeric(10,2)"), Type::Decimal { precision: 10, scale: 2 });
        assert_eq!(postgres("numeric(2,4)"), Type::Decimal { precision: 2, scale: 4 });
        assert_eq!(postgres("character varying(80)"), Type::Text { most: Some(80) });
        assert_eq!(postgres("timestamp(0) with time zone"), Type::Moment { micros: false });
        assert_eq!(postgres("timestamp without time zone"), Type::Moment { micros: true });
        assert_eq!(postgres("time with time zone"), Type::Other);
        assert_eq!(postgres("integer[]"), Type::Other);
        assert_eq!(mysql("int(10) unsigned"), Type::Int { min: 0, max: u32::MAX.into() });
        assert_eq!(mysql("tinyint(1)"), Type::Bool);
        assert_eq!(mysql("bit(1)"), Type::Bool);
        assert_eq!(mysql("bit(8)"), Type::Int { min: 0, max: 255 });
        assert_eq!(mysql("bit(64)"), Type::Int { min: 0, max: u64::MAX.into() });
        assert_eq!(
            mysql(r"enum('a','it''s','b,c','d\\e')"),
            Type::Enum(vec!["a".into(), "it's".into(), "b,c".into(), r"d\e".into()])
        );
        assert_eq!(mysql("inet4"), Type::Inet);
        assert_eq!(mysql("inet6"), Type::Inet6);
        assert_eq!(mysql("datetime(6)"), Type::Moment { micros: true });
        assert_eq!(sqlite("VARCHAR(20)"), Type::Text { most: Some(20) });
        assert_eq!(sqlite("INTEGER"), integer(8, true));
    }
}
