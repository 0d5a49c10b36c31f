package world

import (
	"context"
	"errors"

	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"plimsoll/casestudy/internal/answer"
)

// orm maps rows to values by GORM, as its guide begins: nothing switched off but its log.
type orm struct{ db *gorm.DB }

// World's table is not called as GORM would call it.
func (Row) TableName() string { return "world" }

func openORM(url string, conns int) (*orm, error) {
	db, err := gorm.Open(postgres.Open(url), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		return nil, err
	}
	pool, err := db.DB()
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(conns)
	pool.SetMaxIdleConns(conns)
	return &orm{db}, nil
}

func (o *orm) close() {
	if pool, err := o.db.DB(); err == nil {
		// Nothing is left to be written.
		_ = pool.Close()
	}
}

func (o *orm) row(ctx context.Context, id int64) (row Row, err error) {
	err = o.db.WithContext(ctx).First(&row, id).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return row, answer.ErrMissing
	}
	return row, err
}

func (o *orm) rows(ctx context.Context, from int64) (rows []Row, err error) {
	err = o.db.WithContext(ctx).Where("id >= ?", from).Order("id").Limit(pageSize).Find(&rows).Error
	return rows, err
}

func (o *orm) update(ctx context.Context, id, number int64) (Row, error) {
	row, err := o.row(ctx, id)
	if err != nil {
		return row, err
	}
	row.Number = number
	return row, o.db.WithContext(ctx).Save(&row).Error
}
