// Command server HOST:PORT gives the plain answers with fasthttp.
package main

import (
	"encoding/json"
	"log"
	"os"

	"github.com/valyala/fasthttp"
)

type message struct {
	Message string `json:"message"`
}

func answer(ctx *fasthttp.RequestCtx) {
	switch string(ctx.Path()) {
	case "/":
		ctx.SetContentType("text/plain; charset=utf-8")
		ctx.SetBodyString("Hello, World!")
	case "/json":
		ctx.SetContentType("application/json")
		body, _ := json.Marshal(message{"Hello, World!"})
		ctx.SetBody(body)
	default:
		ctx.Error("not found", fasthttp.StatusNotFound)
	}
}

func main() {
	log.Fatal(fasthttp.ListenAndServe(os.Args[1], answer))
}
