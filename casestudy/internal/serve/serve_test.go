package serve

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

func TestAnAddressInUseIsNamed(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	addr := taken.Addr().String()
	err = Run(context.Background(), Options{Addr: addr, Handler: http.NotFoundHandler(), Out: io.Discard})
	if err == nil || !strings.Contains(err.Error(), addr) || !strings.Contains(err.Error(), "-listen") {
		t.Errorf("%v", err)
	}
}

func TestTheReadyLineNamesAnAddressThatAnswers(t *testing.T) {
	for listen, host := range map[string]string{"127.0.0.1:0": "127.0.0.1", "0.0.0.0:0": "localhost", ":0": "localhost"} {
		out, in := io.Pipe()
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() {
			ended <- Run(ctx, Options{Addr: listen, Handler: http.NotFoundHandler(), Out: in})
			in.Close()
		}()
		buffer := make([]byte, 256)
		n, _ := out.Read(buffer)
		url, found := strings.CutPrefix(strings.TrimSpace(string(buffer[:n])), "listening on ")
		if !found || !strings.HasPrefix(url, "http://"+host+":") || !strings.HasSuffix(url, "/healthz") {
			t.Errorf("%s: %q", listen, buffer[:n])
		}
		answer, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		stop()
		last, _ := io.ReadAll(out)
		if err := <-ended; err != nil || string(last) != "served 1 requests\n" {
			t.Errorf("%s: %v, %q", listen, err, last)
		}
	}
}
