import { InvalidArgumentError } from '@commander-js/extra-typings';
import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import {
  Ending,
  command,
  fromVariable,
  parse,
  region,
  textLike,
  wholeNumber,
} from '../../cli/commandLine.ts';
import type { LongDelivery } from '../../lambdas/aws/resources.ts';
import { isOpen, loopback, parseNetworks, type Network, type TlsFiles } from '../network/network.ts';

export interface Options {
  readonly port: number;
  /** The port of the publish URL; 0 for a free port. If undefined, there is no publish URL. */
  readonly publishPort: number | undefined;
  readonly network: Network;
  /** Undefined if no data is kept. */
  readonly dataDirectory: string | undefined;
  /** How many processes share the work. */
  readonly processes: number;
  /** Whether the stage only answers reads. */
  readonly isPaused: boolean;
  readonly region: string;
  /** Private hosts and CIDR blocks that deliveries may reach. */
  readonly allowedDestinations: readonly string[];
  /** The proxies for deliveries as JSON, if any. */
  readonly outboundProxies?: string | undefined;
  /** The folder with accounts' certificates. Default: in the data directory. */
  readonly tlsFolder?: string | undefined;
  /** In dollars, taken from the account's budget. */
  readonly pricePerMessage: number;
  /** Whether the development mode of the published clients is supported; see `devMode.ts`. */
  readonly dev: boolean;
  /** Limits timeouts as on AWS (SVC_TEST_LONG_DELIVERY), not as on one machine. Only for tests. */
  readonly longDelivery?: LongDelivery | undefined;
  /** The URL of another DynamoDB that has the tables (SVC_TEST_DYNAMODB_URL). Only for tests. */
  readonly dynamodbUrl?: string | undefined;
}

const longDeliveries: readonly LongDelivery[] = ['functions', 'instances'];

const mostProcesses = 64;
/** More processes would wait for each other's writes. */
const mostByDefault = 8;
const processesOf = (cores: number): number => Math.min(mostByDefault, Math.max(1, cores - 1));

const port = wholeNumber(0, 65_535);
const processesIn = wholeNumber(1, mostProcesses);
const folder = textLike(/./, 'the path of a folder');
const file = textLike(/./, 'the path of a file');

function price(text: string): number {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Allowed is a number of dollars, such as 0.00001.');
}

function list(text: string): string[] {
  const items = text.split(',').map((item) => item.trim());
  try {
    parseNetworks(items.filter((item) => item.includes('/')));
    if (!items.includes('')) return text.trim() === 'none' ? [] : items;
  } catch {
    // The error below says what is allowed.
  }
  throw new InvalidArgumentError(
    'Allowed are hosts and networks separated by commas, such as app.internal,10.0.0.0/8, or none.',
  );
}

function address(text: string): string {
  const plain = text === 'localhost' ? loopback : text;
  if (isIP(plain) > 0) return plain;
  throw new InvalidArgumentError(
    'Allowed is an address of this machine, such as 192.168.1.4, or 0.0.0.0 for all.',
  );
}

const isBasePath = (path: string): boolean => /^\/(?!(?:v2|console)$)[\w.-]+$/i.test(path);

function publicUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.href === url.origin + url.pathname) {
    const base = url.pathname.replace(/\/$/, '');
    if (base === '' || isBasePath(base)) return url.origin + base;
  }
  throw new InvalidArgumentError(
    'Allowed is an http or https URL such as https://queue.acme.example, with a path of one segment at most, such as /queue, but not /v2 or /console.',
  );
}

function networks(text: string): string[] {
  const items = text.split(',').map((item) => item.trim());
  try {
    parseNetworks(items);
    return items;
  } catch {
    throw new InvalidArgumentError(
      'Allowed are addresses and networks separated by commas, such as 10.0.0.7,10.1.0.0/16.',
    );
  }
}

const loopbackDestinations = ['127.0.0.0/8', '::1/128', 'localhost'];

/** @throws Ending if two flags exclude each other, or one requires another */
function networkOf({ certFile, keyFile, ...network }: Network & Partial<TlsFiles>, dev: boolean): Network {
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new Ending('--tls-cert and --tls-key are given together: a certificate, and its key.', 2);
  }
  const tls = certFile === undefined || keyFile === undefined ? undefined : { certFile, keyFile };
  if (dev && (isOpen(network) || tls !== undefined)) {
    throw new Ending(
      '--dev excludes --host, --public-url and --tls-cert: everybody knows its token, so only this machine may use it.',
      2,
    );
  }
  return { ...network, tls };
}

function proxyUrl(text: string): string {
  const url = text.includes('://') ? text : `http://${text}`;
  if (/^https?:/i.test(url) && URL.canParse(url)) return url;
  throw new InvalidArgumentError('Allowed is the URL of a proxy, such as http://proxy.internal:3128.');
}

function withoutProxy(text: string): readonly string[] {
  const items = text.split(/[\s,]+/).filter((item) => item !== '');
  try {
    parseNetworks(items.filter((item) => item.includes('/')));
    return items;
  } catch {
    throw new InvalidArgumentError(
      'Allowed are hosts and networks separated by commas, such as internal.example,10.0.0.0/8.',
    );
  }
}

