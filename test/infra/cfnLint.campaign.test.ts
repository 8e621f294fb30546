/** Checks the templates with cfn-lint from PyPI. */
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
import { stateful } from './changes/deployed.ts';
import { firstOf, synthesize, synthesizeOne } from './app.ts';
import { keepText, keptText } from './keptTemplates.ts';
import { everythingOn, reduced } from './variants.ts';

const pinned = { name: 'cfn-lint', version: '1.58.0' };

/** The accepted findings of cfn-lint, with reasons. */
const exceptions: readonly { readonly rule: string; readonly says: RegExp; readonly reason: string }[] = [
  {
    rule: 'W3005',
    says: /^'\w+Role\w+' dependency already enforced by a 'GetAtt' at 'Resources\/\w+\/Properties\/Role'$/,
    reason:
      'The CDK has a function depend on its role and on the policy of its role. Only the second is needed.',
  },
];

const python = findPython();
// In CI, a missing Python is an error.
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
 * The templates to lint, by name. A large one takes seconds, so there are few: with everything on, and in another region with
 * everything that settings remove or change.
 */
function templatesToLint(): Readonly<Record<string, Template>> {
  const { service, management } = synthesizeOne(everythingOn);
  const other = synthesizeOne(reduced);
  return {
    Service: service,
    Management: management,
    'other-Service': other.service,
    'other-State': other.state,
    // The state of the first region has the table and the secrets that are replicated.
    State: firstOf(synthesize()).state,
  };
}

async function lint(interpreter: string, templates: Readonly<Record<string, Template>>): Promise<Finding[]> {
  const key = `cfn-lint ${pinned.version} of ${JSON.stringify(templates)}`;
  const kept = keptText(key);
  const text = kept ?? (await lintText(interpreter, templates));
  if (kept === undefined) keepText(key, text);
  return found.parse(JSON.parse(text));
}

async function lintText(interpreter: string, templates: Readonly<Record<string, Template>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-templates-'));
  try {
    for (const [name, template] of Object.entries(templates)) {
      await writeFile(join(folder, `${name}.json`), JSON.stringify(template.toJSON()));
    }
    const { stdout } = await promisify(execFile)(
      // Its program is beside the interpreter.
      join(dirname(interpreter), 'cfn-lint'),
      [
        ...['--format', 'json', '--non-zero-exit-code', 'none'],
        // Regions allow slightly different templates.
        ...['--regions', 'eu-central-1', 'us-east-1', '--', join(folder, '*.json')],
      ],
      { timeout: limitForInstallsMs, maxBuffer: 100_000_000 },
    );
    return stdout;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/**
 * A program that prints the properties that CloudFormation cannot change without a new resource, for the types in its
 * arguments.
 */
const readCreateOnly = `
import sys
from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER as schemas
for type in sys.argv[1:]:
    schema = schemas.get_resource_schema('us-east-1', type).schema
    paths = schema.get('createOnlyProperties', []) + schema.get('conditionalCreateOnlyProperties', [])
    print(type, *sorted({path.split('/')[2] for path in paths}))
`;

const title = isMissing
  ? 'cfn-lint (skipped: it needs Python 3.10 or newer with its venv module, and there is none)'
  : 'cfn-lint';

describe.skipIf(isMissing)(title, () => {
  let findings: readonly Finding[] = [];
  let interpreter = '';
  beforeAll(async () => {
    if (python === undefined) throw new Error('There is no Python 3.10 or newer with its venv module.');
    interpreter = await installPackage(python, pinned);
    findings = await lint(interpreter, templatesToLint());
  }, 2 * limitForInstallsMs);

  it('finds nothing in the templates except what is accepted', () => {
    expect(findings.filter((finding) => !isException(finding)).map(textOf)).toEqual([]);
  });

  it.each(exceptions)('still finds what is accepted: $rule, $reason', ({ rule, says }) => {
    expect(findings.some(({ Rule, Message }) => Rule.Id === rule && says.test(Message))).toBe(true);
  });

  it('knows the create-only properties in changes/createOnly.txt; -u renews them', async () => {
    const { stdout } = await promisify(execFile)(interpreter, ['-c', readCreateOnly, ...stateful]);
    await expect(stdout).toMatchFileSnapshot('changes/createOnly.txt');
  });
});
