/** The published clients, and the versions that the service is held to. */
import newestQstash from '../../node_modules/@upstash/qstash/package.json' with { type: 'json' };
import newestWorkflow from '../../node_modules/@upstash/workflow/package.json' with { type: 'json' };

export interface Client {
  readonly name: string;
  readonly registry: 'npm' | 'PyPI' | undefined;
  /** The program with the client's operations, in this folder. */
  readonly program: string;
  /** The oldest supported version first. */
  readonly versions: readonly string[];
  /** The reason for the oldest version. */
  readonly why: string;
}

export const clients: readonly Client[] = [
  {
    name: '@upstash/qstash',
    registry: 'npm',
    program: 'qstash.ts',
    versions: ['2.3.0', newestQstash.version],
    why: 'Versions before 2.3.0 send the headers of a message as they are, without `Upstash-Forward-`, so no delivery has them.',
  },
  {
    name: '@upstash/workflow',
    registry: 'npm',
    program: 'workflow.ts',
    versions: ['0.1.2', newestWorkflow.version],
    why: '0.1.2 is the first version.',
  },
  {
    name: 'qstash',
    registry: 'PyPI',
    program: 'qstash_operations.py',
    versions: ['2.0.2', '3.4.0'],
    why: 'Versions before 2.0.2 know only the address of the hosted service.',
  },
  {
    name: 'upstash-workflow',
    registry: 'PyPI',
    program: 'workflow_operations.py',
    versions: ['0.1.0', '2.0.0'],
    why: '0.1.0 is the first version.',
  },
  {
    name: 'curl',
    registry: undefined,
    program: 'curl.ts',
    versions: ['any version'],
    why: 'Plain HTTP has no version.',
  },
];
