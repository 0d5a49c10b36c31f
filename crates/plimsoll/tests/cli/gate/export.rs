//! `plimsoll gate export`: what it writes is accepted by the proxies, and limits requests in them.

use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use testkit::{needs, ports};

use super::{ask, load_line, soon};
use crate::harness::{Folder, Target};

/// A proxy that runs until it is dropped.
struct Proxy(Child);

impl Proxy {
    fn start(folder: &Folder, program: &Path, line: &str, address: &str) -> Self {
        let mut command: Command = folder.command(program, line);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let proxy = Self(child.expect("it starts"));
        soon(|| TcpStream::connect(address).is_ok());
        proxy
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn what_proxies_cannot_take_is_refused() {
    let folder = Folder::new();
    folder
        .plimsoll("gate export nginx --upstream http://127.0.0.1:8080")
        .refuses(1, "; --loadline names the capacity.json that `plimsoll capacity` wrote");
    folder.put("capacity.json", load_line(8000.0));
    let nginx = folder.plimsoll("gate export nginx --upstream http://127.0.0.1:8080").ok();
    nginx.prints("rate=8000r/s");
    let haproxy = folder.plimsoll("gate export haproxy --upstream http://127.0.0.1:8080").ok();
    haproxy.prints("sc0_gpc0_rate ge 8000");
    // Without a port HAProxy would connect to its own.
    let by_v6 = folder.plimsoll("gate export haproxy --upstream http://[::1]").ok();
    by_v6.prints("server api1 [::1]:80 ");
    folder
        .plimsoll("gate export haproxy --upstream http://api:http")
        .refuses(2, "write it as http://10.0.0.7:8080");
    for host in ["a$b", "a{b", "a'b", "a\\b", "a#b"] {
        let upstream = format!("gate export nginx --upstream http://{host}:80");
        folder.plimsoll(&upstream).refuses(2, "write it as http://10.0.0.7:8080");
        let listen = format!("gate export nginx --upstream http://a:80 --listen {host}:80");
        folder.plimsoll(&listen).refuses(2, "write it as 127.0.0.1:9090");
    }
    for url in ["http://[::1", "http://a:0", "http://ada:secret@a", "http://a,b"] {
        let upstream = format!("gate export haproxy --upstream {url}");
        folder.plimsoll(&upstream).refuses(2, "write it as http://10.0.0.7:8080");
    }
    for listen in ["garbage", ":80", "a:0", "a:http", "::1:80", "[::1:80"] {
        let listen = format!("gate export nginx --upstream http://a:80 --listen {listen}");
        folder.plimsoll(&listen).refuses(2, "write it as 127.0.0.1:9090");
    }
    for listen in ["[::1]:80", "*:80", "a:80"] {
        let listen = format!("gate export nginx --upstream http://a:80 --listen {listen}");
        folder.plimsoll(&listen).ok().prints(":80;");
    }
    folder.put("capacity.json", load_line(0.01));
    folder
        .plimsoll("gate export nginx --upstream http://a:80")
        .refuses(2, "capacity.json: its 0.01 requests/s are less than one a minute");
    folder.plimsoll("gate export haproxy --upstream http://a:80").ok().prints("ge 1 }");
}

/// A line of one request in ten seconds and seven at once, which real proxies are asked to hold: more than are let through at once
/// are refused, and the first are not.
#[test]
fn proxies_hold_what_is_exported() {
    let (folder, target) = (Folder::new(), Target::start());
    folder.put("capacity.json", load_line(0.1));
    for (name, lets_through) in [("nginx", 7), ("haproxy", 1)] {
        if !needs::has(name) {
            continue;
        }
        let address = ports::reserved().to_string();
        let line = format!("gate export {name} --upstream {} --listen {address}", target.url(""));
        let exported = folder.plimsoll(&line).ok().stdout;
        let here = folder.path().display();
        let line = match name {
            "nginx" => {
                let whole = format!(
                    "pid {here}/pid;\ndaemon off;\nerror_log stderr;\nevents {{}}\nhttp {{\naccess_log \
                     off;\n{exported}}}\n"
                );
                folder.put("nginx.conf", whole);
                format!("-p {here} -c nginx.conf")
            }
            _ => {
                folder.put("haproxy.cfg", exported);
                "-db -f haproxy.cfg".to_owned()
            }
        };
        let program = needs::path(name).expect("its path");
        let _proxy = Proxy::start(&folder, &program, &line, &address);
        let statuses: Vec<u16> =
            (0..14).map(|_| ask(&address, "GET", "/healthz", "", "").status).collect();
        let passed = statuses.iter().filter(|status| **status == 200).count();
        assert!(statuses.iter().all(|status| [200, 429].contains(status)), "{name}: {statuses:?}");
        assert_eq!(passed, lets_through, "{name}: {statuses:?}");
    }
}
