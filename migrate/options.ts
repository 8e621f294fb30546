import { Option } from '@commander-js/extra-typings';
import { command, Ending, parse, stageVariables, type Environment } from '../cli/commandLine.ts';

/** An account of a QStash-compatible API. */
export interface Place {
  /** The base URL, without a slash at the end. */
  readonly url: string;
  readonly token: string;
}

export interface Options {
  readonly from: Place;
  readonly to: Place;
  /** `copy` creates missing things in the target; `switch` makes the target's schedules fire instead of the source's. */
  readonly task: 'copy' | 'switch';
  /** If false, nothing is changed. */
  readonly apply: boolean;
  readonly overwrite: boolean;
  /** Whether new schedules are paused even if they are active in the source. */
  readonly paused: boolean;
}

const about = `Copies queues, URL groups, flow-control settings and schedules from one QStash-compatible API to another. Without --apply
it only prints what it would do. Give tokens as variables: npm prints the arguments of a script. Exit status: 0 the target has all that
the source has; 1 an error; 2 wrong arguments; 3 something is left to do.`;

const hosted = 'https://qstash.upstash.io';

/** @throws Ending for an invalid argument, saying what is allowed */
export function parseOptions(args: readonly string[], environment: Environment): Options {
  const flags = parseFlags(args);
  const local = stageVariables(environment);
  const from = placeOf('from', flags.fromUrl ?? (environment['QSTASH_URL'] || hosted), [
    flags.fromToken ?? environment['QSTASH_TOKEN'],
    'QSTASH_TOKEN',
  ]);
  const to = placeOf('to', flags.toUrl ?? (environment['SVC_URL'] || local['SVC_URL']), [
    flags.toToken ?? (environment['SVC_TOKEN'] || local['SVC_TOKEN']),
    'SVC_TOKEN',
  ]);
  if (from.url === to.url && from.token === to.token) {
    throw new Ending('The source and the target are the same account; give one of them another token.', 2);
  }
  const { apply = false, overwrite = false, paused = false } = flags;
  return { from, to, task: flags.switch === true ? 'switch' : 'copy', apply, overwrite, paused };
}

function parseFlags(args: readonly string[]) {
  return parse(
    command('migrate', about)
      .option('--from-url <url>', `the source (QSTASH_URL; ${hosted})`)
      .option('--from-token <token>', 'its token (QSTASH_TOKEN)')
      .option('--to-url <url>', 'the target (SVC_URL; that in .svc/env)')
      .option('--to-token <token>', 'its token (SVC_TOKEN; that in .svc/env)')
      .option('--apply', 'do it')
      .option('--paused', 'make schedules paused, so that nothing fires twice')
      .option('--overwrite', 'replace what is in the target and differs')
      .addOption(
        new Option(
          '--switch',
          'copy nothing, but let schedules fire in the target instead of in the source: resume each there and pause it here, ' +
            'at a moment between two fires',
        ).conflicts(['paused', 'overwrite']),
      ),
    args,
  ).opts();
}

function placeOf(
  side: 'from' | 'to',
  url: string | undefined,
  [token, variable]: readonly [string | undefined, string],
): Place {
  const flag = `--${side}-url`;
  if (url === undefined) throw new Ending(`${flag} is missing; allowed is the URL of an API.`, 2);
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isPlain =
    parsed !== undefined &&
    /^https?:$/.test(parsed.protocol) &&
    parsed.username + parsed.password + parsed.search + parsed.hash === '';
  if (!isPlain) {
    // The URL is not repeated, because it may contain a password.
    throw new Ending(
      `${flag} is not the URL of an API; allowed is one that starts with http:// or https://, without user, query and fragment.`,
      2,
    );
  }
  if (token === undefined || !/^[!-~]+$/.test(token)) {
    throw new Ending(
      `--${side}-token is ${token === undefined || token === '' ? 'missing' : 'no token'}; give it, or set ${variable}.`,
      2,
    );
  }
  return { url: url.replace(/\/+$/, ''), token };
}
