package world

import (
	"math/rand/v2"
	"net/http"

	"plimsoll/casestudy/internal/answer"
	"plimsoll/casestudy/internal/health"
)

// Handler answers, for each WAY of raw, builder and orm:
//
//	GET  /WAY/row     one random row
//	GET  /WAY/rows    20 rows from a random one on
//	POST /WAY/update  one random row, read and written with a random number
func (w *World) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+health.Path, answer.Health)
	for name, way := range w.ways {
		mux.HandleFunc("GET /"+name+"/row", func(out http.ResponseWriter, r *http.Request) {
			answer.JSON(out)(way.row(r.Context(), random()))
		})
		mux.HandleFunc("GET /"+name+"/rows", func(out http.ResponseWriter, r *http.Request) {
			answer.JSON(out)(way.rows(r.Context(), min(random(), Rows-pageSize+1)))
		})
		mux.HandleFunc("POST /"+name+"/update", func(out http.ResponseWriter, r *http.Request) {
			answer.JSON(out)(way.update(r.Context(), random(), random()))
		})
	}
	return mux
}

// random is an id, or a number, that a row has.
func random() int64 { return 1 + rand.Int64N(Rows) }
