package local

import (
	"fmt"
	"slices"

	"github.com/helixd/helixd/reactors/synthesis/phrase"
)

// narrative finds how the user tells their own story.
var narrative = []detector{story}

// story reads once what all types of the user's story are found in.
func story(d *document) []Finding {
	all := bondLines(d)
	return slices.Concat(lifeThemes(d, all), identities(d, all), growths(d, all), integrations(d, all))
}

// stories makes findings of what shows the user's story: what is about the same thing
// is one.
func stories(d *document, found []bondSign, kind string, tell func(b *bond) (string, string, map[string]any)) []Finding {
	var findings []Finding
	for _, b := range gatherBonds(alikeSigns(found)) {
		description, recommendation, content := tell(&b)
		findings = append(findings, b.finding(d, kind, description, recommendation, content))
	}
	return findings
}

// alikeSigns gives the same key to sentences that speak of the same thing: those of one
// text, and those that share words that few sentences have.
func alikeSigns(found []bondSign) []bondSign {
	const most = 400 // sentences that are compared
	found = found[:min(len(found), most)]
	stems := make([]map[string]bool, len(found))
	for i := range found {
		stems[i] = map[string]bool{}
		for _, t := range phrase.Tokens(found[i].line.text(0, len(found[i].line.words))) {
			if !wornWords[t.Text] && len(t.Text) > 3 {
				stems[i][t.Stem] = true
			}
		}
	}
	for i := range found {
		found[i].key = fmt.Sprint(i)
		for j := range i {
			if found[j].line.of == found[i].line.of || sharedStems(stems[i], stems[j]) >= 2 {
				found[i].key = found[j].key
				break
			}
		}
	}
	return found
}

func sharedStems(a, b map[string]bool) int {
	n := 0
	for stem := range a {
		if b[stem] {
			n++
		}
	}
	return n
}

// wornWords are words that say little of what a story is about.
var wornWords = wordSet(`used now today learned learnt learning learn taught back looking year years ago time times finally always never became become
becoming
	person someone life thing things really first last way ways still even much many felt feel feels feeling made make makes know knew known think thought
	better getting started start starting sense peace part parts like just want wanted say said saying tell told see saw people myself would could since
	around without instead together right good great little long week weeks month months day days grown grow growth identity taken take keep kept
			everything anything nothing`)

// trades are sentences about tools and trades, in which words of growth and sense
// mean something else.
var trades = phrased(`(?:code|codebase|api|apis|bug|bugs|server|servers|database|deploy|deployment|deployments|compiler|kubernetes|docker|python|
javascript|typescript|rust|golang|java|sql|query|queries|linux|windows|macos|laptop|router|firmware|repo|repository|git|branch|commit|pipeline|cluster|
config|configuration|plugin|framework|library|endpoint|cache|log|logs|logfile|terminal|script|scripts|spreadsheet|excel|formula|formulas|regex|css|html|
react|recipe|recipes|dough|sourdough|flour|oven|yeast|butter|sauce|soup|pasta|sauté|marinade|ingredients|puzzle|jigsaw|ikea|
furniture|screws?|assembly|manual|camera|lens|printer|photoshop|lightroom|keyboard|software|hardware|driver|drivers|version|upgrade|upgraded|dashboard|
invoice|invoices|price|prices|postage|fee|fees|refund|seller|discount|timetable|schedule|itinerary|train|trains|bus|flight|flights|subscription|plan b|
vscode|vim|emacs|iphone|android|app|apps|website|browser|chrome|firefox|wifi|password|passwords|football|season|episode|movie|film|novel|plot|chapter|book|
level|boss|quest|crossword|sudoku|chess|lawn|garden hose|engine|gearbox|tyres?|brakes?|bike chain|knitting|stitch|crochet|tomato|tomatoes|budget sheet|tax|
taxes|thermostat|dishwasher|washing machine|tests|unit tests|test suite|agenda|stakeholders|sprint|standup|backlog|ticket|tickets|vendor|
quarter|kpi|roadmap)`)
