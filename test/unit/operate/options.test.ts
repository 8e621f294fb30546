import { describe, expect, it } from 'vitest';
import {
  parseDrain,
  parseMasterSecretCommand,
  parseRecover,
  parseRedrive,
  parseShell,
} from '../../../operate/options.ts';

const now = Date.parse('2026-03-22T12:00:00Z');

describe('the options of drain', () => {
  it('have defaults except for the region', () => {
    expect(parseDrain(['--region', 'eu-central-1'])).toEqual({
      region: 'eu-central-1',
      name: 'Svc',
      everySeconds: 60,
      once: false,
      undo: false,
    });
  });

  it.each([
    [[], /required option '--region <region>' not specified/i],
    [['--region', 'Europe'], /--region <region>' argument 'Europe' is invalid. Allowed is a region/],
  ])('refuse %j, by name', (args, message) => {
    expect(() => parseDrain(args)).toThrow(message);
  });
});

describe('the options of recover', () => {
  it('accept a time in UTC', () => {
    const args = ['--region', 'us-east-1', '--restored-to', '2026-03-22T11:59:30Z', '--dry-run'];
    expect(parseRecover(args, now)).toEqual({
      region: 'us-east-1',
      name: 'Svc',
      restoredTo: now - 30_000,
      isDryRun: true,
    });
  });

  it.each([
    [['--region', 'us-east-1'], /required option '--restored-to <moment>' not specified/i],
    [
      ['--region', 'us-east-1', '--restored-to', 'yesterday'],
      /--restored-to <moment>' argument 'yesterday' is invalid. Allowed is a moment/,
    ],
    [['--region', 'us-east-1', '--restored-to', '2026-03-22T12:00:01Z'], /in the past/],
    [
      ['--region', 'us-east-1', '--restored-to', '2026-02-30T12:00:00Z'],
      /--restored-to <moment>' argument '2026-02-30/,
    ],
  ])('refuse %j, by name', (args, message) => {
    expect(() => parseRecover(args, now)).toThrow(message);
  });

  it('are shown when asked for', () => {
    const parsers = [
      parseMasterSecretCommand,
      parseDrain,
      (args: string[]) => parseRedrive(args, {}),
      (args: string[]) => parseRecover(args, now),
    ];
    for (const parse of parsers) {
      expect(() => parse(['--help'])).toThrow(/^Usage: svc-queue /);
      expect(() => parse(['--help'])).toThrow(expect.objectContaining({ exitStatus: 0 }));
    }
  });
});

describe('the options of master-secret', () => {
  it('have defaults except for the step', () => {
    expect(parseMasterSecretCommand(['begin'])).toEqual({
      step: 'begin',
      region: 'eu-central-1',
      name: 'Svc',
    });
  });

  it.each([
    [[], /missing required argument 'step'/i],
    [['rotate'], /'rotate' is invalid for argument 'step'. Allowed choices are begin, end/],
    [['begin', '--region', 'Europe'], /--region <region>' argument 'Europe'/],
  ])('refuse %j, by name', (args, message) => {
    expect(() => parseMasterSecretCommand(args)).toThrow(message);
  });
});

describe('the options of shell', () => {
  it.each([
    [[], /required option '--region <region>' not specified/i],
    [['--region', 'eu-central-1; rm -r .'], /Allowed is a region/],
  ])('refuse %j, by name', (args, message) => {
    expect(() => parseShell(args)).toThrow(message);
  });
});
