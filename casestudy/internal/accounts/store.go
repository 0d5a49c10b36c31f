// Package accounts is what the API server keeps in PostgreSQL: users, and secrets that belong to them.
//
// store.go owns the statements, api.go the paths and what requests must look like.
package accounts

import (
	"context"
	_ "embed"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"plimsoll/casestudy/internal/answer"
)

//go:embed schema.sql
var schema string

// errTaken says that there is one of this name already.
var errTaken = errors.New("the name is taken")

// uniqueViolation is PostgreSQL's code for it.
const uniqueViolation = "23505"

// User is a row of users without the password.
type User struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

// Secret is a row of secrets without its owner.
type Secret struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Store reads and writes users and secrets.
type Store struct{ pool *pgxpool.Pool }

// Open connects to the database and makes the tables if they are not there.
func Open(ctx context.Context, url string) (*Store, error) {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return nil, err
	}
	if _, err := pool.Exec(ctx, schema); err != nil {
		pool.Close()
		return nil, err
	}
	return &Store{pool}, nil
}

// Close closes its connections.
func (s *Store) Close() { s.pool.Close() }

func (s *Store) password(ctx context.Context, name string) (hash []byte, err error) {
	err = s.pool.QueryRow(ctx, "select password from users where name = $1", name).Scan(&hash)
	return hash, missing(err)
}

func (s *Store) createUser(ctx context.Context, user User, hash []byte) error {
	_, err := s.pool.Exec(ctx, "insert into users (name, email, password) values ($1, $2, $3)", user.Name, user.Email, hash)
	return taken(err)
}

func (s *Store) user(ctx context.Context, name string) (user User, err error) {
	err = s.pool.QueryRow(ctx, "select name, email from users where name = $1", name).Scan(&user.Name, &user.Email)
	return user, missing(err)
}

func (s *Store) users(ctx context.Context, offset, limit int) ([]User, error) {
	rows, err := s.pool.Query(ctx, "select name, email from users order by name offset $1 limit $2", offset, limit)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[User])
}

func (s *Store) updateUser(ctx context.Context, user User) error {
	return s.one(ctx, "update users set email = $2 where name = $1", user.Name, user.Email)
}

func (s *Store) deleteUser(ctx context.Context, name string) error {
	return s.one(ctx, "delete from users where name = $1", name)
}

func (s *Store) createSecret(ctx context.Context, owner string, secret Secret) error {
	_, err := s.pool.Exec(ctx, "insert into secrets (owner, name, value) select name, $2, $3 from users where name = $1",
		owner, secret.Name, secret.Value)
	return taken(err)
}

func (s *Store) secret(ctx context.Context, owner, name string) (secret Secret, err error) {
	err = s.pool.QueryRow(ctx, "select name, value from secrets where owner = $1 and name = $2", owner, name).
		Scan(&secret.Name, &secret.Value)
	return secret, missing(err)
}

func (s *Store) secrets(ctx context.Context, owner string, offset, limit int) ([]Secret, error) {
	rows, err := s.pool.Query(ctx, "select name, value from secrets where owner = $1 order by name offset $2 limit $3",
		owner, offset, limit)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Secret])
}

func (s *Store) updateSecret(ctx context.Context, owner string, secret Secret) error {
	return s.one(ctx, "update secrets set value = $3 where owner = $1 and name = $2", owner, secret.Name, secret.Value)
}

func (s *Store) deleteSecret(ctx context.Context, owner, name string) error {
	return s.one(ctx, "delete from secrets where owner = $1 and name = $2", owner, name)
}

// one carries out a statement that is about one row.
func (s *Store) one(ctx context.Context, statement string, values ...any) error {
	done, err := s.pool.Exec(ctx, statement, values...)
	if err == nil && done.RowsAffected() == 0 {
		return answer.ErrMissing
	}
	return err
}

func missing(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return answer.ErrMissing
	}
	return err
}

func taken(err error) error {
	if known := (*pgconn.PgError)(nil); errors.As(err, &known) && known.Code == uniqueViolation {
		return errTaken
	}
	return err
}
