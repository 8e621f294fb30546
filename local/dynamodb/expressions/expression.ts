/** A cache of compiled expressions. A text is parsed once, and compiled again only if its names differ. */
import { refused } from '../../aws/awsError.ts';
import type { Value } from '../values.ts';
import { Scope, type Check, type Values } from './scope.ts';
import type { Steps } from './paths.ts';
import { refusedExpression, Tokens, type ExpressionKind } from './tokens.ts';

/** The expressions of a call, with the names and values of their placeholders. */
export type Given = Readonly<Partial<Record<ExpressionKind, string | undefined>>> & {
  readonly ExpressionAttributeNames?: Names | undefined;
  readonly ExpressionAttributeValues?: Readonly<Record<string, unknown>> | undefined;
};

export type Names = Readonly<Record<string, string>>;

export interface Compiled<Run> {
  readonly kind: ExpressionKind;
  readonly run: Run;
  readonly checks: readonly Check[];
  readonly paths: readonly Steps[];
  readonly nameOf: Placeholders;
  readonly valueOf: Placeholders;
}

export type Compile<Run> = (text: string, names: Names | undefined) => Compiled<Run>;

type Placeholders = ReadonlySet<string>;

interface Parsed<Run> {
  readonly names: Placeholders;
  readonly values: Placeholders;
  readonly compile: (scope: Scope) => Run;
  last?: { readonly names: readonly string[]; readonly compiled: Compiled<Run> };
}

/** How many texts of each kind are cached. */
const kept = 1_000;
const maxSize = 4096;

/**
 * @returns a function that compiles a text with names
 * @throws AwsError if the text is invalid with any values
 */
export function expressions<Ast, Run>(
  kind: ExpressionKind,
  parse: (tokens: Tokens) => Ast,
  compile: (ast: Ast, scope: Scope) => Run,
): Compile<Run> {
  const known = new Map<string, Parsed<Run>>();

  function parsed(text: string): Parsed<Run> {
    if (text.trim() === '') throw refusedExpression(kind, 'The expression can not be empty;');
    const size = Buffer.byteLength(text);
    if (size > maxSize) {
      throw refusedExpression(
        kind,
        `Expression size has exceeded the maximum allowed size; expression size: ${size}`,
      );
    }
    const tokens = new Tokens(kind, text);
    const ast = parse(tokens);
    return {
      names: new Set(tokens.placeholders('name')),
      values: new Set(tokens.placeholders('value')),
      compile: (scope) => compile(ast, scope),
    };
  }

  return (text, given) => {
    let expression = known.get(text);
    if (expression === undefined) {
      expression = parsed(text);
      const [oldest] = known.keys();
      if (known.size >= kept && oldest !== undefined) known.delete(oldest);
      known.set(text, expression);
    }
    const { last } = expression;
    const names = [...expression.names].map((name) => nameOf(kind, name, given));
    if (last !== undefined && names.every((name, index) => name === last.names[index])) return last.compiled;
    const compiled = compileWith(kind, expression, names);
    expression.last = { names, compiled };
    return compiled;
  };
}

function nameOf(kind: ExpressionKind, placeholder: string, names: Names | undefined): string {
  const name = names && Object.hasOwn(names, placeholder) ? names[placeholder] : undefined;
  if (name === undefined) {
    throw refusedExpression(
      kind,
      `An expression attribute name used in the document path is not defined; attribute name: ${placeholder}`,
    );
  }
  if (name !== '') return name;
  throw refused(
    `ExpressionAttributeNames contains invalid value: Empty attribute name for key ${placeholder}`,
  );
}

function compileWith<Run>(
  kind: ExpressionKind,
  { names, values, compile }: Parsed<Run>,
  given: readonly string[],
): Compiled<Run> {
  const byPlaceholder = new Map([...names].map((placeholder, index) => [placeholder, given[index] ?? '']));
  const scope = new Scope(kind, byPlaceholder, [...values]);
  const run = compile(scope);
  return { kind, run, checks: scope.checks, paths: scope.paths, nameOf: names, valueOf: values };
}

/**
 * Looks up and checks the values of an expression.
 *
 * @throws AwsError if a value is missing or has a wrong type
 */
export function valuesFor(
  { kind, valueOf, checks }: Compiled<unknown>,
  given: ReadonlyMap<string, Value>,
): Values {
  const values: Value[] = [];
  for (const placeholder of valueOf) {
    const value = given.get(placeholder);
    if (value === undefined) {
      throw refusedExpression(
        kind,
        `An expression attribute value used in expression is not defined; attribute value: ${placeholder}`,
      );
    }
    values.push(value);
  }
  for (const check of checks) check(values);
  return values;
}
