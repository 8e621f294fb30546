/** The flags and environment variables of the local stage. */
import { parseArgs } from 'node:util';
import { StageError } from './stageError.ts';

export interface Options {
  /** 0 chooses a free one. */
  readonly port: number;
  /** The port of the publish URL; 0 chooses a free one. Without one there is no publish URL. */
  readonly publishPort: number | undefined;
  /** Without one nothing is kept. */
  readonly dataDirectory: string | undefined;
  readonly region: string;
  /** Host names and CIDR blocks that deliveries may reach although they are not public. */
  readonly allowedDestinations: readonly string[];
  /** The dollars of the account's budget that a message costs. */
  readonly pricePerMessage: number;
  /** Whether to be the server of the published clients' development mode; see `devMode.ts`. */
  readonly dev: boolean;
  /** Tests may set the stage's clock (SVC_TEST_CONTROL=1). It is not for users, so there is no flag and no help. */
  readonly testControl: boolean;
}

export const usage = `Usage: npm start -- [flags]

Runs the whole service on this machine.

  --dev                            serve applications that run with QSTASH_DEV=true, on the port QSTASH_DEV_PORT (8080)
  --port <number>                  port of the API; 0 takes any free one (SVC_PORT; 8080)
  --publish-port <number>          port of the publish URL, which takes messages as a function URL does on AWS, without the
                                   gateway; 0 takes any free one; without it there is none (SVC_PUBLISH_PORT)
  --data-dir <folder>              where messages, accounts and secrets are kept (SVC_DATA_DIR; .svc)
  --region <region>                the AWS region to play (SVC_REGION; eu-central-1)
  --in-memory                      keep nothing
  --allowed-destinations <list>    hosts and networks, separated by commas, that deliveries may reach although they
                                   are not public; none for nothing (SVC_ALLOWED_DESTINATIONS; this machine)
  --price-per-message <dollars>    what a message counts for against its account's budget
                                   (SVC_PRICE_PER_MESSAGE; 0.00001)
  --help                           this text
`;

const loopbackDestinations = '127.0.0.0/8,::1/128,localhost';

/**
 * @returns 'help' with the flag `--help`
 * @throws StageError that names the wrong flag and the values that it takes
 */
export function parseOptions(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Options | 'help' {
  const flags = parseFlags(args);
  if (flags.help === true) return 'help';
  const dev = flags.dev === true;
  const given = (flag: string | undefined, variable: string, otherwise: string): string =>
    flag ?? (environment[variable] || otherwise);
  const publishPort = given(flags['publish-port'], 'SVC_PUBLISH_PORT', '');
  return {
    port: toPort(
      'The port (--port, SVC_PORT)',
      given(flags.port, 'SVC_PORT', (dev && environment['QSTASH_DEV_PORT']) || '8080'),
    ),
    publishPort:
      publishPort === ''
        ? undefined
        : toPort('The port of the publish URL (--publish-port, SVC_PUBLISH_PORT)', publishPort),
    dataDirectory:
      flags['in-memory'] === true ? undefined : toFolder(given(flags['data-dir'], 'SVC_DATA_DIR', '.svc')),
    region: toRegion(given(flags.region, 'SVC_REGION', 'eu-central-1')),
    allowedDestinations: toList(
      given(flags['allowed-destinations'], 'SVC_ALLOWED_DESTINATIONS', loopbackDestinations),
    ),
    pricePerMessage: toPrice(given(flags['price-per-message'], 'SVC_PRICE_PER_MESSAGE', '0.00001')),
    dev,
    testControl: environment['SVC_TEST_CONTROL'] === '1',
  };
}

function parseFlags(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        dev: { type: 'boolean' },
        port: { type: 'string' },
        'publish-port': { type: 'string' },
        'data-dir': { type: 'string' },
        region: { type: 'string' },
        'in-memory': { type: 'boolean' },
        'allowed-destinations': { type: 'string' },
        'price-per-message': { type: 'string' },
        help: { type: 'boolean' },
      },
    }).values;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // Node's advice on positional arguments and dashes does not apply here.
    const [sentence = ''] = error.message.split(/\.?\s(?:To specify|Did you|This command)|\n/);
    throw new StageError(`${sentence.replace(/\.$/, '')}; --help lists the flags.`, { cause: error });
  }
}

function toPort(field: string, text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) {
    throw new StageError(`${field} is a whole number from 0 to 65535, not '${text}'.`);
  }
  return port;
}

function toFolder(text: string): string {
  if (text === '') throw new StageError('The data directory (--data-dir, SVC_DATA_DIR) may not be empty.');
  return text;
}

function toRegion(text: string): string {
  if (!/^[a-z]{2}(-[a-z]+)+-\d$/.test(text)) {
    throw new StageError(
      `The region (--region, SVC_REGION) is one of AWS, such as eu-central-1, not '${text}'.`,
    );
  }
  return text;
}

function toPrice(text: string): number {
  if (!/^\d+(\.\d+)?$/.test(text)) {
    throw new StageError(
      `The price of a message (--price-per-message, SVC_PRICE_PER_MESSAGE) is a number of dollars, such as 0.00001, not '${text}'.`,
    );
  }
  return Number(text);
}

function toList(text: string): string[] {
  const items = text.split(',').map((item) => item.trim());
  if (items.includes('')) {
    throw new StageError(
      `The allowed destinations (--allowed-destinations, SVC_ALLOWED_DESTINATIONS) are hosts and networks separated by commas, or none, not '${text}'.`,
    );
  }
  return text.trim() === 'none' ? [] : items;
}
