// The few things that every part of the page does with it.
import type { Via } from '../../js/helix.ts'

export function $<E extends HTMLElement = HTMLElement>(selector: string): E {
  const found = document.querySelector<E>(selector)
  if (!found) throw new Error(`the page has no ${selector}`)
  return found
}

export function make<K extends keyof HTMLElementTagNameMap>(tag: K, set: Partial<HTMLElementTagNameMap[K]> = {}, ...inside: (Node | string)[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag)
  Object.assign(element, set as object)
  element.append(...inside)
  return element
}

/** What a list item shows: a row, how far it is, and which way that was heard of. */
export interface Shown { table: string; id: string; text: string; status?: string | null; ended?: 'good' | 'bad' | ''; via?: Via | undefined; buttons?: HTMLButtonElement[] }

/** Shows a row at the top of its list, or anew where it stands. The way is that in which its status was first heard of. */
export function show(list: HTMLElement, { table, id, text, status, ended, via, buttons }: Shown) {
  let item = list.querySelector<HTMLElement>(`li[data-id="${CSS.escape(id)}"]`)
  if (!item) list.prepend((item = make('li')))
  const way = item.dataset.status === (status ?? '') ? item.dataset.via : via
  Object.assign(item.dataset, { table, id, status: status ?? '', ended: ended ?? '', via: way ?? '' })
  item.replaceChildren(text, ...(way ? [make('span', { className: 'via', title: 'which way it came' }, way)] : []), ...(buttons?.length ? [make('div', {}, ...buttons)] : []))
}

/** Runs an act of a button or form: once at a time, and with what goes wrong on the page. */
export function act(run: () => Promise<void>, button?: HTMLButtonElement | null) {
  const failure = $('#failure')
  failure.hidden = true
  if (button) button.disabled = true
  run().catch((error: unknown) => {
    const { code, message } = error as { code?: string; message?: string }
    failure.textContent = [message ?? String(error), code && `(${code})`].filter(Boolean).join(' ')
    failure.hidden = false
  }).finally(() => { if (button) button.disabled = false })
}

export function onSubmit(selector: string, run: (fields: (name: string) => string, form: HTMLFormElement, button: string) => Promise<void>) {
  const form = $<HTMLFormElement>(selector)
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const data = new FormData(form)
    const button = event.submitter as HTMLButtonElement | null
    act(() => run((name) => String(data.get(name) ?? ''), form, button?.value ?? ''), button)
  })
}

export const lines = (text: string) => text.split('\n').map((line) => line.trim()).filter(Boolean)
