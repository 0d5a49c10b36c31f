// Package health owns the one answer that every server of the case study gives.
//
// It holds the bytes and nothing else: baseline writes them as they are, apiserver has its framework encode
// [OK] into the same bytes. Two servers that answer alike differ only in what the framework costs.
package health

const (
	// Path is where the answer is served.
	Path = "/healthz"
	// ContentType is the media type of the answer, the same from every server: Gin's own default appends a
	// charset, and those bytes would be charged to the framework.
	ContentType = "application/json"
	// Body is the answer, without a newline at its end.
	Body = `{"status":"ok"}`
)

// Status is the answer as a value; OK encodes to [Body].
type Status struct {
	Status string `json:"status"`
}

// OK is the only status there is: a server that can answer is well.
var OK = Status{Status: "ok"}
