package shop

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"plimsoll/casestudy/internal/health"
)

// maxBody is the size of a request's body at most.
const maxBody = 64 << 10

// Handler answers the shop's paths.
func Handler(store *Store) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+health.Path, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", health.ContentType)
		io.WriteString(w, health.Body)
	})
	mux.HandleFunc("GET /api/v1/products", func(w http.ResponseWriter, r *http.Request) {
		page, err := strconv.ParseInt(cmp.Or(r.URL.Query().Get("page"), "1"), 10, 32)
		if err != nil || page < 1 {
			problem(w, http.StatusBadRequest, "page is a number from 1 on")
			return
		}
		answer(w)(store.products(r.Context(), page))
	})
	mux.HandleFunc("GET /api/v1/products/{id}", byID(store.product))
	mux.HandleFunc("GET /api/v1/users/{id}", byID(store.user))
	mux.HandleFunc("GET /api/v1/users/{id}/orders", byID(store.orders))
	mux.HandleFunc("POST /api/v1/orders", func(w http.ResponseWriter, r *http.Request) {
		var wanted struct {
			User     int64 `json:"user"`
			Product  int64 `json:"product"`
			Quantity int   `json:"quantity"`
		}
		err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&wanted)
		if err != nil || wanted.Quantity < 1 || wanted.Quantity > 20 {
			problem(w, http.StatusBadRequest, `an order is {"user": 1, "product": 1, "quantity": 1..20}`)
			return
		}
		id, err := store.order(r.Context(), wanted.User, wanted.Product, wanted.Quantity)
		answer(w)(map[string]int64{"id": id}, err)
	})
	return mux
}

func byID[T any](find func(context.Context, int64) (T, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
		if err != nil {
			problem(w, http.StatusBadRequest, "an id is a number")
			return
		}
		answer(w)(find(r.Context(), id))
	}
}

// answer writes what a statement found, or what went wrong.
func answer(w http.ResponseWriter) func(any, error) {
	return func(found any, err error) {
		switch {
		case err == nil:
			w.Header().Set("Content-Type", "application/json")
			// A client that is gone is nobody to tell of an error.
			_ = json.NewEncoder(w).Encode(found)
		case errors.Is(err, errMissing):
			problem(w, http.StatusNotFound, "not found")
		default:
			problem(w, http.StatusInternalServerError, "the database: "+err.Error())
		}
	}
}

func problem(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	fmt.Fprintf(w, "{\"status\":%d,\"detail\":%q}\n", status, why)
}
