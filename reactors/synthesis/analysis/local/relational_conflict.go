package local

import (
	"fmt"
	"strings"
)

// fightClues are ways to tell of a conflict. Content: person, recurring.
var fightClues = []bondClue{
	freeClue("fight", .68, `(?:(?:0p|he|she|they) and (?:i|me)|(?:me|i) and (?:0p|him|her)|(?:0p) (?:_ )?(?:_ )?we|we) ~(?:fight|fights|fighting|fought|argue|argued|arguing|quarrel|quarrelled|quarreled|quarrelling|quarreling|bicker|bickered|bickering|clash|clashed|clashing|squabble|squabbled|squabbling|butt heads|butted heads|butting heads|lock horns|locked horns|fell out|fall out|falling out|fallen out|got into it|go at it|went at it|come to blows|came to blows|yell at {each}|yelled at {each}|yelling at {each}|scream at {each}|screamed at {each}|screaming at {each}|shout at {each}|shouted at {each}|shouting at {each}|snap at {each}|snapped at {each}|snapping at {each}|at each other's throats|at loggerheads|at odds|row|rowed|feud|feuding|not speaking|not talking|not on speaking terms|not spoken|not talked|have not spoken|stopped speaking|stopped talking|barely speak|barely talk|barely speaking|barely talking|blew up|end up shouting|ended up shouting|end up yelling|ended up yelling)`),
	sayClue("fight", .68, `(?:had|have|having|got into|get into|gets into|getting into|got in|been in|started|picked|picks|pick|starts|start|after|another|keep having|this|our|in|big|huge|ugly|bad|terrible|same|the|a|an|yesterday's) (?:_ )?(?:_ )?(?:fights?|arguments?|rows?|quarrels?|shouting match|shouting matches|screaming match|screaming matches|falling out|blow up|blowup|blow out|blowout|spats?|altercation|confrontation|clash|clashes|feud|yelling match|heated (?:discussion|exchange|words|conversation)|disagreements?|blazing row|standoff|showdown|tiff) (?:_ )?(?:_ )?(?:with|between) (?:{him}|me and {him}|us|{him} and me)`),
	sayClue("fight", .66, `(?:(?:0p|he|she|they) and (?:i|me)|me and (?:0p|him|her)|we) ~(?:had|have|having|got into|get into|keep having|been having|in) (?:_ )?(?:_ )?(?:_ )?(?:fights?|arguments?|rows?|quarrels?|shouting match|screaming match|falling out|blow up|blowup|blow out|blowout|spats?|disagreements?|shouting|standoff|showdown|feud|conflict|conflicts|tiff|yelling match|confrontation|words|it out)`),
	sayClue("fight", .66, `i ~(?:fight|fighting|fought|argue|argued|arguing|quarrel|quarrelled|quarreled|quarreling|quarrelling|bicker|bickering|bickered|clash|clashing|clashed|butt heads|butting heads|butted heads|fell out|falling out|fallen out|row|rowed|at odds|at loggerheads|at war) (?:_ )?(?:_ )?with ({him})`),
	sayClue("fight", .66, `i (?:_ )?(?:_ )?(?:yelled|shouted|screamed|snapped|blew up|lashed out|exploded|yell|shout|scream|snap|raised my voice|lost my temper|lost it|hung up|slammed|swore|hissed|barked|stormed out) (?:back )?(?:at|on|with|to) ({him})`),
	sayClue("fight", .66, `({they}) (?:_ )?(?:_ )?(?:yelled|shouted|screamed|snapped|blew up|lashed out|exploded|yells|shouts|screams|snaps|lashes out|blows up|explodes|raised {his} voice|lost {his} temper|swore|cursed|went off|turned|hung up|threw|slammed|stormed|accused|attacked|insulted) (?:back )?(?:_ )?(?:at me|on me|me|out on me|out of|out|the door|the phone down|a plate)`, `(?:i|me|my|we|us)`, `(?:at me|on me|accused me|attacked me|insulted me|argument|fight|slammed|stormed|angry|furious|again|shouting|argued|hung up)`),
	freeClue("fight", .68, `(?:had it out|having it out|had words|having words|had a go at|has a go at|have a go at|have it out|crossed swords|came to blows|at each other's throats|at each other 's throats|at daggers drawn|on the warpath|open war|at war|locked horns|set to with|set to|nasty exchange|heated exchange|raised voices|voices raised|slanging match|bust up|dust up|punch up|ding dong|blazing row|flaming row|stand up row|shouting through|shouting at {each}|yelling at {each}|screaming at {each}|war of words|another go at|going at it|at it again|another round with|got into it|getting into it|laid into me|tore into me|went for me|flew at me|let rip at)`, `(?:{them}|{each}|we|us|i)`, `(?:i|me|my|we|us|our|0p)`),
	freeClue("fight", .68, `(?:screaming match|shouting match|yelling match|fights?|arguments?|rows?|quarrels?|confrontations?|clash|showdown|altercation|falling out|standoff|stand off|run in|bust up|blow up|set to|spat|tiff|argy bargy|war|feud|disagreements?) (?:_ )?(?:with|between me and) (?:_ )?({him}|foreman|ex|the)`, `(?:my|me|i|0p|him|her|again|another|second|third|today|tonight)`),
	freeClue("fight", .68, `({they}) (?:_ )?(?:_ )?(?:(?:called me|calls me) (?:a|an|names|selfish|lazy|stupid|difficult|hysterical|crazy|useless|impossible|ungrateful|every|rude|cold)|accused me|accuses me|threatened me|threatens me|threatened to|insulted me|insults me|shouted at me|yelled at me|screamed at me|barked at me|barks at me|snapped at me|snarled at me|swore at me|had a go at me|attacked me|blamed me|told me off|told me to get out|told me to (?:shut up|get lost|leave)|hung up on me|hangs up on me|threw (?:_ )?(?:_ )?at me|spat at me|pushed me|slammed|texts me insults|sends me insults|screamed back|shouted back|yelled back|got in my face|jabbed|wagged)`),
	freeClue("fight", .68, `(?:i|we) (?:_ )?(?:_ )?(?:called|screamed at|shouted at|yelled at|snapped at|swore at|confronted|accused|told|barked at|threw|hung up on|insulted|answered|gave it straight back to|shouted back at|yelled back at|stood up and told|hissed at|let fly at|had a go at) ({him}) (?:_ )?(?:_ )?(?:a |an |to (?:go ahead|get lost|shut up|leave|get out|go|stop)|about|over|back|that|i hate|it is mine|he|she|they|in front|across|for|what i|where|off|out)`, `(?:i hate|screamed|shouted|yelled|snapped|swore|barked|confronted|accused|hung up|insulted|straight back|shut up|get lost|go ahead|mine to|argu*|angry|furious|threatened|slammed|back at|had a go|enough)`),
	freeClue("fight", .64, `({they}) (?:is|are|was|were|got) (?:_ )?(?:furious|livid|mad|angry|fuming|seething|cross) (?:_ )?(?:with|at) (?:me|us)|i (?:am|was|got) (?:_ )?(?:furious|livid|mad|angry|fuming|seething|cross) (?:_ )?(?:with|at) ({him})`, `(?:shouted|shouting|argu*|fight|fought|row|yelled|slammed|screamed|said|told|accused|because|again|words|out)`),
	freeClue("silence", .64, `(?:not|never|barely|hardly) (?:_ )?(?:spoken|talked|speaking|talking) (?:to|with) ({him}) (?:_ )?(?:since|for|after|because|over)|(?:we|i) (?:both )?(?:said|shouted|screamed|yelled) (?:_ )?(?:awful|terrible|horrible|nasty|mean|hurtful|things|until|till|through)|(?:lost|lose|losing) (?:my|his|her|our) (?:temper|cool) (?:_ )?(?:with|at|over)|insulted (?:me|my)`, `({them}|we)`),
	freeClue("fight", .66, `({they}) (?:said|says|called me|calls me|thinks?|shouted|yelled|told me) (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:, |and |but )(?:and |but )?i (?:said|say|say|told|called|shouted|yelled|tell|think|call|answered)`, `(?:liar|thief|slob|freak|lazy|selfish|control|never|always|listens?|mess|stupid|idiot|rights|throw|hate|spends?|disrespect*|troublemaker|spoiled|spoilt|ungrateful|rude|fault|wrong|cheat|nag|coward|traitor|argu*|shut up|mine|crazy|childish|cold|mean|unfair|enough|blame|cares?|bully|bossy)`),
	freeClue("fight", .66, `i (?:say|said|told|call|called|think|shouted) (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:, |and |but )(?:and |but )?({they}) (?:said|says|told|calls?|called|thinks?|shouted|yelled|counts?)`, `(?:liar|thief|slob|freak|lazy|selfish|control|never|always|listens?|mess|stupid|idiot|rights|throw|hate|spends?|disrespect*|troublemaker|ungrateful|rude|fault|wrong|cheat|nag|coward|argu*|shut up|mine|crazy|childish|cold|unfair|enough|blame|cares?|bully|bossy)`),
	freeClue("silence", .66, `(?:still |barely |hardly |again )?(?:not|never|no longer|stopped|nor) (?:_ )?(?:speaking|talking|on speaking terms|speak|talk|spoken|talked) (?:to (?:each other|one another|me|him|her|them|0p) )?(?:, |again |anymore |since |after |yet )?(?:0p and me|0p and i|me and 0p|we|my|since|after|because)|can not be in (?:one|the same) room|neither of us (?:gives? in|will|would|wants? to|backs? down|apologi(?:s|z)ed|budges?|speaks?)|(?:she|he|0p) slept (?:in|on) the (?:couch|sofa|kids|spare|guest)|doors? (?:_ )?slammed|slammed (?:the|her|his|my) (?:_ )?doors?|hung up on me|silent treatment|threw me out|stormed (?:out|off)`),
	freeClue("silence", .64, `(?:{they} ~(?:not|never) (?:_ )?(?:spoken|speaking|talked|talking|speak|talk|spoke) (?:a word )?(?:to|with) me|{they} (?:_ )?(?:stopped|stops|refuses to|refused to|will not|quit) (?:speaking|talking|speak|talk) (?:to|with) me|i (?:_ )?(?:_ )?(?:not|stopped) (?:_ )?(?:speaking|talking|spoken|talked) (?:to|with) {him}|silent treatment|cold shoulder|slammed the door (?:on|in)|hung up on me|cut me off|not on speaking terms)`, `(?:since|after|because|fight|argument|again|row|over|days|weeks|months|years|until|angry|silent treatment|cold shoulder|hung up|slammed|about|anymore|speaking terms)`),
	freeClue("quarrel", .66, `(?:we|0p and i|me and 0p|i and 0p) ~(?:can not agree|never agree|do not agree|disagree|disagreed|disagreeing|not see eye to eye|never see eye to eye|keep disagreeing|differ) ~(?:on|about|over)?`, `(?:always|keep|keeps|never|every|constantly|again|still|for years|for months|for weeks|heated|loud|bitter|angry|ends?|ended|strongly|badly|eye to eye|anything|everything|furious|tense|same|since)`),
	freeClue("quarrel", .66, `(?:every (?:_ )?(?:conversation|talk|call|phone call|dinner|visit|discussion|meeting|time|meal|weekend|holiday|decision)|everything|it|things|conversations?|talking|any (?:_ )?(?:conversation|talk|discussion)|discussion|dinner|visit|call|this|that|always|simple|small|little) ~(?:turns?|turned|turning|becomes?|became|ends?|ended|escalates?|escalated|blows up|explodes|exploded|spirals?) (?:up )?(?:_ )?(?:_ )?(?:into|in|a|to) (?:_ )?(?:_ )?(?:_ )?(?:fights?|arguments?|rows?|quarrels?|shouting|yelling|screaming|shouting match|tears|war|battle|standoff|blame)`),
	freeClue("quarrel", .64, `(?:tension|tensions|friction|bad blood|conflict|conflicts|hostility|rift|feud|animosity|cold war|war|resentment) (?:_ )?(?:_ )?(?:_ )?(?:between (?:me and {him}|{him} and (?:me|i|myself)|us)|with ({him}))`),
	freeClue("quarrel", .62, `(?:we|{they}|i) ~(?:same|endless|constant|ongoing|recurring|never ending|eternal|old|stupid|pointless) (?:_ )?(?:_ )?(?:fights?|arguments?|rows?|quarrels?|battles?|conflicts?|bickering|arguing|fighting|disagreements?)`, `(?:i|me|my|we|us|our)`),
	freeClue("quarrel", .62, `(?:my|our|this|the) (?:_ )?(?:_ )?(?:fights?|arguments?|rows?|quarrels?|battles?|conflicts?|bickering|arguing|fighting|disagreements?|feud) (?:_ )?(?:_ )?with ({him})`),
	freeClue("quarrel", .6, `({they}) ~(?:picks?|picking|picked|starts?|started|starting) (?:_ )?(?:_ )?(?:fights?|arguments?|rows?|quarrels?) (?:with me|over|about|again|every)`),
	freeClue("quarrel", .62, `(?:(?:biggest|worst|ugliest|loudest|nastiest|first real|first big) (?:_ )?(?:fight|argument|row|quarrel|blow up|falling out|disagreement)|another (?:_ )?(?:_ )?(?:fight|argument|row|quarrel|blow up|shouting match|screaming match|blowout|spat)|(?:fight|argument|row|quarrel) (?:last night|yesterday|this morning|again|at dinner|at breakfast|in the car|over the phone|today|tonight|on sunday|on the phone))`, `(?:i|me|my|we|us|our)`),
}

