//! The form of a recording: what is read of it, everything that tools leave out being optional.

use std::marker::PhantomData;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use jiff::Timestamp;
use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};

/// Entries and pages read at most.
const MOST_ENTRIES: usize = 200_000;

#[derive(Deserialize)]
pub(super) struct Har {
    pub(super) log: Log,
}

#[derive(Deserialize)]
pub(super) struct Log {
    #[serde(deserialize_with = "bounded")]
    pub(super) entries: Vec<Entry>,
    #[serde(default, deserialize_with = "bounded")]
    pub(super) pages: Vec<Page>,
}

#[derive(Deserialize)]
pub(super) struct Page {
    pub(super) id: String,
    #[serde(default)]
    pub(super) title: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Entry {
    /// Its place in the file, from 1.
    #[serde(skip)]
    pub(super) number: usize,
    #[serde(default)]
    started_date_time: String,
    #[serde(default)]
    time: Option<f64>,
    #[serde(default)]
    pub(super) pageref: Option<String>,
    #[serde(default, rename = "_resourceType")]
    pub(super) resource_type: Option<String>,
    /// The cache that answered instead of the server.
    #[serde(default, rename = "_fromCache")]
    pub(super) from_cache: Option<String>,
    pub(super) request: Request,
    #[serde(default)]
    pub(super) response: Response,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) url: String,
    #[serde(default)]
    pub(super) headers: Vec<Field>,
    #[serde(default)]
    pub(super) post_data: Option<PostData>,
}

#[derive(Deserialize)]
pub(super) struct Field {
    pub(super) name: String,
    #[serde(default)]
    pub(super) value: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
pub(super) struct PostData {
    pub(super) mime_type: String,
    pub(super) text: String,
    pub(super) params: Vec<Param>,
    /// `base64`, as some tools write what is no text.
    encoding: Option<String>,
}

impl PostData {
    /// The body, if it is text.
    pub(super) fn plain(&self) -> Option<String> {
        plain(self.text.clone(), self.encoding.as_deref())
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Param {
    pub(super) name: String,
    #[serde(default)]
    pub(super) value: String,
    #[serde(default)]
    pub(super) file_name: Option<String>,
    #[serde(default)]
    pub(super) content_type: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Response {
    pub(super) status: i64,
    pub(super) headers: Vec<Field>,
    pub(super) content: Content,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Content {
    pub(super) mime_type: String,
    pub(super) text: Option<String>,
    pub(super) encoding: Option<String>,
}

impl Content {
    /// The body, if it was recorded and is text; browsers write some of it in base64.
    pub(super) fn plain(self) -> Option<String> {
        plain(self.text?, self.encoding.as_deref())
    }
}

fn plain(text: String, encoding: Option<&str>) -> Option<String> {
    match encoding {
        Some("base64") => String::from_utf8(BASE64_STANDARD.decode(text).ok()?).ok(),
        _ => Some(text),
    }
}

impl Entry {
    /// When the request began, in nanoseconds since 1970; 0 where the file does not say.
    pub(super) fn start(&self) -> i128 {
        self.started_date_time.parse::<Timestamp>().map_or(0, Timestamp::as_nanosecond)
    }

    /// When the response had come whole.
    pub(super) fn end(&self) -> i128 {
        let milliseconds = self.time.filter(|time| time.is_finite()).unwrap_or(0.0);
        self.start() + (milliseconds.clamp(0.0, 1e9) * 1e6) as i128
    }
}

fn bounded<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    struct Items<T>(PhantomData<T>);
    impl<'de, T: Deserialize<'de>> Visitor<'de> for Items<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a list of entries")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
            let mut items = Vec::new();
            while let Some(item) = list.next_element()? {
                if items.len() == MOST_ENTRIES {
                    let what =
                        format!("more than {MOST_ENTRIES} entries: record a shorter session");
                    return Err(A::Error::custom(what));
                }
                items.push(item);
            }
            Ok(items)
        }
    }
    deserializer.deserialize_seq(Items(PhantomData))
}
