import { describe, expect, it } from 'vitest';
import { parseDrain, parseMasterSecretCommand, parseRecover } from '../../../operate/options.ts';

const now = Date.parse('2026-03-22T12:00:00Z');

describe('the options of drain', () => {
  it('have defaults for all but the region', () => {
    expect(parseDrain(['--region', 'eu-central-1'])).toEqual({
      region: 'eu-central-1',
      name: 'Svc',
      everySeconds: 60,
      once: false,
      undo: false,
    });
  });

  it.each([
    [[], /--region is missing; allowed is a region/],
    [['--region', 'Europe'], /--region is "Europe"/],
    [['--region', 'eu-central-1', '--every', '0'], /--every is "0"; allowed are 1 to 86400/],
    [['--region', 'eu-central-1', '--force'], /force.*Usage/s],
  ])('refuse %j, by name', (args, message) => {
    expect(() => parseDrain(args)).toThrow(message);
  });
});

describe('the options of recover', () => {
  it('take a moment in UTC', () => {
    const args = ['--region', 'us-east-1', '--restored-to', '2026-03-22T11:59:30Z', '--dry-run'];
    expect(parseRecover(args, now)).toEqual({
      region: 'us-east-1',
      name: 'Svc',
      restoredTo: now - 30_000,
      isDryRun: true,
    });
  });

  it.each([
    [['--region', 'us-east-1'], /--restored-to is missing; allowed is a moment/],
    [['--region', 'us-east-1', '--restored-to', 'yesterday'], /--restored-to is "yesterday"/],
    [['--region', 'us-east-1', '--restored-to', '2026-03-22T12:00:01Z'], /in the past/],
    [['--region', 'us-east-1', '--restored-to', '2026-13-22T12:00:00Z'], /--restored-to/],
    [['--region', 'us-east-1', '--restored-to', '2026-02-30T12:00:00Z'], /--restored-to is "2026-02-30/],
  ])('refuse %j, by name', (args, message) => {
    expect(() => parseRecover(args, now)).toThrow(message);
  });

  it('are shown when asked for', () => {
    expect(parseMasterSecretCommand(['--help'])).toBe('help');
    expect(parseRecover(['--help'], now)).toBe('help');
    expect(parseDrain(['--help'])).toBe('help');
  });
});

describe('the options of master-secret', () => {
  it('have defaults for all but the step', () => {
    expect(parseMasterSecretCommand(['begin'])).toEqual({
      step: 'begin',
      region: 'eu-central-1',
      name: 'Svc',
    });
  });

  it.each([
    [[], /The step is missing; allowed are begin and end.*Usage/s],
    [['rotate'], /The step is "rotate"/],
    [['begin', 'end'], /The step is "begin end"/],
    [['begin', '--region', 'Europe'], /--region is "Europe"/],
    [['begin', '--nam', 'Svc'], /--nam.*Usage/s],
  ])('refuse %j, by name', (args, message) => {
    expect(() => parseMasterSecretCommand(args)).toThrow(message);
  });
});
