// Reads broadcasts, one JSON {event, payload} a line, and prints those that the helper's own parser accepts.
import { createInterface } from 'node:readline'
import { parseMessage } from '../helix.ts'

for await (const line of createInterface({ input: process.stdin })) {
  const { event, payload } = JSON.parse(line) as { event: string; payload: unknown }
  const message = parseMessage(event, payload)
  if (message) console.log(JSON.stringify(message))
}
