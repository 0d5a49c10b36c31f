package middleware

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
)

// noCache tells caches on the way to keep nothing.
func noCache(Deps) gin.HandlerFunc {
	epoch := time.Unix(0, 0).UTC().Format(http.TimeFormat)
	return func(c *gin.Context) {
		c.Header("Cache-Control", "no-cache, no-store, max-age=0, must-revalidate")
		c.Header("Expires", epoch)
		c.Header("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
		c.Next()
	}
}

// cors lets pages of any origin read the answers, and answers their preflight requests itself.
func cors(Deps) gin.HandlerFunc {
	return func(c *gin.Context) {
		if c.GetHeader("Origin") == "" {
			c.Next()
			return
		}
		c.Header("Access-Control-Allow-Origin", "*")
		c.Header("Access-Control-Expose-Headers", requestIDHeader)
		preflight := c.Request.Method == http.MethodOptions && c.GetHeader("Access-Control-Request-Method") != ""
		if !preflight {
			c.Next()
			return
		}
		c.Header("Access-Control-Allow-Methods", "GET, HEAD, OPTIONS")
		c.Header("Access-Control-Allow-Headers", "Authorization, Content-Type, "+requestIDHeader)
		c.Header("Access-Control-Max-Age", "43200")
		c.AbortWithStatus(http.StatusNoContent)
	}
}

// secure forbids browsers what an API never needs.
func secure(Deps) gin.HandlerFunc {
	return func(c *gin.Context) {
		c.Header("X-Frame-Options", "DENY")
		c.Header("X-Content-Type-Options", "nosniff")
		c.Header("Referrer-Policy", "no-referrer")
		c.Header("Content-Security-Policy", "default-src 'none'")
		c.Next()
	}
}
