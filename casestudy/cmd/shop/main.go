// Command shop is a small shop's API server on PostgreSQL, with an access log: what the guide sizes for ten times the
// users.
//
// This file owns the command line, signals and exit codes (0 stopped, 1 could not run, 2 usage).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"plimsoll/casestudy/internal/accesslog"
	"plimsoll/casestudy/internal/serve"
	"plimsoll/casestudy/internal/shop"
)

const usage = `usage: shop init -database URL
       shop [-database URL] [-listen HOST:PORT] [-access-log FILE] [-connections N]

The first form makes the shop's tables and rows in a database that has none of them; the second serves it. Without
-database, the variables PGHOST, PGDATABASE ... say which.

`

func main() {
	ctx, forget := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the process at once.
	context.AfterFunc(ctx, forget)
	os.Exit(run(ctx, os.Args[1:]))
}

func run(ctx context.Context, args []string) int {
	create := len(args) > 0 && args[0] == "init"
	if create {
		args = args[1:]
	}
	flags := flag.NewFlagSet("shop", flag.ContinueOnError)
	flags.Usage = func() { fmt.Fprint(flags.Output(), usage); flags.PrintDefaults() }
	database := flags.String("database", "", "`URL`: postgres://user@host:port/name")
	listen := flags.String("listen", "127.0.0.1:8080", "address to listen on, `host:port`; port 0: any free one")
	log := flags.String("access-log", "access.log", "`file` that gets a line per response")
	conns := flags.Int("connections", 8, "connections to the database at most")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0 || *conns < 1 || *conns > 1000:
		flags.Usage()
		return 2
	}
	err := with(ctx, *database, int32(*conns), func(store *shop.Store) error {
		if create {
			return store.Create(ctx)
		}
		return serveShop(ctx, store, *listen, *log)
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "shop:", err)
		return 1
	}
	return 0
}

func with(ctx context.Context, database string, conns int32, do func(*shop.Store) error) error {
	store, err := shop.Open(ctx, database, conns)
	if err != nil {
		return err
	}
	defer store.Close()
	return do(store)
}

func serveShop(ctx context.Context, store *shop.Store, listen, file string) error {
	log, err := accesslog.Open(file)
	if err != nil {
		return err
	}
	handler := accesslog.Wrap(log, shop.Handler(store))
	err = serve.Run(ctx, serve.Options{Addr: listen, Handler: handler, Out: os.Stdout})
	return errors.Join(err, log.Close())
}
