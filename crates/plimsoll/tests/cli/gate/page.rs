//! The usage page in headless Chromium.

use std::path::Path;
use std::process::Command;

use testkit::needs;

use super::{Gate, load_line, soon};
use crate::harness::{Folder, Target, ended};

/// The page as it is after some seconds, and what the browser's console said.
fn look(folder: &Folder, url: &str) -> (String, String) {
    look_with(folder, url, &[])
}

fn look_with(folder: &Folder, url: &str, flags: &[&str]) -> (String, String) {
    let mut command: Command = folder.command(Path::new("chromium"), "--headless --no-sandbox");
    command.args(["--disable-gpu", "--no-first-run", "--disable-sync", "--enable-logging=stderr"]);
    command.args(["--disable-background-networking", "--virtual-time-budget=4000", "--dump-dom"]);
    command.args(flags);
    command.arg(format!("--user-data-dir={}", folder.path().join("profile").display())).arg(url);
    let ended = ended(&mut command);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let console: Vec<&str> = ended.stderr.lines().filter(|line| line.contains("CONSOLE")).collect();
    (ended.stdout, console.join("\n"))
}

/// The cells of the row of the usage table that holds a text.
fn row(page: &str, text: &str) -> Vec<String> {
    let (_, body) = page.split_once("<tbody id=\"usage\">").expect("the table");
    let (body, _) = body.split_once("</tbody>").expect("its end");
    let found = body.split("<tr>").find(|row| row.contains(text));
    let found = found.unwrap_or_else(|| panic!("no {text} in {body}"));
    let cell = |cell: &str| cell.split("</td>").next().unwrap_or_default().to_owned();
    found.split("<td>").skip(1).map(cell).collect()
}

#[test]
fn the_page_shows_what_is_served_and_refused() {
    if !needs::has("chromium") {
        return;
    }
    let (folder, target) = (Folder::new(), Target::start());
    let added = folder.plimsoll("gate keys add --owner <b>ada</b> --rate 5/h --burst 5").ok();
    let key = added.stdout.trim_end().to_owned();
    // A name is text on the page, whatever it looks like.
    let config = format!(
        "[[listen]]\naddress = \"127.0.0.1:0\"\n[[upstream]]\nname = \"api\"\nservers = [\"{}\"]\n[[route]]\nname = \
         \"<img src=x>\"\nupstream = \"api\"\n",
        target.url("")
    );
    folder.put("gate.toml", &config);
    let gate = Gate::start(&folder, "gate.toml");
    let statuses: Vec<u16> =
        (0..7).map(|_| gate.get("/healthz", &format!("X-API-Key: {key}\r\n")).status).collect();
    assert_eq!(statuses, [200, 200, 200, 200, 200, 429, 429]);
    soon(|| gate.admin("GET", "/v1/state", "").json()["usage"][0]["forwarded"] == 5);

    let (page, console) = look(&folder, &format!("http://{}/#token={}", gate.admin, gate.token));
    assert_eq!(console, "");
    assert!(page.contains("Live, every second."), "{page}");
    let cells = row(&page, "src=x");
    let (owner, route) = ("&lt;b&gt;ada&lt;/b&gt;", "&lt;img src=x&gt;");
    assert_eq!(cells[..6], ["1", owner, route, "5", "2", "0"].map(str::to_owned));
    assert!(page.contains("<polyline class=\"forwarded\" points=\""), "the chart is drawn");
    assert!(page.contains("7 served = ") && page.contains("No load line."), "{page}");
    assert!(!page.contains(&gate.token) && !page.contains(&key));

    // Without the token it shows nothing but the question for it.
    let (page, _) = look(&folder, &format!("http://{}/", gate.admin));
    assert!(page.contains("The token is missing or wrong.") && !page.contains("src=x"), "{page}");
    gate.end();
}

