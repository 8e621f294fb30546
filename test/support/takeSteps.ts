/** Has a client take steps that are added, or taken out, after its first call: it puts the steps of a command together at each. */
export function takeSteps(...clients: readonly { readonly config: { cacheMiddleware?: boolean } }[]): void {
  for (const { config } of clients) config.cacheMiddleware = false;
}