// playfulFight are fights that are none, or not the user's.
var playfulFight = phrased(`(?:snowball fight|snowball fights|pillow fight|pillow fights|water fight|water fights|food fight|boss fight|play fight|play fighting|nerf|boxing|sparring|karate|judo|wrestling|chess|video game|game night|merge conflict|merge conflicts|conflict of interest|scheduling conflict|schedule conflict|conflicting|debate (?:club|team)|title fight|fight scene|fights? for|fought for|fighting for|fight against|fought against|rows of|row of|row house|rowing|in a row|front row|(?:back|next|first|second|third|last|top|bottom) row|rowed across|lock file|function|arguments? to)`)

// calmedFight is said of a conflict that is not.
var calmedFight = phrased(`(?:(?:never|did not|do not|have not|had not|hardly ever|rarely|hardly|barely|seldom|without) (?:_ )?(?:_ )?(?:_ )?(?:fight|fights|fighting|fought|argue|argued|arguing|quarrel|quarrels|quarrelled|bicker|bickering|clash|clashed|argument|arguments|row|rows|disagree|disagreement|yell|yelled|shout|shouted|snap|snapped|fallen out|fell out|fall out|at odds)|no (?:fights?|arguments?|rows?|quarrels?|conflicts?|tension|disagreements?|more fights?|more arguments?|bad blood)|(?:stopped|quit|avoid|avoided|avoiding|instead of|rather than|used to|no longer) (?:_ )?(?:_ )?(?:fight|fighting|fights|arguing|argue|arguments?|quarrel|quarrelling|quarreling|bickering|bicker|yelling|a fight|an argument))`)

