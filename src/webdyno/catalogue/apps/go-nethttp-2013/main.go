// Command server HOST:PORT THREADS gives the greeting by net/http as study hello's article wrote it: without its length,
// and with a number of threads of its own.
package main

import (
	"io"
	"log"
	"net/http"
	"os"
	"runtime"
	"strconv"
)

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		io.WriteString(w, "Hello World\n")
	})
	threads, err := strconv.Atoi(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	runtime.GOMAXPROCS(threads)
	log.Fatal(http.ListenAndServe(os.Args[1], nil))
}
