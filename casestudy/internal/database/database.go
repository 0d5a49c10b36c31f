// Package database opens pools of connections to PostgreSQL.
package database

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Open connects to the database of a URL, or where that is empty to the one that PGHOST, PGDATABASE ... say; conns is
// how many connections are used at most. A database that does not answer is an error.
func Open(ctx context.Context, url string, conns int32) (*pgxpool.Pool, error) {
	settings, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	settings.MaxConns = conns
	pool, err := pgxpool.NewWithConfig(ctx, settings)
	if err != nil {
		return nil, err
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	return pool, nil
}
