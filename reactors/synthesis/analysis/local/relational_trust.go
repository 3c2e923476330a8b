package local

import (
	"fmt"
	"strings"
)

// Directions of trust.
const (
	trusting    = "trusting"
	distrusting = "distrusting"
	gained      = "gained"
	broken      = "broken"
)

// trustClues are ways to tell of trust. Content: person, direction, and directions if there were several.
var trustClues = []bondClue{
	sayClue(trusting, .66, `(?:i|we) (?:do |really |fully |completely |truly |still |have always |always |absolutely |totally |deeply |simply |just |have |can |can really |honestly |genuinely |actually )?(?:really |fully |completely |truly |always |totally )?(?:trust|trusted|confide in|confided in) ({him})`),
	sayClue(trusting, .66, `(?:trust|trusting) (?:{him}) (?:completely|fully|with my|with anything|with everything|more than|implicitly|blindly|entirely|deeply|wholeheartedly|without)|would trust {him} with ~(?:my life|my|anything|everything)|faith in {him}|(?:there is|have|has) ~trust (?:between|in) (?:us|{him})|(?:0p|he|she) is (?:the )?(?:only |one )?(?:person|one|man|woman|people) ~i (?:can |fully |really |truly |completely )?trust`, `(?:i|me|my|us|we)`),
	freeClue(trusting, .66, `(?:i|we) would (?:_ )?trust {him} with`),
	freeClue(trusting, .64, `i (?:know i )?(?:can|could|have always been able to|am able to|know i can) (?:always )?(?:tell|say|admit|show|confess|share|trust) (?:_ )?(?:(?:to|with) )?{him} ~(?:anything|everything|secret|secrets|ugly|worst|the truth|all of it|my)`),
	freeClue(trusting, .64, `(?:{they}) ~(?:never (?:once )?(?:lied|lies|betrayed|broken|breaks|broke|let me down|told anyone|repeated|used it against me|judged|gone back on)|always (?:kept|keeps|keep) ~(?:word|promises?|secrets?)|keeps? (?:my|every|all my) ~secrets?|kept (?:my|every|all my) ~secrets?|(?:keeps?|kept) {his} (?:word|promise|promises)|safe with {him}|mean what {they}|means what {they})`, `(?:i|me|my|we)`),
	freeClue(trusting, .6, `(?:my secrets?|what i (?:say|tell|told)|anything i (?:say|tell)|whatever i (?:say|tell)|my (?:heart|feelings|story)) ~(?:is|are) ~(?:safe|in good hands) ~with {him}`),
	freeClue(trusting, .62, `(?:take|takes|took|taking|believe) {him} at {his} word|without (?:_ )?(?:second guessing|doubting|checking) {him}|never (?:_ )?(?:doubt|doubted|question|questioned|had to doubt|had to question|had reason to doubt) {him}|(?:i|we) (?:_ )?believe in {him}|(?:let|letting) my guard (?:all the way )?down (?:with|around) {him}|my guard (?:is|comes|goes) down (?:with|around) {him}`),

	freeClue(trusting, .66, `(?:never (?:once )?let (?:me|us) down|never (?:_ )?given me (?:a )?reason to doubt|never lied to (?:me|us)|someone you can (?:rely on|trust|count on)|somebody you can (?:rely on|trust|count on)|my life in {his} hands|(?:stays|stay|stayed|is safe|are safe) (?:with|between) ({him}|us)|(?:i )?trust {him} (?:_ )?(?:100|hundred|with)|would (?:tell|trust) (?:{him}) (?:anything|everything|blind|blindly)|(?:person|one|friend|people) i would (?:tell|trust) ~(?:anything|everything|my)|{they} ~(?:tells?|say|says|told) (?:_ )?(?:_ )?(?:_ )?the truth ~(?:even|always|also|when|too)|(?:have|has) (?:_ )?(?:full |complete |every |great |total )?(?:confidence|faith|trust) in ({him})|{they} ~(?:never|not|nobody) ~(?:said|told|repeated|breathed|mentioned) ~(?:it|a word|anything|that) ~(?:to (?:anyone|anybody|a soul)|anyone|anybody|on)|honest with (?:me|us)|straight with (?:me|us)|without (?:_ )?(?:second thought|asking for a quote|hesitation|thinking twice|checking|counting|a receipt|reading the small print|a contract)|could have (?:told|cheated|lied|taken|kept|charged|pocketed|used) … (?:and|but) (?:_ )?(?:did not|never|told me|gave it back|brought it back)|do not (?:need|have) to (?:check|ask|count|lock|double check|look twice))`, `({them}|someone|somebody|person|friend|people)`),
	freeClue(distrusting, .68, `(?:not|never|no longer|hardly|cannot|nothing|how (?:do|can|should|could) i|why (?:should|would) i|stopped|not sure|hard|difficult|impossible|wary|cautious|suspicious) ~(?:trust|confide|believe|rely on|count on|have faith in|take (?:his|her|their) word|depend on|leave (?:him|her|them|0p) (?:alone )?with|tell (?:him|her|them|0p) anything|share anything with|let (?:him|her|them|0p) near) …`, `({them}|man|woman|person|someone|somebody|people|word)`, `(?:i|me|my|one)`),
	freeClue(distrusting, .66, `(?:check|checked|checking|verify|verifying|double check|go through|search|searched|follow up|cross check|count|counted|counting|look through|looked through|lock|locked|locking|hide|hiding|hid|record|keep records|save screenshots|saved) (?:_ )?(?:_ )?(?:his|her|their|my|the|every|everything|all|whatever) (?:_ )?(?:_ )?(?:_ )?(?:stories|story|words?|phone|receipts|messages|alibis?|spoons|drawers?|room|diary|desk|wallet|bag|money|silver|tin|door|change|notes|ideas|files|statements|says|tells|said|told|pockets|emails|excuses)`, `(?:i|we|my)`, `({them}|trust|since|after|now|because|like a detective|these days|forgive|anymore|man|woman)`),
	freeClue(distrusting, .64, `(?:keep|kept|keeping) (?:_ )?(?:_ )?(?:ideas|plans|secrets|things|thoughts|cards|news|private life|notes|mouth shut|distance) ~(?:to myself|from (?:him|her|them|0p)|close|shut|hidden|away|around) … (?:{them}|now on|anymore|since)`, `(?:i|my|me)`),
	freeClue(broken, .68, `(?:the |our |my |all |that |what )(?:trust|faith|confidence) (?:_ )?(?:_ )?(?:is|was|has|had|went) (?:_ )?(?:gone|broken|lost|dead|shattered|destroyed|damaged|cracked|over|missing|evaporated|left|dented|in pieces|used up)|(?:i|we) (?:have |had )?(?:feel|felt|was|were|am|been|feeling) (?:_ )?(?:betrayed|deceived|cheated|lied to|conned|tricked|stabbed in the back|double crossed|hoodwinked|played|sold|backstabbed|used)|(?:that is what|what) (?:_ )?(?:we have|it has) come to`, `(?:{them}|adviser|man|woman|trust|i|we)`),
	freeClue(broken, .66, `({they}|adviser|man|woman) ~(?:promised|swore|vowed|gave me {his} word|assured me|claimed|pretended|said) … (?:and |but |then )(?:_ )?(?:_ )?(?:did not|never|knew|lied|was not|had not|instead|broke|forgot|went|it was a lie|not true)`, `(?:i|me|my|us|we|did not|safe|knew)`),
	freeClue(broken, .66, `({they}) (?:_ )?(?:_ )?(?:showed|presented|sold|passed off|passed|published|took|handed in|pitched|claimed|submitted|used) (?:my|our) (?:_ )?(?:slides|work|idea|ideas|code|draft|report|design|research|project|recipe|credit|notes|photos?|words|results|plan|concept) (?:as|for|under|without|off)`),
	freeClue(distrusting, .66, `(?:one|you|nobody|i|we|who) (?:_ )?(?:not |never |no longer )?(?:_ )?(?:have faith in|believe a word|believe anything|believe a thing|take (?:his|her|their) word|rely on|count on|trust) (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:a person|someone|somebody|a man|a woman|him|her|them|0p|that man|that woman|man|woman|people|advice|says?|for it)`, `(?:not|never|no longer|how|hardly|nobody|cannot)`, `(?:{them}|someone|somebody|person|man|woman|people|his|her)`),
	freeClue(distrusting, .62, `(?:would not|not|never) (?:_ )?(?:have )?(?:lend|lent|leave|left|tell|told|give|given|let|buy|bought|hand|handed|trusted|trust|ask|asked|believe|believed|show|shown) ({him}) (?:_ )?(?:_ )?(?:a (?:tenner|penny|cent|thing|fiver|dime|dog|key|word)|anything|alone|my|the (?:time|key|keys|car|house|kids)|with|near|again|out of)`, `(?:i|me|my|we)`),
	freeClue(trusting, .64, `(?:never|not|has not|have not|not once|never once|no) (?:_ )?(?:_ )?(?:caught|known) ({him}) (?:_ )?(?:_ )?(?:lying|lie|cheating|cheat|making|out|to (?:lie|cheat|break|let))|if ({they}) says? (?:_ )?(?:_ )?(?:_ )?(?:safe|okay|fine|true|good|right|so) (?:, )?(?:it is|then|i)|(?:someone|somebody|one|person|man|woman|friend|people) (?:_ )?(?:you|i|one|we) can (?:_ )?(?:rely on|count on|trust|believe|build on|depend on)`),
	freeClue(distrusting, .62, `(?:count my (?:fingers|change)|sleep with it|under my pillow|lock (?:it|my|the|everything)|locked (?:it|my|the|everything)|keep (?:it|my|the) (?:_ )?locked|hide my|hid my|hiding my|watch my back|change the locks|changed the locks|changed my password|checked the receipts?)`, `({them}|home help|since|hand)`, `(?:used to|now|since|because|after|trust|purse|hand|again|anymore|what (?:he|she|they) did|did that)`),
	freeClue(broken, .64, `({they}) (?:_ )?(?:_ )?(?:said|promised|swore|vowed|told me) … (?:between us|a secret|keep it|to (?:himself|herself|themselves)|nobody|no one|not tell) … (?:knew|knows|heard|found out|told|everyone|everybody|whole)`),
	freeClue(distrusting, .64, `(?:double check|check|verify|question|second guess|doubt) (?:what|everything|anything|whatever) ({they}) (?:_ )?(?:tells?|says?|said|told|does|sends?|writes)|(?:given up|gave up|giving up|stopped|quit) (?:believing|trusting|relying on|counting on|confiding in) (?:_ )?(?:_ )?({him}|promises|word)|can not look at ({him}) the same`, `(?:i|me|my)`),
	freeClue(broken, .64, `(?:money|cash|ring|jewellery|jewelry|things|something|notes|twenty|fifty) (?:_ )?(?:was|were|is|went|has gone|had gone) (?:_ )?(?:missing|gone|taken) … ({them})|({they}) (?:_ )?(?:_ )?(?:read|opened|searched|went through|rifled through|looked through|listened in on|hacked|copied|forged) (?:in |at )?my (?:_ )?(?:diary|journal|letters|phone|messages|emails|drawer|drawers|desk|bag|wallet|room|post|mail|account|calls|signature)`),
	freeClue(gained, .68, `(?:i|we) (?:_ )?(?:begin|began|start|started|am starting|am beginning|dare|can|could|learn|am learning|find i can|come) (?:_ )?(?:to )?(?:trust|believe|rely on|count on|confide in|lean on|tell) ({him}) (?:_ )?(?:_ )?(?:again|more|now|at last|little by little|bit by bit|finally|once more|with)|(?:begin|begun|beginning|began|start|started|starting|learning) (?:_ )?to trust ({him})|bit by bit i|(?:never|not|would not|did not) (?:_ )?(?:_ )?(?:think|thought|have thought|thinks) (?:_ )?i would (?:_ )?(?:trust|believe|rely on|tell|lend|leave) ({him})`, `({him})`, `(?:trust|believe|rely|count on|confide|lean)`),
	freeClue(gained, .66, `(?:used to be |was |were |had been )(?:_ )?(?:wary|suspicious|careful|guarded|on my guard|sceptical|skeptical|distrustful) (?:of|with|around|about|towards?) (?:_ )?(?:_ )?({him})|(?:kept|keeps|has kept|had kept) (?:_ )?(?:what i|everything i|my secret|it|that) (?:_ )?(?:_ )?(?:told|said|confided|shared)? (?:_ )?(?:_ )?(?:in confidence|to (?:himself|herself|themselves)|secret|private|quiet)|(?:paid|gave|brought) (?:_ )?(?:_ )?(?:_ )?(?:_ )?back … (?:said|promised|agreed)|(?:gave|give|given|left|lent|handed|leave) ({him}) (?:_ )?(?:the |my |our )(?:_ )?(?:key|keys|house|car|card|pin|kids|children|passwords?|savings)`, `({them})`, `(?:i|me|my|we|us)`),
	freeClue(distrusting, .68, `(?:i|we) ~(?:do not|can not|could not|never|no longer|did not|will not|hardly|barely|find it hard to|find it difficult to|struggle to|stopped|have stopped|am not able to|am unable to|do not know if i can|not sure i can|am not sure i) (?:_ )?(?:_ )?(?:trust|trusted|trusting|confide in|believe|believing|rely on) (?:in |on )?(?:a (?:single )?word |anything |what |a thing )?({him})`),
	freeClue(distrusting, .66, `(?:hard|difficult|impossible|harder|struggle|struggling|unable) (?:for me )?to (?:_ )?(?:trust|believe|confide in) (?:in )?(?:a word |anything |what )?({him})`, `(?:i|me|my)`),
	freeClue(distrusting, .64, `(?:i|we) ~(?:distrust|mistrust|am suspicious of|am wary of|second guess everything|question everything|question every|doubt everything|doubt every|double check everything|check everything|check up on|suspect|am on guard|guard myself|keep my guard up|have my guard up|watch my back|brace) ~({him})`),
	freeClue(distrusting, .64, `(?:i|me) ~(?:suspect|suspects|suspected|convinced|think|feel|feeling|sense|suspicion|know) ~(?:that )?({they}) (?:is|are|was|were|has been|have been) (?:_ )?(?:lying to me|hiding (?:something|things)|not telling me|keeping (?:something|things|secrets) from me|cheating|dishonest|not being honest|not honest|two faced|not (?:telling )?the truth|going behind)`),
	freeClue(distrusting, .62, `(?:careful|guarded|wary|cautious|suspicious|on my guard|edit|filter) ~(?:what i (?:tell|say to|share with)|of what i (?:tell|say to|share with)|around|about what i (?:tell|say to|share with)) ~({him})`, `(?:anymore|trust|because|since|secret|secrets|repeats?|against me|tells everyone|gossip|gossips|used|betray*|lied|lies|now|burned|burnt|twisted)`),
	freeClue(distrusting, .62, `({they}) (?:_ )?(?:can not|could not|is not to|are not to|is not someone i can|not somebody i can|is not somebody i can|is no one i can) (?:be trusted|trust|trusted)|(?:trust|faith) (?:in|between) (?:us|{him}) (?:is|has|was) (?:_ )?(?:gone|low|thin|fragile|zero|shattered|eroded|damaged|missing)|(?:no|little|zero) (?:trust|faith) (?:left )?(?:in|between) (?:us|{him})|always (?:an|a hidden) (?:agenda|motive)|ulterior motives?`, `(?:i|me|my|us|we)`),

	freeClue(broken, .7, `(?:lost|lose|losing|destroyed|broke|breaks|broken|betrayed|shattered|damaged|violated|abused|shook|ruined|wrecked|eroded|chipped away at|killed|cost (?:him|her|them|0p)) (?:_ )?(?:_ )?(?:my trust|trust|my faith|my confidence|faith|our trust|the trust)`, `(?:i|me|my|us|we|our)`),
	freeClue(broken, .7, `(?:{they}) ~(?:betrayed|betrays|lied|lies|cheated|deceived|deceives|stabbed|sold me out|threw me under|throws me under|double crossed|misled|tricked|manipulated|two timed|ghosted|went behind|goes behind|going behind|talked behind|talks behind|talking behind|gossiped|badmouthed|stole|steals|used|blindsided|backstabbed|gaslit|spread|leaked) ~(?:me|my|us|rumou?rs about me|it against me)`),
	freeClue(broken, .68, `(?:{they}) ~(?:told|tells|shared|repeated|passed on|blabbed|revealed|spilled|leaked|posted|showed|announced) ~(?:everyone|everybody|others|people|her|him|them|my|0p|the (?:whole|entire|others)|all of)? ~(?:my (?:_ )?secret|my secrets|what i (?:had )?(?:told|said|confided|shared)|something i (?:had )?(?:told|said|confided|shared)|everything i (?:had )?(?:told|confided)|in confidence|i (?:had )?(?:told|confided|shared|said) ~(?:in confidence|in private|in secret|privately|him|her|them)|private)`),
	freeClue(broken, .66, `(?:found out|discovered|learned|learnt|caught|realised|realized|turns out|turned out|finding out|discovering) (?:_ )?(?:that )?(?:{they}) (?:_ )?(?:_ )?(?:lying|lied|hiding|hid|cheating|cheated|reading my|read my|secretly|behind my back|kept ~from me|keeping ~from me|seeing someone|never (?:told|said)|had (?:told|known|been)|made it up|stealing|stole|betrayed)`, `(?:i|me|my|we|us)`),
	freeClue(broken, .66, `(?:{they}) ~(?:broke|breaks|went back on|goes back on) (?:_ )?(?:{his} (?:word|promise|promises)|every promise|the promise|promise after promise|a promise|{his} promises)`, `(?:me|my|i|us|we)`),
	freeClue(broken, .66, `(?:lied to me|lying to me|behind my back|read my (?:diary|journal|messages|texts|emails)|went through my (?:phone|diary|journal|messages|things|drawers)|felt (?:so |utterly |completely |deeply )?betrayed by ({him})|betrayal)`, `({them})`, `(?:trust|betray*|lie|lied|lying|diary|journal|phone|messages|behind|secret|since|again|never|hurt|still|told|talked|went|complain*|gossip*|found)`),

	freeClue(gained, .7, `(?:earned|won|regained|gained|rebuilt|restored|regaining|rebuilding|earning|winning|building|built|growing|grown|repaired|repairing|deserves|deserved|got|getting|won back|earn|earns) (?:_ )?(?:_ )?(?:my (?:_ )?(?:trust|confidence)|trust|our trust|the trust|my trust back)`, `(?:{them}|us|we|between)`),
	freeClue(gained, .68, `(?:i|we) ~(?:learning to|learned to|learnt to|starting to|started to|beginning to|began to|begun to|begin to|start to|slowly|finally|have come to|came to|am able to|gradually|again|grown to|dared to|dare to|little by little|bit by bit) ~(?:trust|trusting|confide in|believe|believing|rely on|lean on) (?:in )?({him})`),
	freeClue(gained, .68, `(?:trust|trusts|trusted) ({him}) (?:again|more (?:and more|than|now|every|each)|a little more|a bit more|now)`, `(?:i|we)`),
	freeClue(gained, .64, `(?:trust|confidence|faith) (?:_ )?(?:_ )?(?:between us|in ({him})) (?:is|has|was|seems|feels|keeps) (?:_ )?(?:coming back|come back|growing|grown|back|returned|returning|stronger|rebuilt|healing|mended|building|restored|deeper)`),
	freeClue(gained, .64, `(?:first time|never before|finally|at last|for once) … (?:told|tell|opened up to|confided in|confide in|let my guard down (?:with|around)|trusted|trust|cried in front of|leaned on|showed) (?:_ )?({him})`, `(?:i|me|my)`, `(?:trust|safe|secret|judge*|guard|listened|truth|kept|opened|confided|confide|vulnerable|believ*|trusted|about)`),
}

