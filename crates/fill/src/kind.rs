//! What a column is about, by its name.
//!
//! Owns the words by which that is recognised. The values are made in `words` (texts) and `rows::plain` (numbers,
//! times).

use crate::schema::{Column, Table, Type};

/// What a column is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Address of a mailbox.
    Email,
    /// Telephone number.
    Phone,
    /// Given name.
    FirstName,
    /// Family name.
    LastName,
    /// Whole name of a person.
    FullName,
    /// Name of an account.
    Username,
    /// Digest of a password or a file.
    Hash,
    /// Random text by which something is known.
    Token,
    /// Address of a page or picture.
    Url,
    /// Street and number.
    Street,
    /// Town.
    City,
    /// Province, state.
    State,
    /// Name of a country.
    Country,
    /// Two letters of a country.
    CountryCode,
    /// Postcode.
    Postcode,
    /// Name of a company.
    Company,
    /// Job.
    Job,
    /// Name of a thing, heading.
    Title,
    /// Sentences.
    Paragraph,
    /// Words joined by hyphens.
    Slug,
    /// Letters and digits by which a thing is ordered.
    Code,
    /// Three letters of a currency.
    Currency,
    /// Language and country.
    Language,
    /// Address of the internet protocol.
    Ip,
    /// Address of its version 6.
    Ip6,
    /// UUID.
    Uuid,
    /// Colour, hexadecimal.
    Colour,
    /// Name and version of a browser.
    UserAgent,
    /// State of an order, an account.
    Status,
    /// Role of a person.
    Role,
    /// JSON text.
    Json,
    /// Money.
    Price,
    /// Small count.
    Quantity,
    /// Years of a person.
    Age,
    /// Grade from 1 to 5.
    Rating,
    /// 0 to 100.
    Percent,
    /// Degrees.
    Latitude,
    /// Degrees.
    Longitude,
    /// Calendar year.
    Year,
    /// When a person was born.
    Birth,
    /// When a row was made.
    Created,
    /// When something happened later.
    Later,
    /// Nothing is known.
    Unknown,
}

/// Words of names, and what they say. The first that fits counts.
const WORDS: &[(&[&str], Kind)] = &[
    (&["user_agent", "useragent"], Kind::UserAgent),
    (&["email", "mail", "e_mail", "emailaddress"], Kind::Email),
    (&["password", "passwd", "pwd", "hash", "digest", "checksum", "sha256", "md5"], Kind::Hash),
    (&["token", "secret", "apikey", "api_key", "nonce", "session"], Kind::Token),
    (&["phone", "mobile", "tel", "telephone", "fax", "cellphone"], Kind::Phone),
    (&["first_name", "firstname", "given_name", "fname", "forename"], Kind::FirstName),
    (&["last_name", "lastname", "surname", "family_name", "lname"], Kind::LastName),
    (
        &["full_name", "fullname", "display_name", "real_name", "recipient", "contact"],
        Kind::FullName,
    ),
    (
        &["username", "user_name", "login", "nick", "nickname", "handle", "screen_name"],
        Kind::Username,
    ),
    (&["ip", "ip_address", "ipaddress", "remote_addr"], Kind::Ip),
    (&["country_code", "countrycode", "iso2"], Kind::CountryCode),
    (
        &[
            "url", "uri", "link", "website", "homepage", "avatar", "image", "photo", "picture",
            "icon",
        ],
        Kind::Url,
    ),
    (&["zip", "zipcode", "postcode", "postal", "postal_code", "zip_code"], Kind::Postcode),
    (&["street", "address", "addr", "address1", "line1"], Kind::Street),
    (&["city", "town"], Kind::City),
    (&["province", "region", "county"], Kind::State),
    (&["country", "nation"], Kind::Country),
    (&["company", "organization", "organisation", "employer", "vendor", "brand"], Kind::Company),
    (&["job", "job_title", "position", "occupation", "profession"], Kind::Job),
    (&["slug", "permalink"], Kind::Slug),
    (&["uuid", "guid"], Kind::Uuid),
    (&["currency"], Kind::Currency),
    (&["locale", "language", "lang"], Kind::Language),
    (&["colour", "color"], Kind::Colour),
    (&["status", "state", "stage", "phase"], Kind::Status),
    (&["role", "permission"], Kind::Role),
    (&["json", "metadata", "meta", "payload", "settings", "preferences", "attributes"], Kind::Json),
    (
        &[
            "description",
            "body",
            "content",
            "text",
            "bio",
            "comment",
            "note",
            "notes",
            "message",
            "summary",
            "remark",
            "details",
            "about",
            "excerpt",
            "review",
        ],
        Kind::Paragraph,
    ),
    (&["title", "subject", "headline", "caption", "label", "topic"], Kind::Title),
    (&["latitude", "lat"], Kind::Latitude),
    (&["longitude", "lon", "lng"], Kind::Longitude),
    (
        &[
            "price", "amount", "total", "cost", "balance", "fee", "subtotal", "salary", "tax",
            "cents", "revenue",
        ],
        Kind::Price,
    ),
    (
        &[
            "quantity",
            "qty",
            "count",
            "stock",
            "number_of",
            "num",
            "visits",
            "views",
            "likes",
            "attempts",
        ],
        Kind::Quantity,
    ),
    (&["age"], Kind::Age),
    (&["rating", "score", "stars", "grade"], Kind::Rating),
    (&["percent", "percentage", "discount", "rate", "ratio"], Kind::Percent),
    (&["year"], Kind::Year),
    (&["birth", "birthday", "birthdate", "born", "dob"], Kind::Birth),
    (
        &["created", "inserted", "registered", "joined", "signup", "ordered", "placed"],
        Kind::Created,
    ),
    (
        &[
            "updated",
            "modified",
            "changed",
            "deleted",
            "finished",
            "ended",
            "expires",
            "shipped",
            "delivered",
            "paid",
            "closed",
            "completed",
            "last",
        ],
        Kind::Later,
    ),
    (&["sku", "code", "number", "no", "reference", "ref", "isbn", "barcode", "serial"], Kind::Code),
];

