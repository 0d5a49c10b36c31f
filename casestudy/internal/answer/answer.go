// Package answer writes responses: what was found as JSON, and errors the same everywhere (RFC 9457).
package answer

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"plimsoll/casestudy/internal/health"
)

// ErrMissing says that what was asked for is not there.
var ErrMissing = errors.New("not found")

// JSON writes what was found, or what went wrong: JSON(w)(find()).
func JSON(w http.ResponseWriter) func(any, error) {
	return func(found any, err error) {
		switch {
		case err == nil:
			w.Header().Set("Content-Type", "application/json")
			// A client that is gone is nobody to tell of an error.
			_ = json.NewEncoder(w).Encode(found)
		case errors.Is(err, ErrMissing):
			Problem(w, http.StatusNotFound, "not found")
		default:
			Problem(w, http.StatusInternalServerError, err.Error())
		}
	}
}

type problem struct {
	Status int    `json:"status"`
	Detail string `json:"detail"`
}

// Problem writes an error.
func Problem(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(problem{status, detail})
}

// Health is the handler of [health.Path].
func Health(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", health.ContentType)
	io.WriteString(w, health.Body)
}
