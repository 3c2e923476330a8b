package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/joho/godotenv"
	"github.com/spf13/pflag"
)

const envHead = "# Settings of helixd, which come after flags and the environment. What begins with # NAME= has its default; keep\n" +
	"# the single quotes.\n"

// writeEnv adds to .env the settings that it lacks: those with a value, and the
// others as comments. Only its owner can read it.
func (in *initiation) writeEnv(cfg *config, flags *pflag.FlagSet) error {
	old, err := os.ReadFile(envFile)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	text := cmp.Or(string(old), envHead)
	there, err := godotenv.Unmarshal(string(old))
	if err != nil {
		return fmt.Errorf("read %s: a line is not NAME='value'", envFile)
	}
	for _, s := range cfg.settings() {
		value := os.Getenv(s.env)
		if flags.Changed(s.flag) && s.value != &cfg.output || in.entered[s.env] || s.value == &cfg.voice.supabaseURL {
			value = *s.value
		}
		// A backslash before the closing quote would have the next lines belong to the value.
		if strings.ContainsAny(value, "'\n\r") || strings.HasSuffix(value, `\`) {
			return &usageError{fmt.Errorf("%s has a quote or a line break in it, or ends with a backslash, which cannot stand in %s: in a connection string a quote is %%27 and a backslash %%5C", s.env, envFile)}
		}
		switch now, ok := there[s.env]; {
		case !ok || value != "" && now != value && (in.force || in.entered[s.env]):
			text = setEnv(text, s, value)
		case value != "" && now != value:
			in.Kept = append(in.Kept, envFile+": its "+s.env+" is another one; --force replaces it")
		}
	}
	if text == string(old) {
		in.Kept = append(in.Kept, envFile+": nothing is missing")
		return os.Chmod(envFile, 0o600)
	}
	// In one step, and never readable for others.
	temporary, err := os.CreateTemp(".", envFile+".new-")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name()) //nolint:errcheck // it is gone where all went well
	if _, err = temporary.WriteString(text); err == nil {
		err = temporary.Sync()
	}
	if err = errors.Join(err, temporary.Close()); err != nil {
		return err
	}
	if err := os.Rename(temporary.Name(), envFile); err != nil {
		return err
	}
	in.Wrote = append(in.Wrote, envFile)
	return nil
}

// setEnv puts a setting into the text: in place of its line, or of its comment, or
// else at the end. Without a value it is a comment with the default.
func setEnv(text string, s setting, value string) string {
	line := fmt.Sprintf("%s='%s'", s.env, value)
	if value == "" {
		line = fmt.Sprintf("# %s='%s'", s.env, s.fallback)
	}
	found := regexp.MustCompile(`(?m)^([ \t]*export[ \t]+|[# \t]*)`+s.env+`[ \t]*=.*$`).FindAllStringIndex(text, -1)
	switch {
	case found == nil:
		return strings.TrimSuffix(text, "\n") + "\n\n# " + s.help + "\n" + line + "\n"
	case value == "":
		return text
	}
	last := found[len(found)-1] // which counts, of several
	return text[:last[0]] + line + text[last[1]:]
}

// ignore keeps .env out of git, where the folder is part of a repository.
func (in *initiation) ignore() error {
	const file = ".gitignore"
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) && inRepository() {
		err = nil
	} else if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return err
	}
	ignored := func(line string) bool {
		return slices.Contains([]string{".env", "/.env", ".env*", "*.env"}, strings.TrimSpace(line))
	}
	if slices.ContainsFunc(strings.Split(string(text), "\n"), ignored) {
		return nil
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(text, '\n')
	}
	if err := os.WriteFile(file, append(text, ".env\n"...), 0o644); err != nil {
		return err
	}
	in.Wrote = append(in.Wrote, file)
	return nil
}

// inRepository looks for .git here and above.
func inRepository() bool {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		if dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	return false
}
