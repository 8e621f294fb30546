/** The flags and environment variables of the local stage. */
import { InvalidArgumentError } from '@commander-js/extra-typings';
import { command, fromVariable, parse, region, textLike, wholeNumber } from '../../bin/commandLine.ts';

export interface Options {
  /** 0 chooses a free one. */
  readonly port: number;
  /** The port of the publish URL; 0 chooses a free one, undefined means no publish URL. */
  readonly publishPort: number | undefined;
  /** Undefined keeps nothing. */
  readonly dataDirectory: string | undefined;
  readonly region: string;
  /** Host names and CIDR blocks that deliveries may reach although they are not public. */
  readonly allowedDestinations: readonly string[];
  /** Dollars that a message takes from its account's budget. */
  readonly pricePerMessage: number;
  /** Whether the stage serves the published clients' development mode; see `devMode.ts`. */
  readonly dev: boolean;
  /** Tests may set the stage's clock (SVC_TEST_CONTROL=1). Users need it not, so there is no flag and no help. */
  readonly testControl: boolean;
}

const port = wholeNumber(0, 65_535);
const folder = textLike(/./, 'the path of a folder');

function price(text: string): number {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Allowed is a number of dollars, such as 0.00001.');
}

function list(text: string): string[] {
  const items = text.split(',').map((item) => item.trim());
  if (items.includes(''))
    throw new InvalidArgumentError('Allowed are hosts and networks separated by commas, or none.');
  return text.trim() === 'none' ? [] : items;
}

const loopbackDestinations = ['127.0.0.0/8', '::1/128', 'localhost'];

/** @throws Ending for a wrong argument or variable: it says what is allowed */
export function parseOptions(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Options {
  const flags = parseFlags(args);
  const otherwise = <T>(variable: string, read: (text: string) => T): T | undefined =>
    fromVariable(environment, variable, read);
  const { dev = false } = flags;
  return {
    port:
      flags.port ??
      otherwise('SVC_PORT', port) ??
      (dev ? otherwise('QSTASH_DEV_PORT', port) : undefined) ??
      8080,
    publishPort: flags.publishPort ?? otherwise('SVC_PUBLISH_PORT', port),
    dataDirectory:
      flags.inMemory === true ? undefined : (flags.dataDir ?? otherwise('SVC_DATA_DIR', folder) ?? '.svc'),
    region: flags.region ?? otherwise('SVC_REGION', region) ?? 'eu-central-1',
    allowedDestinations:
      flags.allowedDestinations ?? otherwise('SVC_ALLOWED_DESTINATIONS', list) ?? loopbackDestinations,
    pricePerMessage: flags.pricePerMessage ?? otherwise('SVC_PRICE_PER_MESSAGE', price) ?? 0.000_01,
    dev,
    testControl: environment['SVC_TEST_CONTROL'] === '1',
  };
}

function parseFlags(args: readonly string[]) {
  return parse(
    command('start', 'Runs the whole service on this machine.')
      .option('--dev', 'serve applications that run with QSTASH_DEV=true, on the port QSTASH_DEV_PORT (8080)')
      .option('--port <number>', 'port of the API; 0 takes any free one (SVC_PORT; 8080)', port)
      .option(
        '--publish-port <number>',
        'port of the publish URL, which takes messages as a function URL does on AWS, without the gateway; 0 takes any ' +
          'free one; without it there is none (SVC_PUBLISH_PORT)',
        port,
      )
      .option(
        '--data-dir <folder>',
        'where messages, accounts and secrets are kept (SVC_DATA_DIR; .svc)',
        folder,
      )
      .option('--region <region>', 'the AWS region to play (SVC_REGION; eu-central-1)', region)
      .option('--in-memory', 'keep nothing')
      .option(
        '--allowed-destinations <list>',
        'hosts and networks, separated by commas, that deliveries may reach although they are not public; none for ' +
          'nothing (SVC_ALLOWED_DESTINATIONS; this machine)',
        list,
      )
      .option(
        '--price-per-message <dollars>',
        'what a message counts for against its account’s budget (SVC_PRICE_PER_MESSAGE; 0.00001)',
        price,
      ),
    args,
  ).opts();
}
