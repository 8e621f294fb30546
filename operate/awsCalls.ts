/** Ways to call AWS that commands share. */

/** Reads all pages of a list. */
export async function allOf<Page, Item>(
  pages: AsyncIterable<Page>,
  itemsOf: (page: Page) => readonly Item[] | undefined,
): Promise<readonly Item[]> {
  const all: Item[] = [];
  for await (const page of pages) all.push(...(itemsOf(page) ?? []));
  return all;
}

/** @param absent matches the name and message of errors that mean that there is no such thing, so undefined is returned */
export async function ifThere<T>(call: Promise<T>, absent: RegExp): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof Error && absent.test(`${error.name}: ${error.message}`)) return undefined;
    throw error;
  }
}
