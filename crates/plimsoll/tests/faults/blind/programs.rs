//! What the rigs of the blind author start: servers in Python and Go as services have them, and what they speak to
//! databases with.

/// Threads for connections, as Python's own server has them: HTTP/1.0 without keep-alive, and a backlog of five. With `1.1`
/// it keeps connections open.
pub const STANDARD: &str = r"import http.server, sys
class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1' if '1.1' in sys.argv else 'HTTP/1.0'
    def do_GET(self):
        self.send_response(200)
        self.send_header('Content-Length', '3')
        self.end_headers()
        self.wfile.write(b'ok\n')
    def log_message(self, *words):
        pass
http.server.ThreadingHTTPServer(('0.0.0.0', 9000), Answer).serve_forever()
";

/// Processes that share a listener, as Apache's `prefork` has them: each serves one connection until it ends, 20 requests at
/// most. `prefork.py WORKERS WORK`, where the work is `wait` (30 ms), `hash` (about 3 ms of a core) or `session` (5 ms under
/// the lock of one file).
pub const PREFORK: &str = r"import fcntl, hashlib, os, socket, sys, time
workers, work = int(sys.argv[1]), sys.argv[2]
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(('127.0.0.1', 9000))
s.listen(511)
def answer():
    if work == 'wait':
        time.sleep(0.03)
    elif work == 'hash':
        hashlib.pbkdf2_hmac('sha256', b'password', b'salt', 6000)
    else:
        with open('session', 'a') as session:
            fcntl.flock(session, fcntl.LOCK_EX)
            time.sleep(0.005)
            session.write('seen\n')
for _ in range(workers - 1):
    if os.fork() == 0:
        break
while True:
    c, _ = s.accept()
    c.settimeout(2)
    try:
        for left in range(19, -1, -1):
            if not c.recv(65536):
                break
            answer()
            closes = b'' if left else b'Connection: close\r\n'
            c.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n' + closes + b'\r\nok')
    except OSError:
        pass
    c.close()
";

/// An event loop. `loop.py PATH_OF_WORK [BACKLOG] [EVERY FOR]`: the work is `cpu` (3 ms of the loop's thread), `wait` (20 ms,
/// beside other requests), or `poll` (400 ms of it); a job blocks the loop every EVERY seconds for FOR seconds.
pub const LOOP: &str = r"import asyncio, json, sys, time
work = sys.argv[1]
backlog = int(sys.argv[2]) if len(sys.argv) > 2 else 1024
rows = [{'id': n, 'name': 'row %d' % n, 'tags': ['a', 'b', 'c']} for n in range(1000)]
async def serve(reader, writer):
    try:
        while await reader.readuntil(b'\r\n\r\n'):
            if work == 'cpu':
                json.dumps(rows)
            else:
                await asyncio.sleep({'wait': 0.02, 'poll': 0.4}[work])
            writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    writer.close()
async def main():
    await asyncio.start_server(serve, '127.0.0.1', 9000, backlog=backlog)
    while True:
        await asyncio.sleep(float(sys.argv[3]) if len(sys.argv) > 3 else 3600)
        time.sleep(float(sys.argv[4]))
asyncio.run(main())
";

/// A payment service that handles one request at a time, 20 ms each; others wait in its backlog.
pub const PAYMENT: &str = r"import http.server, time
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        time.sleep(0.02)
        self.send_response(200)
        self.send_header('Content-Length', '2')
        self.end_headers()
        self.wfile.write(b'ok')
    def log_message(self, *words):
        pass
http.server.HTTPServer.request_queue_size = 128
http.server.HTTPServer(('127.0.0.1', 9100), Answer).serve_forever()
";

/// Reads lines as slowly as a log shipper that ships each by itself: 2 ms a line.
pub const SHIPPER: &str = r"import sys, time
for line in sys.stdin:
    time.sleep(0.002)
";

/// A server before a database. `ask.py pg|my < STATEMENTS`: a request makes each statement of standard input, `%d` being a
/// number from 1 to 20000 and `think` 10 ms in the server, on the connection of its thread. What the database refuses is a
/// 500.
pub const ASK: &str = r"import random, socket, struct, sys, threading, time
kind = sys.argv[1]
statements = [line.strip() for line in sys.stdin if line.strip()]
def exactly(s, n):
    got = b''
    while len(got) < n:
        more = s.recv(n - len(got))
        if not more:
            raise OSError('closed')
        got += more
    return got
class Postgres:
    def __init__(self):
        self.s = socket.create_connection(('127.0.0.1', 5434))
        start = struct.pack('>i', 196608) + b'user\0postgres\0database\0postgres\0\0'
        self.s.sendall(struct.pack('>i', len(start) + 4) + start)
        self.ready()
    def ready(self):
        failed = False
        while True:
            kind, length = struct.unpack('>ci', exactly(self.s, 5))
            exactly(self.s, length - 4)
            failed |= kind == b'E'
            if kind == b'Z':
                break
        if failed:
            raise OSError('refused')
    def ask(self, statement):
        text = statement.encode() + b'\0'
        self.s.sendall(b'Q' + struct.pack('>i', len(text) + 4) + text)
        self.ready()
