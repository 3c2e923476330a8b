// What a tool finds around itself, and what the Go side of this room calls. It is evaluated before the tool, once, into the
// snapshot. What the host relies on is captured here in constants, so that a tool that changes prototypes or globals
// harms itself only; for the same reason the functions that are returned use no iteration and no spread.
(function (global, viewOf, send, log, timer, encode, decode) {
  'use strict'
  const uncurry = Function.prototype.bind.bind(Function.prototype.call)
  const { parse, stringify } = JSON
  const { apply, ownKeys, getOwnPropertyDescriptor, defineProperty } = Reflect
  const { freeze, create } = Object
  const { isArray } = Array
  const NativePromise = Promise, NativeError = Error, NativeString = String, NativeBytes = Uint8Array
  const slice = uncurry(String.prototype.slice)
  const lower = uncurry(String.prototype.toLowerCase)
  const upper = uncurry(String.prototype.toUpperCase)
  const charCodeAt = uncurry(String.prototype.charCodeAt)
  const join = uncurry(Array.prototype.join)
  const symbolText = uncurry(Symbol.prototype.toString)
  const dateText = uncurry(Date.prototype.toISOString)
  const mapEach = uncurry(Map.prototype.forEach)
  const setEach = uncurry(Set.prototype.forEach)
  const { fromCharCode } = String
  const { min } = Math
  const numberOf = Number
  const isBuffer = ArrayBuffer.isView
  const { atob: nativeAtob, btoa: nativeBtoa, URLSearchParams } = global

  const define = (object, name, value) =>
    defineProperty(object, name, { __proto__: null, value, writable: true, configurable: true, enumerable: false })

  // --- host calls -------------------------------------------------------------------------------------------------

  // HelixError is what a failed host call rejects with. The host takes a code from errors in codes only, which holds none
  // that a tool made.
  class HelixError extends NativeError {
    constructor(code, message) {
      super(message)
      define(this, 'code', code)
    }
  }
  define(HelixError.prototype, 'name', 'HelixError')
  const codes = new WeakMap()
  const setCode = uncurry(WeakMap.prototype.set), codeOf = uncurry(WeakMap.prototype.get)

  const pending = create(null)
  const call = (name, request = {}) => new NativePromise((resolve, reject) => {
    const text = stringify(request)
    if (text === undefined) throw new TypeError('the request of a host call is not JSON')
    const id = send(NativeString(name), text)
    if (typeof id === 'number') pending[id] = { resolve, reject }
    else reject(failure(id))
  })
  const failure = text => {
    const { code, message } = parse(text)
    const error = new HelixError(code, message)
    setCode(codes, error, code)
    return error
  }

  function deliver(id, ok, text) {
    const { resolve, reject } = pending[id]
    delete pending[id]
    if (!ok) return reject(failure(text))
    try {
      resolve(parse(text))
    } catch (error) {
      reject(error)
    }
  }

  // --- fetch ------------------------------------------------------------------------------------------------------

  const bytesOf = text => {
    const binary = nativeAtob(text), bytes = new NativeBytes(binary.length)
    for (let i = 0; i < binary.length; i++) bytes[i] = charCodeAt(binary, i)
    return bytes
  }
  const base64Of = bytes => {
    const parts = []
    for (let i = 0; i < bytes.length; i += 4096) {
      parts[parts.length] = apply(fromCharCode, null, bytes.subarray(i, min(i + 4096, bytes.length)))
    }
    return nativeBtoa(join(parts, ''))
  }

  class Headers {
    #values = create(null)
    constructor(init) {
      if (init === undefined || init === null) return
      if (init instanceof Headers) init.forEach((value, name) => this.append(name, value))
      else if (isArray(init)) for (let i = 0; i < init.length; i++) this.append(init[i][0], init[i][1])
      else for (const name in init) this.append(name, init[name])
    }
    append(name, value) {
      name = lower(NativeString(name))
      this.#values[name] = name in this.#values ? this.#values[name] + ', ' + value : NativeString(value)
    }
    set(name, value) { this.#values[lower(NativeString(name))] = NativeString(value) }
    get(name) { return this.#values[lower(NativeString(name))] ?? null }
    has(name) { return lower(NativeString(name)) in this.#values }
    delete(name) { delete this.#values[lower(NativeString(name))] }
    forEach(each) { for (const name in this.#values) each(this.#values[name], name, this) }
    keys() { return Object.keys(this.#values)[Symbol.iterator]() }
    values() { return Object.values(this.#values)[Symbol.iterator]() }
    entries() { return Object.entries(this.#values)[Symbol.iterator]() }
    [Symbol.iterator]() { return this.entries() }
    toJSON() { return { __proto__: null, ...this.#values } }
  }

  class Response {
    #reply
    #used = false
    constructor(reply, url) {
      this.#reply = reply
      this.status = reply.status
      this.ok = reply.status >= 200 && reply.status <= 299
      this.url = url
      this.headers = new Headers(reply.headers)
    }
    get bodyUsed() { return this.#used }
    #body() {
      if (this.#used) throw new TypeError('the body was read already')
      this.#used = true
      const { body, bodyEncoding } = this.#reply
      return bodyEncoding === 'base64' ? bytesOf(body) : body ?? ''
    }
    async text() {
      const body = this.#body()
      return typeof body === 'string' ? body : decode(body, false)
    }
    async json() { return parse(await this.text()) }
    async bytes() {
      const body = this.#body()
      return typeof body === 'string' ? encode(body) : body
    }
    async arrayBuffer() { return (await this.bytes()).buffer }
  }

  async function fetch(resource, init = {}) {
    const url = NativeString(resource?.href ?? resource)
    const request = { __proto__: null, url, method: upper(NativeString(init?.method ?? 'GET')) }
    const headers = new Headers(init?.headers)
    const body = init?.body
    if (body instanceof URLSearchParams) {
      request.body = body.toString()
      if (!headers.has('content-type')) headers.set('content-type', 'application/x-www-form-urlencoded;charset=UTF-8')
    } else if (typeof body === 'object' && body !== null && (isBuffer(body) || body instanceof ArrayBuffer)) {
      request.body = base64Of(viewOf(body))
      request.bodyEncoding = 'base64'
    } else if (body !== undefined && body !== null) {
      request.body = NativeString(body)
    }
    request.headers = headers.toJSON()
    return new Response(await call('http.fetch', request), url)
  }

  const helix = freeze({
    __proto__: null,
    call,
    fetch,
    run: async (skill, input = null) => (await call('skill.run', { skill, input })).output,
    memories: freeze({
      __proto__: null,
      search: (query, options) => call('memories.search', typeof query === 'object' ? query : { ...options, query }),
      list: options => call('memories.list', options),
      write: memory => call('memories.write', memory),
    }),
    kv: freeze({
      __proto__: null,
      get: async key => (await call('kv.get', { key })).value,
      set: async (key, value) => { await call('kv.set', { key, value }) },
      delete: async key => { await call('kv.delete', { key }) },
      list: async options => (await call('kv.list', typeof options === 'string' ? { prefix: options } : options)).keys,
    }),
    llm: freeze({
      __proto__: null,
      complete: request => call('llm.complete', typeof request === 'string' ? { prompt: request } : request),
    }),
  })

  // --- console ----------------------------------------------------------------------------------------------------

  const mostText = 8192, mostItems = 100, mostDepth = 4

  // inspect writes a value down roughly as Node does. It calls no getters.
  function inspect(value, depth, seen) {
    switch (typeof value) {
      case 'string': return depth === 0 ? slice(value, 0, mostText) : stringify(slice(value, 0, mostText))
      case 'symbol': return symbolText(value)
      case 'bigint': return NativeString(value) + 'n'
      case 'function': return '[Function]'
      case 'object': return value === null ? 'null' : inspectObject(value, depth, seen)
      default: return value === 0 && 1 / value < 0 ? '-0' : NativeString(value)
    }
  }
  function inspectObject(value, depth, seen) {
    for (let i = 0; i < seen.length; i++) if (seen[i] === value) return '[Circular]'
    try { return dateText(value) } catch { /* no date */ }
    if (isError(value)) {
      const { name, message, stack } = facts(value)
      return join([name, message === '' ? '' : ': ', message, stack === '' ? '' : '\n', stack], '')
    }
    if (depth > mostDepth) return isArray(value) ? '[Array]' : '[Object]'
    define(seen, seen.length, value)
    const parts = []
    const add = text => define(parts, parts.length, text)
    let left = mostItems
    const inner = item => inspect(item, depth + 1, seen)
    let open = '{', close = '}'
    try {
      mapEach(value, (item, key) => { if (left-- > 0) add(inner(key) + ' => ' + inner(item)) })
      open = 'Map {'
    } catch { /* no map */ }
    try {
      setEach(value, item => { if (left-- > 0) add(inner(item)) })
      open = 'Set {'
    } catch { /* no set */ }
    const list = isArray(value)
    if (list) { open = '['; close = ']' }
    const keys = ownKeys(value)
    for (let i = 0; i < keys.length && left > 0; i++) {
      const key = keys[i], property = getOwnPropertyDescriptor(value, key)
      if (!property?.enumerable) continue
      left--
      const text = property.get ? '[Getter]' : 'value' in property ? inner(property.value) : '[Setter]'
      add(list ? text : (typeof key === 'symbol' ? '[' + symbolText(key) + ']' : key) + ': ' + text)
    }
    if (left <= 0) add('…')
    seen.length--
    return parts.length === 0 ? open + close : open + (list ? '' : ' ') + join(parts, ', ') + (list ? '' : ' ') + close
  }
  const print = level => (...values) => {
    let text = ''
    for (let i = 0; i < values.length && text.length < mostText; i++) {
      let part
      try { part = inspect(values[i], 0, []) } catch { part = '[a value that cannot be shown]' }
      text += (i === 0 ? '' : ' ') + part
    }
    log(level, slice(text, 0, mostText))
  }
  const console = {
    log: print(''), info: print('info'), warn: print('warn'), error: print('error'), debug: print('debug'), trace: print('debug'),
    assert(held, ...values) { if (!held) console.error('Assertion failed', ...values) },
  }

  // --- errors -----------------------------------------------------------------------------------------------------

  const isError = value => {
    try { return value instanceof NativeError } catch { return false }
  }
  const textOf = (value, most) => {
    try { return slice(typeof value === 'symbol' ? symbolText(value) : NativeString(value), 0, most) } catch { return '' }
  }
  const property = (object, name, most) => {
    try {
      const value = object[name]
      return value === undefined ? '' : textOf(value, most)
    } catch { return '' }
  }
  const facts = error => ({
    __proto__: null, name: property(error, 'name', 100), message: property(error, 'message', 2000), stack: property(error, 'stack', 8000),
  })
  // describe says what was thrown, as JSON, whatever it is.
  function describe(error) {
    if (!isError(error)) {
      let text
      try { text = slice(inspect(error, 1, []), 0, 2000) } catch { text = 'a value that cannot be shown' }
      return stringify({ __proto__: null, name: '', message: text, stack: '' })
    }
    const said = facts(error)
    said.code = codeOf(codes, error)
    return stringify(said)
  }

  // --- the call ---------------------------------------------------------------------------------------------------

  const entries = ['default', 'execute', 'run', 'main']
  let tool, owner
  // adopt looks for the function of a tool in what its evaluation left, and says whether it is there.
  function adopt(candidate) {
    if (typeof candidate === 'function') {
      tool = candidate
      return true
    }
    if (typeof candidate !== 'object' || candidate === null) return false
    for (let i = 0; i < entries.length; i++) {
      const found = candidate[entries[i]]
      if (typeof found !== 'function' && (i > 0 || found === candidate)) continue
      if (adopt(found)) {
        owner ??= candidate
        return true
      }
    }
    return false
  }
  async function main(text, a, b, c, d) {
    seed(a, b, c, d)
    return await apply(tool, owner, [parse(text), helix])
  }
  // render gives the JSON text of a result.
  function render(value) {
    const text = stringify(value)
    if (text !== undefined) return text
    if (value === undefined) return 'null'
    throw new TypeError('a ' + typeof value + ' is not JSON')
  }

  // --- randomness: sfc32, seeded by the host in every call ----------------------------------------------------------

  let s0 = 0, s1 = 0, s2 = 0, s3 = 1
  const next = () => {
    const t = (s0 + s1 + s3) | 0
    s3 = (s3 + 1) | 0
    s0 = s1 ^ (s1 >>> 9)
    s1 = (s2 + (s2 << 3)) | 0
    s2 = ((s2 << 21) | (s2 >>> 11)) + t | 0
    return t >>> 0
  }
  const seed = (a, b, c, d) => {
    s0 = a | 0; s1 = b | 0; s2 = c | 0; s3 = d | 0
    for (let i = 0; i < 12; i++) next()
  }
  define(Math, 'random', { random() { return (next() * 2097152 + (next() >>> 11)) / 9007199254740992 } }.random)

  // --- timers -----------------------------------------------------------------------------------------------------

  const timers = create(null)
  let lastTimer = 0
  const start = (action, delay, again, values) => {
    if (typeof action !== 'function') throw new TypeError('the callback of a timer is not a function')
    delay = numberOf(delay)
    if (!(delay >= 1)) delay = again ? 1 : 0
    const id = ++lastTimer
    timer(id, delay)
    timers[id] = { action, delay, again, values }
    return id
  }
  const stop = id => {
    if (typeof id !== 'number' || !(id in timers)) return
    delete timers[id]
    timer(id, -1)
  }
  function fire(id) {
    const due = timers[id]
    if (due === undefined) return
    if (due.again) timer(id, due.delay)
    else delete timers[id]
    apply(due.action, undefined, due.values)
  }

  for (const [name, value] of Object.entries({
    helix, console, fetch, Headers, Response, HelixError,
    setTimeout: (action, delay, ...values) => start(action, delay, false, values),
    setInterval: (action, delay, ...values) => start(action, delay, true, values),
    clearTimeout: stop, clearInterval: stop,
  })) define(global, name, value)

  return [main, deliver, fire, describe, render, adopt]
})
