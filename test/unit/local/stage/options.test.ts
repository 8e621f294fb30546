import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';
import { Ending } from '../../../../cli/commandLine.ts';
import { onLoopback } from '../../../../local/network/network.ts';
import { parseOptions } from '../../../../local/stage/options.ts';

const processes = Math.min(8, Math.max(1, availableParallelism() - 1));

const defaults = {
  processes,
  port: 8080,
  publishPort: undefined,
  network: onLoopback,
  dataDirectory: '.svc',
  region: 'eu-central-1',
  allowedDestinations: ['127.0.0.0/8', '::1/128', 'localhost'],
  pricePerMessage: 0.000_01,
  dev: false,
  isPaused: false,
};

test('without flags and variables the defaults apply', () => {
  expect(parseOptions([], { SVC_PORT: '' })).toEqual(defaults);
});

test('variables change the defaults, and flags override variables', () => {
  const variables = {
    SVC_PORT: '0',
    SVC_PUBLISH_PORT: '0',
    SVC_DATA_DIR: '/data',
    SVC_REGION: 'us-east-1',
    SVC_ALLOWED_DESTINATIONS: 'none',
    SVC_PRICE_PER_MESSAGE: '0.5',
    SVC_PROCESSES: '1',
  };
  const fromVariables = {
    processes: 1,
    port: 0,
    publishPort: 0,
    network: onLoopback,
    dataDirectory: '/data',
    region: 'us-east-1',
    allowedDestinations: [],
    pricePerMessage: 0.5,
    dev: false,
    isPaused: false,
  };
  expect(parseOptions([], variables)).toEqual(fromVariables);
  const flags = [
    '--port',
    '81',
    '--publish-port=82',
    '--data-dir=d',
    '--region',
    'eu-west-3',
    '--allowed-destinations',
    'a, 10.0.0.0/8',
    '--price-per-message=2',
    '--processes=64',
  ];
  expect(parseOptions(flags, variables)).toEqual({
    processes: 64,
    port: 81,
    publishPort: 82,
    network: onLoopback,
    dataDirectory: 'd',
    region: 'eu-west-3',
    allowedDestinations: ['a', '10.0.0.0/8'],
    pricePerMessage: 2,
    dev: false,
    isPaused: false,
  });
});

test('certificates of accounts are in the data directory unless a folder is given', () => {
  expect(parseOptions([], {}).tlsFolder).toBeUndefined();
  expect(parseOptions([], { SVC_TLS_DIR: '/tls' }).tlsFolder).toBe('/tls');
  expect(parseOptions(['--tls-dir', '/own'], { SVC_TLS_DIR: '/tls' }).tlsFolder).toBe('/own');
});

test('in memory there is no data directory', () => {
  expect(parseOptions(['--in-memory'], { SVC_DATA_DIR: '/data' })).toEqual({
    ...defaults,
    processes: 1,
    dataDirectory: undefined,
  });
});

test.each(['--in-memory', '--dev'])('several processes and %s exclude each other', (flag) => {
  expect(parseOptions([flag], {}).processes).toBe(1);
  const refusal = '--processes above 1 excludes --in-memory and --dev: processes share a data directory.';
  expect(() => parseOptions([flag, '--processes', '2'], {})).toThrow(refusal);
  for (const number of ['0', '65', '2.5', 'two'])
    expect(() => parseOptions(['--processes', number], {})).toThrow('Allowed is a whole number from 1 to 64');
});

test('in development mode the port is the published clients’ default', () => {
  const port = (args: readonly string[], variables: Record<string, string>) => {
    const options = parseOptions(args, variables);
    return [options.port, options.dev];
  };
  expect(port(['--dev'], {})).toEqual([8080, true]);
  expect(port(['--dev'], { QSTASH_DEV_PORT: '9000' })).toEqual([9000, true]);
  expect(port(['--dev', '--port', '9002'], { QSTASH_DEV_PORT: '9000', SVC_PORT: '9001' })).toEqual([
    9002,
    true,
  ]);
  expect(port(['--dev'], { QSTASH_DEV_PORT: '9000', SVC_PORT: '9001' })).toEqual([9001, true]);
  expect(port([], { QSTASH_DEV_PORT: '9000' })).toEqual([8080, false]);
});

