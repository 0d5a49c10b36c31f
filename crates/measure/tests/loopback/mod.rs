//! A server on loopback, and what carries out a plan against it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use engine::Launch;
use model::Plan;
use net::Route;
use target::{Options, Server};
use traffic::Always;

pub fn server() -> Server {
    let listen = "127.0.0.1:0".parse().expect("an address");
    let options = Options { listen, threads: Some(1), share_files: true, ..Options::default() };
    Server::start(options).expect("the server starts")
}

pub fn launch(server: &Server, plan: Plan) -> Launch {
    let request = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", server.addr());
    Launch {
        plan: Arc::new(plan),
        sources: Arc::new(Always::new(request.as_bytes(), false)),
        routes: [Route { to: server.addr().into(), from: None }].into(),
        destinations: Arc::default(),
        tls: None,
        advice: |_| "",
        first_responses: Arc::default(),
        io: net::Io::Epoll,
        own_files: false,
        stop: Arc::new(AtomicBool::new(false)),
        stuck: Arc::default(),
    }
}
