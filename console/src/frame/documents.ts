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
  const titled = pages
    .filter(({ title }) => fits(title))
    .map(({ page, title }) => ({ name: title, url: documentUrl(page) }));
  const headed = pages.flatMap(({ page, title, headings }) =>
    headings
      .filter(({ text }) => fits(text))
      .map(({ id, text }) => ({ name: `${title}: ${text}`, url: documentUrl(page, id) })),
  );
  return [...titled, ...headed].slice(0, mostFound);
}
