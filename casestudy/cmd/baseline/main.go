// Command baseline is a plain net/http server: the ceiling that apiserver is compared with.
//
// It answers /healthz with the same bytes as apiserver and does nothing else.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"plimsoll/casestudy/internal/health"
	"plimsoll/casestudy/internal/serve"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:6667", "address to listen on, `host:port`; port 0 lets the kernel choose")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "baseline: unexpected argument %q; the only option is -listen\n", flag.Arg(0))
		os.Exit(2)
	}
	ctx, forget := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the process at once.
	context.AfterFunc(ctx, forget)
	err := serve.Run(ctx, serve.Options{Addr: *listen, Handler: handler(), Out: os.Stdout})
	if err != nil {
		fmt.Fprintln(os.Stderr, "baseline:", err)
		os.Exit(1)
	}
}

func handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+health.Path, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", health.ContentType)
		io.WriteString(w, health.Body)
	})
	return mux
}
