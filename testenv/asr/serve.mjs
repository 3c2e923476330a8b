// POST /v1/audio/transcriptions as OpenAI documents it, on loopback: node serve.mjs <the folder that setup.sh made>.
//
// Says its address on the first line, and ends when stdin does: when its parent is gone, however that ended. It hears
// English, in WAV of 16 kHz, mono, 16 bits.
import { createServer } from 'node:http'
import { pieces, rate, samples } from './audio.mjs'
import { load } from './moonshine.mjs'

const most = 25 << 20 // bytes of a request, as at OpenAI

class Refused extends Error {
  constructor(status, code, message, param = null) {
    super(message)
    Object.assign(this, { status, code, param })
  }
}

process.stdin.on('close', () => process.exit()).resume()
const hear = await load(process.argv[2])

let turn = Promise.resolve() // one request after the other: together they would all be slow

const server = createServer(async (req, res) => {
  try {
    const request = await read(req)
    const answer = turn.then(() => res.closed ? undefined : transcribe(request))
    turn = answer.catch(() => {})
    say(res, 200, await answer)
  } catch (error) {
    const refused = error instanceof Refused
    say(res, refused ? error.status : 500, { error: {
      message: error.message,
      type: refused ? 'invalid_request_error' : 'server_error',
      param: error.param ?? null,
      code: error.code ?? null,
    } })
  }
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))

function say(res, status, body) {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

// read gives { audio, verbose, granularities }.
async function read(req) {
  const path = req.url.split('?')[0]
  if (path !== '/v1/audio/transcriptions') throw new Refused(404, 'unknown_url', `Unknown request URL: ${req.method} ${path}`)
  if (req.method !== 'POST') throw new Refused(405, 'method_not_supported', `Not allowed to ${req.method} on ${path}`)
  const chunks = []
  let size = 0
  for await (const chunk of req) {
    size += chunk.length
    if (size <= most) chunks.push(chunk) // the rest is read too, so that the answer is
  }
  if (size > most) throw new Refused(413, 'content_too_large', `Maximum content size limit (${most}) exceeded (${size} bytes read)`)
  let form
  try {
    form = await new Response(Buffer.concat(chunks), { headers: { 'content-type': req.headers['content-type'] ?? '' } }).formData()
  } catch {
    throw new Refused(400, 'invalid_body', 'The body is not multipart/form-data')
  }

  const file = form.get('file'), language = form.get('language') ?? 'en', format = form.get('response_format') ?? 'json'
  if (!file?.arrayBuffer) throw new Refused(400, 'missing_parameter', 'There is no file', 'file')
  if (!form.get('model')) throw new Refused(400, 'missing_parameter', 'You must provide a model', 'model')
  if (!['en', 'english'].includes(language)) throw new Refused(400, 'unsupported_language', `This server hears English, not ${language}`, 'language')
  if (!['json', 'verbose_json'].includes(format)) throw new Refused(400, 'unsupported_format', 'response_format is json or verbose_json here', 'response_format')
  let audio
  try {
    audio = samples(Buffer.from(await file.arrayBuffer()))
  } catch (error) {
    throw new Refused(400, 'invalid_audio', `The file cannot be decoded: ${error.message}`, 'file')
  }
  return { audio, verbose: format === 'verbose_json', granularities: form.getAll('timestamp_granularities[]') }
}

async function transcribe({ audio, verbose, granularities }) {
  const segments = []
  for (const { from, to, first, last } of pieces(audio)) {
    const { text, logprob } = await hear(audio.subarray(from, to))
    if (text) segments.push({ id: segments.length, start: seconds(first), end: seconds(last), text, avg_logprob: logprob })
  }
  const text = segments.map(s => s.text).join(' ')
  if (!verbose) return { text }
  const answer = { task: 'transcribe', language: 'english', duration: seconds(audio.length), text }
  if (granularities.includes('word')) answer.words = segments.flatMap(words)
  if (granularities.includes('segment') || granularities.length === 0) answer.segments = segments
  return answer
}

const seconds = samples => Math.round(samples / rate * 100) / 100

// words shares a segment's time out by the length of its words, with the space after each: Moonshine gives no times.
// They are right within a second.
function words({ start, end, text }) {
  const each = (end - start) * rate / (text.length + 1)
  return Array.from(text.matchAll(/\S+/g), ({ 0: word, index }) => ({
    word: word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, ''),
    start: seconds(start * rate + index * each),
    end: seconds(start * rate + (index + word.length) * each),
  })).filter(({ word }) => word)
}
