//! What the rigs of the second blind author start: a service in Node, one in Java, and what stands beside them.

/// A service in Node. `node app.js` with `PORT`, `BACKLOG`; the first part of a path says what a request does.
pub const APP: &str = r"'use strict';
const http = require('http'), https = require('https'), net = require('net'), crypto = require('crypto'), fs = require('fs');
const util = require('util');
const env = process.env, kept = [];
const rows = Array.from({ length: 400 }, (_, n) => ({ id: n, name: 'row ' + n, price: n / 7 }));
const page = crypto.randomBytes(50000);
let second = 0, left = 0;
const agent = new http.Agent({ keepAlive: true });
const redis = () => net.connect(6379, env.REDIS || '127.0.0.1');
let shared;
const serves = {
  wait: (to, ms) => setTimeout(() => to.end('ok'), Number(ms)),
  // Work of the loop's own thread: milliseconds by the size of the key.
  hash: (to, n) => to.end(crypto.pbkdf2Sync('password', 'salt', Number(n), 32, 'sha256').toString('hex')),
  rows: (to) => to.end(JSON.stringify(rows)),
  page: (to) => to.end(page),
  // A key may make so many requests a second.
  limited: (to, limit) => {
    const now = Math.floor(Date.now() / 1000);
    if (now !== second) [second, left] = [now, Number(limit)];
    to.setHeader('RateLimit-Limit', limit);
    to.setHeader('RateLimit-Remaining', Math.max(0, left - 1));
    if (left-- > 0) return to.end('ok');
    to.setHeader('Retry-After', '1');
    to.statusCode = 429;
    to.end('too many requests');
  },
  keep: (to, bytes) => { kept.push(Buffer.alloc(Number(bytes), 7)); to.end('ok'); },
  // Asks another service.
  stock: (to) => http.get({ port: 9100, path: '/wait/' + env.STOCK, agent }, (from) => {
    from.resume();
    from.on('end', () => to.end('ok'));
  }).on('error', () => { to.statusCode = 502; to.end(); }),
  // Looks into Redis: over a connection that all requests share, and over one of its own.
  sessions: (to) => {
    if (!shared) {
      shared = redis();
      shared.waiting = [];
      shared.on('data', (bytes) => { for (const byte of bytes) if (byte === 10) shared.waiting.shift().end('ok'); });
    }
    shared.waiting.push(to);
    shared.write(env.ASKS);
  },
  session: (to) => {
    const own = redis();
    own.on('error', (e) => { to.statusCode = 500; to.end(e.code); console.error(e.code); });
    own.on('connect', () => own.write('PING\r\n'));
    own.on('data', () => { own.destroy(); to.end('ok'); });
  },
};
const answer = (from, to) => {
  const [, what, word] = from.url.split('/');
  if (env.DEBUG) console.error(util.inspect(from, { depth: 5, showHidden: true }));
  from.resume();
  from.on('end', () => serves[what || 'rows'](to, word));
};
const secret = env.TLS && { key: fs.readFileSync('key'), cert: fs.readFileSync('cert') };
const server = secret ? https.createServer(secret, answer) : http.createServer(answer);
server.keepAliveTimeout = 60000;
if (env.CLOSES) server.maxRequestsPerSocket = 1;
server.listen({ port: Number(env.PORT || 9000), host: '0.0.0.0', backlog: Number(env.BACKLOG || 1024) });
";

/// A service in Java, of the JDK's own server: `Pool.java THREADS MS FORM`, where a request waits for so long; `lock`: under one
/// lock.
pub const POOL: &str = r#"import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;
public class Pool {
    static final Object LOCK = new Object();
    static void work(long ms, boolean locks) throws InterruptedException {
        if (locks) synchronized (LOCK) { Thread.sleep(ms); }
        else Thread.sleep(ms);
    }
    public static void main(String[] a) throws Exception {
        long ms = Long.parseLong(a[1]);
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 9000), 1024);
        server.createContext("/", asked -> {
            try {
                work(ms, a[2].equals("lock"));
            } catch (InterruptedException e) { }
            asked.sendResponseHeaders(200, 2);
            asked.getResponseBody().write("ok".getBytes());
            asked.close();
        });
        server.setExecutor(Executors.newFixedThreadPool(Integer.parseInt(a[0])));
        server.start();
    }
}
"#;

/// Workers that ask again and again whether a user has come: `polls.py WORKERS PAUSE`. Each serves one user at a time, whose
/// requests are about a millisecond of work.
pub const POLLS: &str = r"import hashlib, os, socket, sys, time
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(('127.0.0.1', 9000))
s.listen(511)
s.setblocking(False)
for _ in range(int(sys.argv[1]) - 1):
    if os.fork() == 0:
        break
time.sleep(1)
while True:
    try:
        c, _ = s.accept()
    except BlockingIOError:
        time.sleep(float(sys.argv[2]))
        continue
    c.setblocking(True)
    try:
        while c.recv(65536):
            hashlib.pbkdf2_hmac('sha256', b'password', b'salt', 2000)
            c.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    except OSError:
        pass
    c.close()
";

/// Reads a log, and writes each line by itself to a disk that takes 4 ms for it.
pub const WRITER: &str = r"import sys, time
with open('shipped', 'w') as shipped:
    for line in sys.stdin:
        shipped.write(line)
        shipped.flush()
        time.sleep(0.004)
";
