/** The templates as cfn-lint sees them: a linter of CloudFormation, from PyPI. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Template } from 'aws-cdk-lib/assertions';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { limitForInstallsMs } from '../support/limits.ts';
import { findPython, installPackage } from '../support/python.ts';
import { synthesize, synthesizeOne } from './app.ts';

const pinned = { name: 'cfn-lint', version: '1.58.0' };

/** The findings of cfn-lint in our templates that stay, each with the reason. */
const exceptions: readonly { readonly rule: string; readonly says: RegExp; readonly reason: string }[] = [
  {
    rule: 'W3005',
    says: /^'\w+Role\w+' dependency already enforced by a 'GetAtt' at 'Resources\/\w+\/Properties\/Role'$/,
    reason:
      'The CDK has a function depend on its role and on the policy of its role. Only the second is needed.',
  },
  {
    rule: 'W3037',
    says: /^'sendmessagebatch' is not one of /,
    reason:
      'AWS judges a batch as SendMessage, and knows no right of this name. Emulators of AWS ask for it.',
  },
];

const python = findPython();
// CI has a Python: one that is missing there is a mistake, and no reason to skip.
const isMissing = python === undefined && process.env['CI'] === undefined;

const found = z.array(
  z.object({
    Filename: z.string(),
    Message: z.string(),
    Rule: z.object({ Id: z.string() }),
    Location: z.object({ Path: z.array(z.union([z.string(), z.number()])).nullable() }),
  }),
);
type Finding = z.output<typeof found>[number];

const textOf = ({ Filename, Message, Rule, Location }: Finding): string =>
  `${Rule.Id} in ${basename(Filename)} at ${Location.Path?.join('/') ?? 'its top'}: ${Message}`;

const isException = ({ Rule, Message }: Finding) =>
  exceptions.some(({ rule, says }) => rule === Rule.Id && says.test(Message));

/**
 * The templates to lint, by names for messages; each group in a process of its own. The large ones are linted twice: once with
 * the defaults in one region, once with all other settings in the other region.
 */
function templatesToLint(): readonly Readonly<Record<string, Template>>[] {
  const { regions, management } = synthesize();
  const [first, second] = regions;
  if (first === undefined || second === undefined) throw new Error('By default there are two regions.');
  const other = synthesizeOne({
    regions: second.region,
    retain: 'false',
    publishUrl: 'true',
    publishConcurrency: '200',
    scheduleGroup: 'default',
    gatewayLogRole: 'false',
  });
  return [
    { 'first-State': first.state, 'first-Service': first.service, Management: management },
    { 'second-State': second.state, 'other-State': other.state, 'other-Service': other.service },
  ];
}

async function lint(interpreter: string, templates: Readonly<Record<string, Template>>): Promise<Finding[]> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-templates-'));
  try {
    for (const [name, template] of Object.entries(templates)) {
      await writeFile(join(folder, `${name}.json`), JSON.stringify(template.toJSON()));
    }
    const { stdout } = await promisify(execFile)(
      // Its program stands beside the interpreter.
      join(dirname(interpreter), 'cfn-lint'),
      [
        ...['--format', 'json', '--non-zero-exit-code', 'none'],
        // Of what a template may have, regions differ a little.
        ...['--regions', 'eu-central-1', 'us-east-1', '--', join(folder, '*.json')],
      ],
      { timeout: limitForInstallsMs, maxBuffer: 100_000_000 },
    );
    return found.parse(JSON.parse(stdout));
  } finally {
    await rm(folder, { recursive: true });
  }
}

const title = isMissing
  ? 'cfn-lint (skipped: it needs Python 3.10 or newer with its venv module, and there is none)'
  : 'cfn-lint';

describe.skipIf(isMissing)(title, () => {
  let findings: readonly Finding[] = [];
  beforeAll(async () => {
    if (python === undefined) throw new Error('There is no Python 3.10 or newer with its venv module.');
    const interpreter = await installPackage(python, pinned);
    findings = (await Promise.all(templatesToLint().map((group) => lint(interpreter, group)))).flat();
  }, 2 * limitForInstallsMs);

  it('finds nothing in the templates but what is excepted', () => {
    expect(findings.filter((finding) => !isException(finding)).map(textOf)).toEqual([]);
  });

  it.each(exceptions)('still finds what is excepted: $rule, $reason', ({ rule, says }) => {
    expect(findings.some(({ Rule, Message }) => Rule.Id === rule && says.test(Message))).toBe(true);
  });
});
