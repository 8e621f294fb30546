/** The published clients, and the versions that the service must support. */
import newestQstash from '../../node_modules/@upstash/qstash/package.json' with { type: 'json' };
import newestWorkflow from '../../node_modules/@upstash/workflow/package.json' with { type: 'json' };

export type Registry = 'npm' | 'PyPI' | 'Go' | 'crates.io' | 'program';

/** A column of a client's table: versions that are installed together. */
export interface Version {
  /** The column's heading. */
  readonly name: string;
  /** As for the registry's own client, such as `@upstash/qstash@2.3.0`. */
  readonly packages: readonly string[];
}

export interface Client {
  readonly name: string;
  readonly registry: Registry;
  /** The program with the client's operations, in this folder: a file, or the folder of a Go module or a Rust crate. */
  readonly program: string;
  /** Oldest supported version first. */
  readonly versions: readonly Version[];
  /** Notes about the versions: one or two sentences. */
  readonly about: string;
  /** The package whose declarations show what a version offers. Without one, all operations run in all versions. */
  readonly declaredBy?: string;
  /** Whether it takes a minute to compile. `--check` skips it. */
  readonly isSlow?: boolean;
}

/** Versions of one npm package. */
const onNpm = (name: string, versions: readonly string[]): readonly Version[] =>
  versions.map((version) => ({ name: version, packages: [`${name}@${version}`] }));

/** Versions of one PyPI package. */
const onPyPi = (name: string, versions: readonly string[]): readonly Version[] =>
  versions.map((version) => ({ name: version, packages: [`${name}==${version}`] }));

export const clients: readonly Client[] = [
  {
    name: '@upstash/qstash',
    registry: 'npm',
    program: 'qstash.ts',
    declaredBy: '@upstash/qstash',
    versions: onNpm('@upstash/qstash', [
      ...['2.3.0', '2.7.20', '2.7.21', '2.8.4', '2.9.0', '2.11.0', '2.11.3'],
      newestQstash.version,
    ]),
    about:
      'Versions before 2.3.0 send the headers of a message as they are, without `Upstash-Forward-`, so no delivery has them.',
  },
  {
    name: '@upstash/workflow',
    registry: 'npm',
    program: 'workflow.ts',
    declaredBy: '@upstash/workflow',
    versions: onNpm('@upstash/workflow', [
      ...[
        '0.1.2',
        '0.2.7',
        '0.2.12',
        '0.2.17',
        '0.2.22',
        '0.2.23',
        '0.3.0-rc',
        '1.0.0',
        '1.1.0',
        '1.1.1',
        '1.2.0',
      ],
      newestWorkflow.version,
    ]),
    about: '0.1.2 is the first version.',
  },
  {
    name: 'qstash',
    registry: 'PyPI',
    program: 'qstash_operations.py',
    versions: onPyPi('qstash', ['2.0.2', '2.0.3', '2.0.4', '3.0.0', '3.2.0', '3.4.0']),
    about: 'Versions before 2.0.2 know only the address of the hosted service.',
  },
  {
    name: 'upstash-workflow',
    registry: 'PyPI',
    program: 'workflow_operations.py',
    versions: onPyPi('upstash-workflow', ['0.1.0', '0.1.1', '0.1.3', '2.0.0']),
    about: '0.1.0 is the first version.',
  },
  {
    name: 'github.com/upstash/qstash-go',
    registry: 'Go',
    program: 'go',
    versions: [{ name: '1.0.0', packages: [] }],
    about: '1.0.0 is the only version.',
  },
  {
    name: 'qstash-rs',
    registry: 'crates.io',
    program: 'rust',
    versions: [{ name: '0.6.0', packages: [] }],
    about:
      '`upstash-qstash` 0.3.0, the other crate, cannot be used: it knows only the address of the hosted service, and its first API, `/v1`.',
    isSlow: true,
  },
  {
    name: 'curl',
    registry: 'program',
    program: 'curl.ts',
    versions: [{ name: 'any', packages: [] }],
    about: 'Pulling, which no client knows: see [A receiver without an address](guides/no-address.md).',
  },
];
