// A recording of the microphone becomes text.
import { HelixError, type Helix } from '../../js/helix.ts'
import { $, act, show } from './dom.ts'

export function voice(hx: Helix) {
  const button = $<HTMLButtonElement>('#record')
  const list = $('#recordings')
  let recorder: MediaRecorder | undefined
  let clock: ReturnType<typeof setInterval> | undefined

  async function start() {
    const microphone = await navigator.mediaDevices.getUserMedia({ audio: true })
    const parts: Blob[] = []
    recorder = new MediaRecorder(microphone)
    recorder.ondataavailable = ({ data }) => parts.push(data)
    recorder.onstop = () => {
      for (const track of microphone.getTracks()) track.stop()
      act(() => transcribe(new Blob(parts, { type: recorder?.mimeType ?? '' })))
      recorder = undefined
      label(false)
    }
    recorder.start()
    label(true)
  }

  async function transcribe(audio: Blob) {
    await hx.transcribe(audio, { timeout: 300_000 }).catch((error: unknown) => {
      if (!(error instanceof HelixError && error.row)) throw error // else the list shows it
    })
  }

  function label(recording: boolean) {
    clearInterval(clock)
    button.textContent = recording ? 'Stop and transcribe' : 'Record'
    button.ariaPressed = String(recording)
    const begun = Date.now()
    if (recording) clock = setInterval(() => { button.textContent = `Stop and transcribe (${Math.floor((Date.now() - begun) / 1000)} s)` }, 500)
  }

  button.onclick = () => act(async () => (recorder ? recorder.stop() : start()))

  const stop = hx.subscribe('voice_recordings', ({ op, table, id, status, record, via }) => {
    if (op === 'DELETE' || !status) return
    const error = record.error as { message?: string } | null | undefined
    const text = status === 'done' ? record.transcript || '(silence)' : error?.message ?? status
    show(list, { table, id, status, text, ended: status === 'done' ? 'good' : status === 'failed' ? 'bad' : '', via })
  })
  return () => {
    if (recorder?.state === 'recording') recorder.stop()
    stop()
  }
}
