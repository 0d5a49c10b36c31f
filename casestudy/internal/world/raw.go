package world

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"plimsoll/casestudy/internal/answer"
)

// raw sends statements as they are written here.
type raw struct{ pool *pgxpool.Pool }

func (r raw) row(ctx context.Context, id int64) (row Row, err error) {
	err = r.pool.QueryRow(ctx, "select id, number, name from world where id = $1", id).
		Scan(&row.ID, &row.Number, &row.Name)
	return row, missing(err)
}

func (r raw) rows(ctx context.Context, from int64) ([]Row, error) {
	found, err := r.pool.Query(ctx, "select id, number, name from world where id >= $1 order by id limit $2", from, pageSize)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(found, pgx.RowToStructByPos[Row])
}

func (r raw) update(ctx context.Context, id, number int64) (Row, error) {
	row, err := r.row(ctx, id)
	if err != nil {
		return row, err
	}
	row.Number = number
	_, err = r.pool.Exec(ctx, "update world set number = $2 where id = $1", id, number)
	return row, err
}

// missing is the package's error for a row that is not there.
func missing(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return answer.ErrMissing
	}
	return err
}
