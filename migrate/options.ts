/** The arguments of `npm run migrate`, and what stands for those that are not given. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs, parseEnv } from 'node:util';
import { MigrationError } from './migrationError.ts';

/** An account at an API that is compatible with QStash. */
export interface Place {
  /** Without a slash at its end. */
  readonly url: string;
  readonly token: string;
}

export interface Options {
  readonly from: Place;
  readonly to: Place;
  /** `copy` makes what is missing in the target; `switch` lets the target's schedules fire in place of the source's. */
  readonly task: 'copy' | 'switch';
  /** Without it nothing is changed. */
  readonly apply: boolean;
  /** Whether what differs in the target is made as it is in the source. */
  readonly overwrite: boolean;
  /** Whether schedules are made paused even where they fire in the source. */
  readonly paused: boolean;
}

export const usage = `Usage: npm run migrate -- [flags]

Copies queues, URL groups, flow-control settings and schedules from one QStash-compatible API to another. Without --apply
it only says what it would do. Give tokens as variables: npm prints the arguments of a script.

  --from-url <url>, --from-token <token>   the source (QSTASH_URL and QSTASH_TOKEN; https://qstash.upstash.io)
  --to-url <url>, --to-token <token>       the target (SVC_URL and SVC_TOKEN; those in .svc/env)
  --apply                                  do it
  --paused                                 make schedules paused, so that nothing fires twice
  --overwrite                              replace what is in the target and differs
  --switch                                 copy nothing, but let schedules fire in the target instead of in the source:
                                           resume each there and pause it here, at a moment between two fires
  --help                                   this text

Exit status: 0 the target has all that the source has; 1 an error; 2 wrong arguments; 3 something is left to do.
`;

type Environment = Readonly<Record<string, string | undefined>>;

const hosted = 'https://qstash.upstash.io';

/**
 * @returns 'help' with the flag `--help`
 * @throws MigrationError that names the wrong argument and what is allowed
 */
export function parseOptions(args: readonly string[], environment: Environment): Options | 'help' {
  const flags = parseFlags(args);
  if (flags.help === true) return 'help';
  const local = localEnvironment(environment);
  const from = placeOf('from', flags['from-url'] ?? (environment['QSTASH_URL'] || hosted), [
    flags['from-token'] ?? environment['QSTASH_TOKEN'],
    'QSTASH_TOKEN',
  ]);
  const to = placeOf('to', flags['to-url'] ?? (environment['SVC_URL'] || local['SVC_URL']), [
    flags['to-token'] ?? (environment['SVC_TOKEN'] || local['SVC_TOKEN']),
    'SVC_TOKEN',
  ]);
  if (from.url === to.url && from.token === to.token) {
    throw new MigrationError(
      'The source and the target are the same account; give one of them another token.',
    );
  }
  const [apply, overwrite, paused, isSwitch] = [
    flags.apply === true,
    flags.overwrite === true,
    flags.paused === true,
    flags.switch === true,
  ];
  if (isSwitch && (overwrite || paused)) {
    throw new MigrationError('--switch copies nothing; leave out --overwrite and --paused, or --switch.');
  }
  return { from, to, task: isSwitch ? 'switch' : 'copy', apply, overwrite, paused };
}

function parseFlags(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        'from-url': { type: 'string' },
        'from-token': { type: 'string' },
        'to-url': { type: 'string' },
        'to-token': { type: 'string' },
        apply: { type: 'boolean' },
        overwrite: { type: 'boolean' },
        paused: { type: 'boolean' },
        switch: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    }).values;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // Node's advice on positional arguments and dashes does not apply here.
    const [sentence = ''] = error.message.split(/\.?\s(?:To specify|Did you|This command)|\n/);
    throw new MigrationError(`${sentence.replace(/\.$/, '')}; --help lists the flags.`, { cause: error });
  }
}

/** What the local stage has written for its clients. */
function localEnvironment(environment: Environment): Environment {
  const file = join(environment['SVC_DATA_DIR'] || '.svc', 'env');
  return existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {};
}

function placeOf(
  side: 'from' | 'to',
  url: string | undefined,
  [token, variable]: readonly [string | undefined, string],
): Place {
  const flag = `--${side}-url`;
  if (url === undefined) throw new MigrationError(`${flag} is missing; allowed is the URL of an API.`);
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isPlain =
    parsed !== undefined &&
    /^https?:$/.test(parsed.protocol) &&
    parsed.username + parsed.password + parsed.search + parsed.hash === '';
  if (!isPlain) {
    // The URL is not repeated: it may have a password in it.
    throw new MigrationError(
      `${flag} is no URL of an API; allowed is one that starts with http:// or https://, without user, query and fragment.`,
    );
  }
  if (token === undefined || !/^[!-~]+$/.test(token)) {
    throw new MigrationError(
      `--${side}-token is ${token === undefined || token === '' ? 'missing' : 'no token'}; give it, or set ${variable}.`,
    );
  }
  return { url: url.replace(/\/+$/, ''), token };
}
