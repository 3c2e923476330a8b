package local

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// kinOf are the words for those who somebody may be close to, and what each is called
// in a finding.
var kinOf = table(func(of map[string]string) {
	for _, group := range strings.Split(kinWords, "\n") {
		words := strings.Fields(group)
		for _, w := range words {
			of[w] = words[0]
		}
	}
})

// kinWords lists kin: what it is called, then the other words for it.
const kinWords = `mother mum mom mommy mummy mama mam ma
father dad daddy papa pa pop
parents folks
sister sis
brother bro
sisters
brothers
siblings sibling
twin
aunt auntie
uncle
cousin
cousins
grandmother grandma granny nana gran
grandfather grandpa granddad grandad
grandparents
niece
nephew
son
daughter
child kid eldest
children kids sons daughters
stepfather stepdad
stepmother stepmom stepmum
stepson
stepdaughter
stepsister
stepbrother
godmother
godfather
mother_in_law
father_in_law
sister_in_law
brother_in_law
in_laws
husband hubby
wife
spouse
partner
boyfriend bf
girlfriend gf
fiancé fiance fiancée fiancee
ex ex_husband ex_wife ex_boyfriend ex_girlfriend ex_partner
lover
best_friend bestie
friend buddy mate pal
friends buddies mates pals girlfriends
roommate flatmate housemate
roommates flatmates housemates
neighbour neighbor
neighbours neighbors
boss manager supervisor
team_lead
colleague coworker co_worker teammate workmate officemate
colleagues coworkers co_workers teammates workmates
team crew
business_partner cofounder co_founder
mentor
coach
teacher
professor
therapist
sponsor
pastor
landlord
family relatives
choir
group club circle girls lads
congregation
church
support_group
book_club
running_group running_club
community
bandmates band`

// bareWords are kin who are named without "my" before them.
const bareWords = "mom mum mommy mummy mama dad daddy papa grandma granny nana grandpa granddad grandad"

