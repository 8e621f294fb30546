import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { parseCdk } from '../../bin/commands/cdk.ts';
import { parseTemplate } from '../../bin/commands/template.ts';
import { parseAccounts } from '../../operate/accounts.ts';
import { svcQueue } from '../support/command.ts';
import { api } from '../support/api.ts';
import { service } from '../support/publish.ts';

const accountShape = z.object({
  id: z.string(),
  customer_id: z.optional(z.string()),
  token: z.string(),
  active: z.boolean(),
  max_retries: z.number(),
});

const accounts = (...args: readonly string[]) => {
  const { url, user, password } = service.management;
  return svcQueue(['accounts', ...args], {
    SVC_MANAGEMENT_URL: url,
    SVC_MANAGEMENT_USER: user,
    SVC_MANAGEMENT_PASSWORD: password,
  });
};

async function record(...args: readonly string[]) {
  const { code, stdout, output } = await accounts(...args, '--json');
  expect(code, output).toBe(0);
  return accountShape.parse(JSON.parse(stdout));
}

describe('svc-queue accounts', () => {
  it('creates, shows, changes, suspends, resumes, rotates and deletes an account', async () => {
    const made = await accounts('create', 'ops@command.example', 'type=paid', `region=${service.region}`);
    expect(made.code, made.output).toBe(0);
    const id = /^# id: (.+)$/m.exec(made.stdout)?.[1] ?? '';
    const token = /^SVC_TOKEN=(.+)$/m.exec(made.stdout)?.[1];
    expect(await record('show', id)).toMatchObject({ id, token, customer_id: 'ops@command.example' });
    expect(await record('change', id, 'max_retries=2', 'budget=20')).toMatchObject({ max_retries: 2 });
    expect(await record('change', id, 'max_retries=null')).toMatchObject({ max_retries: 5 });
    expect(await record('suspend', id)).toMatchObject({ active: false });
    expect(await record('resume', id)).toMatchObject({ active: true });
    expect((await record('rotate', id)).token).not.toBe(token);
    expect((await accounts('stats', id)).stdout).toMatch(
      /^DAY +REQUESTS +MESSAGES +CALLS +DOLLARS\n\d{4}-\d\d-\d\d /,
    );
    const list = await accounts();
    expect(list.stdout).toMatch(/^ID +CUSTOMER +TYPE +REGION +STATE\n/);
    expect(list.stdout).toMatch(
      new RegExp(`^${id} +ops@command.example +paid +${service.region} +active$`, 'm'),
    );
    expect(list.stdout).not.toContain('SVC_TOKEN');
    await record('delete', id, '--yes');
    expect((await accounts()).stdout).not.toMatch(new RegExp(`^${id} .* active$`, 'm'));
  });

  it('creates a named token, shows it once, lists it and revokes it', async () => {
    const { id } = await record('create', 'ops@command.example', 'type=paid', `region=${service.region}`);
    const fields = ['name=web shop', 'scope=publish', 'destinations=["orders"]', 'expires_at=4102444800'];
    const made = await accounts('add-token', id, ...fields);
    expect(made.code, made.output).toBe(0);
    const tokenId = /^# id: (tok_\w+)$/m.exec(made.stdout)?.[1] ?? '';
    const token = /^SVC_TOKEN=(.+)$/m.exec(made.stdout)?.[1] ?? '';
    expect((await api('GET', '/v2/queues', { token })).status).toBe(403);
    const { stdout } = await accounts('tokens', id);
    expect(stdout).toMatch(/^ID +NAME +SCOPE +ENDS +LAST USED\n/);
    expect(stdout).toContain(`${tokenId}  web shop  publish orders  2100-01-01T00:00:00.000Z  `);
    expect(stdout).not.toContain(token);
    const rotated = await accounts('rotate-token', id, `id=${tokenId}`, 'overlap=0s');
    expect(rotated.stdout).toMatch(new RegExp(`^# id: ${tokenId}\n.+\nSVC_TOKEN=.+\n$`));
    expect(rotated.stdout).not.toContain(token);
    expect((await api('GET', '/v2/queues', { token })).status).toBe(401);
    expect((await accounts('rotate-token', id, `id=${tokenId}`, 'overlap=8d')).output).toMatch(
      /answered 400: .*overlap is "8d"; allowed is from 0s to 7d/,
    );
    expect((await accounts('revoke-token', id, `id=${tokenId}`)).stdout).toBe(
      `${tokenId} (web shop) is revoked.\n`,
    );
    const latest = /^SVC_TOKEN=(.+)$/m.exec(rotated.stdout)?.[1] ?? '';
    expect((await api('GET', '/v2/queues', { token: latest })).status).toBe(401);
  });

  it('prints the service’s refusal, and says if nothing answers', async () => {
    const refused = await accounts('create', 'ops@command.example', 'max_retries=-1');
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.output).toMatch(/ answered 400: .*max_retries is -1; allowed is a whole number/);
    const wrong = await svcQueue(['accounts'], {
      SVC_MANAGEMENT_URL: service.management.url,
      SVC_MANAGEMENT_PASSWORD: 'wrong',
    });
    expect(wrong.output).toContain(' answered 401: ');
    // The emulator’s gateway does not put an authorizer’s sentence into its answer, unlike AWS.
    if (service.target === 'local') expect(wrong.output).toContain('The user name or the password is wrong.');
    expect(wrong.code).toBe(2);
    const silent = await svcQueue(['accounts'], {
      SVC_MANAGEMENT_URL: 'http://127.0.0.1:9',
      SVC_MANAGEMENT_PASSWORD: 'any',
    });
    expect(silent.code).toBe(2);
    expect(silent.output).toMatch(/^http:\/\/127\.0\.0\.1:9 does not answer: /);
  });
});