// conflicts finds fights of the user with somebody.
func conflicts(d *document, all []bondLine) []Finding {
	var found []bondSign
	said := map[*bondLine]bool{}
	eachClue(all, fightClues, func(l *bondLine, c *bondClue, m match) {
		who := personOf(l, m)
		if who == "" {
			who = whom(l.words)
		}
		if who == "" && !pronounCue.in(&l.sentence) || said[l] || playfulFight.in(&l.sentence) || calmedFight.in(&l.sentence) || aheadOf(m) {
			return
		}
		said[l] = true
		about := "once"
		if repeatedly.in(&l.sentence) {
			about = "recurring"
		}
		found = append(found, bondSign{line: l, key: who, about: about, weight: c.weight})
	})
	found = withHints(found, all, conflictHints, conflictWeight)
	var findings []Finding
	for _, b := range gatherBonds(found) {
		recurring := len(b.texts) > 1
		for _, about := range b.abouts {
			recurring = recurring || about == "recurring"
		}
		description := fmt.Sprintf("There is conflict between you and %s: “%s”.", calledPerson(b.key), quoted(b.signs[0].line))
		if recurring {
			description = fmt.Sprintf("You and %s come into conflict again and again: “%s”.", calledPerson(b.key), quoted(b.signs[0].line))
		}
		findings = append(findings, b.finding(d, "conflict", description,
			fmt.Sprintf("When things are quiet you might tell %s what the conflict is about for you, and ask what it is for them.", calledPerson(b.key)),
			map[string]any{"person": strings.TrimPrefix(calledPerson(b.key), "your "), "recurring": recurring}))
	}
	return findings
}

var repeatedly = phrased(`(?:always|constantly|keep|keeps|kept|every|again|another|never agree|same|usually|over and over|all the time|still|endless|recurring|ongoing|constant|for years|for months|for weeks|whenever)`)

var willWords = wordSet("will would might may could should must going want wants hope hoping plan")

// aheadOf says that what was found has not happened: by a word just before it, or in it.
func aheadOf(m match) bool {
	words := m.sentence.words
	for i := max(0, m.from-2); i < m.to; i++ {
		if willWords[words[i].text] && !(words[i].text == "going" && i+1 < len(words) && words[i+1].text != "to") {
			return true
		}
	}
	return false
}
