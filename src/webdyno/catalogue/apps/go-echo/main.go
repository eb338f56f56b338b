// Command server HOST:PORT gives the plain answers with Echo.
package main

import (
	"context"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/labstack/echo/v5"
)

func main() {
	app := echo.New()
	app.GET("/", func(c *echo.Context) error {
		return c.String(http.StatusOK, "Hello, World!")
	})
	app.GET("/json", func(c *echo.Context) error {
		return c.JSON(http.StatusOK, map[string]string{"message": "Hello, World!"})
	})
	start := echo.StartConfig{Address: os.Args[1], HideBanner: true, HidePort: true}
	start.BeforeServeFunc = func(server *http.Server) error {
		server.IdleTimeout = time.Minute // else 30 s, like its ReadTimeout
		return nil
	}
	log.Fatal(start.Start(context.Background(), app))
}
