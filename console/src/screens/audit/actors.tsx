/** Who has changed something, in words. */

/** The actors that are no named token. */
const actors: ReadonlyMap<string, string> = new Map([
  ['token', 'The account’s token'],
  ['readOnlyToken', 'The read-only token'],
  ['operator', 'The operator'],
]);

export const Actor = ({ of }: { readonly of: string }) => <>{actors.get(of) ?? <code>{of}</code>}</>;