// givenWords are common given names that are no other word.
const givenWords = `aaron abby abdul adam adrian agnes ahmed aisha alan alejandro alex alexa alexander alexandra alexis ali alice alicia alina alison allison
amanda amina amir amira amy ana andre andrea andreas andrei andrew andy angela angelina ann anna anne annie anthony antonio anya anthea arjun ashley
astrid audrey barbara beatrice becky ben benjamin bernard beth bethany betty bianca bob brandon brenda brian bridget bruno caleb calvin camille
carla carlos carmen carol caroline catherine cathy cecilia chad charles charlie charlotte chloe chris christian christina christine christopher cindy
claire clara clare claudia colin connor craig cynthia daniel daniela danielle danny darren dave david debbie deborah dennis derek diana diane diego
dmitri dominic donald donna doris dorothy doug douglas dylan ed eddie edith edward eileen elaine eleanor elena eli elias elijah elise elizabeth ella ellen ellie
emily emma eric erica erik erin esther ethan eva evan evelyn fatima felix fernando fiona frances francesca francis frank fred gabriel gabriela gareth gary
george gerald gina giulia gloria gordon graham greg gregory gus gustavo hannah harold harriet harry hassan heather hector heidi helen helena henrik henry
hugo ian ibrahim igor imani ines ingrid irene iris isaac isabel isabella isla ivan jackie jacob jake james jamie jamal jan jane janet janice jason jasmine javier
jean jeff jeffrey jen jenna jennifer jenny jeremy jerry jess jesse jessica jim jimmy joan joanna joanne joe joel johan john johnny jon jonas jonathan jordan jorge
jose joseph josh joshua juan judith judy julia julian juliana julie justin kai kamal karen karim karl kate katherine kathleen kathy katie kayla keith kelly ken
kenneth kevin khalid kim kirsten kyle lara larry lars laura lauren laurie leah lena leila leo leon leonard leonie leslie lewis liam lily linda lindsay lisa liz
lorenzo louis louise luca lucas lucia lucy luis luke lydia maddie magda maggie malik mara marcel marcus margaret maria marie marina mario marion marissa
marta martha martin martina mary mateo matt matteo matthew maureen max maya megan mei melanie melissa meredith mia michael michelle miguel mike mila
miriam mohamed mohammed molly monica muhammad nadia naomi natalie natasha nathan neil nia nicholas nick nicola nicole nigel nikhil nina noah noor nora norman
olga oliver olivia omar oscar otto owen pablo pamela patricia patrick paul paula pauline pedro peggy penny pete peter phil philip phoebe pierre piotr priya
rachel rafael raj ralph ramon raquel rashid raymond rebecca regina renata ricardo richard rick rita rob robert roberto robin roger ron ronald rosa rosie ross ruby ruth ryan
sabrina sadie sally sam samantha samir samuel sandra sanjay santiago sara sarah sasha scott sean sebastian serena sergio shannon sharon sheila shirley silvia simon simone sofia
sonia sophia sophie stacy stanley stefan stella stephanie stephen steve steven stuart susan susanna svetlana sylvia tamara tanya tara ted teresa terry tessa theo
theresa thomas tiffany tim timothy tina tobias todd tom tommy tony tracy trevor tyler ursula valentina valerie vanessa veronica victor victoria vincent vivian
walter wanda wendy wei william willow xavier yasmin yolanda yuki yusuf yvonne zach zachary zara zoe nadia ruth liz jess kev dan lou bea dee piet gerd petra ines jonas walter helga malik sergej sergei pavel ricky maya eva leo gill
	kofi kwame ama abena chidi ngozi emeka amara zainab layla leyla omar samira soraya mehmet ayse emre elif deniz cem fatma aylin mina minh linh hana hiro kenji haruto sakura aiko naoko
	wen ling jing xiao hui jun mei ravi anil sunil deepa lakshmi meera neha pooja rahul rohan sanjana vikram anita kavita ana joana joao tiago rui nuno ingeborg
	anneliese ute uwe jürgen juergen bernd dieter heinz holger ilse inge jutta karin kerstin klaus lothar manfred monika rainer renate rolf sabine silke
	stefanie susanne sven thorsten torsten ulrike ulrich volker wolfgang agnieszka ania basia kasia krzysztof magda marek pawel tomek wojtek zofia jana jiri katka lenka milan
	ondrej vaclav zuzana andrej boris dragan goran jelena marko milica vesna zoran alexei anastasia dima igor irina katya ksenia lyudmila mikhail natalia nikita oksana olena sveta
	tanya vadim vera viktor vitaly yana yuri bjorn erika freja gunnar hanne jens kirsten lise mette niels ole signe soren aino mikko pekka giorgos kostas nikos eleni katerina
	aoife ciara niamh sinead siobhan eoin declan padraig rhys gwen bronwyn hamish isla ewan fergus beppe chiara federica giovanni luigi paolo silvia
	amelie benoit chantal corinne didier elodie gilles guillaume luc lucie manon mathieu nathalie pascal solene thierry yannick dan bill jack drew ash kit lee val ray ali mo
	billy bobby freddie georgie gina jodie josie katy kerry kim lottie maisie mandy millie nell nelly nora polly robbie ronnie ruthie shaun stu suzie tilly toni trish vicky wes enid doris`

var givenNames = wordSet(givenWords)

// partWords are those whom somebody meets in a part that they play: "the foreman", "Coach".
var partWords = wordSet(`foreman forewoman adviser advisor midwife coach nurse sister matron manager boss supervisor director landlord landlady neighbour neighbor neighbours neighbors
	vicar priest pastor rabbi imam teacher tutor trainer mentor team group girls lads boys doctor gp consultant surgeon therapist counsellor counselor sponsor solicitor lawyer
	caretaker cleaner carer babysitter nanny childminder captain mechanic housemate flatmate roommate colleague colleagues kids twins chairwoman chairman headmaster headteacher
	principal professor chef editor producer conductor choirmaster receptionist warden officer chief lot hospice crew gang volunteers librarian physio accountant builder partner
	husband wife guys women men ladies stepdad stepmum ward_sister`)

// particularWords are words that go before a part and make it one particular person.
var particularWords = wordSet(`the my our that this old new with from , charge head home thursday mondays tuesdays wednesdays thursdays fridays saturdays sundays monday tuesday wednesday friday whole entire night day other senior shift deputy and dear`)

