// Package serve owns a server's life: listen, announce, serve, stop, and the count of what was served.
//
// It knows nothing of paths, frameworks or configuration; both servers run through it, so that what they spend
// around their handlers is the same and cancels out of the comparison.
package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"plimsoll/casestudy/internal/health"
)

// Limits on what a client may hold. They are wide enough that no measurement meets them.
const (
	headerTimeout  = 30 * time.Second
	idleTimeout    = 5 * time.Minute
	maxHeaderBytes = 64 << 10
	// stopGrace is how long a stop waits for answers in the making. It is shorter than a 30 s profile on
	// purpose: whoever stops the server does not want the profile.
	stopGrace = 5 * time.Second
)

// Options says what to serve and where.
type Options struct {
	// Addr is host:port; port 0 lets the kernel choose, and the ready line tells which.
	Addr    string
	Handler http.Handler
	// Out receives the ready line and, at the end, the count.
	Out io.Writer
	// ErrorLog receives what net/http complains about; nil is the standard logger.
	ErrorLog *log.Logger
}

// Run serves until ctx is done, then stops gracefully: it finishes the answers under way for up to five seconds,
// closes every connection and prints how many requests were served. A failed listen is an error that names the
// address and what to do.
func Run(ctx context.Context, o Options) error {
	listener, err := net.Listen("tcp", o.Addr)
	if err != nil {
		return listenError(o.Addr, err)
	}
	counted := &counter{next: o.Handler}
	server := &http.Server{
		Handler:           counted,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          o.ErrorLog,
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	fmt.Fprintf(o.Out, "listening on http://%s%s\n", reachable(listener.Addr()), health.Path)

	select {
	case err = <-failed:
	case <-ctx.Done():
		err = stop(server)
	}
	fmt.Fprintf(o.Out, "served %d requests\n", counted.served.Load())
	return err
}

// stop lets answers under way finish, and after the grace closes what is left.
func stop(server *http.Server) error {
	grace, cancel := context.WithTimeout(context.Background(), stopGrace)
	defer cancel()
	err := server.Shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		return server.Close()
	}
	return err
}

// counter counts the requests whose handler returned; one that panicked is not served.
type counter struct {
	next   http.Handler
	served atomic.Uint64
}

func (c *counter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.next.ServeHTTP(w, r)
	c.served.Add(1)
}

// reachable is the address as a client on this machine can use it: a listener on every address is reached by name.
func reachable(addr net.Addr) string {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return addr.String()
	}
	return net.JoinHostPort("localhost", strconv.Itoa(tcp.Port))
}

func listenError(addr string, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("cannot listen on %s: another process does; stop it or choose another with -listen", addr)
	}
	if op := (*net.OpError)(nil); errors.As(err, &op) {
		err = op.Err
	}
	return fmt.Errorf("cannot listen on %s: %w; choose another with -listen", addr, err)
}
