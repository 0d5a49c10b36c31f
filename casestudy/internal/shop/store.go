// Package shop is a small shop's API on PostgreSQL: products, users and their orders.
//
// store.go owns the statements, api.go the paths; who listens and who writes the access log is said elsewhere.
package shop

import (
	"context"
	_ "embed"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"plimsoll/casestudy/internal/answer"
	"plimsoll/casestudy/internal/database"
)

//go:embed schema.sql
var schema string

// pageSize is how many rows a list answers.
const pageSize = 20

// Product is a row of products.
type Product struct {
	ID    int64   `json:"id"`
	Name  string  `json:"name"`
	Slug  string  `json:"slug"`
	Price float64 `json:"price"`
	Stock int     `json:"stock"`
}

// User is a row of users.
type User struct {
	ID        int64     `json:"id"`
	Name      string    `json:"name"`
	Email     string    `json:"email"`
	City      string    `json:"city"`
	CreatedAt time.Time `json:"created_at"`
}

// Order is a row of orders with what it comes to.
type Order struct {
	ID        int64     `json:"id"`
	Status    string    `json:"status"`
	CreatedAt time.Time `json:"created_at"`
	Total     float64   `json:"total"`
}

// Store reads and writes the shop's tables.
type Store struct {
	pool *pgxpool.Pool
}

// Open connects to the database; conns is how many connections the server uses at most.
func Open(ctx context.Context, url string, conns int32) (*Store, error) {
	pool, err := database.Open(ctx, url, conns)
	if err != nil {
		return nil, err
	}
	return &Store{pool: pool}, nil
}

// Close closes its connections.
func (s *Store) Close() { s.pool.Close() }

// Create makes the tables and today's rows.
func (s *Store) Create(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, schema)
	return err
}

func (s *Store) products(ctx context.Context, page int64) ([]Product, error) {
	rows, err := s.pool.Query(ctx, `select id, name, slug, price::float8, stock from products
		order by id limit $1 offset $2`, pageSize, (page-1)*pageSize)
	return collect[Product](rows, err)
}

func (s *Store) product(ctx context.Context, id int64) (Product, error) {
	rows, err := s.pool.Query(ctx, "select id, name, slug, price::float8, stock from products where id = $1", id)
	return one[Product](rows, err)
}

func (s *Store) user(ctx context.Context, id int64) (User, error) {
	rows, err := s.pool.Query(ctx, "select id, name, email, city, created_at from users where id = $1", id)
	return one[User](rows, err)
}

func (s *Store) orders(ctx context.Context, user int64) ([]Order, error) {
	rows, err := s.pool.Query(ctx, `select o.id, o.status, o.created_at,
			coalesce(sum(i.quantity * p.price), 0)::float8 as total
		from orders o left join items i on i.order_id = o.id left join products p on p.id = i.product_id
		where o.user_id = $1 group by o.id order by o.id desc limit $2`, user, pageSize)
	return collect[Order](rows, err)
}

// order writes an order of one product and answers its number.
func (s *Store) order(ctx context.Context, user, product int64, quantity int) (id int64, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		const order = "insert into orders (user_id, status) select id, 'new' from users where id = $1 returning id"
		if err := tx.QueryRow(ctx, order, user).Scan(&id); err != nil {
			return err
		}
		const item = `insert into items (order_id, product_id, quantity) select $1, id, $3 from products where id = $2`
		done, err := tx.Exec(ctx, item, id, product, quantity)
		if err == nil && done.RowsAffected() == 0 {
			return pgx.ErrNoRows
		}
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, answer.ErrMissing
	}
	return id, err
}

func collect[T any](rows pgx.Rows, err error) ([]T, error) {
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[T])
}

func one[T any](rows pgx.Rows, err error) (T, error) {
	var none T
	if err != nil {
		return none, err
	}
	row, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[T])
	if errors.Is(err, pgx.ErrNoRows) {
		return none, answer.ErrMissing
	}
	return row, err
}
