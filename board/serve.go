package board

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"embed"
	"encoding/hex"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

//go:embed static
var static embed.FS

// types are those of the files of static.
var types = map[string]string{".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	".css": "text/css; charset=utf-8", ".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8"}

// policy lets the pages load what this server has, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Server is a board at an address of this machine.
type Server struct {
	http     *http.Server
	listener net.Listener
	token    string
}

// Listen takes a port of the loopback address; 0: a free one. Readers need the token in URL.
func Listen(b *Board, port int) (*Server, error) {
	secret := make([]byte, 24)
	if _, err := rand.Read(secret); err != nil {
		return nil, sqlerr.New(sqlerr.Internal, "no random numbers for the token: %v", err).Wrap(err)
	}
	l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	if err != nil {
		return nil, sqlerr.New(sqlerr.IO, "could not listen on port %d: %v", port, err).Wrap(err).
			WithHint("Give another --port; 0 takes a free one.")
	}
	s := &Server{listener: l, token: hex.EncodeToString(secret)}
	s.http = &http.Server{Handler: s.guard(b), ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10}
	return s, nil
}

// URL is where the first page is, with the token.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() + "/?token=" + s.token }

// Serve answers requests until the context ends.
func (s *Server) Serve(ctx context.Context) error {
	s.http.BaseContext = func(net.Listener) context.Context { return ctx }
	stop := context.AfterFunc(ctx, func() {
		end, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if s.http.Shutdown(end) != nil {
			s.http.Close()
		}
	})
	defer stop()
	if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return sqlerr.New(sqlerr.IO, "the board has stopped: %v", err).Wrap(err)
	}
	return nil
}

// guard lets requests through that come from a page of this server. A page elsewhere whose name was made to mean this
// machine sends that name as host; one that does not know the token has no cookie.
func (s *Server) guard(b *Board) http.Handler {
	_, port, _ := net.SplitHostPort(s.listener.Addr().String())
	cookie := "relgrad_board_" + port // cookies do not tell ports apart
	same := func(given string) bool { return subtle.ConstantTimeCompare([]byte(given), []byte(s.token)) == 1 }
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		for name, value := range map[string]string{"Content-Security-Policy": policy, "Cache-Control": "no-store",
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin"} {
			h.Set(name, value)
		}
		if r.Host != "127.0.0.1:"+port && r.Host != "localhost:"+port {
			http.Error(w, "this server answers as 127.0.0.1:"+port+" only", http.StatusMisdirectedRequest)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "the board only shows", http.StatusMethodNotAllowed)
			return
		}
		if given := r.URL.Query().Get("token"); given != "" && same(given) && r.URL.Path == "/" {
			http.SetCookie(w, &http.Cookie{Name: cookie, Value: s.token, Path: "/", HttpOnly: true,
				SameSite: http.SameSiteStrictMode})
			http.Redirect(w, r, "/", http.StatusSeeOther)
			return
		}
		if c, err := r.Cookie(cookie); err != nil || !same(c.Value) {
			http.Error(w, "this page needs the token: open the whole address that relgrad board has printed",
				http.StatusForbidden)
			return
		}
		b.ServeHTTP(w, r)
	})
}
