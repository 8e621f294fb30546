import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseShell } from '../../../operate/options.ts';
import { shellCode } from '../../../operate/shell.ts';

/** Folder of an `aws` that prints its region and arguments, one on each line. */
let tools: string;
beforeAll(() => {
  tools = mkdtempSync(join(tmpdir(), 'shell-'));
  writeFileSync(join(tools, 'aws'), '#!/bin/sh\nprintf "%s\\n" "$AWS_DEFAULT_REGION" "$@"\n');
  chmodSync(join(tools, 'aws'), 0o755);
});
afterAll(() => {
  rmSync(tools, { recursive: true });
});

/** Runs a command in a shell that has evaluated the output of `svc-queue shell`. */
const linesOf = (shell: string, args: readonly string[], command: string): readonly string[] =>
  execFileSync(shell, ['-ec', `eval "$CODE"; ${command}`], {
    encoding: 'utf8',
    env: { PATH: `${tools}${delimiter}${process.env['PATH'] ?? ''}`, CODE: shellCode(parseShell(args)) },
  })
    .trimEnd()
    .split('\n');

describe.each(['bash', 'sh'])('the code of svc-queue shell, in %s,', (shell) => {
  it('finds the resources of a type in a stack of the deployment', () => {
    const args = ['--region', 'us-east-1', '--name', 'SvcDev'];
    expect(linesOf(shell, args, 'resource Service SQS::Queue Queues')).toEqual([
      'us-east-1',
      'cloudformation',
      'list-stack-resources',
      '--stack-name',
      'SvcDev-us-east-1-Service',
      '--output',
      'text',
      '--query',
      "StackResourceSummaries[?ResourceType=='AWS::SQS::Queue' && starts_with(LogicalResourceId, 'Queues')].PhysicalResourceId",
    ]);
    expect(linesOf(shell, args, 'resource State S3::Bucket').at(-1)).toContain(
      "starts_with(LogicalResourceId, '')",
    );
  });

  it('does not run code in a name', () => {
    const args = ['--region', 'us-east-1', '--name', `it's $(echo run)`];
    expect(linesOf(shell, args, 'resource State S3::Bucket')).toContain("it's $(echo run)-us-east-1-State");
  });
});
