import type { Config } from '../shared/config.ts';
import type { Account } from '../account/account.ts';
import { masterSecret } from '../account/secrets.ts';
import type { Changes } from '../audit/changes.ts';
import type { ShownGroup } from '../wire/urlGroupAnswers.ts';
import { now } from '../shared/clock.ts';
import { canonicalize } from '../request/dialect.ts';
import { readHeaders } from '../shared/headers.ts';
import { badRequest } from '../error/httpError.ts';
import { parseShape } from '../shared/json.ts';
import { configWithKnownCredentials, parsePublishOptions } from '../request/publishOptions.ts';
import { groupDefaults } from '../wire/requests.ts';
import { settings } from '../aws/settings.ts';
import { destinationRules } from '../destination/rulesOfDeployment.ts';
import { type GroupRequest, changeGroup, groupChanges, noSuchGroup, urlGroupRecord } from './urlGroups.ts';

async function readDefaults(account: Account, request: GroupRequest): Promise<Config> {
  const allowed = '{"headers": {"<name>": "<value>" or ["<value>", …]}}';
  const { headers } = parseShape('The body', request.body, groupDefaults, allowed);
  const { config, otherHeaders } = canonicalize(readHeaders('headers', headers), [], settings.headerPrefixes);
  const [foreign] = otherHeaders;
  if (foreign !== undefined) {
    throw badRequest(
      'field_unknown',
      `headers.${foreign[0]} is not a header of the service; allowed are those, such as Svc-Retries and Svc-Forward-*.`,
    );
  }
  parsePublishOptions(
    { prefix: request.prefix, config, otherHeaders: [] },
    account,
    await destinationRules(request.host, account),
    now(),
  );
  return config;
}

/**
 * Replaces a group's default headers. They configure the group's messages, unless a request overrides them.
 *
 * @throws HttpError 400, 403, 404 or 412
 */
export async function setDefaults(
  account: Account,
  request: GroupRequest,
): Promise<{ readonly group: ShownGroup; readonly changes: Changes }> {
  const { name, prefix } = request;
  const config = await readDefaults(account, request);
  const changed = await changeGroup(account, name, (before) => {
    if (before === undefined) throw noSuchGroup(name);
    const defaults = configWithKnownCredentials(config, before.defaults);
    return { ...before, defaults, updatedAt: now() };
  });
  if (changed.after === undefined) throw noSuchGroup(name);
  const group = urlGroupRecord(changed.after, prefix, await masterSecret());
  return { group, changes: groupChanges(changed, prefix) };
}
