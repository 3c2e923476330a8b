// What goes wrong, with a code that an app can act on.

/** An error of a row, of the Data API or of waiting. The README lists the codes; `timeout`, `offline`, `deleted` and `not_found` are the helper's own. */
export class HelixError extends Error {
  /** Whether the same thing may work later. */
  readonly retryable: boolean
  readonly code: string
  /** The row as it stands, where there is one. */
  readonly row: unknown

  constructor(code: string, message: string, retryable: boolean, row?: unknown) {
    super(message)
    this.name = 'HelixError'
    this.code = code
    this.retryable = retryable
    this.row = row
  }
}

/** The error that stands on a row which has ended badly. */
export function errorOfRow(row: { status?: string | null; error?: unknown }): HelixError {
  const { code, message, retryable } = (row.error ?? {}) as { code?: string; message?: string; retryable?: boolean }
  const status = row.status ?? 'failed'
  return new HelixError(code ?? status, message ?? `it ended as ${status}`, retryable ?? false, row)
}

/** The error of a request to the Data API, whose code is an SQLSTATE, PostgREST's own, or none where nothing answered. */
export function errorOfRequest(error: { code?: string; message: string }): HelixError {
  const code = error.code ?? ''
  return new HelixError(code || 'unreachable', error.message, code === '' || /^(08|40|53|55|57|PGRST00|PGRST30)/.test(code))
}
