package middleware

import (
	"log/slog"
	"net/http"
	"runtime/debug"

	"github.com/gin-gonic/gin"

	"plimsoll/casestudy/internal/answer"
)

// recovery turns a panic into a 500 and a log line with its stack, and keeps the connection.
func recovery(deps Deps) gin.HandlerFunc {
	return gin.CustomRecoveryWithWriter(nil, func(c *gin.Context, panicked any) {
		deps.Log.LogAttrs(c.Request.Context(), slog.LevelError, "panic",
			slog.Any("value", panicked),
			slog.String(requestIDKey, c.GetString(requestIDKey)),
			slog.String("stack", string(debug.Stack())),
		)
		c.Abort()
		answer.Problem(c.Writer, http.StatusInternalServerError, "internal error")
	})
}
