//! A chart's SVG as PNG, by `resvg` with the embedded font and the fonts that are handed in. Nothing
//! is read from the machine.

use std::fmt;
use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{self, fontdb};

use super::fallback::{Fallback, OtherFont};
use super::text::{REGULAR, SEMI_BOLD};

/// Why a PNG could not be made.
#[derive(Debug)]
pub enum ChartError {
    /// The text is not SVG that can be drawn. For the output of
    /// [`Chart::to_svg`](super::Chart::to_svg) this is a bug.
    NotSvg(String),
    /// The scale is not a positive number, or the image would exceed [`MOST_PIXELS`].
    Size {
        /// Width asked for in pixels.
        width: f64,
        /// Height asked for in pixels.
        height: f64,
    },
    /// The pixels could not be encoded.
    Encoding(String),
}

impl fmt::Display for ChartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChartError::NotSvg(why) => write!(f, "the chart is not valid SVG: {why}"),
            ChartError::Size { width, height } => write!(
                f,
                "a chart image of {width} x {height} pixels cannot be made: choose a scale that \
                 keeps it between 1 and {MOST_PIXELS} pixels"
            ),
            ChartError::Encoding(why) => write!(f, "the chart could not be encoded as PNG: {why}"),
        }
    }
}

impl std::error::Error for ChartError {}

/// The largest image made, in pixels: 160 MB of memory while it is drawn.
pub const MOST_PIXELS: f64 = 40e6;

static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(REGULAR.to_vec());
    fonts.load_font_data(SEMI_BOLD.to_vec());
    fonts.set_sans_serif_family("Inter");
    Arc::new(fonts)
});

/// `svg` drawn at `scale` as PNG, in the embedded font and those of `fonts` that it names.
///
/// Expects [`Theme::Standalone`](super::Theme::Standalone): the other theme takes its colours from
/// a page. Reads no file, whatever the SVG refers to.
///
/// # Errors
/// [`ChartError`] where `svg` is not an SVG, or the image would be empty or larger than [`MOST_PIXELS`].
pub(super) fn to_png(svg: &str, scale: f32, fonts: &[OtherFont]) -> Result<Vec<u8>, ChartError> {
    let tree = parse(svg, fonts)?;
    let scale = f64::from(scale);
    let width = (f64::from(tree.size().width()) * scale).ceil();
    let height = (f64::from(tree.size().height()) * scale).ceil();
    let too_big = ChartError::Size { width, height };
    if !(width >= 1.0 && height >= 1.0 && width * height <= MOST_PIXELS) {
        return Err(too_big);
    }
    let mut pixmap = Pixmap::new(width as u32, height as u32).ok_or(too_big)?;
    resvg::render(&tree, Transform::from_scale(scale as f32, scale as f32), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|e| ChartError::Encoding(e.to_string()))
}

/// The drawable tree of `svg`, its texts laid out.
pub(super) fn parse(svg: &str, fonts: &[OtherFont]) -> Result<usvg::Tree, ChartError> {
    let mut database = Arc::clone(&FONTS);
    let others: Vec<_> = fonts.iter().map(|font| load(font, &mut database)).collect();
    let embedded = usvg::FontResolver::default_font_selector();
    let options = usvg::Options {
        font_family: "Inter".into(),
        fontdb: database,
        font_resolver: usvg::FontResolver {
            select_font: Box::new(move |asked, database| match asked.families() {
                [usvg::FontFamily::Named(name)] => {
                    let named = |(i, id): (usize, &Option<fontdb::ID>)| {
                        (Fallback::family(i) == *name).then_some(*id)?
                    };
                    others.iter().enumerate().find_map(named)
                }
                _ => embedded(asked, database),
            }),
            // Every text names its fonts; the library's own search would trade those of neighbours.
            select_fallback: Box::new(|_, _, _| None),
        },
        image_href_resolver: usvg::ImageHrefResolver {
            resolve_data: Box::new(|_, _, _| None),
            resolve_string: Box::new(|_, _| None),
        },
        ..usvg::Options::default()
    };
    usvg::Tree::from_str(svg, &options).map_err(|e| ChartError::NotSvg(e.to_string()))
}

fn load(font: &OtherFont, database: &mut Arc<fontdb::Database>) -> Option<fontdb::ID> {
    let database = Arc::make_mut(database);
    let bytes = Arc::clone(&font.bytes);
    let faces = database.load_font_source(fontdb::Source::Binary(bytes));
    faces.into_iter().find(|id| database.face(*id).is_some_and(|face| face.index == font.face))
}
