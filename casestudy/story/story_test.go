// Package story tests the two commands as a user runs them: built, started, asked, stopped.
package story

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/casestudy/internal/config"
	"plimsoll/casestudy/internal/health"
)

var bin string

func TestMain(m *testing.M) {
	os.Exit(build(m))
}

func build(m *testing.M) int {
	folder, err := os.MkdirTemp("", "casestudy")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	bin = folder
	if text, err := exec.Command("go", "build", "-o", folder, "../cmd/...").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%s%v\n", text, err)
		return 1
	}
	return m.Run()
}

// server is a command that listens.
type server struct {
	url    string
	cmd    *exec.Cmd
	stdout *bufio.Reader
	folder string
}

// start runs the command on a free port, in a folder of its own, and waits until it listens.
func start(t *testing.T, name string, args ...string) *server {
	t.Helper()
	s := &server{folder: t.TempDir()}
	s.cmd = exec.Command(filepath.Join(bin, name), append(args, "-listen", "127.0.0.1:0")...)
	s.cmd.Dir = s.folder
	s.cmd.Stderr = os.Stderr
	pipe, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.cmd.Process.Kill() })
	s.stdout = bufio.NewReader(pipe)
	line, _ := s.stdout.ReadString('\n')
	url, found := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if !found {
		t.Fatalf("%s is not ready: %q", name, line)
	}
	s.url = url
	return s
}

func configuration(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var date = regexp.MustCompile(`\r\nDate: [^\r]+`)

// raw is the whole answer as it came over the wire, less its date.
func (s *server) raw(t *testing.T) string {
	t.Helper()
	host := strings.TrimSuffix(strings.TrimPrefix(s.url, "http://"), health.Path)
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(30 * time.Second))
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", health.Path, host)
	text, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return date.ReplaceAllString(string(text), "")
}

// stop ends the server as an operator would and returns what it said last.
func (s *server) stop(t *testing.T, signal os.Signal) string {
	t.Helper()
	if err := s.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(s.stdout)
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("after %v: %v", signal, err)
	}
	return string(rest)
}

func TestWithoutMiddlewaresTheAnswerIsTheBaselinesToTheByte(t *testing.T) {
	baseline := start(t, "baseline").raw(t)
	tuned := start(t, "apiserver", "-config", configuration(t, "config.tuned.yaml")).raw(t)
	if baseline != tuned {
		t.Errorf("baseline %q, tuned %q", baseline, tuned)
	}
	if !strings.HasSuffix(baseline, "\r\n\r\n"+health.Body) {
		t.Errorf("%q", baseline)
	}
}

func TestBeforeTuningOnlyTheHeadDiffers(t *testing.T) {
	for _, name := range []string{"config.yaml", "config.debug.yaml"} {
		server := start(t, "apiserver", "-config", configuration(t, name))
		head, body, _ := strings.Cut(server.raw(t), "\r\n\r\n")
		if body != health.Body || !strings.Contains(head, "\r\nContent-Type: application/json\r\n") {
			t.Errorf("%s: %q %q", name, head, body)
		}
		if !strings.Contains(head, "X-Request-Id: ") {
			t.Errorf("%s: no middleware left its header: %q", name, head)
		}
		server.stop(t, syscall.SIGTERM)
		log, err := os.ReadFile(filepath.Join(server.folder, "apiserver.log"))
		if err != nil || strings.Count(string(log), `"msg":"request","status":200`) != 1 {
			t.Errorf("%s: %v %s", name, err, log)
		}
	}
}

func TestAStopFinishesAndCounts(t *testing.T) {
	for _, signal := range []os.Signal{syscall.SIGTERM, syscall.SIGINT} {
		for _, server := range []*server{
			start(t, "baseline"), start(t, "apiserver", "-config", configuration(t, "config.tuned.yaml")),
		} {
			server.raw(t)
			server.raw(t)
			if said := server.stop(t, signal); said != "served 2 requests\n" {
				t.Errorf("%s after %v: %q", server.cmd.Path, signal, said)
			}
		}
	}
}

func TestATokenFromTheCommandIsLetIn(t *testing.T) {
	file := configuration(t, "config.auth.yaml")
	token, err := exec.Command(filepath.Join(bin, "apiserver"), "token", "-config", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	server := start(t, "apiserver", "-config", file)
	for header, status := range map[string]int{"": 401, "Bearer " + strings.TrimSpace(string(token)): 200} {
		request, _ := http.NewRequest("GET", server.url, nil)
		request.Header.Set("Authorization", header)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != status {
			t.Errorf("%q: %d, not %d", header, answer.StatusCode, status)
		}
	}
}

// TestTheShippedConfigurationsTellTheStory keeps the files what the guide says they are.
func TestTheShippedConfigurationsTellTheStory(t *testing.T) {
	ordinary := []string{"logger", "requestid", "context", "recovery", "nocache", "cors", "secure"}
	for name, want := range map[string]struct {
		middlewares []string
		debug       int
	}{
		"config.yaml":       {ordinary, 0},
		"config.tuned.yaml": {nil, 0},
		"config.debug.yaml": {append([]string{"dump"}, ordinary...), 3},
		"config.auth.yaml":  {[]string{"requestid", "nocache", "cors", "auth"}, 0},
	} {
		cfg, err := config.Load(configuration(t, name))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(cfg.Middlewares, want.middlewares) || len(cfg.DebugOptions()) != want.debug || !cfg.Profiling {
			t.Errorf("%s: %+v, debug options %q", name, cfg, cfg.DebugOptions())
		}
	}
}
