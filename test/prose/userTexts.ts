/** The texts that users read: those of the console, of the API's description, of refusals, of commands and of metrics. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import jsTokens from 'js-tokens';
import { codeFiles, type Prose } from './texts.ts';

const root = join(import.meta.dirname, '../..');

const rooms = /^(?:console\/src|lambdas|lib|local|operate|verify|bin)\//;

/** Several words, or one that is capitalized. */
const isText = (text: string): boolean =>
  /[a-z]{2,}[^/]* [a-z]/i.test(text) || /^[A-Z][a-z]{2,}[….:?]?$/.test(text);

/** The code before a text that only programs read: a module's name, a class, a comparison, an expression of DynamoDB. */
const beforeOthers = /(?:\b(?:from|import|case|class=|d=)|[=!]==|Expression:|\bclass:)$/;

/** Finds the texts of a file: literals, templates with their expressions cut out, and text between tags. */
function textsIn(file: string): readonly Prose[] {
  const found: Prose[] = [];
  let line = 1;
  let before = '';
  const open: { readonly line: number; readonly before: string; text: string }[] = [];
  const take = (text: string, from: { readonly line: number; readonly before: string }): void => {
    const plain = text.replace(/\s+/g, ' ').trim();
    if (isText(plain) && !beforeOthers.test(from.before)) found.push({ file, line: from.line, text: plain });
  };
  const code = readFileSync(join(root, file), 'utf8');
  const tokens: Iterable<{ readonly type: string; readonly value: string }> = jsTokens(code, {
    jsx: file.endsWith('x'),
  });
  for (const { type, value } of tokens) {
    const inner = open.at(-1);
    if (type === 'StringLiteral' || type === 'JSXString' || type === 'NoSubstitutionTemplate')
      take(value.slice(1, -1), { line, before });
    else if (type === 'JSXText') take(value, { line, before });
    else if (type === 'TemplateHead') open.push({ line, before, text: value.slice(1, -2) });
    else if (type === 'TemplateMiddle' && inner !== undefined) inner.text += `{…}${value.slice(1, -2)}`;
    else if (type === 'TemplateTail' && inner !== undefined) {
      take(`${inner.text}{…}${value.slice(1, -1)}`, inner);
      open.pop();
    }
    line += value.split('\n').length - 1;
    if (!/^(?:WhiteSpace|LineTerminatorSequence|.*Comment)$/.test(type)) before = (before + value).slice(-20);
  }
  return found;
}

export const userTexts = (): readonly Prose[] =>
  codeFiles()
    .filter((file) => rooms.test(file))
    .flatMap(textsIn);
