/** Actors other than named tokens. */
const actors: ReadonlyMap<string, string> = new Map([
  ['token', 'The account’s token'],
  ['readOnlyToken', 'The read-only token'],
  ['operator', 'The operator'],
  ['service', 'The service'],
]);

export function Actor({
  of,
  isInSentence = false,
}: {
  readonly of: string;
  readonly isInSentence?: boolean;
}) {
  const name = actors.get(of);
  if (name === undefined) return <code>{of}</code>;
  return <>{isInSentence ? name.replace(/^./, (first) => first.toLowerCase()) : name}</>;
}
