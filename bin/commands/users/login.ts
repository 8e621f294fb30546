/** `svc-queue login`: stores the address of a service and a token. */
import { login, parseLogin } from '../../../operate/api/login.ts';
import { runCommand } from '../../runCommand.ts';

export function run(args: readonly string[]): Promise<void> {
  const { url } = parseLogin(args);
  return runCommand(async () => {
    console.log(`The login is in ${await login(url)}; delete this file to log out.`);
    return 0;
  });
}
