// Whether anybody works on what the app writes.
import { helix } from '../helix.ts'
import { leave, supabase } from './session.ts'

const { online, healthy, reactors } = await helix(supabase).status()
console.log(online ? 'processing is online' : 'processing is offline', healthy ? 'and well' : 'and not all is well')
for (const { reactor, running, queue_depth, lag_seconds } of reactors) console.log(`- ${reactor}: ${running ? 'runs' : 'is down'}, ${queue_depth} wait, ${lag_seconds} s behind`)
await leave()
