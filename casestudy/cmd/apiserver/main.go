// Command apiserver is an API server as such services are written: Gin with the middlewares that its configuration lists.
//
// This file owns the command line, signals and exit codes (0 stopped, 1 could not run, 2 usage); what the
// configuration means is config's to say, and router's to build.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"plimsoll/casestudy/internal/accesslog"
	"plimsoll/casestudy/internal/accounts"
	"plimsoll/casestudy/internal/config"
	"plimsoll/casestudy/internal/logsink"
	"plimsoll/casestudy/internal/middleware"
	"plimsoll/casestudy/internal/router"
	"plimsoll/casestudy/internal/serve"
)

const usage = `usage: apiserver [-config FILE] [-listen HOST:PORT]
       apiserver token [-config FILE] [-user NAME] [-lifetime DURATION]

The first form serves /healthz until it is interrupted. The second prints a token that the
middleware auth accepts: curl -H "Authorization: Bearer $(apiserver token)" ...

`

func main() {
	ctx, forget := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the process at once.
	context.AfterFunc(ctx, forget)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run does what args ask for and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var err error
	if len(args) > 0 && args[0] == "token" {
		err = printToken(args[1:], stdout, stderr)
	} else {
		err = serveAPI(ctx, args, stdout, stderr)
	}
	switch wrong := (*usageError)(nil); {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, &wrong):
		if !wrong.told {
			fmt.Fprintln(stderr, "apiserver:", err)
		}
		return 2
	default:
		fmt.Fprintln(stderr, "apiserver:", err)
		return 1
	}
}

func serveAPI(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	flags, file := newFlags(stderr)
	listen := flags.String("listen", "", "address to listen on instead of server.addr, `host:port`; port 0: any free one")
	if err := parse(flags, args); err != nil {
		return err
	}
	cfg, err := config.Load(*file)
	if err != nil {
		return err
	}
	if *listen != "" {
		cfg.Addr = *listen
	}
	sink, err := logsink.Open(cfg.OutputPaths, stdout, stderr)
	if err != nil {
		return fmt.Errorf("%w (log.output-paths in %s)", err, *file)
	}
	defer func() { err = errors.Join(err, sink.Close()) }()
	// At level debug each line names the source line that wrote it.
	handler := slog.NewJSONHandler(sink, &slog.HandlerOptions{Level: cfg.Level, AddSource: cfg.Level == slog.LevelDebug})
	log := slog.New(handler)
	warn(cfg, log, stderr)
	store, err := openStore(ctx, cfg)
	if err != nil {
		return err
	}
	if store != nil {
		defer store.Close()
	}
	root := router.New(cfg, log, store)
	if cfg.AccessPath != "" {
		lines, failed := accesslog.Open(cfg.AccessPath)
		if failed != nil {
			return fmt.Errorf("%w (log.access-path in %s)", failed, *file)
		}
		defer func() { err = errors.Join(err, lines.Close()) }()
		root = accesslog.Wrap(lines, root)
	}
	return serve.Run(ctx, serve.Options{
		Addr:     cfg.Addr,
		Handler:  root,
		Out:      stdout,
		ErrorLog: slog.NewLogLogger(handler, slog.LevelWarn),
	})
}

// openStore connects to the database of the configuration; nothing where it names none.
func openStore(ctx context.Context, cfg *config.Config) (*accounts.Store, error) {
	if cfg.Database == "" {
		return nil, nil
	}
	if cfg.Secret() == "" {
		return nil, errors.New("database.url: users need server.jwt-secret, which signs their tokens")
	}
	store, err := accounts.Open(ctx, cfg.Database)
	if err != nil {
		return nil, fmt.Errorf("database.url: %w", err)
	}
	return store, nil
}

// warn says in the log and on stderr, since the log may be a file that nobody reads, what would spoil a measurement.
func warn(cfg *config.Config, log *slog.Logger, stderr io.Writer) {
	for _, option := range cfg.DebugOptions() {
		text := "a measurement will measure the debug option " + option
		log.Warn(text)
		fmt.Fprintln(stderr, "apiserver: warning:", text)
	}
}

func printToken(args []string, stdout, stderr io.Writer) error {
	flags, file := newFlags(stderr)
	user := flags.String("user", "plimsoll", "`name` of the user the token speaks for")
	lifetime := flags.Duration("lifetime", 24*time.Hour, "how long the token is good for")
	if err := parse(flags, args); err != nil {
		return err
	}
	if *lifetime <= 0 {
		return &usageError{text: fmt.Sprintf("-lifetime %s: a token must live for some time", *lifetime)}
	}
	cfg, err := config.Load(*file)
	if err != nil {
		return err
	}
	if cfg.Secret() == "" {
		return fmt.Errorf("%s has no server.jwt-secret to sign a token with", *file)
	}
	token, err := middleware.NewToken(cfg.Secret(), *user, time.Now(), *lifetime)
	if err != nil {
		return fmt.Errorf("cannot sign a token: %w", err)
	}
	_, err = fmt.Fprintln(stdout, token)
	return err
}

// usageError is a command line that means nothing.
type usageError struct {
	text string
	// told is set when the flag package has printed it already.
	told bool
}

func (e *usageError) Error() string { return e.text }

func newFlags(stderr io.Writer) (*flag.FlagSet, *string) {
	flags := flag.NewFlagSet("apiserver", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, usage)
		flags.PrintDefaults()
	}
	return flags, flags.String("config", "config.yaml", "configuration `file`")
}

func parse(flags *flag.FlagSet, args []string) error {
	err := flags.Parse(args)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		return &usageError{text: err.Error(), told: true}
	}
	if err == nil && flags.NArg() > 0 {
		return &usageError{text: fmt.Sprintf("unexpected argument %q; see apiserver -h", flags.Arg(0))}
	}
	return err
}
