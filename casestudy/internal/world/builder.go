package world

import (
	"context"

	"github.com/Masterminds/squirrel"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// builder puts each statement together when it is needed.
type builder struct{ pool *pgxpool.Pool }

var statements = squirrel.StatementBuilder.PlaceholderFormat(squirrel.Dollar)

func (b builder) row(ctx context.Context, id int64) (Row, error) {
	text, values, err := statements.Select("id", "number", "name").From("world").Where(squirrel.Eq{"id": id}).ToSql()
	if err != nil {
		return Row{}, err
	}
	found, err := b.pool.Query(ctx, text, values...)
	if err != nil {
		return Row{}, err
	}
	row, err := pgx.CollectExactlyOneRow(found, pgx.RowToStructByPos[Row])
	return row, missing(err)
}

func (b builder) rows(ctx context.Context, from int64) ([]Row, error) {
	text, values, err := statements.Select("id", "number", "name").From("world").
		Where(squirrel.GtOrEq{"id": from}).OrderBy("id").Limit(pageSize).ToSql()
	if err != nil {
		return nil, err
	}
	found, err := b.pool.Query(ctx, text, values...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(found, pgx.RowToStructByPos[Row])
}

func (b builder) update(ctx context.Context, id, number int64) (Row, error) {
	row, err := b.row(ctx, id)
	if err != nil {
		return row, err
	}
	row.Number = number
	text, values, err := statements.Update("world").Set("number", number).Where(squirrel.Eq{"id": id}).ToSql()
	if err != nil {
		return row, err
	}
	_, err = b.pool.Exec(ctx, text, values...)
	return row, err
}
