/** The addresses of places in the console, also for the command `svc-queue open`. */

export type Query = Readonly<Record<string, string | number | undefined>>;

/** Makes the address of a place. Undefined and empty values are omitted. */
export function href(path: readonly string[], query: Query | URLSearchParams = {}): string {
  const pairs = query instanceof URLSearchParams ? [...query] : Object.entries(query);
  const given = new URLSearchParams();
  for (const [name, value] of pairs)
    if (value !== undefined && value !== '') given.append(name, String(value));
  const text = given.toString();
  return `#/${path.map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}`;
}
