package middleware

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/golang-jwt/jwt/v5"
)

var errNoToken = errors.New("no Bearer token in the header Authorization")

// auth lets through whoever brings a token signed with our secret (JWT, HS256) that has not expired. The secret is
// read from the configuration anew for every request, as such services often do.
func auth(deps Deps) gin.HandlerFunc {
	return func(c *gin.Context) {
		user, err := verify(c.GetHeader("Authorization"), deps.Secret)
		if err != nil {
			Log(c.Request.Context(), deps.Log).LogAttrs(c.Request.Context(), slog.LevelDebug, "refused",
				slog.String("reason", err.Error()))
			c.Header("WWW-Authenticate", "Bearer")
			c.AbortWithStatusJSON(http.StatusUnauthorized, gin.H{"error": "a valid Bearer token is needed"})
			return
		}
		c.Set(usernameKey, user)
		c.Next()
	}
}

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
