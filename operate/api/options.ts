/** The arguments of the commands for users. */
import { Argument } from '@commander-js/extra-typings';
import { Ending, command, parse } from '../../cli/commandLine.ts';
import { finder, variablesIn } from '../../lambdas/http/findRoute.ts';
import { routes } from '../../lambdas/http/routes.ts';
import { namesOf, requestOf, type Request, type Values } from './request.ts';
import {
  firstSentence,
  knownOperation,
  operationOf,
  operations,
  variablesOf,
  type ApiOperation,
} from './operations.ts';
import { shortcutOf, type Action } from './shortcuts.ts';

export type ApiCommand = ReturnType<typeof parseApi>;

const pair = /^([A-Za-z][\w.-]*)=(.*)$/s;

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

const findRoute = finder(routes);

/** Finds an operation by its id, or by its method and path, whose variables may have values. */
function findOperation(given: readonly string[]): Omit<Found, 'action'> {
  const [first = '', second = ''] = given;
  const byId = operationOf(first);
  if (byId !== undefined) return { operation: byId, values: valuesOf(variablesOf(byId), given.slice(1)) };
  const [path = '', query = ''] = second.split('?');
  const { route } = findRoute(first.toUpperCase(), path);
  const operation = operations.find((one) => one.method === route?.method && one.path === route.path);
  if (operation === undefined)
    throw new Ending(
      `There is no operation '${`${first} ${second}`.trim()}'; svc-queue api --help lists them.`,
      2,
    );
  const inUrl = Object.entries(variablesIn(operation.path, path)).filter(
    ([, value]) => !value.startsWith('{'),
  );
  return {
    operation,
    values: [
      ...inUrl.map(([name, value]) => [name, decodeURIComponent(value)] as const),
      ...new URLSearchParams(query),
      ...valuesOf([], given.slice(2)),
    ],
  };
}

export const operationIn = ({ operation }: Action, given: string | undefined): ApiOperation =>
  knownOperation(typeof operation === 'string' ? operation : operation(given));

interface Found {
  readonly operation: ApiOperation;
  readonly action: Action;
  readonly values: Values;
}

function found(name: string, given: readonly string[]): Found {
  const actions = shortcutOf(name)?.actions;
  if (actions === undefined) return { action: { operation: '' }, ...findOperation(given) };
  const words = Object.keys(actions);
  const [word = words[0] ?? '', ...rest] = words[0] === '' ? ['', ...given] : given;
  const action = actions[word];
  if (action === undefined)
    throw new Ending(`'${word}' is not an action of ${name}; allowed are ${words.join(', ')}.`, 2);
  const operation = operationIn(
    action,
    rest.find((one) => !pair.test(one)),
  );
  const own = valuesOf(action.takes ?? variablesOf(operation), rest);
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
  const actions = shortcutOf(name)?.actions;
  if (actions === undefined) {
    const lines = operations.map(
      ({ id, method, path, summary }) => `  ${id.padEnd(28)}${`${method} ${path}`.padEnd(52)}${summary}`,
    );
    return `\nOperations (docs/api.md):\n${lines.join('\n')}`;
  }
  const all = Object.entries(actions).flatMap(([word, action]) =>
    [...new Set([operationIn(action, 'dlq_'), operationIn(action, undefined)])].map(
      (operation) => `\nFields of ${`${name} ${word}`.trim()}, ${describe(operation)}`,
    ),
  );
  return all.join('\n');
}

function argumentOf(name: string): string {
  const actions = shortcutOf(name)?.actions;
  if (actions === undefined) return 'an operation’s id, or its method and path, and name=value';
  const words = Object.keys(actions).join(', ');
  return `${words === '' ? '' : `${words}; `}ids or names, and name=value for filters and settings`;
}

/**
 * @param given the command and its arguments
 * @throws Ending
 */
export function parseApi([name = '', ...args]: readonly string[]) {
  const read = parse(
    command(name, shortcutOf(name)?.about ?? 'do any operation of the API')
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
  const flags = read.opts();
  const { action, operation, values } = found(name, given);
  // Refuses what does not fit before anything is read or sent.
  const request = requestOf(operation, values, flags.data && ' ');
  if (flags.follow && operation.id !== 'listLogs') throw new Ending('The flag --follow is for logs.', 2);
  const refusal = flags.yes ? undefined : refusalOf(operation, request);
  if (refusal !== undefined) throw new Ending(`${operation.summary}: ${refusal}`, 2);
  return { operation, action, values, flags };
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
