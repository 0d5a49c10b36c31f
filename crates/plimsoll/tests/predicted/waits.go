// A server whose processor is not its limit. Requests wait: /lock for one lock, /database for one of four connections.
package main

import (
	"fmt"
	"net"
	"net/http"
	_ "net/http/pprof"
	"sync"
	"time"
)

var lock sync.Mutex

func held(w http.ResponseWriter, _ *http.Request) {
	lock.Lock()
	time.Sleep(time.Millisecond)
	lock.Unlock()
	fmt.Fprintln(w, "ok")
}

var connections = make(chan struct{}, 4)

func asked(w http.ResponseWriter, _ *http.Request) {
	connections <- struct{}{}
	time.Sleep(2 * time.Millisecond)
	<-connections
	fmt.Fprintln(w, "ok")
}

func plain(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") }

func main() {
	http.HandleFunc("/lock", held)
	http.HandleFunc("/database", asked)
	http.HandleFunc("/plain", plain)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Printf("listening on http://%s/\n", listener.Addr())
	panic(http.Serve(listener, nil))
}
