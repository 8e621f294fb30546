/** Finds pages of the documents, which are served beside the console, and their headings. */
import * as z from 'zod/mini';
import type { Answer } from '../../../lambdas/wire/answers.ts';
import { documentUrl } from '../api/client.ts';

/** The shape of `documents.json`. */
export const documents = z.array(
  z.object({
    page: z.string(),
    title: z.string(),
    headings: z.array(z.object({ id: z.string(), text: z.string() })),
  }),
);

/** The most that are shown. */
const mostFound = 10;

/** @returns pages first, because a page's title says more than one of its headings */
export function findDocuments(pages: Answer<typeof documents>, words: string) {
  const wanted = words.toLowerCase().split(/\s+/);
  const fits = (text: string): boolean => wanted.every((word) => text.toLowerCase().includes(word));
  const found = pages.flatMap(({ page, title, headings }) => [
    ...(fits(title) ? [{ name: title, rank: 0, url: documentUrl(page) }] : []),
    ...headings
      .filter(({ text }) => fits(text))
      .map(({ id, text }) => ({ name: `${title}: ${text}`, rank: 1, url: documentUrl(page, id) })),
  ]);
  return found.sort((a, b) => a.rank - b.rank).slice(0, mostFound);
}
