import { expect, test } from 'vitest';
import { Ending } from '../../../../bin/commandLine.ts';
import { parseOptions } from '../../../../local/stage/options.ts';

const defaults = {
  port: 8080,
  publishPort: undefined,
  dataDirectory: '.svc',
  region: 'eu-central-1',
  allowedDestinations: ['127.0.0.0/8', '::1/128', 'localhost'],
  pricePerMessage: 0.000_01,
  dev: false,
  testControl: false,
};

test('without flags and variables the defaults hold', () => {
  expect(parseOptions([], { SVC_PORT: '' })).toEqual(defaults);
});

test('variables change the defaults, and flags win over variables', () => {
  const variables = {
    SVC_PORT: '0',
    SVC_PUBLISH_PORT: '0',
    SVC_DATA_DIR: '/data',
    SVC_REGION: 'us-east-1',
    SVC_ALLOWED_DESTINATIONS: 'none',
    SVC_PRICE_PER_MESSAGE: '0.5',
    SVC_TEST_CONTROL: '1',
  };
  const fromVariables = {
    port: 0,
    publishPort: 0,
    dataDirectory: '/data',
    region: 'us-east-1',
    allowedDestinations: [],
    pricePerMessage: 0.5,
    dev: false,
    testControl: true,
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
  ];
  expect(parseOptions(flags, variables)).toEqual({
    port: 81,
    publishPort: 82,
    dataDirectory: 'd',
    region: 'eu-west-3',
    allowedDestinations: ['a', '10.0.0.0/8'],
    pricePerMessage: 2,
    dev: false,
    testControl: true,
  });
});

test('in memory there is no data directory', () => {
  expect(parseOptions(['--in-memory'], { SVC_DATA_DIR: '/data' })).toEqual({
    ...defaults,
    dataDirectory: undefined,
  });
});

test('in the development mode the port is the one that the published clients look for', () => {
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
  [['--port', '-1'], "'--port <number>' argument '-1' is invalid."],
  [
    ['--region', 'Europe'],
    "'--region <region>' argument 'Europe' is invalid. Allowed is a region of AWS such as eu-central-1;",
  ],
  [['--data-dir', ''], "'--data-dir <folder>' argument '' is invalid. Allowed is the path of a folder;"],
  [
    ['--price-per-message', '-1'],
    "'--price-per-message <dollars>' argument '-1' is invalid. Allowed is a number of dollars, such as 0.00001;",
  ],
  [['--price-per-message', '1e3'], "'--price-per-message <dollars>' argument '1e3' is invalid."],
  [['--prot', '1'], "Unknown option '--prot'; --help lists the flags."],
  [['up'], 'Too many arguments. Expected 0 arguments but got 1; --help lists the flags.'],
  [['--allowed-destinations', 'a,,b'], "'--allowed-destinations <list>' argument 'a,,b' is invalid."],
])('%j is refused with one sentence', (flags, message) => {
  expect(() => parseOptions(flags, {})).toThrow(Ending);
  expect(() => parseOptions(flags, {})).toThrow(message);
  expect(() => parseOptions(flags, {})).not.toThrow('\n');
});

test('a wrong variable is refused by its own name', () => {
  expect(() => parseOptions([], { SVC_PORT: 'http' })).toThrow(
    new Ending("The variable SVC_PORT is 'http'. Allowed is a whole number from 0 to 65535.", 2),
  );
});
