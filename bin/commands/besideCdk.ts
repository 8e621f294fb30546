/** A command that needs the CDK, if it is not installed. */
import { runCommand } from '../../operate/runCommand.ts';
import { runBesideCdk } from '../cdk.ts';

export const run = (): Promise<void> => runCommand(runBesideCdk, console.error);
