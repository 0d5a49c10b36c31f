package middleware

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"

	"github.com/gin-gonic/gin"
)

// maxDumpedBody bounds what a dump holds of a body, either way. A longer request body is left to the handler, and
// the answer is cut.
const maxDumpedBody = 64 << 10

// secretHeaders are masked: a log is not where keys belong.
var secretHeaders = []string{"Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie"}

// dump writes the whole request and the whole answer into one log line at level info, less what may be a key:
// secret headers are masked and the query is left out. It is the debug option that costs the most, and the one most
// easily left on.
func dump(deps Deps) gin.HandlerFunc {
	return func(c *gin.Context) {
		ctx := c.Request.Context()
		if !deps.Log.Enabled(ctx, slog.LevelInfo) {
			c.Next()
			return
		}
		request := dumpRequest(c.Request)
		tee := &teeWriter{ResponseWriter: c.Writer}
		c.Writer = tee
		c.Next()
		deps.Log.LogAttrs(ctx, slog.LevelInfo, "dump",
			slog.String("request", request),
			slog.String("answer", dumpAnswer(c.Request, tee)),
		)
	}
}

func dumpRequest(r *http.Request) string {
	masked := *r
	masked.Header = mask(r.Header)
	url := *r.URL
	url.RawQuery = ""
	masked.RequestURI = url.RequestURI()
	whole := 0 <= r.ContentLength && r.ContentLength <= maxDumpedBody
	text, err := httputil.DumpRequest(&masked, whole)
	// DumpRequest has read the body and left a copy in its place.
	r.Body = masked.Body
	if err != nil {
		return "(" + err.Error() + ")"
	}
	return string(text)
}

func dumpAnswer(r *http.Request, tee *teeWriter) string {
	answer := &http.Response{
		StatusCode:    tee.Status(),
		Proto:         r.Proto,
		ProtoMajor:    r.ProtoMajor,
		ProtoMinor:    r.ProtoMinor,
		Header:        mask(tee.Header()),
		Body:          io.NopCloser(&tee.body),
		ContentLength: int64(tee.body.Len()),
	}
	text, err := httputil.DumpResponse(answer, true)
	if err != nil {
		return "(" + err.Error() + ")"
	}
	return string(text)
}

func mask(header http.Header) http.Header {
	masked := header.Clone()
	for _, name := range secretHeaders {
		if masked.Get(name) != "" {
			masked.Set(name, "(masked)")
		}
	}
	return masked
}

// teeWriter keeps the beginning of what is written through it.
type teeWriter struct {
	gin.ResponseWriter
	body bytes.Buffer
}

func (t *teeWriter) Write(p []byte) (int, error) {
	t.keep(p)
	return t.ResponseWriter.Write(p)
}

func (t *teeWriter) WriteString(s string) (int, error) {
	t.keep([]byte(s))
	return t.ResponseWriter.WriteString(s)
}

func (t *teeWriter) keep(p []byte) {
	room := maxDumpedBody - t.body.Len()
	t.body.Write(p[:min(room, len(p))])
}
