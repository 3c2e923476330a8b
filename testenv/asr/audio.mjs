// Reads WAV, and splits it where nobody speaks.

export const rate = 16000
const frame = rate / 50 // 20 ms
const shortest = 6 * 50, longest = 10 * 50 // of a piece, in frames; Moonshine loses the thread in longer ones
const around = 5 // frames on each side that a quiet place is judged with
const margin = 15 // frames of silence that stay at each end
const silence = 1e-6 // mean square of a frame that holds nothing: -60 dBFS

// samples gives what a WAV of 16 kHz, mono, 16 bits holds, as -1..1.
export function samples(wav) {
  if (wav.length < 12 || wav.toString('latin1', 0, 4) !== 'RIFF' || wav.toString('latin1', 8, 12) !== 'WAVE') throw new Error('it is not a WAV')
  let format
  for (let at = 12; at + 8 <= wav.length;) {
    const id = wav.toString('latin1', at, at + 4), size = wav.readUInt32LE(at + 4)
    const chunk = wav.subarray(at + 8, at + 8 + size) // a size beyond the end is of a WAV that was written to a pipe
    if (id === 'fmt ' && chunk.length >= 16) {
      format = [chunk.readUInt16LE(0), chunk.readUInt16LE(2), chunk.readUInt32LE(4), chunk.readUInt16LE(14)].join()
    }
    if (id === 'data') {
      if (format !== [1, 1, rate, 16].join()) throw new Error('it is not 16 kHz, mono, 16 bits')
      const out = new Float32Array(chunk.length >> 1)
      for (let i = 0; i < out.length; i++) out[i] = chunk.readInt16LE(2 * i) / 32768
      return out
    }
    at += 8 + size + size % 2
  }
  throw new Error('it is a WAV without samples')
}

// pieces gives the parts to be heard one by one: [{ from, to, first, last }], in samples. first and last bound what is
// not silent, from and to have little silence around that: in more of it a recogniser hears words, or misses some.
export function pieces(audio) {
  const energy = []
  for (let at = 0; at < audio.length; at += frame) {
    let sum = 0
    for (const x of audio.subarray(at, at + frame)) sum += x * x
    energy.push(sum / frame)
  }
  const near = at => energy.slice(at - around, at + around).reduce((a, b) => a + b, 0)
  const out = []
  for (let from = 0, to; from < energy.length; from = to) {
    to = energy.length
    if (to - from > longest) {
      to = from + shortest
      for (let at = to + 1; at < from + longest; at++) if (near(at) < near(to)) to = at
    }
    const part = energy.slice(from, to)
    const first = part.findIndex(e => e > silence), last = part.findLastIndex(e => e > silence)
    if (first < 0) continue
    const sample = at => Math.min(at * frame, audio.length)
    out.push({
      from: sample(Math.max(from, from + first - margin)), to: sample(Math.min(to, from + last + 1 + margin)),
      first: sample(from + first), last: sample(from + last + 1),
    })
  }
  return out
}
