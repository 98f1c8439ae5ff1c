// A backend of Isola at level simple, in Go: docs/backend-protocol.yaml, docs/write-a-backend.md.
//
// A sandbox is a folder. Each command runs in bubblewrap with that folder as its workspace, and
// every process that it starts ends with it. Needs Linux and bwrap. It keeps its records in memory,
// and removes all sandboxes when it ends; simple_backend.py shows how to keep them.
package main

import (
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

type problem struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

func (p problem) Error() string { return p.Detail }

var statuses = map[string]int{"SANDBOX_NOT_FOUND": 404, "FILE_NOT_FOUND": 404, "FILE_EXISTS": 409,
	"UNAUTHENTICATED": 401, "NOT_IMPLEMENTED": 501, "PROVIDER_UNAVAILABLE": 503}

// A sandbox, with the fields that the protocol returns.
type sandbox struct {
	Id        string    `json:"id"`
	Instance  string    `json:"instance"`
	Sandbox   string    `json:"sandbox"`
	Note      string    `json:"note"`
	State     string    `json:"state"`
	CreatedAt time.Time `json:"createdAt"`
	spec      spec
	folder    string
	deadline  time.Time
	ctx       context.Context // ends with the sandbox, and ends its commands
	end       context.CancelFunc
}

type spec struct {
	Env, SecretEnv      map[string]string
	Cwd, WorkspaceMount string
}

type command struct {
	Argv        []string
	Env         map[string]string
	Cwd         string
	Input       []byte
	TimeoutMs   int64
	OutputLimit int
}

type result struct {
	ExitCode      *int   `json:"exitCode,omitempty"`
	Signal        *int   `json:"signal,omitempty"`
	TimedOut      bool   `json:"timedOut,omitempty"`
	Stdout        []byte `json:"stdout"`
	Stderr        []byte `json:"stderr"`
	StdoutDropped int    `json:"stdoutDropped"`
	StderrDropped int    `json:"stderrDropped"`
	DurationMs    int64  `json:"durationMs"`
}

// limited keeps the first bytes that are written to it, and counts the rest.
type limited struct {
	kept  []byte
	limit int
	lost  int
}

func (l *limited) Write(data []byte) (int, error) {
	count := min(len(data), l.limit-len(l.kept))
	l.kept = append(l.kept, data[:count]...)
	l.lost += len(data) - count
	return len(data), nil
}

// running counts the commands, so that none outlives this program.
var running sync.WaitGroup

// run runs a command, and ends it at its timeout, with the request, or with the sandbox.
func (s *sandbox) run(ctx context.Context, c command) (*result, error) {
	running.Add(1)
	defer running.Done()
	ctx, cancel := context.WithTimeout(ctx, time.Duration(c.TimeoutMs)*time.Millisecond)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	line := []string{"--proc", "/proc", "--dev", "/dev", "--bind", s.folder + "/tmp", "/tmp",
		"--bind", s.folder + "/workspace", s.spec.WorkspaceMount, "--unshare-user", "--unshare-pid",
		"--unshare-ipc", "--die-with-parent", "--new-session", "--json-status-fd", "3",
		"--chdir", c.Cwd}
	for _, name := range []string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/opt"} {
		if target, err := os.Readlink(name); err == nil {
			line = append(line, "--symlink", target, name)
		} else if _, err := os.Stat(name); err == nil {
			line = append(line, "--ro-bind", name, name)
		}
	}
	process := exec.CommandContext(ctx, "bwrap", append(append(line, "--"), c.Argv...)...)
	process.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + s.spec.WorkspaceMount}
	for _, variables := range []map[string]string{s.spec.Env, s.spec.SecretEnv, c.Env} {
		for name, value := range variables {
			process.Env = append(process.Env, name+"="+value)
		}
	}
	report, reportEnd, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer report.Close()
	out := &limited{kept: []byte{}, limit: c.OutputLimit} // not nil, which would be null in JSON
	errors := &limited{kept: []byte{}, limit: c.OutputLimit}
	process.Stdin, process.Stdout, process.Stderr = bytes.NewReader(c.Input), out, errors
	process.ExtraFiles = []*os.File{reportEnd}
	started := time.Now()
	err = process.Start()
	reportEnd.Close()
	if err != nil {
		return nil, problem{"INVALID_REQUEST", err.Error()}
	}
	process.Wait()
	status, _ := io.ReadAll(report)
	if s.ctx.Err() != nil {
		return nil, problem{"SANDBOX_NOT_FOUND", "the sandbox was destroyed"}
	}
	answer := &result{Stdout: out.kept, Stderr: errors.kept, StdoutDropped: out.lost,
		StderrDropped: errors.lost, DurationMs: time.Since(started).Milliseconds()}
	code := process.ProcessState.ExitCode()
	switch {
	case ctx.Err() != nil:
		answer.TimedOut = true
	case !bytes.Contains(status, []byte("exit-code")):
		return nil, notStarted(string(errors.kept))
	case code > 128 && code <= 192:
		code -= 128
		answer.Signal = &code
	default:
		answer.ExitCode = &code
	}
	return answer, nil
}

