package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
)

var reference = regexp.MustCompile(`\{[A-Za-z_][A-Za-z0-9_]*\}`)

// Input gives the input of a skill's run: arguments with the slots in their places,
// or without arguments every slot under its name. An argument that is one slot
// alone, which was not said, is left out; within a text such a slot is nothing.
func Input(arguments json.RawMessage, p *Phrase, slots map[string]string) (map[string]any, error) {
	input := map[string]any{}
	if arguments == nil {
		for name, text := range slots {
			input[name] = text
		}
		return input, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(arguments))
	decoder.UseNumber() // a number goes on as it was written
	var given map[string]any
	if err := decoder.Decode(&given); err != nil {
		return nil, fmt.Errorf("read a command's arguments: %w", err)
	}
	known := map[string]bool{}
	for _, name := range p.slots {
		known[name] = true
	}
	for name, value := range given {
		text, isText := value.(string)
		if !isText {
			input[name] = value
			continue
		}
		if whole := reference.FindString(text); whole == text && text != "" && known[text[1:len(text)-1]] {
			if said, ok := slots[text[1:len(text)-1]]; ok {
				input[name] = said
			}
			continue
		}
		input[name] = reference.ReplaceAllStringFunc(text, func(slot string) string {
			if name := slot[1 : len(slot)-1]; known[name] {
				return slots[name]
			}
			return slot
		})
	}
	return input, nil
}
