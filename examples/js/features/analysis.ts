// What a user's conversations show, with the texts that show it.
import { helix } from '../helix.ts'
import { leave, supabase } from './session.ts'

const { job, patterns } = await helix(supabase).analyze('emotional_patterns', {
  conversations: [
    { id: 'monday', text: 'Whenever my manager calls me in without a word of why, I get terribly anxious.' },
    { id: 'wednesday', text: 'My manager asked me into her office again and I was anxious all the way down the corridor.' },
    { id: 'thursday', text: 'When I am that tense I go for a long run along the river, and it calms me down.' },
  ],
})
console.log(`${job.summary} (${job.provider}, by ${job.via})`)
for (const pattern of patterns) console.log(`- ${pattern.pattern_type}: ${pattern.description} [${pattern.evidence.join(', ')}]`)
await leave()
