package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// clearest is the one failure that says most: the first by its place in the
// document. Of alternatives (anyOf, oneOf) it is the failure that is deepest in
// the document, which is of the alternative that was meant; where none is deeper
// than the value itself, that no alternative matches.
func clearest(failed *jsonschema.ValidationError) *Error {
	found := leaves(failed)
	first := slices.MinFunc(found, func(a, b *jsonschema.ValidationError) int {
		return cmp.Or(slices.Compare(a.InstanceLocation, b.InstanceLocation), cmp.Compare(describe(a), describe(b)))
	})
	return &Error{Pointer: Pointer(first.InstanceLocation...), Message: describe(first)}
}

func leaves(failed *jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(failed.Causes) == 0 {
		return []*jsonschema.ValidationError{failed}
	}
	var found []*jsonschema.ValidationError
	for _, cause := range failed.Causes {
		found = append(found, leaves(cause)...)
	}
	switch failed.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		deepest := slices.MaxFunc(found, func(a, b *jsonschema.ValidationError) int {
			return cmp.Or(cmp.Compare(len(a.InstanceLocation), len(b.InstanceLocation)), cmp.Compare(describe(b), describe(a)))
		})
		if len(deepest.InstanceLocation) > len(failed.InstanceLocation) {
			return []*jsonschema.ValidationError{deepest}
		}
		return []*jsonschema.ValidationError{failed}
	}
	return found
}

// describe says what is wrong without the value: values are the users' own, and
// long.
func describe(failed *jsonschema.ValidationError) string {
	switch k := failed.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		if len(failed.Causes) > 0 {
			reasons := make([]string, 0, len(failed.Causes))
			for _, leaf := range failed.Causes {
				for len(leaf.Causes) > 0 {
					leaf = leaf.Causes[0]
				}
				if reason := describe(leaf); !slices.Contains(reasons, reason) && len(reasons) < 3 {
					reasons = append(reasons, reason)
				}
			}
			return "matches none of the alternatives: " + strings.Join(reasons, "; or ")
		}
		return "matches more than one of the alternatives"
	case *kind.Enum:
		values := make([]string, len(k.Want))
		for i, v := range k.Want {
			values[i] = fmt.Sprintf("%v", v)
		}
		return "must be one of: " + Clip(strings.Join(values, ", "))
	case *kind.Const:
		return "must be " + Clip(fmt.Sprintf("%v", k.Want))
	case *kind.Pattern:
		return "does not match the pattern " + Clip(k.Want)
	case *kind.Format:
		if k.Want == "regex" && k.Err != nil {
			return "is a pattern that cannot be used: " + clip(k.Err.Error(), 300)
		}
		return "is not a valid " + Clip(k.Want)
	case *kind.FalseSchema:
		return "is not allowed here"
	default:
		return Clip(failed.ErrorKind.LocalizedString(message.NewPrinter(language.English)))
	}
}
