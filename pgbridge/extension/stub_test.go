package extension

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain also makes this program an engine: installed under the engine's name, it follows the script in the argument
// loss, so that a test can have it do anything at any time.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "relgrad-engine" {
		e := &scripted{in: bufio.NewReader(os.NewFile(0, "in"))}
		for {
			e.next()
		}
	}
	os.Exit(m.Run())
}

// scripted is an engine that follows scripts. A line of a script is a command and its argument.
type scripted struct {
	in     *bufio.Reader
	fields map[string]string
	block  []byte // the description of the last rows
	tag    string
	rows   uint64
	blocks int
}

func (e *scripted) send(kind byte, payload []byte) {
	frame := binary.LittleEndian.AppendUint32(nil, uint32(len(payload)))
	if _, err := syscall.Write(1, append(append(frame, kind), payload...)); err != nil {
		os.Exit(4)
	}
}

func (e *scripted) receive() (kind byte, payload []byte) {
	var head [5]byte
	if _, err := io.ReadFull(e.in, head[:]); err != nil {
		os.Exit(0)
	}
	payload = make([]byte, binary.LittleEndian.Uint32(head[:]))
	if _, err := io.ReadFull(e.in, payload); err != nil {
		os.Exit(0)
	}
	return head[4], payload
}

func text(s string) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(s))), s...)
}

func cut(b []byte) (string, []byte) {
	n := binary.LittleEndian.Uint32(b)
	return string(b[4 : 4+n]), b[4+n:]
}

// failure is the payload of frame X, a failed request.
func failure(code, message string) []byte {
	b := binary.LittleEndian.AppendUint32(nil, 2)
	b = append(append(b, 'C'), text(code)...)
	return append(append(b, 'M'), text(message)...)
}

// next reads a request and follows its script.
func (e *scripted) next() {
	_, payload := e.receive()
	e.fields, e.block = map[string]string{}, nil
	for n, b := binary.LittleEndian.Uint32(payload), payload[4:]; n > 0; n-- {
		var key, value string
		key, b = cut(b)
		value, b = cut(b)
		e.fields[key] = value
	}
	var args map[string]any
	if err := json.Unmarshal([]byte(e.fields["args"]), &args); err != nil {
		e.send('X', failure("XX000", err.Error()))
		return
	}
	script, _ := args["loss"].(string)
	for _, line := range strings.Split(script, "\n") {
		command, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if e.follow(command, rest) {
			return
		}
	}
	e.send('X', failure("XX000", "the script has no end"))
}

// ask sends a frame and waits for its answer. An error fails the request, which is then over.
func (e *scripted) ask(kind byte, payload []byte) (over bool) {
	e.send(kind, payload)
	e.rows, e.blocks = 0, 0
	for {
		kind, payload := e.receive()
		switch kind {
		case 'B':
			e.block = payload
			e.rows += binary.LittleEndian.Uint64(payload)
			e.blocks++
			e.send('K', nil)
		case 'E':
			e.send('X', payload)
			return true
		case 'C':
			e.tag, _ = cut(payload)
			return false
		case 'K':
			return false
		}
	}
}

// follow runs a command of the script. over: the request has ended.
func (e *scripted) follow(command, rest string) (over bool) {
	switch command {
	case "Q", "read", "plain", "try": // a statement; try goes on after its error
		flags := map[string]byte{"read": 1, "plain": 2}[command]
		payload := append([]byte{flags}, text(rest)...)
		if command != "try" {
			return e.ask('Q', payload)
		}
		e.send('Q', payload)
		kind, answer := e.receive()
		for kind == 'B' {
			e.send('K', nil)
			kind, answer = e.receive()
		}
		e.tag = string(kind)
		if kind == 'E' {
			for n, b := binary.LittleEndian.Uint32(answer), answer[4:]; n > 0; n-- {
				var value string
				code := b[0]
				value, b = cut(b[1:])
				e.tag += fmt.Sprintf(" %c(%s)", code, value)
			}
		}
	case "P":
		return e.ask('P', text(rest))
	case "W", "O": // sends the last rows
		return e.ask(command[0], e.block)
	case "forget":
		return e.ask('W', nil)
	case "T":
		return e.ask('T', []byte(rest))
	case "U":
		return e.ask('U', binary.LittleEndian.AppendUint64(nil, 5<<32|4))
	case "N":
		level, message, _ := strings.Cut(rest, " ")
		var b []byte
		for _, s := range []string{level, message, "", ""} {
			b = append(b, text(s)...)
		}
		e.send('N', b)
	case "chunks": // sends so many zeros of real[128]
		n, _ := strconv.Atoi(rest)
		b := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(nil, uint64(n)), 1)
		b = append(append(b, text("v")...), 0xfd, 3, 0, 0, 'F', 0, 1, 128, 0, 0, 0)
		e.block = append(b, make([]byte, 24)...)
		if err := syscall.Ftruncate(3, int64(max(8<<20, n*512))); err != nil {
			os.Exit(5)
		}
	case "say": // shows what the last statement gave, or a field of the request
		s := fmt.Sprintf("%s, %d rows", e.tag, e.rows)
		if rest == "block" {
			s = fmt.Sprintf("%d blocks, %x", e.blocks, e.block)
		} else if rest != "" {
			s = e.fields[rest]
		}
		return e.follow("N", "NOTICE "+s)
	case "D":
		e.send('D', nil)
		return true
	case "J":
		e.send('J', text(rest))
		return true
	case "X":
		code, message, _ := strings.Cut(rest, " ")
		e.send('X', failure(code, message))
		return true
	default:
		e.misbehave(command, rest)
	}
	return false
}

// misbehave does what no engine should do.
func (e *scripted) misbehave(command, rest string) {
	switch command {
	case "raw": // sends a frame: kind, and payload in hexadecimal digits
		b, err := hex.DecodeString(rest[1:])
		if err != nil {
			os.Exit(5)
		}
		e.send(rest[0], b)
	case "bytes":
		if b, err := hex.DecodeString(rest); err != nil {
			os.Exit(5)
		} else if _, err := syscall.Write(1, b); err != nil {
			os.Exit(4)
		}
	case "exit":
		n, _ := strconv.Atoi(rest)
		os.Exit(n)
	case "kill":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "sleep":
		time.Sleep(time.Hour)
	case "killed-asking": // ends between a statement and its answer
		e.send('Q', append([]byte{0}, text(rest)...))
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "killed-reading": // ends instead of answering rows
		e.send('Q', append([]byte{0}, text(rest)...))
		e.receive()
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "patch": // changes a byte of the last rows' description: position and value
		var at int
		var x byte
		if _, err := fmt.Sscanf(rest, "%d %d", &at, &x); err != nil {
			os.Exit(5)
		}
		e.block[(at+len(e.block))%len(e.block)] = x
	case "shrink":
		if err := syscall.Ftruncate(3, 0); err != nil {
			e.tag = err.Error()
		}
	default:
		e.send('X', failure("XX000", "unknown command "+command))
		os.Exit(5)
	}
}
