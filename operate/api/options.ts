/** The arguments of the commands for users. */
import { Argument } from '@commander-js/extra-typings';
import { Ending, command, parse } from '../../cli/commandLine.ts';
import { variablesIn } from '../../lambdas/http/findRoute.ts';
import { namesOf, requestOf, type Request, type Values } from './request.ts';
import { firstSentence, knownOperation, operationOf, operations, type ApiOperation } from './operations.ts';
import { isShortcut, shortcuts, type Action, type Shortcut } from './shortcuts.ts';

export interface ApiCommand {
  readonly operation: ApiOperation;
  readonly action: Action;
  readonly values: Values;
  /** As given: `@` and a file, `-` for standard input, or a text. */
  readonly data: string | undefined;
  readonly isJson: boolean;
  readonly isAll: boolean;
  readonly isFollowing: boolean;
}

const pair = /^([A-Za-z][\w.-]*)=(.*)$/s;

const variables = ({ path }: ApiOperation): readonly string[] =>
  [...path.matchAll(/\{(\w+)/g)].flatMap(([, name]) => name ?? []);

/** Splits arguments into those for the path, and `name=value`. */
function valuesOf(names: readonly string[], given: readonly string[]): Values {
  const alone = given.filter((one) => !pair.test(one));
  const extra = alone[names.length];
  if (extra !== undefined)
    throw new Ending(`'${extra}' is one argument too many; further ones are name=value.`, 2);
  const named = given.flatMap((one): Values => {
    const [, name, value = ''] = pair.exec(one) ?? [];
    return name === undefined ? [] : [[name, value]];
  });
  return [...alone.map((value, index) => [names[index] ?? '', value] as const), ...named];
}

/** Finds an operation by its id, or by its method and path, whose variables may have values. */
function findOperation(given: readonly string[]): {
  readonly operation: ApiOperation;
  readonly values: Values;
} {
  const [first = '', second = ''] = given;
  const byId = operationOf(first);
  if (byId !== undefined) return { operation: byId, values: valuesOf(variables(byId), given.slice(1)) };
  const [path = '', query = ''] = second.split('?');
  const found = operations
    .filter(({ method }) => method === first.toUpperCase())
    .map((operation) => ({ operation, inPath: Object.entries(variablesIn(operation.path, path)) }))
    .filter(({ operation, inPath }) => inPath.length > 0 || operation.path === path)
    .toSorted((one, other) => one.inPath.length - other.inPath.length)[0];
  if (found === undefined)
    throw new Ending(
      `There is no operation '${`${first} ${second}`.trim()}'; svc-queue api --help lists them.`,
      2,
    );
  const { operation, inPath } = found;
  const inUrl = inPath.filter(([, value]) => !value.startsWith('{'));
  return {
    operation,
    values: [
      ...inUrl.map(([name, value]) => [name, decodeURIComponent(value)] as const),
      ...new URLSearchParams(query),
      ...valuesOf([], given.slice(2)),
    ],
  };
}

/** The action of a shortcut, and the arguments after its word. */
function actionIn(name: string, { actions }: Shortcut, given: readonly string[]) {
  const words = Object.keys(actions);
  const [word = words[0] ?? '', ...rest] = words[0] === '' ? ['', ...given] : given;
  const action = actions[word];
  if (action === undefined)
    throw new Ending(`'${word}' is not an action of ${name}; allowed are ${words.join(', ')}.`, 2);
  return { action, rest };
}

export const operationIn = ({ operation }: Action, given: string | undefined): ApiOperation =>
  knownOperation(typeof operation === 'string' ? operation : operation(given));

function found(name: string, given: readonly string[]) {
  if (!isShortcut(name)) return { action: { operation: '' }, ...findOperation(given) };
  const shortcut: Shortcut = shortcuts[name];
  const { action, rest } = actionIn(name, shortcut, given);
  const operation = operationIn(
    action,
    rest.find((one) => !pair.test(one)),
  );
  const own = valuesOf(action.takes ?? variables(operation), rest);
  const defaults = Object.entries(action.defaults ?? {}).filter(([key]) => !own.some(([one]) => one === key));
  return { action, operation, values: [...own, ...defaults] };
}

const describe = (operation: ApiOperation): string => {
  const own = namesOf(operation).map((name) => {
    const { description = '' } = operation.parameters.find((one) => one.name === name) ?? {};
    return `  ${name.padEnd(24)}${firstSentence(description).replaceAll('`', '').slice(0, 90)}`;
  });
  return [`${operation.id}: ${operation.summary}`, ...own.map((line) => line.trimEnd())].join('\n');
};

/** The help's end: the fields of each operation that the command reaches, or all operations. */
function fieldsOf(name: string, [first = '']: readonly string[]): string {
  const one = operationOf(first);
  if (one !== undefined) return `\nFields of ${describe(one)}`;
  if (!isShortcut(name)) {
    const lines = operations.map(
      ({ id, method, path, summary }) => `  ${id.padEnd(28)}${`${method} ${path}`.padEnd(52)}${summary}`,
    );
    return `\nOperations (docs/api.md):\n${lines.join('\n')}`;
  }
  const actions: Readonly<Record<string, Action>> = shortcuts[name].actions;
  const all = Object.entries(actions).flatMap(([word, action]) =>
    [...new Set([operationIn(action, 'dlq_'), operationIn(action, undefined)])].map(
      (operation) => `\nFields of ${`${name} ${word}`.trim()}, ${describe(operation)}`,
    ),
  );
  return all.join('\n');
}

const about = (name: string): string =>
  isShortcut(name) ? shortcuts[name].about : 'do any operation of the API';

const argumentOf = (name: string): string => {
  if (!isShortcut(name)) return 'an operation’s id, or its method and path, and name=value';
  const words = Object.keys(shortcuts[name].actions).join(', ');
  return `${words === '' ? '' : `${words}; `}ids or names, and name=value for filters and settings`;
};

/**
 * @param given the command and its arguments
 * @throws Ending
 */
export function parseApi([name = '', ...args]: readonly string[]): ApiCommand {
  const read = parse(
    command(name, about(name))
      .addArgument(new Argument('[arguments...]', argumentOf(name)))
      .option('--data <body>', 'the body: a text, @ and a file, or - for standard input')
      .option('--json', 'print the answer as JSON; with --all or --follow, a line for each entry')
      .option('--all', 'read all pages of a list')
      .option('--follow', 'of logs: print entries as they come, until Ctrl-C')
      .option('--yes', 'do not refuse a deletion, or an operation on everything')
      .addHelpText('after', () => fieldsOf(name, args)),
    args,
  );
  const [given] = read.processedArgs;
  const {
    data,
    json: isJson = false,
    all: isAll = false,
    follow: isFollowing = false,
    yes = false,
  } = read.opts();
  const { action, operation, values } = found(name, given);
  // Refuses what does not fit before anything is read or sent.
  const request = requestOf(operation, values, data && ' ');
  if (isFollowing && operation.id !== 'listLogs') throw new Ending('The flag --follow is for logs.', 2);
  const refusal = yes ? undefined : refusalOf(operation, request);
  if (refusal !== undefined) throw new Ending(`${operation.summary}: ${refusal}`, 2);
  return { operation, action, values, data, isJson, isAll, isFollowing };
}

function refusalOf(
  { needsConsent, isBulk, method }: ApiOperation,
  { path, body }: Request,
): string | undefined {
  if (isBulk && !path.includes('?') && body === undefined)
    return 'without filters this concerns all of them. Add filters, or --yes.';
  return needsConsent && (!isBulk || method === 'DELETE')
    ? 'this cannot be undone. Add --yes to do it.'
    : undefined;
}
