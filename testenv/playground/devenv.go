package main

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/joho/godotenv"
)

// devEnv is what .helix/dev.env says. People and acceptance checks read it: its names are fixed.
type devEnv struct {
	adminURL  string // superuser supabase_admin
	url       string // postgres, as a hosted project's owner has it
	jwtSecret string
	log       string // helixd's
}

func (e *devEnv) variables() []variable {
	return []variable{
		{"HELIX_DEV_ADMIN_URL", &e.adminURL},
		{"HELIX_DEV_URL", &e.url},
		{"HELIX_DEV_JWT_SECRET", &e.jwtSecret},
		{"HELIX_DEV_LOG", &e.log},
	}
}

type variable struct {
	name  string
	value *string
}

// String is the file's content, for a shell as well as for a .env parser.
func (e devEnv) String() string {
	var b strings.Builder
	for _, v := range e.variables() {
		fmt.Fprintf(&b, "%s=%s\n", v.name, shellWord(*v.value))
	}
	return b.String()
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:@%?=+,-]*$`)

// shellWord quotes s where a shell needs it; Make and docker --env-file take plain words only.
func shellWord(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// write puts the file in place at once, for its owner only.
func (e devEnv) write(path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".dev.env-") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.WriteString(e.String())
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

func readDevEnv(path string) (devEnv, error) {
	var e devEnv
	values, err := godotenv.Read(path)
	if err != nil {
		return e, err
	}
	for _, v := range e.variables() {
		if *v.value = values[v.name]; *v.value == "" {
			return e, fmt.Errorf("%s lacks %s", path, v.name)
		}
	}
	return e, nil
}

// newJWTSecret is 64 characters; Supabase asks for 32 at least.
func newJWTSecret() string {
	var b [32]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
