package shop

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"plimsoll/casestudy/internal/answer"
	"plimsoll/casestudy/internal/health"
)

// maxBody is the size of a request's body at most.
const maxBody = 64 << 10

// Handler answers the shop's paths.
func Handler(store *Store) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+health.Path, answer.Health)
	mux.HandleFunc("GET /api/v1/products", func(w http.ResponseWriter, r *http.Request) {
		page, err := strconv.ParseInt(cmp.Or(r.URL.Query().Get("page"), "1"), 10, 32)
		if err != nil || page < 1 {
			answer.Problem(w, http.StatusBadRequest, "page is a number from 1 on")
			return
		}
		answer.JSON(w)(store.products(r.Context(), page))
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
			answer.Problem(w, http.StatusBadRequest, `an order is {"user": 1, "product": 1, "quantity": 1..20}`)
			return
		}
		id, err := store.order(r.Context(), wanted.User, wanted.Product, wanted.Quantity)
		answer.JSON(w)(map[string]int64{"id": id}, err)
	})
	return mux
}

func byID[T any](find func(context.Context, int64) (T, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
		if err != nil {
			answer.Problem(w, http.StatusBadRequest, "an id is a number")
			return
		}
		answer.JSON(w)(find(r.Context(), id))
	}
}