// notStarted tells why bwrap reports no exit code.
func notStarted(said string) error {
	match := regexp.MustCompile(`bwrap: (execvp|Can't chdir to) .*: (.*)`).FindStringSubmatch(said)
	switch {
	case match == nil:
		return problem{"PROVIDER_UNAVAILABLE", "bwrap: " + said}
	case match[1] != "execvp":
		return problem{"INVALID_REQUEST", match[0]}
	case strings.Contains(match[2], "No such file"):
		return problem{"COMMAND_NOT_FOUND", match[0]}
	}
	return problem{"COMMAND_NOT_EXECUTABLE", match[0]}
}

// script runs a script in the sandbox. Its exit code tells what failed.
func (s *sandbox) script(ctx context.Context, limit int, input []byte, text string, args ...string) ([]byte, error) {
	answer, err := s.run(ctx, command{Argv: append([]string{"sh", "-c", text, "sh"}, args...), Cwd: "/",
		Input: input, TimeoutMs: 60000, OutputLimit: limit})
	if err != nil {
		return nil, err
	}
	if answer.ExitCode != nil && *answer.ExitCode == 0 {
		return answer.Stdout, nil
	}
	code := "INVALID_REQUEST"
	if answer.ExitCode != nil {
		known := map[int]string{40: "FILE_NOT_FOUND", 41: "FILE_EXISTS", 42: "IS_A_FOLDER",
			43: "PERMISSION_DENIED", 44: "NOT_A_FOLDER", 46: "NOT_A_FILE"}
		if name, found := known[*answer.ExitCode]; found {
			code = name
		}
	}
	for word, name := range map[string]string{"Permission denied": "PERMISSION_DENIED", "No space": "DISK_FULL",
		"Read-only": "PERMISSION_DENIED", "Not a directory": "NOT_A_FOLDER", "File exists": "NOT_A_FOLDER"} {
		if bytes.Contains(answer.Stderr, []byte(word)) {
			code = name
		}
	}
	return nil, problem{code, args[0] + ": " + string(answer.Stderr)}
}

const read = `
[ -e "$1" ] || exit 40; [ ! -d "$1" ] || exit 42; [ -r "$1" ] || exit 43
tail -c +"$2" -- "$1" | head -c "$3"`

const write = `
[ ! -d "$1" ] || exit 42; [ ! -e "$1" ] || [ -f "$1" ] || exit 46
file=$(readlink -m -- "$1") && mkdir -p -- "${file%/*}/" || exit 45
if [ "$2" = append ]; then cat >>"$file" || exit 45
elif [ "$2" = new ] && { [ -e "$1" ] || [ -L "$1" ]; }; then exit 41
else
  part=$(mktemp -- "${file%/*}/.part.XXXXXX") || exit 45
  mode=$(stat -c %a -- "$file" 2>/dev/null || echo 644)
  cat >"$part" && chmod "$mode" -- "$part" && mv -fT -- "$part" "$file" || { rm -f -- "$part"; exit 45; }
fi
[ -z "$3" ] || chmod "$3" -- "$file" || exit 45`

const list = `
[ -e "$1" ] || exit 40; [ -d "$1" ] || exit 44; [ -r "$1" ] || exit 43
find "$1/" -mindepth 1 -maxdepth 1 -printf '%y %s %f\0'`

type backend struct {
	data, key string
	lock      sync.Mutex
	all       map[string]*sandbox
}

func (b *backend) find(r *http.Request) (*sandbox, error) {
	b.lock.Lock()
	defer b.lock.Unlock()
	if found := b.all[r.PathValue("id")]; found != nil {
		return found, nil
	}
	return nil, problem{"SANDBOX_NOT_FOUND", "there is no sandbox " + r.PathValue("id")}
}

