/** `svc-queue accounts`: manages accounts through the management API. */
import { Argument, InvalidArgumentError } from '@commander-js/extra-typings';
import * as z from 'zod';
import { Ending, command, jsonOrText, parse, region, textLike } from '../cli/commandLine.ts';
import { tableOf } from '../cli/table.ts';
import { callManagementApi, type Call, type ManagementApi } from './managementApi.ts';

/** The fields that are shown. `--json` shows all. */
const account = z.looseObject({
  id: z.string(),
  customer_id: z.string().optional(),
  type: z.string(),
  region: z.string(),
  state: z.string(),
  token: z.string(),
  read_only_token: z.string(),
});
type Account = z.output<typeof account>;

interface AccountsCommand {
  readonly name: string | undefined;
  readonly region: string | undefined;
  readonly isJson: boolean;
  readonly act: (api: ManagementApi) => Promise<Shown>;
}

interface Shown {
  readonly json: unknown;
  readonly text: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** Adds a field of an account, `name=value`, with JSON or a text as value. */
function field(text: string, all: Fields = {}): Fields {
  const [, name, value = ''] = /^(\w+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined)
    throw new InvalidArgumentError(
      'Allowed is name=value, such as max_requests_per_day=5000 or circuit=null.',
    );
  return { ...all, [name]: jsonOrText(value) };
}

const lineOf = ({ id, customer_id = '', type, region: where, state }: Account): readonly string[] => [
  id,
  customer_id,
  type,
  where,
  state,
];

/** An account with its tokens, as lines for a shell. */
const describe = (one: Account): string =>
  [
    ...Object.entries(one)
      .filter(([name]) => !['token', 'read_only_token'].includes(name))
      .map(([name, value]) => `# ${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`),
    `SVC_TOKEN=${one.token}`,
    `SVC_READ_ONLY_TOKEN=${one.read_only_token}`,
  ].join('\n');

async function show(api: ManagementApi, call: Call): Promise<Shown> {
  const { body } = await callManagementApi(api, call);
  return { json: body, text: describe(account.parse(body)) };
}

async function list(api: ManagementApi): Promise<Shown> {
  const all: unknown[] = [];
  for (let path: string | undefined = 'users'; path !== undefined;) {
    const page: Awaited<ReturnType<typeof callManagementApi>> = await callManagementApi(api, { path });
    all.push(...z.array(z.unknown()).parse(page.body));
    path = page.next;
  }
  const rows = z.array(account).parse(all).map(lineOf);
  return { json: all, text: tableOf([['ID', 'CUSTOMER', 'TYPE', 'REGION', 'STATE'], ...rows]) };
}

const point = z.object({ x: z.string(), y: z.number() });
const stats = z.object({
  daily_requests: z.array(point),
  daily_messages: z.array(point),
  daily_calls: z.array(point),
  daily_billings: z.array(point),
});

async function showStats(api: ManagementApi, id: string): Promise<Shown> {
  const { body } = await callManagementApi(api, { path: `stats/${id}` });
  const { daily_requests, daily_messages, daily_calls, daily_billings } = stats.parse(body);
  const rows = daily_requests.map(({ x, y }, day) => [
    x.slice(0, 10),
    y.toString(),
    (daily_messages[day]?.y ?? 0).toString(),
    (daily_calls[day]?.y ?? 0).toString(),
    (daily_billings[day]?.y ?? 0).toString(),
  ]);
  return { json: body, text: tableOf([['DAY', 'REQUESTS', 'MESSAGES', 'CALLS', 'DOLLARS'], ...rows]) };
}

const namedToken = z.object({
  id: z.string(),
  name: z.string(),
  scope: z.string(),
  destinations: z.array(z.string()).optional(),
  expires_at: z.number().optional(),
  last_used: z.string().optional(),
});

async function listTokens(api: ManagementApi, id: string): Promise<Shown> {
  const { body } = await callManagementApi(api, { path: `users/${id}/tokens` });
  const rows = z
    .array(namedToken)
    .parse(body)
    .map(({ id: tokenId, name, scope, destinations = [], expires_at: end, last_used: used = 'never' }) => [
      tokenId,
      name,
      [scope, ...destinations].join(' '),
      end === undefined ? 'never' : new Date(end * 1_000).toISOString(),
      used,
    ]);
  return { json: body, text: tableOf([['ID', 'NAME', 'SCOPE', 'ENDS', 'LAST USED'], ...rows]) };
}

async function makeToken(api: ManagementApi, path: string, fields: Fields): Promise<Shown> {
  const { body } = await callManagementApi(api, { method: 'POST', path, body: fields });
  const made = namedToken.extend({ token: z.string() }).parse(body);
  return { json: body, text: `# id: ${made.id}\n# The token is not shown again.\nSVC_TOKEN=${made.token}` };
}

function tokenIn(id: string, fields: Fields): { readonly path: string; readonly rest: Fields } {
  const { id: tokenId, ...rest } = z.looseObject({ id: z.string() }).parse(fields);
  return { path: `users/${id}/tokens/${encodeURIComponent(tokenId)}`, rest };
}

async function rotateToken(api: ManagementApi, id: string, fields: Fields): Promise<Shown> {
  const { path, rest } = tokenIn(id, fields);
  return makeToken(api, `${path}/rotate`, rest);
}

async function revokeToken(api: ManagementApi, id: string, fields: Fields): Promise<Shown> {
  const { body } = await callManagementApi(api, { method: 'DELETE', path: tokenIn(id, fields).path });
  const revoked = namedToken.parse(body);
  return { json: body, text: `${revoked.id} (${revoked.name}) is revoked.` };
}

interface Action {
  readonly needs: 'nothing' | 'id' | 'customer';
  readonly takesFields?: true;
  readonly run: (api: ManagementApi, of: { readonly of: string; readonly fields: Fields }) => Promise<Shown>;
}

const actions: Readonly<Record<string, Action>> = {
  list: { needs: 'nothing', run: (api) => list(api) },
  show: { needs: 'id', run: (api, { of }) => show(api, { path: `users/${of}` }) },
  create: {
    needs: 'customer',
    takesFields: true,
    run: (api, { of, fields }) =>
      show(api, {
        method: 'POST',
        path: 'users',
        body: { ...(of !== '' && { customer_id: of }), ...fields },
      }),
  },
  change: { needs: 'id', takesFields: true, run: (api, { of, fields }) => patch(api, of, fields) },
  suspend: { needs: 'id', run: (api, { of }) => patch(api, of, { active: false }) },
  resume: { needs: 'id', run: (api, { of }) => patch(api, of, { active: true }) },
  rotate: {
    needs: 'id',
    run: (api, { of }) => show(api, { method: 'POST', path: `rotate-token/${of}` }),
  },
  stats: { needs: 'id', run: (api, { of }) => showStats(api, of) },
  tokens: { needs: 'id', run: (api, { of }) => listTokens(api, of) },
  'add-token': {
    needs: 'id',
    takesFields: true,
    run: (api, { of, fields }) => makeToken(api, `users/${of}/tokens`, fields),
  },
  'rotate-token': {
    needs: 'id',
    takesFields: true,
    run: (api, { of, fields }) => rotateToken(api, of, fields),
  },
  'revoke-token': {
    needs: 'id',
    takesFields: true,
    run: (api, { of, fields }) => revokeToken(api, of, fields),
  },
  delete: { needs: 'id', run: (api, { of }) => show(api, { method: 'DELETE', path: `users/${of}` }) },
  restore: {
    needs: 'id',
    run: (api, { of }) => show(api, { method: 'POST', path: `users/${of}/restore` }),
  },
};

const patch = (api: ManagementApi, id: string, body: Fields): Promise<Shown> =>
  show(api, { method: 'PATCH', path: `users/${id}`, body });

const about =
  'Lists, makes, changes, suspends, deletes and restores accounts and their named tokens through the management API.';

const examples = `
Examples:
  svc-queue accounts                                        all accounts
  svc-queue accounts create ops@acme.example type=paid      a new one, with its tokens
  svc-queue accounts show <id>                              one, with its tokens
  svc-queue accounts change <id> max_requests_per_day=5000 budget=20
  svc-queue accounts suspend <id>                           its tokens are refused, its messages are held
  svc-queue accounts restore <id>                           takes back its deletion, for seven days
  svc-queue accounts rotate <id>                            new tokens; the old ones end at once
  svc-queue accounts tokens <id>                            its named tokens
  svc-queue accounts add-token <id> name=shop scope=publish destinations='["https://example.com/hooks/"]'
  svc-queue accounts rotate-token <id> id=tok_… overlap=1h  a new secret; the old one ends in an hour
  svc-queue accounts revoke-token <id> id=tok_…             refused from now on
  svc-queue accounts --name SvcDev --region us-east-1 --json

Without --name and --region the API is that of SVC_MANAGEMENT_URL, SVC_MANAGEMENT_USER and SVC_MANAGEMENT_PASSWORD; without
these, that of the local stage of this folder; without one, that of the deployment Svc in eu-central-1.
The fields of an account are in docs/limits.md. Their values are JSON or texts.`;

const namesToken: ReadonlySet<string> = new Set(['rotate-token', 'revoke-token']);

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** @throws Ending */
export function parseAccounts(args: readonly string[]): AccountsCommand {
  const read = parse(
    command('accounts', about)
      .addArgument(new Argument('[action]').choices(Object.keys(actions)).default('list'))
      .argument('[account]', 'its id; the customer, an e-mail address or a team, of a new one', '')
      .argument('[fields...]', 'name=value, for create, change and the named tokens', field, {})
      .option('--name <name>', 'of the deployment', textLike(/./, 'the name of a deployment'))
      .option('--region <region>', 'its first region', region)
      .option('--yes', 'delete without asking')
      .option('--json', 'print JSON')
      .addHelpText('after', examples),
    args,
  );
  const [action, of, fields] = read.processedArgs;
  const { yes = false, json: isJson = false, name, region: where } = read.opts();
  const chosen = actions[action];
  if (chosen === undefined) throw new Error(`${action} was not refused.`);
  const { needs, takesFields, run } = chosen;
  if (needs === 'id' && !uuid.test(of))
    throw new Ending(`The account is '${of}'; allowed for ${action} is the id of an account, a UUID.`, 2);
  if (needs === 'nothing' && of !== '') throw new Ending(`${action} takes no account.`, 2);
  if (namesToken.has(action) && typeof fields['id'] !== 'string')
    throw new Ending('Which token? svc-queue accounts tokens lists them; allowed is id=tok_…', 2);
  if (takesFields !== true && Object.keys(fields).length > 0)
    throw new Ending(`${action} takes no fields.`, 2);
  if (action === 'delete' && !yes)
    throw new Ending(`After seven days this cannot be undone: svc-queue accounts delete ${of} --yes`, 2);
  return { name, region: where, isJson, act: (api) => run(api, { of, fields }) };
}
