/** A body as a row has it: its bytes, or the place where they are. */
export type StoredBody =
  | { readonly at: 'here'; readonly bytes: Uint8Array; readonly deflated: boolean }
  | { readonly at: 'row'; readonly deflated: boolean }
  | { readonly at: 'bucket'; readonly key: string };
