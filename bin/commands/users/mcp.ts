/** `svc-queue mcp`: serves agents over standard input and output. */
import { findConnection } from '../../../operate/api/connection.ts';
import { parseMcp, serveAgent } from '../../../operate/mcp/server.ts';
import { runCommand } from '../../runCommand.ts';

export function run(args: readonly string[]): Promise<void> {
  const { write = false } = parseMcp(args);
  return runCommand(async () => {
    await serveAgent(findConnection(process.env), write);
    return 0;
  });
}
