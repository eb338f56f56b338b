// Command server HOST:PORT gives the plain answers with net/http.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"os"
	"strconv"
)

type message struct {
	Message string `json:"message"`
}

func answer(w http.ResponseWriter, kind string, body []byte) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.Write(body)
}

func main() {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" { // "/" matches every path that nothing else does
			http.NotFound(w, r)
			return
		}
		answer(w, "text/plain; charset=utf-8", []byte("Hello, World!"))
	})
	mux.HandleFunc("/json", func(w http.ResponseWriter, _ *http.Request) {
		body, _ := json.Marshal(message{"Hello, World!"})
		answer(w, "application/json", body)
	})
	log.Fatal(http.ListenAndServe(os.Args[1], mux))
}