var titleWords = wordSet("mr mrs ms miss dr doctor uncle aunt auntie sister brother father old coach nurse sergeant professor")

// beforeNames and afterNames are what stands beside names of people, and not beside
// those of places.
var (
	beforeNames = wordSet(`with and told tell asked ask trust called mr mrs ms dr old miss dear by for like rang ring hurt thanked thank met helped believe on between`)
	afterNames  = wordSet(`says said is was has had told asks asked came comes keeps kept never always thinks thought knows knew wants took takes gave gives makes made showed shows helped
		helps drove drives sat sits promised called calls rang rings laughed laughs shouted yelled read reads paid went goes left leaves lied lies brought brings puts put who again just
		still will would can could does did cried cries sent sends stood stands needs needed looked looks picked picks feels felt tells stayed stays talks talked gets got wouldn't didn't
		doesn't isn't hasn't won't cancelled decides listens listened`)
	places = wordSet("in the at")
)

// noNames are words that a sentence begins with and that are no names.
var noNames = wordSet(`i he she it they we you the a an my his her our their this that these those there here who what which when where why how if as at in on to for with from by and but or so
	not no yes then now today tomorrow yesterday still again never always everyone everybody someone somebody nobody everything something nothing people one two both all some most each every
	another monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november december user assistant god
	english german french spanish italian mum dad mom gran granny grandma grandpa christmas easter life love work home time after before since while because even just only once maybe
	perhaps also well ok okay please thanks thank hello hi dear later first second third last next whoever whatever mr mrs ms dr miss old coach city river bridge ticket internet google
	python java linux windows excel docker kubernetes git github amazon apple microsoft facebook zoom slack jira react postgres london paris berlin rome`)

// kinAdjectives stand between "my" and a person.
var kinAdjectives = wordSet(`dear dearest best close closest good old oldest older elder eldest big little younger youngest baby twin late first second
	new current former then only own whole entire poor sweet lovely wonderful amazing direct immediate line project team lab study middle half adult
	grown teenage teenaged biological adoptive foster long time longtime childhood college school university work two three four few church local
	toxic difficult estranged narcissistic controlling lifelong previous elderly upstairs downstairs`)

