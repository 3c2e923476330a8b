package isolate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/helixd/helixd/reactors/sandbox/isolate"
)

// answer is a module whose function run returns 42.
const answer = "\x00asm\x01\x00\x00\x00\x01\x05\x01\x60\x00\x01\x7f\x03\x02\x01\x00\x07\x07\x01\x03run\x00\x00\x0a\x06\x01\x04\x00\x41\x2a\x0b"

func init() {
	jobs["self test"] = func(t task) any { return isolate.SelfTest(t.Spec) }
	jobs["work"] = func(t task) any {
		if err := work(t.Arg); err != nil {
			return err.Error()
		}
		return ""
	}
	jobs["spin"] = func(task) any {
		for {
			runtime.Gosched()
		}
	}
	jobs["allocate"] = func(task) any {
		var kept [][]byte
		for range 1 << 14 {
			block := make([]byte, 1<<20)
			for i := 0; i < len(block); i += 4096 {
				block[i] = 1
			}
			kept = append(kept, block)
		}
		return len(kept)
	}
	// A parent of its own: it starts a child and tells what that reports.
	jobs["parent"] = func(t task) any {
		layers, err := do[[]isolate.Layer](task{Job: "self test", Spec: t.Spec})
		if err != nil {
			fail(err)
		}
		return layers
	}
	// A parent that tells the pid of a child that waits for ever, and waits.
	jobs["parent that is killed"] = func(t task) any {
		cmd, _, _, err := command(task{Job: "wait"})
		if err != nil {
			fail(err)
		}
		if err := isolate.Start(cmd); err != nil {
			fail(err)
		}
		json.NewEncoder(os.NewFile(3, "result")).Encode(cmd.Process.Pid)
		select {}
	}
	jobs["wait"] = func(task) any {
		var end sync.WaitGroup
		end.Add(1)
		go func() { syscall.Pause() }()
		end.Wait()
		return nil
	}
}

// work is a run of compiled code from the cache, a garbage collection and a crowd
// of threads.
func work(cache string) error {
	ctx := context.Background()
	compiled, err := wazero.NewCompilationCacheWithDir(cache)
	if err != nil {
		return err
	}
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigCompiler().WithCompilationCache(compiled))
	module, err := rt.Instantiate(ctx, []byte(answer))
	if err != nil {
		return err
	}
	for range 1000 {
		if got, err := module.ExportedFunction("run").Call(ctx); err != nil || got[0] != 42 {
			return fmt.Errorf("run gives %v, %w", got, err)
		}
	}
	var threads sync.WaitGroup
	all := make(chan struct{})
	for range 30 {
		threads.Add(1)
		go func() {
			runtime.LockOSThread()
			threads.Done()
			<-all
		}()
	}
	threads.Wait()
	close(all)
	for range 5 {
		_ = make([]byte, 8<<20)
		runtime.GC()
	}
	return rt.Close(ctx)
}

func required(t *testing.T, layers []isolate.Layer) map[string]isolate.Layer {
	t.Helper()
	byName := map[string]isolate.Layer{}
	for _, l := range layers {
		byName[l.Name] = l
		if l.Required && !l.Active {
			t.Errorf("%s does not hold: %s", l.Name, l.Detail)
		}
	}
	if len(byName) != 8 {
		t.Errorf("got %d layers, want 8", len(byName))
	}
	return byName
}