/// Tables whose `name` is a person's.
const PEOPLE: [&str; 16] = [
    "user",
    "users",
    "customer",
    "customers",
    "person",
    "people",
    "member",
    "members",
    "employee",
    "employees",
    "contact",
    "contacts",
    "author",
    "authors",
    "patient",
    "patients",
];

/// What a column is about, by its name and its table's.
pub fn kind_of(table: &str, column: &str) -> Kind {
    let words = words_of(column);
    let joined = words.join("_");
    if joined == "name" {
        let of_person = words_of(table).iter().any(|word| PEOPLE.contains(&word.as_str()));
        return if of_person { Kind::FullName } else { Kind::Title };
    }
    let whole = WORDS.iter().find(|(names, _)| names.contains(&joined.as_str()));
    let part = || {
        WORDS.iter().find(|(names, _)| {
            names.iter().any(|name| match name.contains('_') {
                true => joined.contains(name),
                false => words.iter().any(|word| word == name),
            })
        })
    };
    match whole.or_else(part) {
        Some((_, kind)) => *kind,
        None if joined.ends_with("_name") => Kind::Title,
        None => Kind::Unknown,
    }
}

/// The same where no rows show what a column holds: texts of 36 characters are UUIDs, if its name says nothing else.
pub fn kind_of_new(table: &Table, column: &Column) -> Kind {
    match (kind_of(&table.name.table, &column.name), &column.kind) {
        (Kind::Unknown, Type::Text { most: Some(36) }) => Kind::Uuid,
        (kind, _) => kind,
    }
}

/// `userEmail`, `user-email` and `USER_EMAIL` are `user`, `email`.
pub fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before_small = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && before_small) {
            words.push(String::new());
        }
        before_small = c.is_lowercase();
        if c.is_alphanumeric() {
            let last = words.last_mut().expect("never empty");
            last.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_columns_are_about() {
        for (table, column, kind) in [
            ("users", "email", Kind::Email),
            ("users", "emailAddress", Kind::Email),
            ("users", "name", Kind::FullName),
            ("products", "name", Kind::Title),
            ("users", "PASSWORD_HASH", Kind::Hash),
            ("orders", "total_amount", Kind::Price),
            ("orders", "created_at", Kind::Created),
            ("orders", "updatedAt", Kind::Later),
            ("shops", "shipping_address", Kind::Street),
            ("shops", "first_name", Kind::FirstName),
            ("posts", "message", Kind::Paragraph),
            ("a", "stage_name", Kind::Status),
            ("a", "x", Kind::Unknown),
            ("a", "_", Kind::Unknown),
            ("a", "page", Kind::Unknown),
        ] {
            assert_eq!(kind_of(table, column), kind, "{table}.{column}");
        }
    }
}
