package middleware

import (
	"log/slog"
	"time"

	"github.com/gin-gonic/gin"
)

// logger writes one line per request at level info. The query stays out of it: keys travel there.
func logger(deps Deps) gin.HandlerFunc {
	return func(c *gin.Context) {
		start := time.Now()
		c.Next()
		deps.Log.LogAttrs(c.Request.Context(), slog.LevelInfo, "request",
			slog.Int("status", c.Writer.Status()),
			slog.Int64("latency_ns", time.Since(start).Nanoseconds()),
			slog.String("client_ip", c.ClientIP()),
			slog.String("method", c.Request.Method),
			slog.String("path", c.Request.URL.Path),
			slog.Int("bytes", max(c.Writer.Size(), 0)),
			slog.String(requestIDKey, c.GetString(requestIDKey)),
		)
	}
}
