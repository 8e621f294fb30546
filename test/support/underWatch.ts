/**
 * Runs a program with a watchdog: it ends as soon as the command's standard input closes. The operating system closes that pipe
 * however the stage dies, so that no orphan keeps the data file open.
 */

export interface WatchedCommand {
  readonly file: string;
  readonly args: readonly string[];
}

export const underWatch = (command: readonly string[]): WatchedCommand =>
  process.platform === 'win32' ? byNode(command) : byShell(command);

/** A shell script that becomes the program, and leaves a watchdog behind. */
const shellScript = `
exec 3<&0 </dev/null
{ read -r _ <&3; kill "$$" 2>/dev/null; } &
exec "$@" 3<&-
`;

const byShell = (command: readonly string[]): WatchedCommand => ({
  file: '/bin/sh',
  args: ['-c', shellScript, 'sh', ...command],
});

/** For Windows, which has no such shell: Node.js starts the command, and ends with it. */
const nodeScript = `
const { spawn } = require('node:child_process');
const [program, ...args] = process.argv.slice(1);
const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'], windowsHide: true });
child.on('error', (error) => { console.error(error.message); process.exit(127); });
child.on('exit', (code) => process.exit(code ?? 1));
process.stdin.on('error', () => {}).on('close', () => child.kill()).resume();
`;

const byNode = (command: readonly string[]): WatchedCommand => ({
  file: process.execPath,
  args: ['-e', nodeScript, '--', ...command],
});
