/** `svc-queue accounts`: a deployment's accounts, or the local stage's. */
import { parseAccounts } from '../../operate/accounts.ts';
import { findManagementApi } from '../../operate/managementApi.ts';
import { runCommand } from '../runCommand.ts';

export function run(args: readonly string[]): Promise<void> {
  const { act, isJson, ...deployment } = parseAccounts(args);
  return runCommand(async () => {
    const api = await findManagementApi(deployment);
    const { json, text } = await act(api);
    console.log(isJson ? JSON.stringify(json, undefined, 2) : text);
    return 0;
  });
}
