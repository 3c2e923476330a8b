// Moonshine-tiny: hears up to some ten seconds of English at a time.
// https://github.com/moonshine-ai/moonshine, arXiv:2410.15608.
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

// The model's shape: its decoder's layers, heads in each, and values in each head.
const layers = 6, heads = 8, headSize = 36
const start = 1, end = 2 // tokens
// A decoder that repeats itself goes on for ever: nobody speaks faster than this.
const tokensPerSecond = 6, fewestTokens = 10

// load reads the model and the packages in dir, which setup.sh made, and gives a function that hears:
// (samples: Float32Array at 16 kHz) => { text, logprob }, the mean of its tokens' log probabilities.
export async function load(dir) {
  const require = createRequire(resolve(dir, 'package.json'))
  const ort = require('onnxruntime-node')
  const { default: tokenizer } = await import(pathToFileURL(require.resolve('llama-tokenizer-js')))
  // One thread: more of them are slower as soon as anything else runs.
  const session = name => ort.InferenceSession.create(join(dir, 'model', name), { intraOpNumThreads: 1, logSeverityLevel: 3 })
  const encoder = await session('encoder_model.onnx'), decoder = await session('decoder_model_merged.onnx')

  return async samples => {
    const { last_hidden_state } = await encoder.run({ input_values: new ort.Tensor('float32', samples, [1, samples.length]) })
    const past = {}
    for (let layer = 0; layer < layers; layer++) {
      for (const half of ['decoder.key', 'decoder.value', 'encoder.key', 'encoder.value']) {
        past[`past_key_values.${layer}.${half}`] = new ort.Tensor('float32', new Float32Array(0), [0, heads, 1, headSize])
      }
    }
    const most = Math.max(fewestTokens, Math.trunc(samples.length / 16000 * tokensPerSecond))
    const tokens = [start]
    let logprob = 0
    while (tokens.length <= most) {
      const first = tokens.length === 1
      const out = await decoder.run({
        input_ids: new ort.Tensor('int64', BigInt64Array.of(BigInt(tokens.at(-1))), [1, 1]),
        encoder_hidden_states: last_hidden_state,
        use_cache_branch: new ort.Tensor('bool', [!first], [1]),
        ...past,
      })
      const next = likeliest(out.logits.data)
      logprob += next.logprob
      if (next.token === end) break
      tokens.push(next.token)
      // What the decoder made of the encoder's output stays as it was after the first token.
      for (const name in past) {
        if (first || name.includes('decoder')) past[name] = out[name.replace('past_key_values', 'present')]
      }
    }
    return { text: tokenizer.decode(tokens).trim(), logprob: logprob / tokens.length }
  }
}

function likeliest(logits) {
  let token = 0
  for (let i = 1; i < logits.length; i++) if (logits[i] > logits[token]) token = i
  let sum = 0
  for (const logit of logits) sum += Math.exp(logit - logits[token])
  return { token, logprob: -Math.log(sum) }
}