func (b *backend) create(w http.ResponseWriter, r *http.Request) error {
	var request struct {
		Instance, Sandbox, Note string
		Spec                    spec
		TtlMs                   int64
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, 16<<20)).Decode(&request); err != nil {
		return problem{"INVALID_REQUEST", err.Error()}
	}
	b.lock.Lock()
	defer b.lock.Unlock()
	id := r.PathValue("id")
	if existing := b.all[id]; existing != nil {
		return answer(w, 200, existing)
	}
	s := &sandbox{Id: id, Instance: request.Instance, Sandbox: request.Sandbox, Note: request.Note,
		State: "running", CreatedAt: time.Now().UTC(), spec: request.Spec, folder: filepath.Join(b.data, id)}
	s.ctx, s.end = context.WithCancel(context.Background())
	if request.TtlMs > 0 {
		s.deadline = time.Now().Add(time.Duration(request.TtlMs) * time.Millisecond)
	}
	for _, part := range []string{"workspace", "tmp"} {
		if err := os.MkdirAll(filepath.Join(s.folder, part), 0o755); err != nil {
			return err
		}
	}
	if _, err := s.script(r.Context(), 1000, nil, `mkdir -p -- "$1"`, s.spec.Cwd); err != nil {
		os.RemoveAll(s.folder)
		return err
	}
	b.all[id] = s
	return answer(w, 201, s)
}

func (b *backend) destroy(id string) error {
	b.lock.Lock()
	defer b.lock.Unlock()
	if s := b.all[id]; s != nil {
		s.end()
		if err := exec.Command("rm", "-rf", "--", s.folder).Run(); err != nil {
			return err
		}
		delete(b.all, id)
	}
	return nil
}

func (b *backend) inventory(w http.ResponseWriter, r *http.Request) error {
	b.lock.Lock()
	defer b.lock.Unlock()
	found := []*sandbox{}
	for _, s := range b.all {
		if s.Instance == r.FormValue("instance") && s.Id > r.FormValue("after") {
			found = append(found, s)
		}
	}
	sort.Slice(found, func(i, j int) bool { return found[i].Id < found[j].Id })
	page := map[string]any{"sandboxes": found[:min(1000, len(found))]}
	if len(found) > 1000 {
		page["next"] = found[999].Id
	}
	return answer(w, 200, page)
}

func (b *backend) exec(w http.ResponseWriter, r *http.Request, s *sandbox) error {
	c := command{TimeoutMs: 60000, OutputLimit: 1 << 20, Cwd: s.spec.WorkspaceMount}
	if err := json.NewDecoder(io.LimitReader(r.Body, 64<<20)).Decode(&c); err != nil {
		return problem{"INVALID_REQUEST", err.Error()}
	}
	result, err := s.run(r.Context(), c)
	if err != nil {
		return err
	}
	return answer(w, 200, result)
}

func (b *backend) renew(w http.ResponseWriter, r *http.Request, s *sandbox) error {
	var request struct{ TtlMs int64 }
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		return problem{"INVALID_REQUEST", err.Error()}
	}
	b.lock.Lock()
	defer b.lock.Unlock()
	s.deadline = time.Now().Add(time.Duration(request.TtlMs) * time.Millisecond)
	w.WriteHeader(204)
	return nil
}

func (b *backend) readFile(w http.ResponseWriter, r *http.Request, s *sandbox) error {
	offset, _ := strconv.ParseInt(r.FormValue("offset"), 10, 64)
	length, err := strconv.Atoi(r.FormValue("length"))
	if err != nil {
		length = 64 << 20
	}
	content, err := s.script(r.Context(), length, nil, read, r.FormValue("path"),
		strconv.FormatInt(offset+1, 10), strconv.Itoa(length))
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	_, err = w.Write(content)
	return err
}

func (b *backend) writeFile(w http.ResponseWriter, r *http.Request, s *sandbox) error {
	content, err := io.ReadAll(r.Body)
	if err != nil {
		return problem{"INVALID_REQUEST", "the body ended early"}
	}
	query := r.URL.Query()
	_, err = s.script(r.Context(), 1000, content, write, query.Get("path"), query.Get("how"), query.Get("mode"))
	if err != nil {
		return err
	}
	w.WriteHeader(204)
	return nil
}

func (b *backend) listFiles(w http.ResponseWriter, r *http.Request, s *sandbox) error {
	text, err := s.script(r.Context(), 32<<20, nil, list, r.FormValue("path"))
	if err != nil {
		return err
	}
	types := map[string]string{"f": "file", "d": "folder", "l": "link"}
	entries := []map[string]any{}
	for _, line := range strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00") {
		if fields := strings.SplitN(line, " ", 3); len(fields) == 3 {
			size, _ := strconv.ParseInt(fields[1], 10, 64)
			kind := types[fields[0]]
			if kind == "" {
				kind = "other"
			}
			entries = append(entries, map[string]any{"name": fields[2], "type": kind, "size": size})
		}
	}
	return answer(w, 200, map[string]any{"entries": entries})
}

