// Command dbserver answers rows of a PostgreSQL table in three ways, to compare what they cost: statements of its own,
// a query builder, an ORM.
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
	"runtime"
	"syscall"

	"plimsoll/casestudy/internal/serve"
	"plimsoll/casestudy/internal/world"
)

const usage = `usage: dbserver init -database URL
       dbserver [-database URL] [-listen HOST:PORT] [-connections N] [-workers N]

The first form makes a table of 100,000 rows in a database that has none; the second serves /raw/row, /raw/rows,
/raw/update, and the same under /builder and /orm. Without -database, the variables PGHOST, PGDATABASE ... say which.

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
	flags := flag.NewFlagSet("dbserver", flag.ContinueOnError)
	flags.Usage = func() { fmt.Fprint(flags.Output(), usage); flags.PrintDefaults() }
	database := flags.String("database", "", "`URL`: postgres://user@host:port/name")
	listen := flags.String("listen", "127.0.0.1:8080", "address to listen on, `host:port`; port 0: any free one")
	conns := flags.Int("connections", 8, "connections to the database at most, for each way")
	workers := flags.Int("workers", runtime.GOMAXPROCS(0), "threads that run at the same time (GOMAXPROCS)")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0 || *conns < 1 || *conns > 1000 || *workers < 1 || *workers > 1000:
		flags.Usage()
		return 2
	}
	runtime.GOMAXPROCS(*workers)
	if err := start(ctx, *database, int32(*conns), create, *listen); err != nil {
		fmt.Fprintln(os.Stderr, "dbserver:", err)
		return 1
	}
	return 0
}

func start(ctx context.Context, database string, conns int32, create bool, listen string) error {
	table, err := world.Open(ctx, database, conns)
	if err != nil {
		return err
	}
	defer table.Close()
	if create {
		return table.Create(ctx)
	}
	return serve.Run(ctx, serve.Options{Addr: listen, Handler: table.Handler(), Out: os.Stdout})
}
