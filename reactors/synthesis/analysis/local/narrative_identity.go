package local

import (
	"fmt"
	"strings"
)

// identityTold is how a change in who one is is told: an image of oneself, and that it
// is new, left behind or being looked for.
var identityTold = storyKind{
	name: "identity_development",
	pairs: [][2]string{{"self", "change"}, {"self", "then"}, {"self", "search"}, {"image", "change"}, {"image", "search"}, {"role", "change"}, {"role",
		"turn"}, {"named", "change"},
		{"named", "then"}, {"turned", "turned"}, {"named", "self"}, {"role", "search"}},
	alone: []string{"self", "image", "turned"},
	never: []*pattern{othersIdentity, sameSelf},
	signs: []storySign{
		signOf("then", 1, `(?:{then})`),
		signOf("change", 2, `(?:turns|turned) out`, `(?:revise|revised|rethink|crossed (?:it )?out|corrected|crept up on me|without noticing|transition|
			conversion|by now)`, `(?:no longer|not|never|hardly) … (?:anymore|any more|any longer|now|these days|today)`, `(?:no longer|not any longer|not
			any more|not anymore|nope)`, `(?:now|these days|nowadays|since|by now|today|lately|tonight) (?:,)?`,
			`(?:used to|stopped|stop|quit|have been putting down|put down|hung up|shed|laid down|dropped|left behind|gave up|taken off|took off|
			gone|walked off)`,
			`(?:for the first time|the first time|first time|never before|never said|for once|at last|finally)`, `(?:new|different|odd|weird|funny|strange|
			differently|otherwise|anew|again)`, `less and less`, `more and more`, `(?:yesterday|this spring|this year|this week|on friday|on monday)`,
			`i would (?:_ )?have (?:said|written|answered|put|called)`, `(?:get|getting|got) (?:used|acquainted|introduced) to`),
		signOf("change", 3, `(?:becoming|become|became|becomes|turned into|turning into|turn into|grown into|growing into|grew into|grown out of|outgrown|
			transformed|changed|shifted|moved in me|rearranged|reinvent*|redefin*|rebuild*)`,
			`(?:stopped|stop|done|finished|quit) (?:to be |being |calling |playing |seeing |thinking |introducing |pretending )`),
		signOf("search", 3, `(?:finding out (?:_ )?(?:who|what|that)|find out (?:who|what else)|found out (?:who|that)|finding|discover*|rediscover*|
			figuring out|getting to know|get to know|got to know|getting acquainted|trying out|learning|try to find|starting to
			recogni(?:s|z)e|wonder|wondering|do not know|not know|no idea|not sure|hardly know|yet to)`),
		signOf("self", 2, `i am (?:nobody's|no one's|somebody's|someone's) `, `(?:myself|my own person|in my own right|myself again)`,
			`(?:of|in|about|inside) me`, `i am not (?:the|that|a|an|only|just|him|her) `, `i am (?:a|an) (?:_ )?(?:_ )?(?:now|these days|today)`),
		signOf("self", 3, `i am no longer (?:_ )?(?:_ )?(?:_ )?(?:{being})`, `being the (?:_ )?(?:{being})`, `i am more of a`, `the (?:_ )?(?:{being}) …
			(?:is gone|not live here|not exist|moved out|has gone|went under|is dead|has died)`, `(?:feel|felt|seem|live|act) like (?:a|an|the) (?:_
			)?(?:impostor|imposter|fraud|child|burden|victim|fake|{being})`, `it was (?:_ )?me`,
			`the old _ (?:would|never)`, `that is me (?:now|$)`, `(?:who|what|whom) (?:_ )?i (?:really |actually |truly )?(?:am|was|be|would be|could be|
			had been|used to be|have become|became|take myself|take myself to be|want to be|am becoming|might be|become|had become|really am)`,
			`(?:my|the) (?:_ )?(?:identity|old self|former self|new self|true self|real self|sense of self|whole self|younger self|alter ego|self image)`,
			`(?:old|former|new|different|other|real|younger|another|true) (?:self|version of me|version of myself)`,
			`(?:old|former|new|different|other|real|younger|another|true) me (?:$|,|at|would|is|was|who|has|had|and|that|any|now|did|does|behind|in)`,
			`(?:am|is|was|are|be|feel|felt|like|as|into|become|becoming|became) (?:_ )?(?:_ )?(?:somebody|someone) (?:_ )?(?:else|new|who|different|
			with|that|than|i)`, `i (?:am|was|became|feel like|have become|think of) (?:_ )?(?:_ )?(?:somebody|someone)`,
			`(?:am|feel|felt|be|like|as|become|becoming|became|into|made me|me) (?:_ )?(?:_ )?(?:another|a different|a new|the same|a whole new|an other|a
			quite different|a completely different) (?:_ )?(?:person|man|woman|human|girl|boy|father|mother|being)`,
			`(?:am|is|was|be|being|feel|became) (?:_ )?(?:not|no longer|never) (?:_ )?(?:_ )?(?:that|the|this|a|an|his|her|their|some) (?:_ )?(?:_
			)?(?:{being})`, `the (?:_ )?(?:{being}) who`,
			`stopped being (?:_ )?(?:_ )?(?:_ )?(?:{being}|him|her)`,
			`(?:i am|i was|i feel like|am) (?:_ )?(?:not|no longer|hardly) (?:_ )?(?:him|her|them)`, `(?:is|was) (?:_ )?(?:not )?(?:really |truly |just
			|also )?me (?:now|anymore|any more|any longer|these days|at last|$|who)`, `is (?:_ )?(?:not )?who i am`,
			`(?:more|feel|felt|feels|fits) (?:_ )?(?:like )(?:myself|me)`, `(?:more|recogni(?:s|z)e|recogni(?:s|z)ed|meet|met) (?:myself|me)`,
			`(?:person|man|woman|girl|boy|kid|lad|one|lady|guy|fellow|stranger|face) (?:_ )?(?:_ )?(?:i was|i used to be|in me|in the mirror|underneath|
			under|i have become|i am now|i became|who wrote those|who wrote|coming up|i had been|he knew|they knew|everyone knew|i have yet)`,
			`(?:half|part) of me`, `a part of me`, `my own person`, `(?:the|my|a) mask`, `(?:playing|played|play) a (?:role|part)`, `not (?:_ )?(?:_
			)?vanished`, `half a (?:man|woman|person)`),
		signOf("image", 3, `recogni(?:s|z)e (?:_ )?(?:{being}) in`, `i (?:_ )?thought (?:that )?i was (?:_ )?(?:a|an|the|no|not|just|too)`, `(?:never|not)
			(?:_ )?(?:thought|think) of myself`,
			`(?:think|thinking|thought|see|seeing|saw|seen|define|defining|defined|describe|describing|consider|considered|
			considering|recogni(?:s|z)e|recogni(?:s|z)ing|recogni(?:s|z)ed|regard|view|viewed|understand|picture|imagine|know) (?:_ )?(?:of )?(?:myself|me
			as)`,
			`(?:call|calling|called|introduce|introducing|introduced|present|sign|signed|label|name) myself`, `defines? me`, `(?:do|did|does|not|no
			longer) (?:_ )?(?:even )?recogni(?:s|z)e (?:_ )?(?:me|myself|the person|the woman|the man|her|him|who)`,
			`(?:my|that|this) (?:picture|image|idea|view|sense) (?:of myself|of me|does not fit|of who)`, `what i am`, `who is (?:that|this|she|he)
			(?:woman|man|girl|boy|person)`, `who is that`, `i walk differently`,
			`(?:think|act|feel|live|talk|look) like (?:her|him|that|them) (?:anymore|any more|now|any longer)`, `(?:like|as if) (?:someone|somebody) else
			(?:wrote|lived|did|said|had|was)`),
		signOf("role", 2, `i (?:have been|had been|was always|have always been|was all my life) (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:the|a|an|only|just|mum|dad|
			somebody's|someone's)`, `i (?:was|used to be) (?:_ )?(?:the|a|an|only|just|always|such a|somebody's|his|her|their) (?:_ )?(?:_ )?(?:{being}|_
			first)`,
			`i was (?:_ )?(?:_ )?for (?:_ )?(?:_ )?years`, `for (?:_ )?(?:_ )?(?:_ )?years (?:_ )?i was`, `in the beginning i`),
		signOf("role", 1, `i (?:was|have been|had been|was always|have always been|was all my life) (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:the|a|an|only|just|
			always|mum|dad|somebody's|someone's) (?:_ )?(?:_ )?`, `i (?:_ )?used to be (?:_ )?(?:the|a|an|such|my|so|somebody|someone)`,
			`i (?:was|had been|used to be|am|would been) (?:_ )?the (?:_ )?(?:{being})`, `(?:generation|years|decades) (?:_ )?(?:of|as) (?:a |an |the )?_`,
			`(?:is|was) over$`),
		signOf("turn", 2, `(?:now|today|these days|here|tonight|since _ _|since the _) (?:, )?(?:i am|i was|it is|i lead|i bake|i paint|i am the|i feel)
			(?:_ )?(?:_ )?(?:a|an|the|just|simply|somebody|someone|only|also|_ _ who)?`, `i am (?:a|an|the one|the woman|the man|somebody|someone|just
			a|only) (?:_ )?(?:_ )?(?:_ )?(?:now|these days|who|today|and|,|also|$)`,
			`now (?:i say|it is|the)`, `that is (?:what|who) i am`),
		signOf("turned", 4, `(?:done with|finished with|tired of|through with) being (?:_ )?(?:_ )?(?:_ )?(?:{being}|people|someone|somebody|two)`,
			`(?:find|finding) out (?:who|what) i am`, `i am (?:_ )?becoming (?:_ )?(?:_ )?(?:_ )?(?:{being})`, `(?:hardly|would
			not|barely|do not) (?:_ )?(?:know|knows|recogni(?:s|z)e) (?:me|her|him) (?:now|anymore|$)`, `i have (?:_ )?turned into`, `turned into (?:_
			)?(?:a|an|someone|somebody|the)`, `the old _ would`, `i feel (?:_ )?more like (?:myself|me)`, `(?:started|begun|began|just started|only
			started|stopped|learning|dare) (?:_ )?(?:to )?(?:call|calling|see|seeing|introduce|introducing|think of|thinking of|describe|describing|
			consider|considering) (?:of )?myself`,
			`not recogni(?:s|z)e (?:_ )?(?:{being}) (?:_ )?(?:who|in|i)`, `(?:discover|discovering|finding out|figuring out|find out|
			learning|know|knowing) (?:who|what kind of (?:{being})) i`,
			`(?:for the )?first time (?:_ )?(?:_ )?i (?:was|felt|am|said|became) (?:_ )?(?:_ )?(?:somebody|someone|me|myself|i am)`,
			`(?:shed|outgrown|laid down|put away|dropped|buried|retired) (?:the|that|my) (?:_ )?(?:{being}|role)`, `discover* (?:that )?i am`, `find* out
			(?:that )?i am`,
			`i (?:have|had|am|would) (?:_ )?changed (?:since|so|into|and|but|$)`, `(?:introduced|introduce) to (?:myself|me|who i)`,
			`(?:changed|altered|transformed|remade|turned|reshaped|rearranged) (?:_ )?(?:who i|me (?:into|inside|as|for good|completely)|what i am|how i
			see myself)`, `who i have become`, `(?:something|somewhat|a lot|everything) (?:_ )?in (?:me|who i am) (?:_ )?(?:_ )?(?:changed|moved|shifted|
			grown|woken|turned)`,
			`i have (?:_ )?(?:_ )?(?:become|turned into|grown into|changed into|gone from) (?:_ )?(?:_ )?(?:someone|somebody|the one|another|a
			different|me)`, `(?:it has|has) become me`, `(?:turning|growing) into (?:_ )?(?:_ )?(?:someone|somebody|another|my own|a different|who|the)`,
			`(?:from|than) the (?:one|person|man|woman|girl|boy|kid) who … to (?:the|a|someone|somebody)`, `outgrown the (?:_ )?(?:girl|boy|kid|person|
			woman|man|role)`, `(?:i am|am) becoming (?:_ )?(?:_ )?(?:someone|somebody|another|a different|an i|my own|myself|the|more)`,
			`made me (?:someone|somebody|another|a different|a new)`, `grown out of being`, `recogni(?:s|z)e myself`),
		signOf("named", 2, `(?:greet|greets) me`, `ticked (?:_ )?(?:_ )?(?:box)?`, `(?:to )?(?:say|said|saying|told (?:him|her|them)) (?:_ )?(?:_ )?(?:_
			)?(?:that )?i am (?:a|an|the)`, `(?:called|call|calls|
			introduced|announced|announce|treat|treats|treated|label|labelled|know|knew|addressed|named|greeted) me`, `(?:asked|asks|ask) (?:_ )?(?:_
			)?(?:_ )?(?:my|what i|who i) (?:_ )?(?:profession|occupation|job|do|am|name)?`,
			`(?:i am|i was|still|say|says|said|was) (?:_ )?(?:_ )?(?:'?the quiet one|the shy one|the strong one|the sick one|the clown|the weird kid|the
			funny one|the good girl)`, `(?:my|a) (?:new |maiden |own |old |first |real )?name (?:_ )?(?:_ )?(?:_ )?(?:on|by|with|back|is|was|at|in)`,
			`(?:taken|took|chose|changed) (?:_ )?(?:_ )?name`,
			`i (?:heard myself say|said|say|told|answered|wrote|put down|tell|write) (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:that )?(?:i am|i bake|i paint|i
			write|i do|i was|i'm|author|writer|artist|no|,)`),
		signOf("named", 1, `(?:bio|label|passport|business card|letterbox|occupation|profession|surname)`),
		signOf("idle", -5, `(?:password|driving test|bracket|mailing list|quiz|sockets|bus|account|customer|member|subscriber|taxi|discount|keys|umbrella|
			vegetarian|allergic|invoice|parcel|phone number|screen in|premium|tenant|fan of|on holiday|guest list|second floor|fourth|manager|late|ready|
			passport photo|in charge|library)`),
	},
}

