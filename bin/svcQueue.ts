#!/usr/bin/env node
/** The command `svc-queue`. Without a name, or with flags only, it starts the local stage. */
const [, , name = 'start'] = process.argv;
if (name === 'start') process.argv.splice(2, 1);
if (name === 'start' || name.startsWith('-')) await import('./local.ts');
else {
  console.error(`There is no command '${name}'; there is start.`);
  process.exitCode = 2;
}