test('if other machines can reach the stage, private destinations are refused unless they are allowed', () => {
  const server = ['--host', '0.0.0.0'];
  expect(parseOptions(server, {})).toMatchObject({ allowedDestinations: [], network: { host: '0.0.0.0' } });
  expect(parseOptions(['--public-url', 'https://queue.acme.example/'], {})).toMatchObject({
    allowedDestinations: [],
    network: { host: '127.0.0.1', publicUrl: 'https://queue.acme.example' },
  });
  expect(parseOptions(['--host', 'localhost'], {}).allowedDestinations).toEqual(defaults.allowedDestinations);
  expect(parseOptions([...server, '--allowed-destinations', '10.0.0.0/8'], {}).allowedDestinations).toEqual([
    '10.0.0.0/8',
  ]);
  const variables = {
    SVC_HOST: '::',
    SVC_PUBLIC_URL: 'https://queue.acme.example:8443',
    SVC_TRUSTED_PROXY: '10.0.0.7, fd00::/8',
    SVC_TLS_CERT: 'cert.pem',
    SVC_TLS_KEY: 'key.pem',
  };
  expect(parseOptions([], variables).network).toEqual({
    host: '::',
    publicUrl: 'https://queue.acme.example:8443',
    trustedProxies: ['10.0.0.7', 'fd00::/8'],
    tls: { certFile: 'cert.pem', keyFile: 'key.pem' },
  });
});

test('help wins', () => {
  const help = (): unknown => parseOptions(['--help'], { SVC_PORT: 'x' });
  expect(help).toThrow(/--port <number>/);
  expect(help).toThrow(expect.objectContaining({ exitStatus: 0 }));
});

test.each([
  [
    ['--port', 'http'],
    "'--port <number>' argument 'http' is invalid. Allowed is a whole number from 0 to 65535;",
  ],
  [['--port', '65536'], "'--port <number>' argument '65536' is invalid."],
  [
    ['--region', 'Europe'],
    "'--region <region>' argument 'Europe' is invalid. Allowed is a region of AWS such as eu-central-1;",
  ],
  [['--data-dir', ''], "'--data-dir <folder>' argument '' is invalid. Allowed is the path of a folder;"],
  [
    ['--price-per-message', '-1'],
    "'--price-per-message <dollars>' argument '-1' is invalid. Allowed is a number of dollars, such as 0.00001;",
  ],
  [['--prot', '1'], "Unknown option '--prot'; --help lists the flags."],
  [['up'], 'Too many arguments. Expected 0 arguments but got 1; --help lists the flags.'],
  [
    ['--host', 'queue.acme.example'],
    "argument 'queue.acme.example' is invalid. Allowed is an address of this",
  ],
  [['--public-url', 'queue.acme.example'], 'Allowed is an http or https URL such as https://'],
  [['--public-url', 'https://acme.example/a/queue'], 'with a path of one segment at most, such as /queue'],
  [['--public-url', 'https://acme.example/v2'], 'but not /v2 or /console;'],
  [
    ['--trusted-proxy', '10.0.0.0/33'],
    "argument '10.0.0.0/33' is invalid. Allowed are addresses and networks",
  ],
  [['--tls-cert', 'cert.pem'], '--tls-cert and --tls-key are given together: a certificate, and its key.'],
  [
    ['--dev', '--public-url', 'https://a.example'],
    '--dev excludes --host, --public-url and --tls-cert: every',
  ],
  [
    ['--in-memory', '--host', '::'],
    '--in-memory excludes --host and --public-url: a server keeps its tokens',
  ],
])('%j is refused with one sentence', (flags, message) => {
  expect(() => parseOptions(flags, {})).toThrow(Ending);
  expect(() => parseOptions(flags, {})).toThrow(message);
  expect(() => parseOptions(flags, {})).not.toThrow('\n');
});

test('a wrong variable is refused with its name', () => {
  expect(() => parseOptions([], { SVC_PORT: 'http' })).toThrow(
    new Ending("The variable SVC_PORT is 'http'. Allowed is a whole number from 0 to 65535.", 2),
  );
});