var (
	othersIdentity = cue(`^ (?:he|she|they|my (?:_ )?_|our _|it) (?:has|have|is|was) (?:_ )?(?:become|became|changed|grown) (?:_ )?(?:a|an|into)`)
	sameSelf       = cue(`(?:still|always|remain|remained) (?:_ )?(?:the same|who i)`)
)

// whoBefore and whoNow are who somebody was and is, where a sentence says so.
var (
	whoBefore = cue(`i (?:_ )?(?:used to be|was always|had always been|was) (?P<who>…) (?:$|and|but|now|today|until)`)
	whoNow    = cue(`(?:i have become|i am becoming|i became|i turned into|i have turned into|now i am|i am now|today i am) (?P<who>…) (?:$|and|but|now|who)`)
)

// identities finds how the user's sense of who they are develops. Content: signs, and
// before and after where they are told.
func identities(d *document, all []bondLine) []Finding {
	return stories(d, identityTold.told(d, all), "identity_development", func(b *bond) (string, string, map[string]any) {
		content := map[string]any{"signs": b.abouts}
		for i := range b.signs {
			s := &b.signs[i].line.sentence
			for name, c := range map[string]*pattern{"before": whoBefore, "after": whoNow} {
				if m, ok := c.find(s); ok && content[name] == nil && m.text("who") != "" {
					content[name] = shortened(m.text("who"))
				}
			}
		}
		return fmt.Sprintf("Your sense of who you are is developing: “%s”.", quoted(b.signs[0].line)),
			"You might write down what of who you were you want to keep, and what is new.", content
	})
}

// shortened cuts words to what content may hold.
func shortened(words string) string {
	l := bondLine{}
	for _, w := range strings.Fields(words) {
		l.words = append(l.words, word{text: w})
	}
	return quoted(&l)
}