/** Reads the usual variables for proxies. Lower-case names take precedence, as in curl. */
function proxiesIn(environment: Readonly<Record<string, string | undefined>>): string | undefined {
  const either = <T>(variable: string, read: (text: string) => T): T | undefined =>
    fromVariable(environment, variable.toLowerCase(), read) ?? fromVariable(environment, variable, read);
  const http = either('HTTP_PROXY', proxyUrl);
  const https = either('HTTPS_PROXY', proxyUrl);
  if (http === undefined && https === undefined) return undefined;
  return JSON.stringify({ http, https, except: either('NO_PROXY', withoutProxy) ?? [] });
}

const examples = `
Examples:
  svc-queue start --port 8081 --in-memory
  svc-queue start --data-dir /var/lib/svc-queue --public-url https://queue.acme.example --trusted-proxy 127.0.0.1
  svc-queue start --host 0.0.0.0 --allowed-destinations 10.0.0.0/8`;

/** @throws Ending for an invalid argument or variable, saying what is allowed */
export function parseOptions(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Options {
  const flags = parseFlags(args);
  const otherwise = <T>(variable: string, read: (text: string) => T): T | undefined =>
    fromVariable(environment, variable, read);
  const { dev = false, inMemory = false, paused: isPaused = false } = flags;
  if (isPaused && (inMemory || dev))
    throw new Ending('--paused excludes --in-memory and --dev: it is for data that a stage has kept.', 2);
  const network = networkOf(
    {
      host: flags.host ?? otherwise('SVC_HOST', address) ?? loopback,
      publicUrl: flags.publicUrl ?? otherwise('SVC_PUBLIC_URL', publicUrl),
      trustedProxies: flags.trustedProxy ?? otherwise('SVC_TRUSTED_PROXY', networks) ?? [],
      certFile: flags.tlsCert ?? otherwise('SVC_TLS_CERT', file),
      keyFile: flags.tlsKey ?? otherwise('SVC_TLS_KEY', file),
    },
    dev,
  );
  if (inMemory && isOpen(network)) {
    throw new Ending(
      '--in-memory excludes --host and --public-url: a server keeps its tokens and what it accepts.',
      2,
    );
  }
  const processes = flags.processes ?? otherwise('SVC_PROCESSES', processesIn);
  if (processes !== undefined && processes > 1 && (inMemory || dev)) {
    throw new Ending(
      '--processes above 1 excludes --in-memory and --dev: processes share a data directory.',
      2,
    );
  }
  return {
    isPaused,
    processes: processes ?? (inMemory || dev ? 1 : processesOf(availableParallelism())),
    port:
      flags.port ??
      otherwise('SVC_PORT', port) ??
      (dev ? otherwise('QSTASH_DEV_PORT', port) : undefined) ??
      8080,
    publishPort: flags.publishPort ?? otherwise('SVC_PUBLISH_PORT', port),
    network,
    dataDirectory: inMemory ? undefined : (flags.dataDir ?? otherwise('SVC_DATA_DIR', folder) ?? '.svc'),
    region: flags.region ?? otherwise('SVC_REGION', region) ?? 'eu-central-1',
    allowedDestinations:
      flags.allowedDestinations ??
      otherwise('SVC_ALLOWED_DESTINATIONS', list) ??
      (isOpen(network) ? [] : loopbackDestinations),
    outboundProxies: proxiesIn(environment),
    tlsFolder: flags.tlsDir ?? otherwise('SVC_TLS_DIR', folder),
    pricePerMessage: flags.pricePerMessage ?? otherwise('SVC_PRICE_PER_MESSAGE', price) ?? 0.000_01,
    dev,
    longDelivery: longDeliveries.find((one) => one === environment['SVC_TEST_LONG_DELIVERY']),
    dynamodbUrl: environment['SVC_TEST_DYNAMODB_URL'],
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
      .option(
        '--processes <number>',
        'how many processes share the work (SVC_PROCESSES; one for each core but one, at most 8)',
        processesIn,
      )
      .option('--region <region>', 'the AWS region to play (SVC_REGION; eu-central-1)', region)
      .option('--in-memory', 'keep nothing')
      .option(
        '--paused',
        'only answer reads: change and deliver nothing, as for a look into a restored backup',
      )
      .option(
        '--allowed-destinations <list>',
        'hosts and networks, separated by commas, that deliveries may reach although they are not public; none for ' +
          'nothing (SVC_ALLOWED_DESTINATIONS; this machine, or none with --host or --public-url)',
        list,
      )
      .option(
        '--host <address>',
        'the address to listen on; 0.0.0.0 for all of this machine (SVC_HOST; 127.0.0.1)',
        address,
      )
      .option(
        '--public-url <url>',
        'the address by which clients reach the API through a proxy (SVC_PUBLIC_URL)',
        publicUrl,
      )
      .option(
        '--trusted-proxy <list>',
        'addresses and networks, separated by commas, of proxies whose X-Forwarded-* headers are believed (SVC_TRUSTED_PROXY)',
        networks,
      )
      .option('--tls-cert <file>', 'a certificate, PEM, to speak TLS with (SVC_TLS_CERT)', file)
      .option('--tls-key <file>', 'its key, PEM (SVC_TLS_KEY)', file)
      .option(
        '--tls-dir <folder>',
        'where the certificates are that accounts name for TLS with their destinations (SVC_TLS_DIR; tls in the data directory)',
        folder,
      )
      .option(
        '--price-per-message <dollars>',
        'what a message counts for against its account’s budget (SVC_PRICE_PER_MESSAGE; 0.00001)',
        price,
      )
      .addHelpText('after', examples),
    args,
  ).opts();
}
