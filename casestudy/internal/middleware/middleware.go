// Package middleware owns what apiserver does around a handler: the nine middlewares that server.middlewares names.
//
// Each is small and costs what its kind costs in a real service, because their cost is what the case study
// measures. Which of them run, and in what order, is the configuration's business; the routes are the router's.
package middleware

import (
	"fmt"
	"log/slog"

	"github.com/gin-gonic/gin"
)

// Keys under which middlewares leave a word for the ones after them.
const (
	requestIDKey = "requestID"
	usernameKey  = "username"
)

// Deps is what middlewares need of the server.
type Deps struct {
	Log *slog.Logger
	// Secret reads the signing key from the configuration; auth asks for it on every request.
	Secret func() string
}

var makers = map[string]func(Deps) gin.HandlerFunc{
	"dump":      dump,
	"logger":    logger,
	"requestid": requestID,
	"context":   requestContext,
	"recovery":  recovery,
	"nocache":   noCache,
	"cors":      cors,
	"secure":    secure,
	"auth":      auth,
}

// Chain makes the named middlewares, in order. An unknown name is a bug: the configuration admits none.
func Chain(names []string, deps Deps) []gin.HandlerFunc {
	chain := make([]gin.HandlerFunc, 0, len(names))
	for _, name := range names {
		maker, ok := makers[name]
		if !ok {
			panic(fmt.Sprintf("no middleware is called %q", name))
		}
		chain = append(chain, maker(deps))
	}
	return chain
}