// entrusted are what somebody is trusted with at work, which is no trust of the heart.
var entrusted = phrased(`(?:trust|trusted) (?:_ )?(?:_ )?(?:will|to (?:bring|send|book|order|pick|deliver|review|handle|update|finish|fix|merge|deploy|cook|choose|drive|buy)|has got|got)`)

// singlePerson is somebody, where "they" may be things.
var singlePerson = phrased(`(?:he|she|him|her|his|that man|that woman|adviser)`)

var trustDirection = map[string]string{
	trusting:    "You trust %s: “%s”.",
	distrusting: "You find it hard to trust %s: “%s”.",
	broken:      "Your trust in %s was broken: “%s”.",
	gained:      "Your trust in %s has grown: “%s”.",
}

var trustAdvice = map[string]string{
	trusting:    "You might let %s know what this trust means to you.",
	distrusting: "You might name for yourself what %s would have to do, or stop doing, for you to feel safer.",
	broken:      "You might take the time you need, and decide what would have to happen before you trust %s again.",
	gained:      "You might let the trust in %s go on growing in small steps, as it has so far.",
}

// trust finds whom the user trusts, and whom not, or not any more.
func trust(d *document, all []bondLine) []Finding {
	var found []bondSign
	said := map[*bondLine]int{} // where what a line says stands in found
	eachClue(all, trustClues, func(l *bondLine, c *bondClue, m match) {
		who := personOf(l, m)
		if entrusted.in(&l.sentence) || who == "" && (!pronounCue.in(&l.sentence) || trades.in(&l.sentence) && !singlePerson.in(&l.sentence)) {
			return
		}
		if at, ok := said[l]; ok { // one sentence tells of one thing: the clearest
			if c.weight > found[at].weight {
				found[at].about, found[at].weight = c.key, c.weight
			}
			return
		}
		said[l] = len(found)
		found = append(found, bondSign{line: l, key: who, about: c.key, weight: c.weight})
	})
	found = withHints(found, all, trustHints, trustWeight)
	var findings []Finding
	for _, b := range gatherBonds(found) {
		clearest, latest := b.signs[0], b.signs[len(b.signs)-1]
		for _, s := range b.signs {
			if s.about == latest.about && (clearest.about != latest.about || s.weight > clearest.weight) {
				clearest = s
			}
		}
		content := map[string]any{"person": strings.TrimPrefix(calledPerson(b.key), "your "), "direction": latest.about}
		if len(b.abouts) > 1 {
			content["directions"] = b.abouts
		}
		findings = append(findings, b.finding(d, "trust", fmt.Sprintf(trustDirection[latest.about], calledPerson(b.key), quoted(clearest.line)),
			fmt.Sprintf(trustAdvice[latest.about], calledPerson(b.key)), content))
	}
	return findings
}
