package local

// Words of what is mostly not about oneself.
var (
	technical = wordSet(`build builds compile compiles compiler deploy deploys deployment deployments server servers api apis docker kubernetes sql query
		queries endpoint regex css html javascript typescript python java rust golang linux windows script scripts module modules npm pip git repo
		repository branch merge merged pr prs commit commits database databases config configuration printer router wifi driver drivers firmware install
		installing installed laptop browser cache log logs timeout backend frontend pipeline pipelines ci staging production release releases sprint ticket tickets jira
		refactor refactoring unit integration dependency dependencies variable null pointer parser json yaml xml csv spreadsheet excel cell column
		pivot formula tab tabs cpu gpu ram disk ssd usb hdmi bluetooth app apps password account login url website site page dashboard migration
		migrations schema latency cluster node nodes container lambda bug bugs suite linter loop array string integer function functions
		stakeholder stakeholders kpi kpis roadmap okr okrs q1 q2 q3 q4 quarter invoice invoices slide slides deck spec specs feature features agenda
		vendor vendors backlog standup template doc docs document pdf file files folder folders attachment decoder encoder kernel runtime stderr stdout`)
	shopping = wordSet(`order orders ordered ordering delivery deliver delivered refund refunds product products purchase purchased warranty price prices
		discount shipping parcel package courier store shop shops mattress blender headphones vacuum sofa phone phones tv camera battery charger
		shoes jacket dress size colour color review reviews service hotel booking reservation flight flights train trains bus tram ferry taxi
		platform gate luggage suitcase appointment groceries milk eggs bread bakery supermarket checkout coupon cart table`)
	kitchen = wordSet(`recipe recipes oven flour dough sauce tbsp tsp butter simmer roast garlic onion onions pasta rice chicken beef soup salad cake
		cookies bake baking pan pot salt pepper spice spices curry teaspoon tablespoon yeast sourdough preheat marinade marinate grill broth stew`)
	soon = wordSet(`today tonight tomorrow lunch noon afternoon eod asap monday tuesday wednesday thursday friday saturday sunday`)
)

// joking is what is said with a wink.
var joking = cues(
	`lol|haha|hahaha|lmao|rofl|jk|hehe|hihi|xd`,
	`just kidding`,
	`(?:yeah|yea|oh|sure) (?:, )?(?:right|sure|great|joy|goody|wonderful|fantastic|brilliant|lovely)`,
	`just what i (?:needed|wanted)`, `said no one`, `note the sarcasm`, `(?:my )?favou?rite (?:thing|part|way) (?:in the world )?, (?:not|right)`,
	`how (?:wonderful|lovely|delightful|thrilling|exciting) , `,
	`living the dream`,
	`figure of speech`,
	`so to speak`,
	`^ (?:never|no) fear`, `fear not`,
	`kidding`,
	`sarcasm`,
	`sarcastic`,
	`can hardly contain`, `because (?:who|obviously) (?:does not|would not)`, `clearly my`, `(?:truly|obviously|clearly) the (?:highlight|dream)`,
)

// why is a question that tells of oneself.
var why = cue(`^ why (?:do|does|is it|am|did|was) … (?:makes?|feel|always|each time|every time|each|every) … (?:me|i|my|time|small|so)`)

var whyAsked = cue(`^ why (?:do|does|did|is|are|can|could|should|would|will|was|were|am)`)

// asked is a question without its mark.
var asked = cues(
	`^ (?:so )?(?:what|how|when|where|who|which) (?:do|does|did|is|are|can|could|should|would|will|was|were|am)
		(?:i|you|we|they|it|he|she|the|my|there|this|that)`,
	`^ (?:do|does|did|is|are|can|could|should|would|will|am) (?:you|i|it|we|they|there|this|that|the|my)`,
)

// supposed is what is not so.
var supposed = cues(
	`if i (?:were|was|had)`, `(?:suppose|imagine|assuming|hypothetically|in theory|in that case|say) i`, `(?:would|could|might) have been`, `as if i`,
	`i (?:would|might|could) (?:be|feel|get|become)`,
	`(?:let us say|for example|for instance|e g)`,
	`(?:he|she|they|who) (?:says?|said|thinks?|thought|told|tells|claims?|claimed|wrote|writes?) (?:me )?(?:that
		)?(?:i|he|she|they|his|her|their)`,
	`(?:(?:the|old|as they) saying|proverb|quote|quotes|motto of|slogan|headline|article|tagline|meme|translation|means in|synonym)`,
)

// aside says that a sentence is not to be taken as the user's own: a question, a joke,
// a supposition.
func aside(s *sentence) bool { return s.apart }

// know finds what all detectors ask, before they do.
func (s *sentence) know() {
	s.apart = isAside(s)
	s.felt = findEmotions(s)
}

func isAside(s *sentence) bool {
	if (s.question || whyAsked.in(s)) && !why.in(s) {
		return true
	}
	if _, ok := first(joking, s); ok {
		return true
	}
	if _, ok := first(asked, s); ok {
		return true
	}
	_, ok := first(supposed, s)
	return ok
}
