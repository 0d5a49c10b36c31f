package accounts

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"golang.org/x/crypto/bcrypt"

	"plimsoll/casestudy/internal/answer"
	"plimsoll/casestudy/internal/middleware"
)

// lifetime is how long a token of /login is good for.
const lifetime = 2 * time.Hour

// hashCost is bcrypt's least: passwords of a case study are no secrets, and a login should not drown all else.
const hashCost = bcrypt.MinCost

type login struct {
	Name     string `json:"name" binding:"required,max=64"`
	Password string `json:"password" binding:"required,max=72"`
}

type newUser struct {
	Name     string `json:"name" binding:"required,alphanum,max=64"`
	Email    string `json:"email" binding:"required,email"`
	Password string `json:"password" binding:"required,min=8,max=72"`
}

type email struct {
	Email string `json:"email" binding:"required,email"`
}

type newSecret struct {
	Name  string `json:"name" binding:"required,max=64"`
	Value string `json:"value" binding:"required,max=4096"`
}

type value struct {
	Value string `json:"value" binding:"required,max=4096"`
}

type page struct {
	Offset int `form:"offset" binding:"min=0"`
	Limit  int `form:"limit,default=20" binding:"min=1,max=100"`
}

// Register adds the paths: /login and POST /v1/users are open, the rest needs a token. secret signs tokens.
func Register(engine *gin.Engine, store *Store, secret func() string) {
	api := api{store, secret}
	engine.POST("/login", api.login)
	engine.POST("/v1/users", api.createUser)
	closed := engine.Group("/v1", middleware.Auth(secret))
	closed.GET("/users", api.users)
	closed.GET("/users/:name", api.user)
	closed.PUT("/users/:name", api.updateUser)
	closed.DELETE("/users/:name", api.deleteUser)
	closed.GET("/secrets", api.secrets)
	closed.POST("/secrets", api.createSecret)
	closed.GET("/secrets/:name", api.secret)
	closed.PUT("/secrets/:name", api.updateSecret)
	closed.DELETE("/secrets/:name", api.deleteSecret)
}

type api struct {
	store *Store
	sign  func() string
}

func (a api) login(c *gin.Context) {
	asked, ok := body[login](c)
	if !ok {
		return
	}
	hash, err := a.store.password(c, asked.Name)
	if err == nil {
		err = bcrypt.CompareHashAndPassword(hash, []byte(asked.Password))
	}
	if errors.Is(err, answer.ErrMissing) || errors.Is(err, bcrypt.ErrMismatchedHashAndPassword) {
		answer.Problem(c.Writer, http.StatusUnauthorized, "wrong name or password")
		return
	}
	if err != nil {
		reply(c, http.StatusOK, nil, err)
		return
	}
	token, err := middleware.NewToken(a.sign(), asked.Name, time.Now(), lifetime)
	reply(c, http.StatusOK, gin.H{"token": token}, err)
}

func (a api) createUser(c *gin.Context) {
	asked, ok := body[newUser](c)
	if !ok {
		return
	}
	hash, err := bcrypt.GenerateFromPassword([]byte(asked.Password), hashCost)
	user := User{asked.Name, asked.Email}
	if err == nil {
		err = a.store.createUser(c, user, hash)
	}
	reply(c, http.StatusCreated, user, err)
}

func (a api) users(c *gin.Context) {
	if asked, ok := query(c); ok {
		users, err := a.store.users(c, asked.Offset, asked.Limit)
		reply(c, http.StatusOK, users, err)
	}
}

func (a api) user(c *gin.Context) {
	user, err := a.store.user(c, c.Param("name"))
	reply(c, http.StatusOK, user, err)
}

func (a api) updateUser(c *gin.Context) {
	if asked, ok := body[email](c); ok {
		user := User{c.Param("name"), asked.Email}
		reply(c, http.StatusOK, user, a.store.updateUser(c, user))
	}
}

func (a api) deleteUser(c *gin.Context) {
	reply(c, http.StatusNoContent, nil, a.store.deleteUser(c, c.Param("name")))
}

func (a api) secrets(c *gin.Context) {
	if asked, ok := query(c); ok {
		secrets, err := a.store.secrets(c, middleware.User(c), asked.Offset, asked.Limit)
		reply(c, http.StatusOK, secrets, err)
	}
}

func (a api) createSecret(c *gin.Context) {
	if asked, ok := body[newSecret](c); ok {
		secret := Secret(asked)
		reply(c, http.StatusCreated, secret, a.store.createSecret(c, middleware.User(c), secret))
	}
}

func (a api) secret(c *gin.Context) {
	secret, err := a.store.secret(c, middleware.User(c), c.Param("name"))
	reply(c, http.StatusOK, secret, err)
}

func (a api) updateSecret(c *gin.Context) {
	if asked, ok := body[value](c); ok {
		secret := Secret{c.Param("name"), asked.Value}
		reply(c, http.StatusOK, secret, a.store.updateSecret(c, middleware.User(c), secret))
	}
}

func (a api) deleteSecret(c *gin.Context) {
	reply(c, http.StatusNoContent, nil, a.store.deleteSecret(c, middleware.User(c), c.Param("name")))
}

// body reads a request's body; what is wrong with it is answered here.
func body[T any](c *gin.Context) (asked T, ok bool) {
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, 64<<10)
	if err := c.ShouldBindJSON(&asked); err != nil {
		answer.Problem(c.Writer, http.StatusBadRequest, err.Error())
		return asked, false
	}
	return asked, true
}

func query(c *gin.Context) (asked page, ok bool) {
	if err := c.ShouldBindQuery(&asked); err != nil {
		answer.Problem(c.Writer, http.StatusBadRequest, err.Error())
		return asked, false
	}
	return asked, true
}

func reply(c *gin.Context, status int, found any, err error) {
	switch {
	case err == nil && found == nil:
		c.Status(status)
	case err == nil:
		c.JSON(status, found)
	case errors.Is(err, errTaken):
		answer.Problem(c.Writer, http.StatusConflict, err.Error())
	case errors.Is(err, context.Canceled):
		// The client is gone.
	default:
		answer.JSON(c.Writer)(nil, err)
	}
}
