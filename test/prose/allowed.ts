/** The phrases that each file may still contain. The numbers only shrink. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { phrasesIn } from './phrases.ts';
import { allProse } from './texts.ts';

const file = join(import.meta.dirname, 'allowed.json');
const shape = z.record(z.string(), z.int().min(1));

export type Counts = Readonly<Record<string, number>>;

export const readAllowed = (): Counts => shape.parse(JSON.parse(readFileSync(file, 'utf8')));

/** Counts the phrases in each file. */
export function countPhrases(): Counts {
  const counted = [...allProse()].map(([name, sentences]): [string, number] => [
    name,
    sentences.reduce((sum, { text }) => sum + phrasesIn(text).length, 0),
  ]);
  return Object.fromEntries(counted.filter(([, count]) => count > 0).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Writes smaller counts. @returns whether there are any */
export function shrink(): boolean {
  const [allowed, counted] = [readAllowed(), countPhrases()];
  const after = Object.entries(allowed).flatMap(([name, most]): [string, number][] => {
    const count = Math.min(most, counted[name] ?? 0);
    return count === 0 ? [] : [[name, count]];
  });
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(after), undefined, 2)}\n`);
  return JSON.stringify(Object.fromEntries(after)) !== JSON.stringify(allowed);
}
