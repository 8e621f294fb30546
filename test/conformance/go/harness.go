// The operations of the Go client. The program runs them side by side, and prints one line of JSON for each. The variables are those of
// harness.ts.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const patience = 120 * time.Second

var (
	url   = os.Getenv("CONFORMANCE_URL")
	token = os.Getenv("CONFORMANCE_TOKEN")
)

type delivery struct {
	method string
	header http.Header
	body   string
}

// inbox is a path of the receiver, and what came to it.
type inbox struct {
	url        string
	status     int
	deliveries chan delivery
}

var (
	inboxes sync.Map
	origin  string
	number  atomic.Int64
)

func unique(name string) string {
	return fmt.Sprintf("%s-%d-%d", name, os.Getpid(), number.Add(1))
}

// receive starts the receiver.
func receive() {
	port := os.Getenv("CONFORMANCE_RECEIVER_PORT")
	if port == "" {
		port = "0"
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	check(err)
	origin = os.Getenv("CONFORMANCE_RECEIVER")
	if origin == "" {
		origin = "http://" + listener.Addr().String()
	}
	go func() {
		check(http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			parts := strings.Split(r.URL.Path, "/")
			found, ok := inboxes.Load(parts[len(parts)-1])
			if !ok {
				w.WriteHeader(404)
				return
			}
			body, err := io.ReadAll(r.Body)
			check(err)
			to := found.(*inbox)
			to.deliveries <- delivery{r.Method, r.Header, string(body)}
			w.WriteHeader(to.status)
		})))
	}()
}

func newInbox(status int) *inbox {
	name := unique("inbox")
	made := &inbox{origin + "/" + name, status, make(chan delivery, 100)}
	inboxes.Store(name, made)
	return made
}

func (i *inbox) next() delivery {
	select {
	case came := <-i.deliveries:
		return came
	case <-time.After(patience):
		panic("No delivery came.")
	}
}

// check ends an operation with its error.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

func want(isSo bool, format string, values ...any) {
	if !isSo {
		panic(fmt.Sprintf(format, values...))
	}
}

// eventually reads until there is something to return.
func eventually[T any](read func() (T, bool)) T {
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
		if value, ok := read(); ok {
			return value
		}
	}
	panic("It did not hold in time.")
}

type result struct {
	Operation string `json:"operation"`
	Outcome   string `json:"outcome"`
	Reason    string `json:"reason,omitempty"`
}

// skipped ends an operation that this account must not see.
type skipped string

func resultOf(name string, run func()) (of result) {
	of = result{Operation: name, Outcome: "passed"}
	defer func() {
		switch reason := recover().(type) {
		case nil:
		case skipped:
			of.Outcome, of.Reason = "skipped", string(reason)
		default:
			of.Outcome, of.Reason = "failed", fmt.Sprint(reason)
		}
	}()
	run()
	return
}

func main() {
	receive()
	var all sync.WaitGroup
	lines := make(chan result)
	for name, run := range operations {
		all.Add(1)
		go func() {
			defer all.Done()
			lines <- resultOf(name, run)
		}()
	}
	go func() {
		all.Wait()
		close(lines)
	}()
	for line := range lines {
		check(json.NewEncoder(os.Stdout).Encode(line))
	}
}
