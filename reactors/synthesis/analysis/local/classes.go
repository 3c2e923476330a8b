package local

// vocabularies is the classes that cues name.
var vocabularies = []map[string]string{general, feelings, tellings, coping, prospects, undertakings, rolesOf, dooms}

// class gives the words of a class as a pattern of alternatives.
func class(name string) (string, bool) {
	for _, v := range vocabularies {
		if words, ok := v[name]; ok {
			return words, true
		}
	}
	return "", false
}

// general is classes that are of no one kind of analysis.
var general = map[string]string{
	"kin": `mum|mother|dad|father|parents|sister|brother|wife|husband|partner|boyfriend|girlfriend|son|daughter|kids|children|child|family|
		grandma|grandmother|grandpa|grandfather|aunt|uncle|cousin|friend|friends|boss|manager|colleague|colleagues|ex|roommate|flatmate|
		neighbour|neighbor|teacher`,
}
