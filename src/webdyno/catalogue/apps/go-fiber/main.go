// Command server HOST:PORT gives the plain answers with Fiber.
package main

import (
	"log"
	"os"

	"github.com/gofiber/fiber/v3"
)

func main() {
	app := fiber.New()
	app.Get("/", func(c fiber.Ctx) error {
		return c.SendString("Hello, World!")
	})
	app.Get("/json", func(c fiber.Ctx) error {
		return c.JSON(fiber.Map{"message": "Hello, World!"})
	})
	log.Fatal(app.Listen(os.Args[1], fiber.ListenConfig{DisableStartupMessage: true}))
}