// introduced gives the names of people in a text: those that people are introduced
// with, and those that stand where only people do.
func introduced(text string) []string {
	if len(text) > longestText {
		text = text[:longestText]
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' })
	var found []string
	place := map[string]bool{}
	last := ""
	for i, w := range words {
		lower := strings.ToLower(w)
		r, size := utf8.DecodeRuneInString(w)
		if !unicode.IsUpper(r) || w[size:] != lower[min(size, len(lower)):] || len(w) < 2 || len(w) > longestName || noNames[lower] {
			last = lower
			continue
		}
		next, second := "", ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		if i+2 < len(words) {
			second = words[i+2]
		}
		_, of := kinOf[last]
		switch {
		case places[last]:
			place[lower] = true
		case of, beforeNames[last], afterNames[next], next == "and" && (second == "I" || second == "me"):
			found = append(found, lower)
		}
		last = lower
	}
	return slices.DeleteFunc(found, func(name string) bool { return place[name] })
}

// longestName is in bytes.
const longestName = 20

// personWord is the word that stands in a marked sentence's numbers for any person, and
// in cues.
const personWord = "0p"

// unapostrophed are words that are written without their apostrophe, or as one speaks.
var unapostrophed = map[string]string{
	"shes": "she is", "hes": "he is", "theyre": "they are", "whos": "who is", "thats": "that is", "hasnt": "has not", "werent": "were not", "youre": "you are",
	"wouldve": "would have", "couldve": "could have", "weve": "we have", "theyve": "they have", "wont": "will not", "hadnt": "had not", "shouldnt": "should not",
	"thru": "through", "n": "and", "w": "with", "learnt": "learned", "needn't": "need not", "whatre": "what are",
}

// markPeople writes people as one word each: "my older sister anna and i" becomes "@sister
// and i", "tom and i" becomes "@tom and i".
func markPeople(words []word, known map[string]bool) []word {
	out := make([]word, 0, len(words))
	add := func(text string) {
		out = append(out, word{text: text})
	}
	for i := 0; i < len(words); i++ {
		w, last, next := words[i].text, "", ""
		if len(out) > 0 {
			last = out[len(out)-1].text
		}
		if i+1 < len(words) {
			next = words[i+1].text
		}
		if long, ok := unapostrophed[w]; ok {
			for _, part := range strings.Fields(long) {
				add(part)
			}
			continue
		}
		stem, possessive := strings.CutSuffix(w, "'s")
		switch {
		case w == "my" || w == "our":
			if name, n := akin(words[i+1:]); n > 0 {
				i += n
				if strings.HasSuffix(words[i].text, "'s") {
					add("@" + name)
					w = "'s"
				} else {
					w = "@" + name
				}
			}
		case titleWords[w] && (givenNames[next] || known[next]):
			w = "@" + w + "_" + next
			if w = strings.TrimPrefix(w, "@old_"); w[0] != '@' {
				w = "@" + w
			}
			i++
		case givenNames[w] || known[w]:
			if strings.HasPrefix(last, "@") {
				continue // "my sister anna", or a surname
			}
			if n := len(out); last == "," && next == "," && n > 1 && strings.HasPrefix(out[n-2].text, "@") {
				out = out[:n-1] // "my sister, anna, and i"
				i++
				continue
			}
			w = "@" + w
		case possessive && (givenNames[stem] || known[stem] || bareKin[stem]):
			add("@" + stem)
			w = "'s"
		case bareKin[w] && !ownedByOthers[last]:
			w = "@" + kinOf[w]
		case partWords[w] && (last == "" || particularWords[last]) && !notPeople[next]:
			w = "@the_" + w
		}
		add(w)
	}
	return out
}

// akin reads who it is that "my" stands before, and in how many words.
func akin(words []word) (string, int) {
	at := 0
	for at < 3 && at < len(words) && (kinAdjectives[words[at].text] || at+1 < len(words) && circles[words[at+1].text]) && !akinAt(words, at) {
		at++
	}
	for n := min(3, len(words)-at); n > 0; n-- {
		var parts []string
		for _, w := range words[at : at+n] {
			parts = append(parts, strings.TrimSuffix(w.text, "'s"))
		}
		if name, ok := kinOf[strings.Join(parts, "_")]; ok {
			if at+n < len(words) && notPeople[words[at+n].text] {
				return "", 0
			}
			return name, at + n
		}
	}
	return "", 0
}

// circles are people whom any word may stand before: "my aa group".
var circles = wordSet("group club friends friend circle community crew lot girls lads colleague colleagues neighbour neighbours teammates")

// akinAt says that an adjective is the begin of a person's name, as in "best friend".
func akinAt(words []word, at int) bool {
	if at+1 >= len(words) {
		return false
	}
	_, two := kinOf[words[at].text+"_"+words[at+1].text]
	return two
}

// ownedByOthers are words before "mum" that make it somebody else's.
var ownedByOthers = wordSet("the a her his their your whose s")

// notPeople are what "my parent", "my boss" and the like may only stand before.
var notPeople = wordSet(`process processes class component node element directory folder table key board tongue doctor meeting meetings fight list lists
	room tree plan account accounts card visa day wedding call lead chat group page site standup sync calendar channel town country ship theme name`)

var bareKin = wordSet(bareWords)

// calledPerson is how a finding calls a marked person.
func calledPerson(person string) string {
	person = strings.TrimPrefix(person, "@")
	if person == "" {
		return "somebody close to you"
	}
	if part, ok := strings.CutPrefix(person, "the_"); ok {
		return "the " + part
	}
	if title, name, ok := strings.Cut(person, "_"); ok && titleWords[title] {
		return calledPerson(title) + " " + calledPerson(name)
	}
	if _, ok := kinOf[strings.ReplaceAll(person, " ", "_")]; ok {
		return "your " + strings.ReplaceAll(person, "_", " ")
	}
	r, size := utf8.DecodeRuneInString(person)
	return string(unicode.ToUpper(r)) + person[size:]
}
