package middleware

import (
	"context"
	"log/slog"

	"github.com/gin-gonic/gin"
)

type logKey struct{}

// requestContext gives the handlers a logger that already knows which request and whose it is. It sees what ran
// before it: list it after requestid (and auth).
func requestContext(deps Deps) gin.HandlerFunc {
	return func(c *gin.Context) {
		log := deps.Log.With(requestIDKey, c.GetString(requestIDKey), usernameKey, c.GetString(usernameKey))
		ctx := context.WithValue(c.Request.Context(), logKey{}, log)
		c.Request = c.Request.WithContext(ctx)
		c.Next()
	}
}

// Log is the request's own logger, or otherwise where the middleware context is not in use.
func Log(ctx context.Context, otherwise *slog.Logger) *slog.Logger {
	if log, ok := ctx.Value(logKey{}).(*slog.Logger); ok {
		return log
	}
	return otherwise
}