func TestSelfTest(t *testing.T) {
	t.Run("finds that what is required holds", func(t *testing.T) {
		for _, spec := range []isolate.Spec{{CPUSeconds: 10, DataBytes: 1 << 30}, {Compile: true, FileBytes: 1 << 20}} {
			layers, err := do[[]isolate.Layer](task{Job: "self test", Spec: spec})
			if err != nil {
				t.Fatal(err)
			}
			by := required(t, layers)
			if os.Getuid() == 0 && !by["uid"].Active {
				t.Errorf("uid: %s", by["uid"].Detail)
			}
		}
	})
	t.Run("finds that nothing holds without Enter", func(t *testing.T) {
		layers, err := do[[]isolate.Layer](task{Job: "self test", Outside: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range layers {
			// The parent gave these already.
			if l.Active && l.Name != "parent_death" && l.Name != "uid" {
				t.Errorf("%s is said to be active: %s", l.Name, l.Detail)
			}
		}
	})
}

func TestWork(t *testing.T) {
	dir := shared(t)
	cache := filepath.Join(dir, "cache")
	if err := os.Mkdir(cache, 0o777); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		if err := os.Chown(cache, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	spec := isolate.Spec{ReadWrite: []string{cache}, Compile: true, FileBytes: 1 << 20}
	for _, outcome := range []string{"a compile child fills the cache", "a worker reads it"} {
		t.Run(outcome, func(t *testing.T) {
			if problem, err := do[string](task{Job: "work", Arg: cache, Spec: spec}); err != nil || problem != "" {
				t.Errorf("%s, %v", problem, err)
			}
			files, err := filepath.Glob(filepath.Join(cache, "*", "*"))
			if err != nil || len(files) != 1 {
				t.Errorf("the cache holds %q, %v", files, err)
			}
		})
		spec = isolate.Spec{ReadOnly: []string{cache}}
	}
}

func TestFilesOutsideAreClosed(t *testing.T) {
	layers, err := do[[]isolate.Layer](task{Job: "self test"})
	if err != nil {
		t.Fatal(err)
	}
	if l := required(t, layers)["landlock"]; !l.Active {
		t.Logf("another user's only, because Landlock is not active: %s", l.Detail)
	}
	for _, path := range []string{fmt.Sprintf("/proc/%d/environ", os.Getpid()), fmt.Sprintf("/proc/%d/mem", os.Getpid())} {
		if problem, err := do[string](task{Job: "open", Arg: path}); err != nil || !strings.Contains(problem, "denied") {
			t.Errorf("opening %s: %q, %v", path, problem, err)
		}
	}
}

func TestLimitsKill(t *testing.T) {
	t.Run("by the kernel when the CPU time is spent", func(t *testing.T) {
		_, err := do[any](task{Job: "spin", Spec: isolate.Spec{CPUSeconds: 1}})
		var ended *exec.ExitError
		if !errors.As(err, &ended) || ended.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Errorf("got %v", err)
		}
	})
	t.Run("by Go when no more memory is mapped", func(t *testing.T) {
		_, err := do[any](task{Job: "allocate", Spec: isolate.Spec{DataBytes: 512 << 20, CPUSeconds: 20}})
		var ended *exec.ExitError
		if !errors.As(err, &ended) || !strings.Contains(err.Error(), "memory") && !strings.Contains(err.Error(), "ThreadSanitizer failed to allocate") {
			t.Errorf("got %v", err)
		}
	})
}

// parent executes this binary again, without layers of its own.
func parent(t *testing.T, job string, as *syscall.Credential) (*exec.Cmd, *os.File) {
	t.Helper()
	encoded, err := json.Marshal(task{Job: job, Outside: true})
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	cmd := exec.Command("/proc/self/exe", "isolate-child", string(encoded))
	cmd.Dir = "/"
	cmd.Stderr = os.Stderr
	cmd.ExtraFiles = []*os.File{w}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	err = cmd.Start()
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	return cmd, r
}

func TestChildDiesWithItsParent(t *testing.T) {
	cmd, result := parent(t, "parent that is killed", nil)
	var pid int
	if err := json.NewDecoder(result).Decode(&pid); err != nil {
		t.Fatal(err)
	}
	child, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	// Nobody here is its parent and can wait for it: it is asked until it has ended.
	err = child.Signal(syscall.Signal(0))
	for range 1_000_000 {
		if err != nil || zombie(pid) {
			return
		}
		runtime.Gosched()
		err = child.Signal(syscall.Signal(0))
	}
	t.Errorf("the child lives: %v", err)
	_ = child.Kill()
}

// zombie reports that a process has ended, though nobody has waited for it.
func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(stat), ") Z ")
}

func TestDaemonThatIsNotRoot(t *testing.T) {
	var as *syscall.Credential
	if os.Getuid() == 0 {
		as = &syscall.Credential{Uid: 12345, Gid: 12345}
	}
	cmd, result := parent(t, "parent", as)
	var layers []isolate.Layer
	if err := json.NewDecoder(result).Decode(&layers); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	by := required(t, layers)
	if by["uid"].Active {
		t.Errorf("uid is said to be active: %s", by["uid"].Detail)
	}
	t.Logf("namespaces: %+v", by["namespaces"])
}
