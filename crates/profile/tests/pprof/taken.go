// Takes profiles of every kind of itself and writes them into the folder named first.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"sort"
	"strings"
	"sync"
	"time"
)

type tree struct {
	left, right *tree
	value       int
}

func grow(depth int) *tree {
	if depth == 0 {
		return &tree{value: 1}
	}
	return &tree{grow(depth - 1), grow(depth - 1), depth}
}

func (t *tree) sum() int {
	if t == nil {
		return 0
	}
	return t.value + t.left.sum() + t.right.sum()
}

func odd(n int) int {
	if n == 0 {
		return int(crc32.ChecksumIEEE(make([]byte, 2000)))
	}
	return even(n - 1)
}

func even(n int) int {
	if n == 0 {
		return 1
	}
	return odd(n - 1)
}

func sorted[T int | string](values []T) []T {
	sort.Slice(values, func(i, j int) bool { return values[i] < values[j] })
	return values
}

func small(a, b int) int { return a*31 + b }

func inlined(n int) (sum int) {
	for i := 0; i < n; i++ {
		sum = small(small(sum, i), i)
	}
	return sum
}

func work(kind int) int {
	switch kind % 6 {
	case 0:
		return grow(14).sum()
	case 1:
		return odd(301)
	case 2:
		values := make([]string, 3000)
		for i := range values {
			values[i] = fmt.Sprint(i * 7919 % 3001)
		}
		return len(sorted(values)[0])
	case 3:
		return inlined(2_000_000)
	case 4:
		text, _ := json.Marshal(map[string]any{"a": strings.Repeat("x", 5000), "b": []int{1, 2, 3}})
		var out bytes.Buffer
		writer := gzip.NewWriter(&out)
		writer.Write(text)
		writer.Close()
		return out.Len()
	default:
		return len(sorted([]int{3, 1, 2}))
	}
}

var kept []any

func main() {
	dir := os.Args[1]
	runtime.SetMutexProfileFraction(1)
	runtime.SetBlockProfileRate(1)
	runtime.MemProfileRate = 512
	for n := 0; n < 14; n++ {
		file, err := os.Create(filepath.Join(dir, fmt.Sprintf("cpu%02d.pprof", n)))
		if err != nil {
			panic(err)
		}
		if err := pprof.StartCPUProfile(file); err != nil {
			panic(err)
		}
		end := time.Now().Add(time.Duration(60+n*20) * time.Millisecond)
		labels := pprof.Labels("endpoint", fmt.Sprintf("/users/%d", n), "kind", "test")
		pprof.Do(context.Background(), labels, func(context.Context) {
			for round := n; time.Now().Before(end); round++ {
				work(round)
			}
		})
		pprof.StopCPUProfile()
		file.Close()
	}
	for n := 0; n < 6; n++ {
		kept = append(kept, grow(10), make([]byte, 100_000), fmt.Sprint(n))
	}
	var lock sync.Mutex
	var group sync.WaitGroup
	for n := 0; n < 8; n++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := 0; i < 40; i++ {
				lock.Lock()
				time.Sleep(50 * time.Microsecond)
				lock.Unlock()
			}
		}()
	}
	group.Wait()
	for _, name := range []string{"heap", "allocs", "mutex", "block", "goroutine", "threadcreate"} {
		file, err := os.Create(filepath.Join(dir, name+".pprof"))
		if err != nil {
			panic(err)
		}
		pprof.Lookup(name).WriteTo(file, 0)
		file.Close()
	}
}
