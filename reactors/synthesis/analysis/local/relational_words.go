package local

// bondWords is the classes of relational and narrative cues.
var bondWords = map[string]string{
	"them": "0p|he|she|they|him|her|them",
	"they": "0p|he|she|they",
	"him":  "0p|him|her|them",
	"his":  "his|her|their",
	"each": "each other|one another",

	// that something comes again and again
	"often": `always|constantly|keeps?|kept|every time|every single time|each time|whenever|again and again|over and over|time and again|time after time|once again|
all the time|tends? to|tended to|ends? up|ended up|ending up|winds? up|usually|inevitably|invariably|forever|as usual|automatically|without fail|the same|same old|
cycles?|habit|for years|since we were|growing up|years of|day in|almost always|by default|somehow|by now|still|falls? into|fall back|falls back|slips? back|slips? into|
slide back|any time|each visit|every visit|every conversation|every call|every phone call|every dinner|every holiday|every meeting|every family|every week|every sunday|most of the time|
more often than not|nine times out of ten|like clockwork|once more|never fails|never|repeat|repeats|repeating|recurring|perpetually|endlessly|routinely|typically|
our thing|our dynamic|the way it|how it goes|how it works with|default|reflex|instinctively|when i am with|when i am around|around`,

	"hardship": `sick|ill|illness|flu|fever|surgery|operation|hospital|hospitali(?:s|z)ed|cancer|chemo|diagnos(?:is|ed)|injury|injured|accident|crash|pain|miscarriage|
break up|breakup|broke up|split|separation|separated|divorce|dumped|left me|lost my|losing my|lost our|laid off|fired|redundant|redundancy|unemployed|funeral|died|dies|death|dying|passed away|grief|grieving|
mourning|depression|depressed|depressive|panic|panicking|panicked|anxiety|anxious|fell apart|falling apart|fall apart|fall to pieces|hard|hardest|harder|rough|roughest|struggle|struggled|struggling|cry|cried|crying|tears|sobbing|low|lowest|overwhelmed|
breakdown|broke down|break down|worst|crisis|dark|darkest|lonely|alone|scared|afraid|terrified|flood|flooded|fire|burn(?:ed|t) out|burnout|tough|toughest|difficult|heartbroken|heartbreak|hurt|hurting|
could not cope|can not cope|could not get out of bed|trouble|stressed|bad day|bad days|bad night|bad week|bad patch|go wrong|goes wrong|went wrong|goes bad|spiral|spiralling|spiraling|at my lowest|relapse|sober|newborn|homeless|broke|bankrupt|
desperate|exhausted|evicted|eviction|layoff|drowning|sleepless|get bad|gets bad|got bad|gets too much|too much|collapsed|falls apart|down|blue|get tough|gets tough|gets hard|get hard|emergency|stroke|robbed|failed|failing|failure|sad|worry|worried|shaking|lost it|rock bottom`,

	// what growing is about
	"inner": `say no|saying no|said no|boundary|boundaries|ask for help|asking for help|let go|letting go|let people|let others|let someone|forgiv(?:e|ing|eness)|patience|patient|listen|listening|trust|trusting|myself|
feelings?|emotions?|emotional|anger|angry|temper|fears?|afraid|limits?|needs?|worth|worthy|self|rest|breathe|breathing|pause|slow down|stand up for|stand my ground|speak up|speaking up|accept|accepting|acceptance|vulnerab(?:le|ility)|
fail|failing|failure|failures|strong|stronger|strength|strengths|brave|braver|courage|kind|kinder|kindness|calm|calmer|perfect|perfection|perfectionism|mistakes?|good enough|enough|alone|lonely|loneliness|grief|grieve|sit with|apologi(?:s|z)e|honest|honesty|
compassion|resilien(?:t|ce)|open up|pleasing|please everyone|please everybody|comparison|compar(?:e|ing) myself|discomfort|uncomfortable|hurt|hurting|pain|matters?|happiness|happy|who i am|love|loved|humble|humility|gratitude|grateful|ego|pride|shame|guilt|
criticism|rejection|rejected|uncertainty|control|confidence|confident|instincts?|gut|intuition|priorit(?:ise|ize|ies)|balance|disappoint|disappointing|disappointment|disappointed|other people think|others think|responsible for|responsibility|conflict|walk away|deserve|imperfect|imperfections|
my own|empathy|surrender|give up control|start over|begin again|my voice|dignity|respect|independen(?:t|ce)|stubborn|stubbornness|adversity|hard times|setbacks?|loss|losing|life|being wrong|i was wrong|lean on|lean into|depend on|rely on|be present|the present|in the moment|joy|hope|faith|values|who my|people pleaser|helpless|panic|anxiety|defensive|tolerate|sober|sobriety|heal|healing|healed`,
}