class MariaDb:
    def __init__(self):
        self.s = socket.create_connection(('127.0.0.1', 3391))
        self.packet()
        text = struct.pack('<IIB23x', 0x88209, 1 << 24, 33) + b'app\0\0shop\0mysql_native_password\0'
        self.s.sendall(struct.pack('<I', len(text) | 1 << 24) + text)
        self.packet()
    def packet(self):
        length = struct.unpack('<I', exactly(self.s, 4))[0] & 0xffffff
        text = exactly(self.s, length)
        if text[0] == 0xff:
            raise OSError(text[3:])
        return text
    def ask(self, statement):
        text = b'\x03' + statement.encode()
        self.s.sendall(struct.pack('<I', len(text)) + text)
        if self.packet()[0] == 0:
            return
        for _ in range(2):
            while not (lambda p: p[0] == 0xfe and len(p) < 9)(self.packet()):
                pass
connect = Postgres if kind == 'pg' else MariaDb
def once(db):
    for statement in statements:
        if statement == 'think':
            time.sleep(0.01)
            continue
        db.ask(statement.replace('%d', str(random.randint(1, 20000))))
def serve(c):
    db = None
    c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while c.recv(65536):
        try:
            db = db or connect()
            once(db)
            line = b'200 OK'
        except OSError as e:
            print(e, file=sys.stderr, flush=True)
            line, db = b'500 Internal Server Error', None
        c.sendall(b'HTTP/1.1 ' + line + b'\r\nContent-Length: 2\r\n\r\nok')
    c.close()
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(('127.0.0.1', 9000))
s.listen(1024)
while True:
    c, _ = s.accept()
    threading.Thread(target=serve, args=(c,), daemon=True).start()
";

/// A service in Go, with its profile at `/debug/pprof/`; paths are its faults.
pub const SERVICE: &str = r#"package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	_ "net/http/pprof"
	"os"
	"runtime"
	"sync"
	"time"
)

type node struct {
	next *node
	text [3]uint64
}

var (
	lock   sync.Mutex
	prices = map[int]int{}
	live   *node
	kept   [][]byte
	logger = log.New(os.Stderr, "DEBUG ", log.LstdFlags|log.Lmicroseconds|log.Lshortfile)
)

func ok(w http.ResponseWriter) { io.WriteString(w, "ok\n") }

func main() {
	runtime.SetMutexProfileFraction(1)
	runtime.SetBlockProfileRate(10000)
	if len(os.Args) > 1 {
		for range 2_000_000 {
			live = &node{next: live}
		}
	}
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { ok(w) })
	// Prices are refreshed from elsewhere, 4 ms, under the lock of all.
	http.HandleFunc("/price", func(w http.ResponseWriter, _ *http.Request) {
		lock.Lock()
		time.Sleep(4 * time.Millisecond)
		prices[len(prices)%1000]++
		lock.Unlock()
		ok(w)
	})
	http.HandleFunc("/login", func(w http.ResponseWriter, _ *http.Request) {
		sum := sha256.Sum256([]byte("password"))
		for range 30000 {
			sum = sha256.Sum256(sum[:])
		}
		w.Write([]byte{sum[0] | 1})
	})
	http.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) {
		page, err := os.Open("page.html")
		if err != nil {
			http.Error(w, err.Error(), 500)
			return
		}
		defer page.Close()
		time.Sleep(5 * time.Millisecond)
		io.Copy(w, page)
	})
	http.HandleFunc("/upload", func(w http.ResponseWriter, r *http.Request) {
		upload := bytes.Repeat([]byte{7}, 200_000)
		lock.Lock()
		kept = append(kept, upload)
		lock.Unlock()
		ok(w)
	})
	// With the list of all that lives, and a limit of memory hardly above it.
	http.HandleFunc("/list", func(w http.ResponseWriter, _ *http.Request) {
		var all [][]byte
		for n := range 64 {
			all = append(all, make([]byte, 1000+n))
		}
		w.Write(all[3][:2])
	})
	// Somebody forgot to take this out.
	http.HandleFunc("/orders", func(w http.ResponseWriter, r *http.Request) {
		dump, _ := httputil.DumpRequest(r, true)
		logger.Printf("request:\n%s", dump)
		body, _ := io.ReadAll(r.Body)
		var order any
		if err := json.Unmarshal(body, &order); err != nil {
			http.Error(w, err.Error(), 400)
			return
		}
		pretty, _ := json.MarshalIndent(order, "", "    ")
		logger.Printf("order:\n%s", pretty)
		logger.Printf("order: %#v", order)
		ok(w)
	})
	// Asks the payment service.
	pay := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	http.HandleFunc("/pay", func(w http.ResponseWriter, _ *http.Request) {
		answer, err := pay.Get("http://127.0.0.1:9100/charge")
		if err != nil {
			http.Error(w, err.Error(), 502)
			return
		}
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		ok(w)
	})
	log.Fatal(http.ListenAndServe("0.0.0.0:9000", nil))
}
"#;