describe('svc-queue', () => {
  it('lists its commands, each of which has a help text', async () => {
    const { code, stdout } = await svcQueue(['--help']);
    expect(code).toBe(0);
    const [, listed = ''] = /^Commands:\n([^]+?)\n\n/m.exec(stdout) ?? [];
    const commands = [...listed.matchAll(/^ {2}([a-z][a-z-]*) {2,}[a-z]/gm)].map(([, name = '']) => name);
    expect(commands.length).toBeGreaterThan(12);
    const helps = await Promise.all(commands.map((name) => svcQueue([name, '--help'])));
    for (const { code: status, stdout: help } of helps) {
      expect(status).toBe(0);
      expect(help).toMatch(/^Usage: svc-queue [a-z-]+ /);
    }
  });

  it('deploys only to regions that were named', async () => {
    const ran = await svcQueue(['app'], { CDK_CONTEXT_JSON: '{"name":"Svc"}' });
    expect(ran).toMatchObject({ code: 1, stdout: '' });
    expect(ran.output).toMatch(/^Name the regions of the deployment, .*\n +--region eu-central-1 /);
  });

  it('does not serve as a member whose primary was killed before it began', async () => {
    const member = await svcQueue(['start', '--in-memory', '--port', '0'], { SVC_MEMBER: '1' });
    expect(member).toMatchObject({ code: null, output: '' });
  });

  it.each([
    [['frobnicate'], /^Unknown command 'frobnicate'; --help lists the commands\.\n$/],
    [['accounts', 'list', 'ops@acme.example'], /^list takes no account\.\n$/],
  ])('refuses %j by name', async (args, sentence) => {
    const ran = await svcQueue(args);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(ran.output).toMatch(sentence);
  });

  const id = '0f8fad5b-d9cb-469f-a165-70867728950e';
  it.each<[parse: (args: readonly string[]) => unknown, args: readonly string[], sentence: RegExp]>([
    [parseAccounts, ['show'], /^The account is ''; allowed for show is the id of an account, a UUID\.$/],
    [parseAccounts, ['frobnicate'], /'frobnicate' is invalid .* Allowed choices are list, show, create,/],
    [parseAccounts, ['create', 'ops@acme.example', 'budget'], /'budget' is invalid.* Allowed is name=value/],
    [parseAccounts, ['suspend', id, 'budget=1'], /^suspend takes no fields\.$/],
    [parseAccounts, ['revoke-token', id], /^Which token\? .* allowed is id=tok_…$/],
    [parseAccounts, ['delete', id], /^After seven days this cannot be undone: .* --yes$/],
    [parseAccounts, ['--region', 'Europe'], /'Europe' is invalid. Allowed is a region of AWS/],
    [parseCdk, ['deploy', 'Svc-Management'], /^There is no argument 'Svc-Management': stacks are named with/],
    [parseCdk, ['deploy', '--fail'], /^The flag --fail is for diff and drift; --help lists the flags\.$/],
    [parseCdk, ['deploy', '--stage', 'test'], /argument 'test' is invalid. Allowed is dev or prod; /],
    [parseCdk, ['deploy', '-c', 'monitoring'], /'monitoring' is invalid. Allowed is name=value, as cdk/],
    [parseTemplate, ['--out', 'svc'], /^Required option '--bucket <bucket>' not specified; --help lists/],
    [parseTemplate, ['--bucket', 'Acme', '--out', 'svc'], /'Acme' is invalid. Allowed is a bucket such as/],
    [parseCdk, ['destroy', '--region', 'Europe'], /'Europe' is invalid. Allowed is a region of AWS such/],
  ])('has commands that refuse %s by name: %j', (parse, args, sentence) => {
    expect(() => parse(args)).toThrow(sentence);
  });
});
