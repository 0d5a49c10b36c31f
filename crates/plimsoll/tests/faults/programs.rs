//! Programs that rigs consist of, in Python and in Go, and what they have in common.

/// Files that lie beside every script: [`SERVER_OF`] for servers in Python, [`HTTP`] for nginx.
pub const COMMON: &[(&str, &str)] = &[("server_of.py", SERVER_OF), ("http.inc", HTTP)];

/// A server with a thread of `serve(connection)` for each connection, which stays up when it has no files left.
const SERVER_OF: &str = "\
import socket, threading, time
OK = b'HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok'
def each(serve, backlog=1024, pause=0):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(('127.0.0.1', 9000))
    s.listen(backlog)
    while True:
        try:
            c, _ = s.accept()
        except OSError:
            time.sleep(0.01)
            continue
        threading.Thread(target=serve, args=(c,), daemon=True).start()
        if pause:
            time.sleep(pause)
";

/// What every `http` of an nginx has: folders of its own, and a page of figures at port 9001.
const HTTP: &str = "\
client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
server { listen 127.0.0.1:9001; location / { stub_status; } }
";

/// A link between this network namespace and that of a process, which delays, drops and bounds what passes: the
/// kernel's own (`tc netem`) is not everywhere. `link.py PID [delay=MS] [drop=SHARE] [rate=BYTES_PER_S]`; this end is 10.9.0.1,
/// the other 10.9.0.2.
pub const LINK: &str = "\
import ctypes, fcntl, heapq, os, random, select, socket, struct, subprocess, sys, time
pid, rest = sys.argv[1], dict(word.split('=') for word in sys.argv[2:])
delay, drop = float(rest.get('delay', 0)) / 1e3, float(rest.get('drop', 0))
rate = float(rest.get('rate', 1e12))
def tap(name, address):
    device = os.open('/dev/net/tun', os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, 0x400454ca, struct.pack('16sH', name.encode(), 0x1002))
    if 'rate' in rest:
        # What the interface says of its speed: 10 Mbit/s (ETHTOOL_SSET).
        words = struct.pack('IIIHBBBBBBIIHBBI2I', 2, 0, 0, 10, 1, *[0] * 13)
        words = ctypes.create_string_buffer(words, 44)
        asked = struct.pack('16sQ8x', name.encode(), ctypes.addressof(words))
        with socket.socket() as any:
            fcntl.ioctl(any, 0x8946, asked)
    subprocess.check_call(['ip', 'address', 'add', address + '/24', 'dev', name])
    subprocess.check_call(['ip', 'link', 'set', name, 'up'])
    return device
libc = ctypes.CDLL(None)
here, there = os.open('/proc/self/ns/net', 0), os.open('/proc/%s/ns/net' % pid, 0)
ends = [tap('link0', '10.9.0.1')]
libc.setns(there, 0)
subprocess.check_call(['ip', 'link', 'set', 'lo', 'up'])
ends.append(tap('link1', '10.9.0.2'))
libc.setns(here, 0)
random.seed(7)
free, waiting, n = [0.0, 0.0], [], 0
while True:
    now = time.monotonic()
    while waiting and waiting[0][0] <= now:
        _, _, to, frame = heapq.heappop(waiting)
        try:
            os.write(to, frame)
        except BlockingIOError:
            pass
    left = max(0, waiting[0][0] - now) if waiting else None
    for end in select.select(ends, [], [], left)[0]:
        way = ends.index(end)
        while True:
            try:
                frame = os.read(end, 65536)
            except BlockingIOError:
                break
            now = time.monotonic()
            if random.random() < drop or free[way] - now > 0.2:
                continue
            free[way] = max(free[way], now) + len(frame) / rate
            n += 1
            heapq.heappush(waiting, (free[way] + delay, n, ends[1 - way], frame))
";

/// A server that holds one lock while it serves a request.
pub const LOCKED: &str = "\
import threading, time
from server_of import OK, each
lock = threading.Lock()
def serve(c):
    while c.recv(65536):
        with lock:
            time.sleep(0.005)
        c.sendall(OK)
each(serve)
";

/// A server that keeps 100 kB for each request.
pub const LEAKS: &str = "\
from server_of import OK, each
kept = []
def serve(c):
    while c.recv(65536):
        kept.append(bytearray(b'x') * 100_000)
        c.sendall(OK)
each(serve)
";

/// A server with a thread for each connection, and some milliseconds of work, outside of the interpreter's lock, for each
/// request.
pub const THREADED_WORK: &str = "\
import hashlib
from server_of import OK, each
def serve(c):
    while c.recv(65536):
        hashlib.pbkdf2_hmac('sha256', b'a', b'b', 8000)
        c.sendall(OK)
each(serve)
";

/// A server that asks MariaDB for the orders of a user, by a client of its own for each connection.
pub const ON_MARIADB: &str = "\
import random, subprocess
from server_of import OK, each
client = 'mariadb --no-defaults -N -B --unbuffered -h 127.0.0.1 -P 3390 -u root shop'.split()
def serve(c):
    db = subprocess.Popen(client, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    while c.recv(65536):
        db.stdin.write(b'SELECT COUNT(id) FROM orders WHERE user_id = %d;\\n' % random.randint(1, 1600))
        db.stdout.readline()
        c.sendall(OK)
    db.kill()
each(serve)
";

/// A server with a large heap, and garbage for each request.
pub const GO_GARBAGE: &str = "\
package main

import (
	\"net/http\"
	_ \"net/http/pprof\"
)

type list struct{ next *list }

var (
	kept *list
)

func main() {
	for range 1000000 {
		kept = &list{kept}
	}
	http.HandleFunc(\"/\", func(w http.ResponseWriter, _ *http.Request) {
		var all []*[64]byte
		for range 500 {
			all = append(all, new([64]byte))
		}
		w.Write(all[len(all)-1][:2])
	})
	http.ListenAndServe(\"127.0.0.1:9000\", nil)
}
";
