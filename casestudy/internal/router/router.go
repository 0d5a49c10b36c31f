// Package router owns apiserver's routes: which paths there are and which middlewares stand before them.
//
// It makes a handler out of a resolved configuration. It listens nowhere and opens no log.
package router

import (
	"log/slog"
	"net/http"
	"net/http/pprof"
	"os"

	"github.com/gin-gonic/gin"

	"plimsoll/casestudy/internal/accounts"
	"plimsoll/casestudy/internal/answer"
	"plimsoll/casestudy/internal/config"
	"plimsoll/casestudy/internal/health"
	"plimsoll/casestudy/internal/middleware"
)

// New builds the handler; without a store it has neither users nor secrets. Gin's mode is a setting of the whole process
// and is set here.
func New(cfg *config.Config, log *slog.Logger, store *accounts.Store) http.Handler {
	gin.DefaultWriter = os.Stderr
	gin.SetMode(cfg.Mode)
	engine := gin.New()
	engine.HandleMethodNotAllowed = true
	engine.NoRoute(problem(http.StatusNotFound, "no such path"))
	engine.NoMethod(problem(http.StatusMethodNotAllowed, "not this method"))
	// Nobody stands in front of us, so nobody's X-Forwarded-For is to be believed. nil cannot fail to parse.
	_ = engine.SetTrustedProxies(nil)

	// Before Use, and hence without middlewares: a profile should not ask for a token, nor show up in itself.
	if cfg.Profiling {
		engine.Any("/debug/pprof/*name", gin.WrapH(profiles()))
	}
	secret := cfg.SecretReader()
	engine.Use(middleware.Chain(cfg.Middlewares, middleware.Deps{Log: log, Secret: secret})...)
	engine.Match([]string{http.MethodGet, http.MethodHead}, health.Path, healthz(log))
	if store != nil {
		accounts.Register(engine, store, secret)
	}
	return engine
}

// problem answers as the paths' own errors do.
func problem(status int, detail string) gin.HandlerFunc {
	return func(c *gin.Context) { answer.Problem(c.Writer, status, detail) }
}

func healthz(log *slog.Logger) gin.HandlerFunc {
	return func(c *gin.Context) {
		ctx := c.Request.Context()
		middleware.Log(ctx, log).LogAttrs(ctx, slog.LevelDebug, "health asked for")
		c.Header("Content-Type", health.ContentType)
		c.JSON(http.StatusOK, health.OK)
	}
}

func profiles() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}
