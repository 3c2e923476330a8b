package local

// undertakings is classes of what people work for.
var undertakings = map[string]string{
	"aimnoun": `goal|goals|aim|aims|target|ambition|ambitions|dream|dreams|objective|mission|resolution|resolutions|aspiration|plan|challenge|quest|
		endgame|life goal|dream job|next milestone`,
	"fortime": `for (?:this|the|next|me|my|2025|2026|2027|2028) (?:year|season|term|summer|winter|spring|autumn|decade|month|quarter|half year|life|us)?|in
		life|now|right now|this (?:year|season|term|summer|winter|month|quarter)|at the moment|with (?:the|my|this) _|with (?:the|my|this) _ _`,
	"num": `1*|2*|3*|4*|5*|6*|7*|8*|9*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|eighteen|
		twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|a hundred|a dozen|half|a quarter|third`,
	"effort": `practise|practised|practising|practice|practiced|practicing|train|trained|training|study|studied|studying|revise|revised|revising|revision|
		rehearse|rehearsed|rehearsal|learn|learned|learnt|learning|save|saved|saving|enrolled|enroled|enrol|enroll|registered|register|signed up|sign up|
		apply|applied|applying|application|applications|draft|drafted|sketched|drill|drills|course|courses|lesson|lessons|module|modules|exam|exams|
		mock|mocks|tutor|tutoring|coach|coaching|workout|intervals|lengths|scales|erg|flashcards|exercises|sanded|built|build|building|plastering|
		converting|restoring|collecting|funds|fundraising|raised|raise|proposal|business plan|supplier|suppliers|lease|deposit|viewed|viewing|budget|
		overtime|extra shift|extra shifts|night school|evening classes|evening class|boot camp|bootcamp|prototype|portfolio|audition|auditions|
		dress rehearsal|weekly target|log book|base weight|permit|visa|paperwork|certificate|chapter|manuscript|words|physio|drafts|interview|
		assignment|essay|campaign|leaflets|votes|donations|donors|sponsor|sponsors|foundation|grant|scholarship|training plan|session|sessions`,
	"striving": `becoming|opening|running|writing|living|moving|owning|having|studying|working|starting|building|travelling|traveling|seeing|publishing|
		playing|climbing|crossing|earning|teaching|singing|sailing|flying|winning|getting|being|going|buying|finding|making|speaking|swimming|walking`,
}