/// They ran into each other, and the line was shown as 0/s.
#[test]
fn what_is_wrong_is_a_line_each_beside_a_low_load_line() {
    if !needs::has("chromium") {
        return;
    }
    let (folder, target) = (Folder::new(), Target::start());
    let elsewhere = "\"addresses\":[\"127.0.0.1:1\"]";
    folder.put("capacity.json", load_line(0.4).replace("\"addresses\":[]", elsewhere));
    let line =
        format!("--listen 127.0.0.1:0 --upstream {} --loadline capacity.json", target.url(""));
    let gate = Gate::start(&folder, &line);
    assert!(gate.opening.contains("load line: 0.4 requests/s"), "{}", gate.opening);
    let (page, _) = look(&folder, &format!("http://{}/#token={}", gate.admin, gate.token));
    assert!(page.contains("Load line 0.4/s (p99&lt;100ms), ceiling 0.4/s."), "{page}");
    assert!(
        page.contains("\nthe load line no longer fits: it was measured of 127.0.0.1:1"),
        "{page}"
    );
    gate.end();
}

/// On a telephone's screen the tables scroll, and the page does not.
#[test]
fn the_page_fits_a_narrow_screen() {
    if !needs::has("chromium") {
        return;
    }
    let folder = Folder::new();
    folder.put("usage.html", include_str!("../../../../gate/assets/usage.html"));
    // The page in a frame of 360 pixels, with rows as wide as they come.
    let script = "const f = document.querySelector('iframe'); f.onload = () => { const d = f.contentDocument; \
        const cell = (id, texts) => d.getElementById(id).innerHTML = '<tr>' + texts.map(t => '<td>' + t).join('') + '</tr>'; \
        d.getElementById('main').hidden = false; d.getElementById('ask').hidden = false; \
        cell('usage', [12, 'somebody', 'a-route', '1,234,567', '1,234', '12', '123,456,789', '12 ms', '123 ms']); \
        cell('servers', ['upstream', '127.0.0.1:8080', 'well', '12', '1,234']); \
        d.getElementById('summary').textContent = 'x'.repeat(200); \
        const e = d.documentElement; document.body.append('wide by ' + (e.scrollWidth - e.clientWidth) + ' pixels'); };";
    let frame = format!(
        "<body><iframe width=360 height=800 style=\"border:0\"></iframe><script>{script} f.src = 'usage.html';</script>"
    );
    folder.put("frame.html", &frame);
    let url = format!("file://{}", folder.path().join("frame.html").display());
    let (page, _) = look_with(&folder, &url, &["--allow-file-access-from-files"]);
    assert!(page.contains("wide by 0 pixels"), "{page}");
}

/// Words in colour stand out from the page, which is white or nearly black, by 4.5:1 (WCAG 2.2, 1.4.3).
#[test]
fn words_in_colour_stand_out() {
    let page = include_str!("../../../../gate/assets/usage.html");
    for (scheme, ground) in
        [("\n:root { --forwarded", "ffffff"), ("dark) { :root { --forwarded", "121212")]
    {
        let (_, after) = page.split_once(scheme).expect("the colours");
        let (colours, _) = after.split_once('}').expect("their end");
        let colours: Vec<&str> = colours.split('#').skip(1).map(|colour| &colour[..6]).collect();
        assert_eq!(colours.len(), 3, "{colours:?}");
        for colour in colours {
            let (a, b) = (luminance(colour) + 0.05, luminance(ground) + 0.05);
            assert!(f64::max(a / b, b / a) >= 4.5, "{colour} on {ground}");
        }
    }
    assert!(!page.contains("style=\"color:#"), "a colour of its own");
}

/// The relative luminance of a colour in hexadecimal digits.
fn luminance(colour: &str) -> f64 {
    let part = |at: usize| {
        let part = u8::from_str_radix(&colour[at..at + 2], 16).expect("two digits");
        let part = f64::from(part) / 255.0;
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * part(0) + 0.7152 * part(2) + 0.0722 * part(4)
}