func (b *backend) info(w http.ResponseWriter, r *http.Request) error {
	health := map[string]string{"status": "healthy"}
	if _, err := exec.LookPath("bwrap"); err != nil {
		health = map[string]string{"status": "unhealthy", "reason": "bwrap is not installed",
			"fix": "apt-get install bubblewrap"}
	}
	return answer(w, 200, map[string]any{"protocol": 1, "name": "simple-backend-go", "level": "simple",
		"isolation": "process", "capabilities": []string{"renewing"}, "networkModes": []string{"host"},
		"limits": []string{"timeout"}, "startupMs": 50, "health": health})
}

func answer(w http.ResponseWriter, status int, document any) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	return json.NewEncoder(w).Encode(document)
}

// handle checks the key, and answers with a problem if the action fails.
func (b *backend) handle(action func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := error(problem{"UNAUTHENTICATED", "the key is wrong"})
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+b.key)) == 1 {
			err = action(w, r)
		}
		if err == nil {
			return
		}
		var known problem
		if !errors.As(err, &known) {
			known = problem{"PROVIDER_UNAVAILABLE", err.Error()}
		}
		status := statuses[known.Code]
		if status == 0 {
			status = 400
		}
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(known)
	}
}

func main() {
	host := flag.String("host", "127.0.0.1", "address")
	port := flag.Int("port", 8902, "0 for any; it is printed")
	key := flag.String("key", os.Getenv("BACKEND_KEY"), "key")
	data := flag.String("data", "/tmp/simple-backend-go", "folder")
	flag.Parse()
	for fd := 3; fd < 1024; fd++ {
		syscall.CloseOnExec(fd) // what this program inherited must not reach a sandbox
	}
	b := &backend{data: *data, key: *key, all: map[string]*sandbox{}}
	inSandbox := func(action func(http.ResponseWriter, *http.Request, *sandbox) error) http.HandlerFunc {
		return b.handle(func(w http.ResponseWriter, r *http.Request) error {
			s, err := b.find(r)
			if err != nil {
				return err
			}
			return action(w, r, s)
		})
	}
	box := " /v1/sandboxes/{id}"
	http.Handle("GET /v1/info", b.handle(b.info))
	http.Handle("GET /v1/sandboxes", b.handle(b.inventory))
	http.Handle("PUT"+box, b.handle(b.create))
	http.Handle("GET"+box, inSandbox(func(w http.ResponseWriter, _ *http.Request, s *sandbox) error {
		return answer(w, 200, s)
	}))
	http.Handle("DELETE"+box, b.handle(func(w http.ResponseWriter, r *http.Request) error {
		if err := b.destroy(r.PathValue("id")); err != nil {
			return err
		}
		w.WriteHeader(204)
		return nil
	}))
	http.Handle("POST"+box+"/exec", inSandbox(b.exec))
	http.Handle("POST"+box+"/renew", inSandbox(b.renew))
	http.Handle("GET"+box+"/files", inSandbox(b.readFile))
	http.Handle("PUT"+box+"/files", inSandbox(b.writeFile))
	http.Handle("GET"+box+"/list", inSandbox(b.listFiles))
	http.Handle("/", b.handle(func(_ http.ResponseWriter, r *http.Request) error {
		return problem{"NOT_IMPLEMENTED", r.Method + " " + r.URL.Path}
	}))
	go func() {
		for range time.Tick(500 * time.Millisecond) {
			b.lock.Lock()
			expired := []string{}
			for id, s := range b.all {
				if !s.deadline.IsZero() && time.Now().After(s.deadline) {
					expired = append(expired, id)
				}
			}
			b.lock.Unlock()
			for _, id := range expired {
				b.destroy(id)
			}
		}
	}()
	go func() {
		stop := make(chan os.Signal, 1)
		signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
		<-stop
		b.lock.Lock() // for good: nothing is created any more
		for _, s := range b.all {
			s.end()
		}
		running.Wait()
		for _, s := range b.all {
			exec.Command("rm", "-rf", "--", s.folder).Run()
		}
		os.Exit(0)
	}()
	listener, err := net.Listen("tcp", fmt.Sprintf("%s:%d", *host, *port))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("http://%s\n", listener.Addr())
	http.Serve(listener, nil)
}
