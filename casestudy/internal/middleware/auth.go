package middleware

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/golang-jwt/jwt/v5"

	"plimsoll/casestudy/internal/answer"
)

var errNoToken = errors.New("no Bearer token in the header Authorization")

// auth is Auth as the configuration lists it.
func auth(deps Deps) gin.HandlerFunc { return Auth(deps.Secret) }

// Auth lets through whoever brings a token signed with our secret (JWT, HS256) that has not expired. The secret is
// asked for with every request.
func Auth(secret func() string) gin.HandlerFunc {
	return func(c *gin.Context) {
		user, err := verify(c.GetHeader("Authorization"), secret)
		if err != nil {
			c.Header("WWW-Authenticate", "Bearer")
			answer.Problem(c.Writer, http.StatusUnauthorized, "a valid Bearer token is needed")
			c.Abort()
			return
		}
		c.Set(usernameKey, user)
		c.Next()
	}
}

// User is whom the request's token speaks for.
func User(c *gin.Context) string { return c.GetString(usernameKey) }

// verify answers with the token's subject.
func verify(authorization string, secret func() string) (string, error) {
	scheme, token, found := strings.Cut(authorization, " ")
	if !found || !strings.EqualFold(scheme, "Bearer") {
		return "", errNoToken
	}
	var claims jwt.RegisteredClaims
	_, err := jwt.ParseWithClaims(token, &claims,
		func(*jwt.Token) (any, error) { return []byte(secret()), nil },
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}),
		jwt.WithExpirationRequired(),
	)
	return claims.Subject, err
}

// NewToken makes a token that auth accepts from now until lifetime has passed.
func NewToken(secret, user string, now time.Time, lifetime time.Duration) (string, error) {
	claims := jwt.RegisteredClaims{
		Subject:   user,
		IssuedAt:  jwt.NewNumericDate(now),
		ExpiresAt: jwt.NewNumericDate(now.Add(lifetime)),
	}
	return jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte(secret))
}
