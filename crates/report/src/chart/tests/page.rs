//! Reading an SVG back: the boxes of its words, the extent of its marks, and whether they keep to
//! the page.

use resvg::usvg::roxmltree::{Document, Node};

use crate::chart::svg::Rect;
use crate::chart::text::{CAP_HEIGHT, Face, width};

/// A parsed chart.
#[derive(Debug)]
pub(super) struct Page<'a> {
    document: Document<'a>,
}

impl<'a> Page<'a> {
    pub(super) fn read(svg: &'a str) -> Result<Page<'a>, String> {
        let document = Document::parse(svg).map_err(|e| e.to_string())?;
        Ok(Page { document })
    }

    pub(super) fn attribute(&self, name: &str) -> &str {
        self.document.root_element().attribute(name).unwrap_or("")
    }

    pub(super) fn height(&self) -> f64 {
        self.attribute("height").parse().unwrap()
    }

    /// The texts that `aria-labelledby` points at.
    pub(super) fn labels(&self) -> [String; 2] {
        let ids: Vec<&str> = self.attribute("aria-labelledby").split(' ').collect();
        let text = |id: &str| {
            let node = self.document.descendants().find(|n| n.attribute("id") == Some(id)).unwrap();
            node.text().unwrap_or("").to_string()
        };
        [text(ids[0]), text(ids[1])]
    }

    /// Whether a text element says exactly this.
    pub(super) fn says(&self, words: &str) -> bool {
        self.texts().iter().any(|(text, _)| text == words)
    }

    /// Every text element with the box it fills.
    pub(super) fn texts(&self) -> Vec<(String, Rect)> {
        self.document.descendants().filter(|n| n.has_tag_name("text")).map(text_box).collect()
    }

    /// That no number is broken, no words overlap, and nothing leaves the page.
    pub(super) fn check(&self) -> Result<(), String> {
        for node in self.document.descendants() {
            for attribute in node.attributes() {
                if attribute.value().contains("NaN") || attribute.value().contains("inf") {
                    return Err(format!("{}={:?}", attribute.name(), attribute.value()));
                }
            }
        }
        let page = Rect {
            left: 0.0,
            top: 0.0,
            right: self.attribute("width").parse().unwrap(),
            bottom: self.height(),
        };
        let texts = self.texts();
        for (i, (text, area)) in texts.iter().enumerate() {
            if !page.holds(area) {
                return Err(format!("{text:?} leaves the page: {area:?}"));
            }
            if let Some((other, _)) = texts[i + 1..].iter().find(|(_, o)| area.touches(o, 0.0)) {
                return Err(format!("{text:?} and {other:?} overlap"));
            }
        }
        for node in self.document.descendants() {
            let astray = extent(node).into_iter().find(|(x, y)| {
                !(page.left..=page.right).contains(x) || !(page.top..=page.bottom).contains(y)
            });
            if let Some(point) = astray {
                return Err(format!("{:?} leaves the page at {point:?}", node.attribute("class")));
            }
        }
        Ok(())
    }
}

fn number(node: Node, name: &str) -> f64 {
    node.attribute(name).and_then(|v| v.parse().ok()).unwrap_or(0.0)
}

fn text_box(node: Node) -> (String, Rect) {
    let text = node.text().unwrap_or("").to_string();
    let (x, y, size) = (number(node, "x"), number(node, "y"), number(node, "font-size"));
    let bold = node.attribute("class").is_some_and(|c| c.split(' ').any(|c| c == "b"));
    let w = width(&text, size, if bold { Face::SemiBold } else { Face::Regular });
    let left = match node.attribute("text-anchor") {
        Some("middle") => x - w / 2.0,
        Some("end") => x - w,
        _ => x,
    };
    (text, Rect { left, top: y - size * CAP_HEIGHT, right: left + w, bottom: y + size * 0.2 })
}

/// The corner points of a mark.
fn extent(node: Node) -> Vec<(f64, f64)> {
    match node.tag_name().name() {
        "rect" => {
            let (x, y) = (number(node, "x"), number(node, "y"));
            vec![(x, y), (x + number(node, "width"), y + number(node, "height"))]
        }
        "circle" => vec![(number(node, "cx"), number(node, "cy"))],
        "path" => {
            let data = node.attribute("d").unwrap_or("").replace(['M', 'L', 'Z'], " ");
            let numbers: Vec<f64> = data.split_whitespace().map(|n| n.parse().unwrap()).collect();
            numbers.chunks(2).map(|p| (p[0], p[1])).collect()
        }
        _ => Vec::new(),
    }
}
