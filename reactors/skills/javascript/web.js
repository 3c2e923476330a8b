// Globals of the web that the engine lacks, as far as tools need them. Nothing of the host relies on them.
(function (global, encode, decode) {
  'use strict'
  const viewOf = data => {
    if (data instanceof Uint8Array) return data
    if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    return new Uint8Array(data)
  }

  // --- text -------------------------------------------------------------------------------------------------------

  class TextEncoder {
    get encoding() { return 'utf-8' }
    encode(text = '') { return encode(String(text)) }
  }
  class TextDecoder {
    #fatal
    #keepMark
    constructor(label = 'utf-8', options) {
      label = String(label).toLowerCase()
      if (label !== 'utf-8' && label !== 'utf8') throw new RangeError('the encoding ' + label + ' is not available')
      this.#fatal = !!options?.fatal
      this.#keepMark = !!options?.ignoreBOM
    }
    get encoding() { return 'utf-8' }
    get fatal() { return this.#fatal }
    get ignoreBOM() { return this.#keepMark }
    decode(data) {
      if (data === undefined) return ''
      const text = decode(viewOf(data), this.#fatal)
      if (text === undefined) throw new TypeError('the data is not UTF-8')
      return !this.#keepMark && text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
    }
  }

  class URLSearchParams {
    #pairs = []
    constructor(init = '') {
      if (typeof init === 'object' && init !== null) {
        const pairs = typeof init[Symbol.iterator] === 'function' ? init : Object.entries(init)
        for (const [name, value] of pairs) this.append(name, value)
        return
      }
      const plain = text => {
        text = text.replaceAll('+', ' ')
        try { return decodeURIComponent(text) } catch { return text }
      }
      for (const part of String(init).replace(/^\?/, '').split('&')) {
        if (part === '') continue
        const at = part.indexOf('=')
        if (at < 0) this.append(plain(part), '')
        else this.append(plain(part.slice(0, at)), plain(part.slice(at + 1)))
      }
    }
    append(name, value) { this.#pairs.push([String(name), String(value)]) }
    delete(name) { this.#pairs = this.#pairs.filter(pair => pair[0] !== name) }
    get(name) { return this.#pairs.find(pair => pair[0] === name)?.[1] ?? null }
    getAll(name) { return this.#pairs.filter(pair => pair[0] === name).map(pair => pair[1]) }
    has(name) { return this.#pairs.some(pair => pair[0] === name) }
    set(name, value) {
      const first = this.#pairs.find(pair => pair[0] === name)
      if (first === undefined) return this.append(name, value)
      first[1] = String(value)
      this.#pairs = this.#pairs.filter(pair => pair[0] !== name || pair === first)
    }
    sort() { this.#pairs.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0)) }
    forEach(each) { this.#pairs.forEach(pair => each(pair[1], pair[0], this)) }
    get size() { return this.#pairs.length }
    keys() { return this.#pairs.map(pair => pair[0])[Symbol.iterator]() }
    values() { return this.#pairs.map(pair => pair[1])[Symbol.iterator]() }
    entries() { return this.#pairs.map(pair => [pair[0], pair[1]])[Symbol.iterator]() }
    [Symbol.iterator]() { return this.entries() }
    toString() {
      const form = text => encodeURIComponent(text.toWellFormed()).replaceAll('%20', '+').replace(/[!'()~]/g, c => '%' + c.charCodeAt(0).toString(16).toUpperCase())
      return this.#pairs.map(pair => form(pair[0]) + '=' + form(pair[1])).join('&')
    }
  }

  // --- URLs: the WHATWG's, but for host names that are not ASCII, which are refused -----------------------------------

  const ports = { 'http:': '80', 'https:': '443', 'ws:': '80', 'wss:': '443', 'ftp:': '21' }
  const split = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*:))?([^?#]*)(\?[^#]*)?(#.*)?$/s
  const escape = (text, unsafe) => text.toWellFormed().replace(unsafe, encodeURIComponent)
  const inPath = /[^\x21\x23-\x3b\x3d\x40-\x5f\x61-\x7a\x7c\x7e]/gu, inQuery = /[^\x21\x24-\x26\x28-\x3b\x3d\x3f-\x7e]/gu
  const inHash = /[^\x21\x23-\x3b\x3d\x3f-\x5f\x61-\x7e]/gu
  const withoutDots = path => {
    const out = [], parts = path.split('/').slice(1)
    parts.forEach((part, i) => {
      const plain = part.replace(/%2e/gi, '.')
      if (plain === '..') out.pop()
      else if (plain !== '.') out.push(part)
      if ((plain === '..' || plain === '.') && i === parts.length - 1) out.push('')
    })
    return '/' + out.join('/')
  }

  class URL {
    protocol; username = ''; password = ''; hostname = ''; port = ''; pathname = ''; hash = ''
    #search = ''
    #params
    constructor(input, base) {
      const invalid = () => new TypeError('Invalid URL: ' + String(input).slice(0, 200))
      const text = String(input).replace(/^[\x00-\x20]+|[\x00-\x20]+$|[\t\n\r]/g, '')
      let [, protocol, rest, search, hash = ''] = text.match(split)
      const from = base === undefined ? undefined : new URL(base)
      if (protocol === undefined && from === undefined) throw invalid()
      this.protocol = (protocol ?? from.protocol).toLowerCase()
      this.hash = hash === '#' ? '' : escape(hash, inHash)
      const special = this.protocol in ports
      if (special) rest = rest.replaceAll('\\', '/')
      if (special && protocol !== undefined && this.protocol !== from?.protocol) rest = '//' + rest.replace(/^\/+/, '')
      if (rest.startsWith('//')) {
        const [, authority, path] = rest.match(/^\/\/([^/]*)(.*)$/s)
        const [, user, password = '', host, port = ''] = authority.match(/^(?:([^:]*)(?::(.*))?@)?(\[[^\]]*\]|[^:@]*)(?::(\d*))?$/s) ?? []
        if (host === undefined || special && host === '' || Number(port) > 65535) throw invalid()
        this.username = escape(user ?? '', inPath)
        this.password = escape(password, inPath)
        this.hostname = host.toLowerCase()
        if (!/^(?:[a-z0-9._~!$&'()*+,;=-]*|\[[0-9a-f:.]+\])$/.test(this.hostname)) throw invalid()
        this.port = port === '' || String(Number(port)) === ports[this.protocol] ? '' : String(Number(port))
        this.pathname = special || path !== '' ? withoutDots(escape(path || '/', inPath)) : ''
      } else if (from !== undefined && (protocol === undefined || special)) {
        for (const name of ['username', 'password', 'hostname', 'port']) this[name] = from[name]
        if (rest === '') {
          this.pathname = from.pathname
          search ??= from.search
        } else {
          const path = rest.startsWith('/') ? rest : from.pathname.replace(/[^/]*$/, '') + rest
          this.pathname = withoutDots(escape(path, inPath))
        }
      } else {
        this.pathname = escape(rest, /[^\x20-\x7e]/gu)
      }
      this.search = search ?? ''
    }
    static canParse(input, base) {
      try { return !!new URL(input, base) } catch { return false }
    }
    static parse(input, base) {
      try { return new URL(input, base) } catch { return null }
    }
    get search() {
      if (this.#params === undefined) return this.#search
      const text = this.#params.toString()
      return text === '' ? '' : '?' + text
    }
    set search(text) {
      text = String(text).replace(/^\?/, '')
      this.#search = text === '' ? '' : '?' + escape(text, inQuery)
      this.#params = undefined
    }
    // Once they were asked for, the parameters are what the query is written from.
    get searchParams() { return (this.#params ??= new URLSearchParams(this.#search)) }
    get host() { return this.hostname + (this.port === '' ? '' : ':' + this.port) }
    get origin() { return this.protocol in ports ? this.protocol + '//' + this.host : 'null' }
    get href() {
      const user = this.username + (this.password === '' ? '' : ':' + this.password)
      const authority = this.hostname === '' && !(this.protocol in ports) ? '' : '//' + (user === '' ? '' : user + '@') + this.host
      return this.protocol + authority + this.pathname + this.search + this.hash
    }
    toString() { return this.href }
    toJSON() { return this.href }
  }

  // --- structuredClone ----------------------------------------------------------------------------------------------

  function structuredClone(value) {
    const copies = new Map()
    const refuse = what => { throw new DOMException(what + ' cannot be cloned', 'DataCloneError') }
    const clone = value => {
      if (typeof value === 'function' || typeof value === 'symbol') refuse('a ' + typeof value)
      if (typeof value !== 'object' || value === null) return value
      if (copies.has(value)) return copies.get(value)
      const keep = copy => { copies.set(value, copy); return copy }
      const fill = copy => {
        for (const key of Object.keys(value)) {
          Object.defineProperty(copy, key, { value: clone(value[key]), writable: true, enumerable: true, configurable: true })
        }
        return copy
      }
      if (Array.isArray(value)) return fill(keep(new Array(value.length)))
      if (value instanceof Date) return keep(new Date(value.getTime()))
      if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags))
      if (value instanceof ArrayBuffer) return keep(value.slice(0))
      if (value instanceof DataView) return keep(new DataView(clone(value.buffer), value.byteOffset, value.byteLength))
      if (ArrayBuffer.isView(value)) return keep(new value.constructor(clone(value.buffer), value.byteOffset, value.length))
      if (value instanceof Map) {
        const copy = keep(new Map())
        value.forEach((item, key) => copy.set(clone(key), clone(item)))
        return copy
      }
      if (value instanceof Set) {
        const copy = keep(new Set())
        value.forEach(item => copy.add(clone(item)))
        return copy
      }
      if (value instanceof Error) {
        const copy = keep(new Error(value.message))
        copy.name = value.name
        return copy
      }
      if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet || value instanceof WeakRef) refuse('it')
      return fill(keep({}))
    }
    return clone(value)
  }

  const all = { TextEncoder, TextDecoder, URL, URLSearchParams, structuredClone }
  for (const name of Object.keys(all)) {
    Object.defineProperty(global, name, { value: all[name], writable: true, configurable: true, enumerable: false })
  }
  return viewOf
})
