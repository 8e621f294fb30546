import { allProse, sentencesOf } from './texts.ts';
import { userTexts } from './userTexts.ts';

/** Phrases with another language's word order, and what to write instead. `docs/writing.md` explains them. */
interface Phrase {
  readonly pattern: RegExp;
  readonly instead: string;
}

/** Searched for in sentences without code. */
export const phrases: readonly Phrase[] = [
  { pattern: /^(?:Of|That|What|Whoever|None|Nobody)\b/, instead: 'the subject first' },
  {
    pattern: /^(?:Being|Having|Given|Seen|Called|Counted|Judged|Asked)\b[^,]*,/,
    instead: 'the subject first',
  },
  { pattern: /\bstands?\b(?!-in)/, instead: '"is", "has" or the verb that says what happens' },
  {
    pattern: /(?<!\bthere )\b(?:is|are) none\b|\bif any is\b|\bnone is\b|\bnone are\b/,
    instead: '"is not", "there is no"',
  },
  { pattern: /\bnobody\b/i, instead: '"no one", or the thing that does not happen' },
  {
    pattern: /(?<!\binstead )\bof (?:its|their|his|one’s|one's) own\b/,
    instead: '"its own …", "a separate …"',
  },
  { pattern: /\bcomes? again\b|\bcame again\b/, instead: '"is retried", "is sent again"' },
  { pattern: /\bat last\b|\bwhatever\b|\bwhoever\b/, instead: '"finally", "any", "whether or not"' },
  { pattern: /\bno more(?=[,.;:)]|$)|\bany more\b/, instead: '"no longer", "stops"' },
  {
    pattern: /\bwhere there is none\b|\bwhere it is none\b|\bone that is none\b/,
    instead: '"if there is none"',
  },
  {
    pattern: /\blets? (?:go|itself)\b|\bbe it\b|\bthereof\b|\bthereby\b|\bwherefrom\b/,
    instead: 'a plain verb',
  },
  {
    pattern: /\bpassed over\b|\bpasses over\b|\bwants a\b|\bgoes without\b/,
    instead: '"ignored", "skipped", "requires", "is omitted"',
  },
  { pattern: /\bfor good\b/, instead: '"permanently", "after its last retry"' },
  { pattern: /\bmeanwhile\b/, instead: '"in the meantime", "since it was read", or nothing' },
  { pattern: /\bas well as (?:it|they) (?:is|are)\b/, instead: 'a plain comparison' },
];

/** Removes code, link addresses and quotations, which are not prose. */
const proseOf = (sentence: string): string =>
  sentence
    .replace(/`[^`]*`/g, 'code')
    .replace(/\]\([^)]*\)/g, ']')
    .replace(/"[^"]*"|“[^”]*”/g, 'quoted')
    .replace(/^@\w+\s+\S*\s*/, '')
    .replace(/^(?:\*\*|[-*]\s)/, '');

export const phrasesIn = (sentence: string): readonly Phrase[] => {
  const prose = proseOf(sentence);
  return phrases.filter(({ pattern }) => pattern.test(prose));
};

/** Lists the phrases of the repository, each with its place and what to write instead. */
export const foundPhrases = (): readonly string[] =>
  [...allProse(), ...userTexts().flatMap(sentencesOf)].flatMap(({ file, line, text }) =>
    phrasesIn(text).map(({ instead }) => `${file}:${line}: ${text}\n    write ${instead}`),
  );
