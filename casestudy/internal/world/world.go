// Package world is one table of 100,000 rows, read and written in three ways: by statements of one's own, by a query
// builder, and by an ORM, so that what each costs can be compared.
//
// raw.go, builder.go and orm.go own the ways, api.go the paths. All three share one driver and have pools of the same
// size, so that nothing but the way differs.
package world

import (
	"context"
	_ "embed"

	"github.com/jackc/pgx/v5/pgxpool"

	"plimsoll/casestudy/internal/database"
)

// Rows is how many rows the table has; their ids are 1 to Rows.
const Rows = 100_000

// pageSize is how many rows a list answers.
const pageSize = 20

//go:embed schema.sql
var schema string

// Row is a row of the table.
type Row struct {
	ID     int64  `json:"id"`
	Number int64  `json:"number"`
	Name   string `json:"name"`
}

// way is a way to ask a database for rows.
type way interface {
	// row reads the row of this id.
	row(ctx context.Context, id int64) (Row, error)
	// rows reads pageSize rows from this id on.
	rows(ctx context.Context, from int64) ([]Row, error)
	// update reads the row of this id and writes another number into it.
	update(ctx context.Context, id, number int64) (Row, error)
}

// World is the table, by every way.
type World struct {
	pool *pgxpool.Pool
	ways map[string]way
	orm  *orm
}

// Open connects to the database; each way uses at most conns connections.
func Open(ctx context.Context, url string, conns int32) (*World, error) {
	pool, err := database.Open(ctx, url, conns)
	if err != nil {
		return nil, err
	}
	orm, err := openORM(url, int(conns))
	if err != nil {
		pool.Close()
		return nil, err
	}
	ways := map[string]way{"raw": raw{pool}, "builder": builder{pool}, "orm": orm}
	return &World{pool: pool, ways: ways, orm: orm}, nil
}

// Close closes all connections.
func (w *World) Close() {
	w.pool.Close()
	w.orm.close()
}

// Create makes the table and its rows.
func (w *World) Create(ctx context.Context) error {
	_, err := w.pool.Exec(ctx, schema)
	return err
}
