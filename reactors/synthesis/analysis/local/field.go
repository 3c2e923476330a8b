package local

import "strings"

// fieldSet is fields of life, a bit each.
type fieldSet uint32

// fields is words that are mostly of one field: two texts with one of them are about the
// same thing, if both are about an aim.
var fields = []string{
	`money visa cards red card raffle betting gambling casino bets debt debts loan loans mortgage deposit savings saved saving pot fund overdraft
		instalment instalments repay paid budget quid pounds euros dollars salary isa bank credit`,
	`swim swims swimming swam lengths lap laps lido pool crawl front channel lake wetsuit triathlon`,
	`run runs running ran km kilometres miles marathon half-marathon pace 10k 5k intervals splits trainers ultra parkrun jog jogging treadmill`,
	`ride cycling bike cycle climb pedal gravel peloton ftp watts`,
	`climb climbing mountain summit peak ridge altitude everest camp crampons boulder belay route hike hiking trek trekking pack rucksack trail`,
	`gym lift lifting squat deadlift bench reps weights kilos kg pounds scale scales bmi diet pudding calories weight fat sugar steps stone lbs waist`,
	`drink drinking drank drunk sober sobriety alcohol beer wine pub bottle bottles meeting meetings aa sponsor dry clean pint`,
	`smoke smoking smoked cigarette cigarettes smokes nicotine patch patches vape vaping`,
	`piano cello violin guitar flute drums choir orchestra scales chord chords etude sonata concerto audition recital band song songs album demo studio
		gig singing elijah choruses aria tempo sheet metronome sing soprano tenor trumpet`,
	`bookshop shelves introduction novel book manuscript chapter chapters draft drafts words pages publisher agent agents editor story stories poems
		memoir synopsis writing wrote`,
	`paint painting paintings canvas canvases exhibition gallery drawing drawings illustrations portfolio sketch sketches sculpture ceramics pots kiln
		bowls glaze glazes crack wheel`,
	`exam exams degree thesis dissertation module modules course lecture essay assignment assignments grade grades mock mocks marks revision revise
		studying study uni university college semester diploma ged abitur
		gcse gcses a-level phd dissertation defence viva professor supervisor tutor certificate qualification`,
	`medicine med medical anatomy biology chemistry ucat mcat nurse nursing doctor surgeon paramedic midwife ward hospital`,
	`spanish french german italian japanese chinese mandarin czech portuguese russian arabic korean english welsh gaelic polish swedish dutch turkish
		hindi bsl sign signing vocabulary vocab verbs
		words grammar subjunctive fluent conversation duolingo b1 b2 c1 c2 a2 flashcards kanji hsk jlpt language accent`,
	`subs subscribers views youtube video vid vids monetized followers podcast`,
	`code coding programming developer javascript react python portfolio bootcamp hackathon github dev software app startup launch users release beta
		investors`,
	`shop bakery bakes cafe restaurant business customers orders lease permit supplier investors launch stall market soap brewery etsy menu salon store
		loan revenue turnover premises`,
	`house flat bank sign contract signed cottage deposit mortgage viewing viewings estate roof walls plaster plastering bricks foundations insulation
		beams cabin build building self-build straw barn move moving-in`,
	`citizenship visa permit residency embassy papers emigrate application consulate immigration relocation`,
	`boat hull sail sails sailing mast keel deck planks varnish launch harbour yacht rigging`,
	`van camper campervan motorhome electrics insulation conversion route trip travel travelling world`,
	`garden beds allotment veg vegetables seeds harvest organic spraying inspector soil conversion greenhouse orchard compost hens goats sheep bees
		hives honey colonies farm land acres field fields tractor`,
	`flying licence pilot cockpit solo ppl aircraft flight flights log-book theory instructor driving lesson lessons parking dvla`,
	`speech talk stage speaking toastmasters stutter stammer fluency audience microphone rehearsed nerves therapist`,
	`baby ivf adoption adopt adopters foster clinic embryo panel social-worker child children parent trying`,
	`promotion senior manager lead leadership partner director deputy head promotion board appraisal`,
	`election council candidate vote votes campaign petition signatures union rep seat constituency`,
	`clinic charity foundation donors donations fundraising funds well school orphanage village`,
	`audition ballet dance dancing dancer pointe rehearsal rehearsals theatre drama role casting conservatory`,
	`team squad trials coach academy match tournament league selection nationals regionals championship belt judo karate boxing rowing erg 2k season`,
	`patent prototype invention inventor valve licence claims licensee attorney`,
	`walk walking knee hip surgery rehab physio crutches exercises recovery stairs`,
}

var fieldOf = table(func(of map[string]fieldSet) {
	for i, words := range fields {
		for _, w := range strings.Fields(words) {
			of[w] |= 1 << i
		}
	}
})

// fieldsOf gives the fields of some words.
func fieldsOf(words string) fieldSet {
	var of fieldSet
	for _, w := range strings.Fields(strings.ReplaceAll(words, ",", " ")) {
		of |= fieldOf[w]
	}
	return of
}
