import { expect, test } from 'vitest';
import { parseOptions } from '../../../../local/stage/options.ts';
import { StageError } from '../../../../local/stage/stageError.ts';

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
    return options === 'help' ? undefined : [options.port, options.dev];
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
  expect(parseOptions(['--help'], { SVC_PORT: 'x' })).toBe('help');
});

test.each([
  [['--port', 'http'], "The port (--port, SVC_PORT) is a whole number from 0 to 65535, not 'http'."],
  [['--port', '65536'], "The port (--port, SVC_PORT) is a whole number from 0 to 65535, not '65536'."],
  [['--port', '-1'], "Option '--port' argument is ambiguous; --help lists the flags."],
  [
    ['--region', 'Europe'],
    "The region (--region, SVC_REGION) is one of AWS, such as eu-central-1, not 'Europe'.",
  ],
  [['--data-dir', ''], 'The data directory (--data-dir, SVC_DATA_DIR) may not be empty.'],
  [
    ['--price-per-message', '-1'],
    "Option '--price-per-message' argument is ambiguous; --help lists the flags.",
  ],
  [['--price-per-message', '1e3'], 'The price of a message (--price-per-message, SVC_PRICE_PER_MESSAGE)'],
  [['--prot', '1'], "Unknown option '--prot'; --help lists the flags."],
  [['up'], "Unexpected argument 'up'; --help lists the flags."],
  [['--allowed-destinations', 'a,,b'], 'The allowed destinations (--allowed-destinations,'],
])('%j is refused with one sentence', (flags, message) => {
  expect(() => parseOptions(flags, {})).toThrow(StageError);
  expect(() => parseOptions(flags, {})).toThrow(message);
  expect(() => parseOptions(flags, {})).not.toThrow('\n');
});
