import * as z from 'zod/mini';
import { circuitNumbers, type CircuitSettings } from './settings.ts';

const circuitNumber = (name: keyof typeof circuitNumbers, description: string) =>
  z.optional(
    z
      .int()
      .check(
        z.minimum(circuitNumbers[name].least),
        z.maximum(circuitNumbers[name].most),
        z.describe(`${description} Default: ${circuitNumbers[name].default}.`),
      ),
  );

export const circuitInput = z
  .strictObject({
    enabled: z
      .boolean()
      .check(
        z.describe(
          'Whether messages wait while their host is down, unless they or their queue say otherwise.',
        ),
      ),
    failures: circuitNumber('failures', 'The number of consecutive failures that opens a circuit.'),
    open_seconds: circuitNumber(
      'open_seconds',
      'The time until the first probe. It doubles after each failed probe.',
    ),
    longest_open_seconds: circuitNumber('longest_open_seconds', 'The longest time between two probes.'),
    longest_wait_seconds: circuitNumber(
      'longest_wait_seconds',
      'How long a delivery may wait before it fails permanently.',
    ),
  } satisfies Record<keyof CircuitSettings, z.ZodMiniType>)
  .check(z.describe('Circuits, which hold messages back while a host is down; `null` for none.'));

/** For error messages. */
export const allowedCircuit = Object.entries(circuitNumbers)
  .map(([name, { least, most }]) => `"${name}"?: ${least} to ${most}`)
  .join(', ');
