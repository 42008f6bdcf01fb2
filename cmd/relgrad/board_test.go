package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"strings"
	"testing"
	"time"
)

// The command prints an address, serves its pages until it is interrupted, and ends with status 0.
func TestBoard(t *testing.T) {
	store := trainedStore(t)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	old := os.Stdout
	os.Stdout = w
	done := make(chan error, 1)
	go func() { done <- boardCommand.run(ctx, &boardCommand, []string{"--store", store}) }()
	line, err := bufio.NewReader(r).ReadString('\n')
	os.Stdout = old
	if err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Jar: jar, Timeout: time.Minute}
	address := strings.TrimSpace(line)
	res, err := client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	res, err = client.Get(address[:strings.Index(address, "?")] + "api/runs")
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(res.Body)
	res.Body.Close()
	if res.StatusCode != 200 || !strings.Contains(string(text), `"nesterov"`) {
		t.Errorf("%d %s", res.StatusCode, text)
	}
	stop()
	if err := <-done; err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// What is wrong is said before anything is served.
func TestBoardRefuses(t *testing.T) {
	store := trainedStore(t)
	for _, c := range []struct {
		args   []string
		status int
	}{
		{[]string{"board"}, 2},
		{[]string{"board", "--store", store, "1"}, 2},
		{[]string{"board", "--store", store, "--port", "70000"}, 2},
		{[]string{"board", "--store", store, "--db", "x"}, 2},
		{[]string{"board", "--store", store + "-none"}, 1},
	} {
		if out, status := captured(t, c.args...); status != c.status || out != "" {
			t.Errorf("%v: status %d, not %d; %s", c.args, status, c.status, out)
		}
	}
}
